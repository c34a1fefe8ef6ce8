"""What the colours of the map mean, kind by kind of column, and when they are worked out anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from window_driver import settle

from explorer.document.encoding import ZeroShot
from explorer.render.palette import LIGHT, category_colours, rgb
from explorer.views.main_window import MainWindow
from explorer.views.map import colours as colours_module
from explorer.views.map.hover_card import card_text

ROWS = 240


@pytest.fixture(scope="module")
def columns_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 rows with a category of 80 values, a date, yes or no, a list, a number, and gaps in each."""
    random = np.random.default_rng(11)
    lines = ["label,kind,born,alive,tags,weight,price,x0,x1,x2"]
    for row in range(ROWS):
        kind = "" if row % 20 == 0 else f"kind{min(row % 97, 79)}"
        born = "" if row == 0 else f"20{row % 20:02}-03-{1 + row % 28:02}"
        tags = ";".join(["red", "blue", "green"][: 1 + row % 3])
        x = ",".join(f"{value:.4f}" for value in random.normal(0, 1, 3) + np.eye(3)[row % 3] * 4)
        price = row if row < 238 else 10**6
        lines.append(f"word{row},{kind},{born},{'yes' if row % 3 else 'no'},{tags},{row * 1.5},{price},{x}")
    path = tmp_path_factory.mktemp("columns") / "columns.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def columns(qtbot: QtBot, window: MainWindow, columns_file: Path) -> MainWindow:
    window.session.opening.open([str(columns_file)])
    settle(qtbot, window)
    return window


def colour_by(window: MainWindow, by: str, **more: object) -> None:
    document = window.session.document
    document.set_colouring(replace(document.colouring, by=by, **more))


def test_that_many_categories_are_told_apart_and_the_rest_shares_their_colours(columns: MainWindow) -> None:
    colour_by(columns, "kind")
    colours = columns.map.colours
    names = [name for _, name in colours.entries]
    assert len(names) == 62
    assert names[-2] == "20 others share 27 colours"
    assert names[-1].startswith("no value · 12")
    values = np.array([str(value) for value in columns.session.document.table.metadata["kind"]])
    for code, name in colours.entries[:60]:
        np.testing.assert_array_equal(np.flatnonzero(colours.codes == code), np.flatnonzero(values == name))
    others = np.flatnonzero(colours.listed == colours.shared)
    assert len({*values[others]}) == 20
    shown = colours.palette[colours.codes[others], :3]
    assert len(np.unique(shown, axis=0)) > 9
    for name in {*values[others]}:
        assert len(np.unique(shown[values[others] == name], axis=0)) == 1, "one colour a category"
    np.testing.assert_array_equal(colours.codes == 60, values == "")
    line = columns.map.canvas.item.figure.legend.entries[60]
    assert line.sums
    assert len(line.mixed) == 3


def test_that_what_shares_colours_is_hidden_recoloured_and_selected_as_one(columns: MainWindow) -> None:
    colour_by(columns, "kind")
    shared = columns.map.colours.shared
    colour_by(columns, "kind", hidden=frozenset({shared}))
    colours = columns.map.colours
    others = colours.listed == shared
    assert (colours.palette[colours.codes, 3] == 0).tolist() == others.tolist()
    colour_by(columns, "kind", hidden=frozenset(), recoloured={shared: (1, 2, 3)})
    colours = columns.map.colours
    assert (colours.palette[colours.codes, :3] == (1, 2, 3)).all(axis=1).tolist() == others.tolist()
    columns.map.legend.select(shared)
    np.testing.assert_array_equal(columns.session.document.selection, np.flatnonzero(others))


def test_that_dates_and_numbers_run_along_a_scale_with_their_ends(columns: MainWindow) -> None:
    colour_by(columns, "born")
    dates = sorted(str(date) for date in columns.session.document.table.metadata["born"] if str(date))
    assert columns.map.colours.scale == (dates[0], dates[-1])
    assert columns.map.colours.codes[0] == 255, "no date, no place on the scale"
    colour_by(columns, "weight")
    codes = columns.map.colours.codes
    assert columns.map.colours.scale == ("0", "358.5")
    assert (np.diff(codes.astype(int)) >= 0).all()
    colour_by(columns, "price")
    assert columns.map.colours.scale == ("≤ 4.78", "≥ 234.2"), "two values far out are beyond its end"


def test_that_yes_or_no_and_lists_are_categories(columns: MainWindow) -> None:
    colour_by(columns, "alive")
    assert [name for _, name in columns.map.colours.entries] == ["yes", "no"]
    colour_by(columns, "tags")
    assert [name for _, name in columns.map.colours.entries] == ["red"]
    colour_by(columns, "tags", item="green")
    entries = columns.map.colours.entries
    assert entries[0][1] == "green"
    assert (columns.map.colours.codes == entries[0][0]).sum() == ROWS // 3


def test_that_the_palette_for_all_eyes_is_okabe_and_ito_s(columns: MainWindow) -> None:
    colour_by(columns, "alive", palette="colour-blind safe")
    expected = category_colours(2, LIGHT, "okabe-ito")
    np.testing.assert_array_equal(columns.map.colours.palette[:2, :3], expected)
    colour_by(columns, "alive", palette="standard", recoloured={1: (1, 2, 3)})
    assert columns.map.colours.palette[:2, :3].tolist() == [list(rgb(LIGHT.categories[0])), [1, 2, 3]]


def test_that_hiding_works_no_code_out_anew(columns: MainWindow) -> None:
    colour_by(columns, "kind")
    before = columns.map.colours
    colour_by(columns, "kind", hidden=frozenset({0}))
    assert columns.map.colours.codes is before.codes
    assert columns.map.colours.palette[0, 3] == 0


def test_that_typed_classes_tell_how_sure_they_are(columns: MainWindow) -> None:
    document = columns.session.document
    codes = (np.arange(ROWS) % 2).astype(np.int16)
    sure = np.where(codes == 0, 0.9, 0.6).astype(np.float32)
    document.set_zero_shot(ZeroShot(("cat", "dog"), codes, sure))
    colour_by(columns, "zero-shot class")
    assert [name for _, name in columns.map.colours.entries] == ["cat · 0.90", "dog · 0.60"]
    assert "probability" in columns.map.colours.title
    assert "dog · probability 0.60" in card_text(document, 1)


def test_that_a_long_column_is_read_beside_the_window_and_then_shown(
    qtbot: QtBot, columns: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(colours_module, "AT_ONCE", 100)
    colour_by(columns, "tags")
    assert "being read" in columns.map.colours.title
    assert not columns.map.colours.entries
    qtbot.waitUntil(lambda: bool(columns.map.colours.entries))
    assert columns.map.canvas.item.figure.legend.entries[0].text == "red"
    colour_by(columns, "weight")
    qtbot.waitUntil(lambda: columns.map.colours.scale is not None)
    colour_by(columns, "weight", scale="categories")
    assert "being read" in columns.map.colours.title, "its categories take longer than its numbers"
    qtbot.waitUntil(lambda: bool(columns.map.colours.entries))
