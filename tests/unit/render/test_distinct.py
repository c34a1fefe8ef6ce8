"""Colours that all kinds of eyes tell apart, and different ones for what lies side by side."""

import numpy as np
import pytest

from explorer.render.distinct import (
    MOST_DISTINCT,
    distinct_colours,
    from_oklab,
    given_on_map,
    least_distances,
    oklab,
)
from explorer.render.palette import (
    DARK,
    LIGHT,
    SEQUENCES,
    category_colours,
    category_palette,
    colours_on_map,
    rgb,
    sequence,
    sequence_palette,
)

THEMES = [LIGHT, DARK]
KINDS = ("theme", "okabe-ito", "distinct")


def closest(colours: np.ndarray) -> float:
    return float((least_distances(colours, colours) + 9 * np.eye(len(colours))).min())


def test_that_lightness_and_neutral_colours_are_what_they_are_said_to_be():
    white, black, grey, red = oklab(np.array([[255, 255, 255], [0, 0, 0], [128, 128, 128], [255, 0, 0]]))
    assert white == pytest.approx([1, 0, 0], abs=1e-3)
    assert black == pytest.approx([0, 0, 0], abs=1e-3)
    assert grey[1:] == pytest.approx([0, 0], abs=1e-3)
    assert red == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)


def test_that_colours_come_back_from_the_perceptual_space():
    colours = np.random.default_rng(0).integers(0, 256, (500, 3))
    assert np.abs(from_oklab(oklab(colours)) - colours).max() < 0.01


def test_that_red_and_green_of_one_lightness_are_nearly_one_to_the_colour_blind():
    pair = from_oklab(np.array([[0.6, 0.12, 0.06], [0.6, -0.12, 0.06]])).clip(0, 255).astype(np.uint8)
    seen = np.linalg.norm(np.diff(oklab(pair), axis=0))
    assert least_distances(pair[:1], pair[1:])[0, 0] < 0.6 * seen


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("kind", "count", "least"), [("okabe-ito", 8, 0.09), ("distinct", 12, 0.1), ("distinct", 30, 0.055)]
)
def test_that_palettes_for_all_eyes_hold_no_two_alike(theme, kind, count, least):
    colours = category_colours(count, theme, kind)
    assert colours.shape == (count, 3)
    assert closest(colours) > least
    assert least_distances(colours, np.array([rgb(theme.map)])).min() > 0.19, "seen on the ground"


def test_that_a_smaller_palette_is_the_beginning_of_a_larger_one():
    for kind in KINDS:
        assert np.array_equal(category_colours(7, LIGHT, kind), category_colours(24, LIGHT, kind)[:7])
    assert np.array_equal(distinct_colours(5, (0, 0, 0)), distinct_colours(9, (0, 0, 0))[:5])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 254])
def test_that_any_number_of_categories_has_a_palette(kind, count):
    palette = category_palette(count, LIGHT, kind)
    assert palette.shape == (count + 1, 4)
    assert tuple(palette[-1]) == (*rgb(LIGHT.quiet), 255)


def clusters(count: int, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Clusters on a square lattice, each met by its four neighbours."""
    side = int(np.ceil(count**0.5))
    codes = np.repeat(np.arange(count), rows)
    xy = np.column_stack([codes % side, codes // side]) + np.random.default_rng(0).uniform(
        -0.5, 0.5, (len(codes), 2)
    )
    return xy.astype(np.float32), codes


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_that_no_two_colours_side_by_side_look_alike_though_there_are_more_categories_than_colours(
    theme, kind
):
    xy, codes = clusters(196)
    colours, given = colours_on_map(xy, codes, 196, theme, kind)
    palette = colours[given]
    lattice = np.arange(196).reshape(14, 14)
    pairs = [*zip(lattice[:, :-1].ravel(), lattice[:, 1:].ravel(), strict=True)]
    pairs += [*zip(lattice[:-1].ravel(), lattice[1:].ravel(), strict=True)]
    lab = oklab(palette)
    apart = [np.linalg.norm(lab[one] - lab[other]) for one, other in pairs]
    in_turn = oklab(category_palette(196, theme, kind)[:, :3])
    before = [np.linalg.norm(in_turn[one] - in_turn[other]) for one, other in pairs]
    assert min(apart) > 0.1
    assert np.mean(apart) > np.mean(before)


def test_that_ten_thousand_categories_differ_from_nearly_all_their_neighbours():
    random = np.random.default_rng(0)
    centres = np.repeat(random.normal(0, 10, (50, 2)), 200, axis=0) + random.normal(0, 1.5, (10_000, 2))
    codes = random.integers(0, 10_000, 200_000)
    xy = (centres[codes] + random.normal(0, 0.05, (len(codes), 2))).astype(np.float32)
    colours, given = colours_on_map(xy, codes, 10_000, LIGHT)
    assert len(np.unique(given)) == len(colours), "none is left aside"
    # Rows next to each other along a line through narrow strips of the map.
    order = np.lexsort((xy[:, 0], np.floor(xy[:, 1] * 20)))
    one, other = codes[order[:-1]], codes[order[1:]]
    beside = (one != other) & (np.linalg.norm(np.diff(xy[order], axis=0), axis=1) < 0.05)
    assert np.count_nonzero(beside) > 5000
    apart = least_distances(colours, colours)[given[one[beside]], given[other[beside]]]
    in_turn = least_distances(colours, colours)[one[beside] % len(colours), other[beside] % len(colours)]
    assert np.mean(apart < 0.05) < 0.02 < 0.08 < np.mean(in_turn < 0.05)


def test_that_all_colours_are_used_where_there_are_enough_and_by_the_first_of_more():
    xy, codes = clusters(20)
    colours, given = colours_on_map(xy, codes, 20, LIGHT)
    assert len(np.unique(colours[given], axis=0)) == 20
    xy, codes = clusters(300)
    colours, given = colours_on_map(xy, codes, 300, LIGHT)
    assert len(np.unique(given[:MOST_DISTINCT])) == MOST_DISTINCT


def test_that_odd_maps_get_colours():
    for xy in (np.empty((0, 2)), np.full((9, 2), np.nan), np.zeros((9, 2)), np.array([[np.inf, 0], [1, 1]])):
        codes = np.arange(len(xy)) % 3 - 1
        colours, given = colours_on_map(xy, codes, 3, LIGHT)
        assert len(colours[given]) == 3
    assert len(colours_on_map(np.zeros((5, 2)), np.zeros(5, int), 0, LIGHT)[1]) == 0
    assert len(given_on_map(np.zeros((5, 2)), np.zeros(5, int), 0, category_colours(3, LIGHT))) == 0


@pytest.mark.parametrize("name", SEQUENCES)
def test_that_sequences_go_evenly_and_are_seen_on_both_grounds(name):
    steps = np.linalg.norm(np.diff(oklab(sequence(name)), axis=0), axis=1)
    assert steps[8:].max() < 4 * np.median(steps)
    for theme in THEMES:
        colours = sequence_palette(name, theme)[:255, :3]
        away = np.linalg.norm(oklab(colours) - oklab(np.array([rgb(theme.map)])), axis=1)
        assert away.min() > 0.1


def test_that_a_two_sided_sequence_has_a_grey_middle_and_ends_that_all_eyes_tell_apart():
    colours = sequence("blue-red")
    middle = oklab(colours[127:129])
    assert np.hypot(middle[:, 1], middle[:, 2]).max() < 0.01
    assert least_distances(colours[:1], colours[-1:])[0, 0] > 0.2
    lightness = oklab(colours)[:, 0]
    assert np.abs(lightness - lightness[::-1]).max() < 0.02
