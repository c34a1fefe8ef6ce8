"""Names on the figure: whose, in which order, and what they leave free."""

import numpy as np
import pytest

from explorer.export.figure import RESULT_RADIUS, Figure, Legend, LegendEntry
from explorer.export.labelling import MOST_TWINS, with_labels
from explorer.export.legend import legend_layout
from explorer.export.text import LONGEST, TextCache, printable, shown_text
from explorer.render.labels import LabelDensity
from explorer.render.palette import LIGHT, category_palette
from explorer.render.raster import dots_for
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")


def cloud(rows: int = 3000, **more) -> Figure:
    xy = np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)
    codes = (np.arange(rows) % 9).astype(np.uint8)
    palette = more.pop("palette", category_palette(9, LIGHT))
    view = more.pop("viewport", Viewport.fitted(xy, 800, 600))
    return Figure(xy, codes, palette, view, dots_for(rows, 800, 600), **more)


def name(row: int) -> str:
    return f"word{row}"


def boxes(figure: Figure, cache: TextCache) -> np.ndarray:
    return np.array(
        [[each.x, each.y, *cache.size(each.text, each.bold, each.count)] for each in figure.labels]
    )


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(
        (one[:2] + one[2:] > other[:2] + 1e-6).all() and (other[:2] + other[2:] > one[:2] + 1e-6).all()
    )


def test_that_no_label_covers_another_the_legend_the_results_the_star_or_the_tools():
    cache = TextCache()
    legend = Legend("title", tuple(LegendEntry((1, 2, 3), f"entry {i}") for i in range(9)))
    tools = np.array([[740.0, 10, 50, 220]])
    figure = cloud(results=np.arange(10), stars=((0.1, 0.2),), legend=legend)
    figure, _ = with_labels(figure, name, cache, obstacles=tools)
    placed = boxes(figure, cache)
    assert len(placed) > 40
    layout = legend_layout(figure)
    assert layout is not None
    card = np.array(layout.card.getRect())
    star = figure.viewport.to_pixels(np.array(figure.stars))[0]
    fixed = [card, tools[0], np.array([*(star - 5), 10, 10])]
    ringed = figure.viewport.to_pixels(figure.xy[figure.results])
    fixed += [np.array([*(at - RESULT_RADIUS), 2 * RESULT_RADIUS, 2 * RESULT_RADIUS]) for at in ringed]
    for i, box in enumerate(placed):
        assert not any(overlap(box, other) for other in [*placed[:i], *fixed])


def test_that_focus_and_results_come_first_and_are_bold():
    figure, placement = with_labels(cloud(results=np.array([700, 20, 5]), focus=900), name, TextCache())
    bold = [label.row for label in figure.labels if label.bold]
    assert bold[0] == 900
    assert set(bold) <= {900, 700, 20, 5}
    assert placement.rows[: len(bold)].tolist() == bold


def test_that_no_density_still_names_the_answer():
    figure, _ = with_labels(cloud(results=np.array([3])), name, TextCache(), density=LabelDensity.NONE)
    assert [label.text for label in figure.labels] == ["word3"]


def test_that_a_point_that_stands_for_several_rows_says_how_many():
    xy = np.repeat(np.random.default_rng(1).normal(size=(7, 2)), 50, axis=0).astype(np.float32)
    twins = dict.fromkeys(range(0, 350, 50), 50)
    view = Viewport.fitted(xy, 800, 600)
    figure = Figure(xy, np.zeros(350, np.uint8), category_palette(1, LIGHT), view, dots_for(350, 800, 600))
    figure, _ = with_labels(figure, name, TextCache(), twins=twins)
    counted = {label.row: label.count for label in figure.labels if label.count > 1}
    assert counted == twins


def test_that_twins_by_the_thousand_do_not_push_important_names_aside():
    twins = dict.fromkeys(range(1000, 1001 + MOST_TWINS), 2)
    plain, _ = with_labels(cloud(), name, TextCache())
    figure, _ = with_labels(cloud(), name, TextCache(), twins=twins)
    assert figure.labels[0].row == plain.labels[0].row == 0


def test_that_labels_shown_stay_when_zooming_in_but_not_when_hidden_or_asked_for_fewer():
    cache = TextCache()
    first, placement = with_labels(cloud(), name, cache)
    closer = first.viewport.zoomed_at(400, 300, 1.5)
    figure, _ = with_labels(cloud(viewport=closer), name, cache, previous=placement)
    anchors = closer.to_pixels(first.xy[placement.rows])
    inside = set(placement.rows[closer.contains(anchors, margin=90)].tolist())
    assert inside
    assert inside <= {label.row for label in figure.labels}

    palette = category_palette(9, LIGHT)
    palette[0, 3] = 0
    hidden, _ = with_labels(cloud(palette=palette, viewport=closer), name, cache, previous=placement)
    assert all(label.row % 9 for label in hidden.labels)

    few, _ = with_labels(cloud(viewport=closer), name, cache, previous=placement, density=LabelDensity.FEW)
    fresh, _ = with_labels(cloud(viewport=closer), name, cache, density=LabelDensity.FEW)
    assert [label.row for label in few.labels] == [label.row for label in fresh.labels]


def test_that_labels_of_a_larger_table_do_not_trouble_a_smaller_one():
    _, placement = with_labels(cloud(3000), name, TextCache())
    with_labels(cloud(10), name, TextCache(), previous=placement)


def test_that_a_table_without_rows_has_no_labels():
    empty = Figure(
        np.empty((0, 2), np.float32),
        np.empty(0, np.uint8),
        category_palette(0, LIGHT),
        Viewport(9, 9),
        dots_for(0, 9, 9),
    )
    figure, _ = with_labels(empty, name, TextCache())
    assert figure.labels == ()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a b", "a b"),
        ("two\nlines", "two↵lines"),
        ("\ttab", "⇥tab"),
        ("no\u00a0break", "no·break"),
        ("\u202eflipped", "·flipped"),
        ("\udc80", "\\udc80"),
        ("क्\u200dष", "क्\u200dष"),
        ("x" * 40, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_that_every_name_becomes_one_visible_line(text, seen):
    assert shown_text(text) == seen


def test_that_a_long_title_is_not_cut():
    assert printable("x" * 400) == "x" * 400


def test_that_the_focus_is_named_even_in_a_crowd_of_results():
    figure = cloud(40, viewport=Viewport(800, 600, 0.0, 0.0, 4.0), focus=0, results=np.arange(1, 40))
    labelled, _ = with_labels(figure, name, TextCache())
    assert (labelled.labels[0].row, labelled.labels[0].bold) == (0, True)
