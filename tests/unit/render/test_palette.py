"""Colours are the window's own, and codes mean what they say."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from explorer.render.palette import (
    DARK,
    LIGHT,
    NO_VALUE,
    category_colours,
    codes_of_values,
    ends_of_scale,
    rgb,
    sequence,
    sequence_palette,
)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines 2.2."""

    def luminance(colour: str) -> float:
        parts = np.array(rgb(colour)) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_that_text_can_be_read_on_every_ground(theme):
    for ground in (theme.ground, theme.panel, theme.map, theme.accent_ground):
        assert contrast(theme.text, ground) > 7
        assert contrast(theme.quiet, ground) > 3.8
    assert contrast(theme.accent, theme.panel) > 4.5
    for colour in theme.categories:
        assert contrast(colour, theme.map) > 2.5


@pytest.mark.parametrize("name", ["viridis", "cividis", "magma"])
def test_that_sequences_are_the_published_ones(name):
    package = importlib.util.find_spec("pyqtgraph")
    assert package is not None
    assert package.origin is not None
    lines = (Path(package.origin).parent / "colors/maps" / f"{name}.csv").read_text().splitlines()
    published = np.array([line.split(",")[:3] for line in lines if line and line[0] != ";"], float)
    assert np.abs(sequence(name).astype(float) - published * (255 if published.max() <= 1 else 1)).max() < 3.5


def test_that_the_first_categories_have_the_theme_s_colours_and_more_stay_apart():
    colours = category_colours(27, LIGHT)
    assert [tuple(c) for c in colours[:9]] == [rgb(c) for c in LIGHT.categories]
    assert len(np.unique(colours, axis=0)) == 27
    assert np.array_equal(category_colours(60, DARK)[27:54], category_colours(27, DARK))
    assert category_colours(0, LIGHT).shape == (0, 3)


def test_that_values_run_from_the_first_colour_to_the_last_and_gaps_are_quiet():
    values = np.array([0, 5, 10, -99, 99, np.nan, np.inf, -np.inf], np.float32)
    codes = codes_of_values(values, 0, 10)
    assert codes.tolist() == [0, 127, 254, 0, 254, NO_VALUE, 254, 0]
    palette = sequence_palette("viridis", DARK)
    assert palette.shape == (256, 4)
    assert tuple(palette[NO_VALUE, :3]) == rgb(DARK.quiet)
    assert tuple(palette[254, :3]) == tuple(sequence("viridis")[255])


def test_that_equal_values_share_the_middle_colour():
    assert codes_of_values(np.array([3.0, 3.0, np.nan]), 3, 3).tolist() == [127, 127, NO_VALUE]


def test_that_a_few_values_far_out_do_not_take_the_scale_from_all_others() -> None:
    values = np.random.default_rng(3).lognormal(3, 1, 20_000)
    low, high = ends_of_scale(values)
    assert (low, high) == tuple(np.quantile(values, (0.02, 0.98)).tolist())
    assert ends_of_scale(values, whole=True) == (values.min(), values.max())
    assert len(np.unique(codes_of_values(values, low, high)[:1000])) > 120
    for plain in (
        np.arange(1000.0),
        np.random.default_rng(4).normal(size=20_000),
        np.array([1.0] * 99 + [50.0]),
    ):
        assert ends_of_scale(plain) == (plain.min(), plain.max()), "no long tails, or nothing between them"
    assert ends_of_scale(np.array([np.nan, np.inf, 2.0, 5.0, -np.inf])) == (2.0, 5.0)
    assert ends_of_scale(np.array([np.nan, np.inf])) == (0.0, 0.0)
    assert ends_of_scale(np.empty(0, np.float32)) == (0.0, 0.0)
