"""Pictures that leave the window: painted beside its thread, whole files or none, whatever goes on."""

from __future__ import annotations

import base64
import re
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot
from window_driver import lay_out_for_ever

from explorer.core.errors import Cancelled
from explorer.export import save
from explorer.export.drawing import draw_points
from explorer.export.figure import Figure
from explorer.export.painter import image_of
from explorer.render.palette import LIGHT, category_palette
from explorer.render.raster import Dots, Raster
from explorer.render.viewport import Viewport
from explorer.views.main_window import MainWindow
from explorer.views.saving import with_ending

PNG = "PNG picture, 2× (*.png)"


@pytest.fixture
def cloud() -> Figure:
    """More rows than are drawn at once, in three colours."""
    xy = np.random.default_rng(0).normal(size=(2 * save.SLICE_ROWS + 7, 2)).astype(np.float32)
    codes = (np.arange(len(xy)) % 3).astype(np.uint8)
    return Figure(xy, codes, category_palette(3, LIGHT), Viewport.fitted(xy, 160, 120), Dots(1.0, 0.6))


@pytest.fixture
def points(cloud: Figure) -> np.ndarray:
    """The same drawn whole, as drawings embed it: red, green, blue, shape (240, 320, 3)."""
    raster = Raster(320, 240)
    draw_points(cloud, raster, 2)
    return np.stack([(raster.pixels >> shift) & 255 for shift in (16, 8, 0)], axis=-1)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Keeps pictures from being drawn to their end until it is set, or they are called off."""
    opened, draw = threading.Event(), save.draw_in_slices

    def held(*given, **named) -> Iterator[int]:
        while not opened.wait(0.002):
            yield 0
        yield from draw(*given, **named)

    monkeypatch.setattr(save, "draw_in_slices", held)
    yield opened
    opened.set()


def choose(window: MainWindow, monkeypatch: pytest.MonkeyPatch, path: Path, form: str = PNG) -> None:
    """Save the picture under a name, as if that had been typed in the dialog."""
    monkeypatch.setattr(window.files, "_ask_where", lambda *_: (path, form))
    window.files.save_picture()


def test_that_a_drawing_embeds_the_points_as_they_are_drawn_at_once(
    qapp, cloud: Figure, points: np.ndarray, tmp_path: Path
) -> None:
    save.save_svg(cloud, tmp_path / "map.svg")
    pictures = re.findall(rb"data:image/png;base64,([^\"]+)", (tmp_path / "map.svg").read_bytes())
    assert len(pictures) == 1
    embedded = QImage.fromData(base64.b64decode(pictures[0])).convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(embedded.constBits(), np.uint8).reshape(240, embedded.bytesPerLine())
    np.testing.assert_array_equal(lines[:, :960].reshape(240, 320, 3), points)


def test_that_a_page_is_a_pdf_whose_last_version_holds_every_pixel(
    qapp, cloud: Figure, points: np.ndarray, tmp_path: Path
) -> None:
    save.save_pdf(cloud, tmp_path / "map.pdf")
    data = (tmp_path / "map.pdf").read_bytes()
    table = int(re.findall(rb"startxref\s+(\d+)", data)[-1])
    number, at = re.match(rb"xref\n(\d+) 1\n(\d{10}) 00000 n \ntrailer", data[table:]).groups()
    stored = re.match(rb"%d 0 obj\n<<(.*?)>>\nstream\n" % int(number), data[int(at) :])
    length = int(re.search(rb"/Length (\d+)", stored[1])[1])
    begin = int(at) + stored.end()
    assert data[begin + length :].startswith(b"\nendstream")
    pixels = np.frombuffer(zlib.decompress(data[begin : begin + length]), np.uint8).reshape(240, 320, 3)
    np.testing.assert_array_equal(pixels, points)
    before = int(re.findall(rb"/Prev (\d+)", data)[-1])
    assert data[before:].startswith(b"xref")
    assert b"/Root" in data[table:]


def test_that_a_picture_drawn_in_slices_is_the_one_drawn_at_once_and_stops_where_it_is_told(
    qapp, cloud: Figure, tmp_path: Path
) -> None:
    told: list[float] = []
    sliced = save.to_image(cloud, 2, lambda fraction, _stage: told.append(fraction))
    raster = Raster(320, 240)
    draw_points(cloud, raster, 2)
    assert sliced.convertToFormat(QImage.Format.Format_RGB32) == image_of(raster).convertToFormat(
        QImage.Format.Format_RGB32
    )
    assert told == sorted(told)
    assert len(told) > 3

    def stop(fraction: float, _stage: str) -> None:
        if fraction >= save.PAINTED:
            raise Cancelled

    for name in ("map.png", "map.svg", "map.pdf"):
        with pytest.raises(Cancelled):
            save.save_picture(cloud, tmp_path / name, 2, stop)
    assert list(tmp_path.iterdir()) == []


def test_that_a_picture_is_saved_in_the_form_chosen_or_typed_and_replaces_nothing_unasked(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.svg").write_text("another")
    for typed, form, name, start in (
        ("a", "PDF page (*.pdf)", "a.pdf", b"%PDF"),
        ("b.png", "SVG drawing (*.svg)", "b 2.svg", b"<?xml"),
        ("v1.2", PNG, "v1.2.png", b"\x89PNG"),
        ("c.pdf", PNG, "c.pdf", b"%PDF"),
    ):
        with qtbot.waitSignal(open_window.session.exporting.ended):
            choose(open_window, monkeypatch, tmp_path / typed, form)
        assert (tmp_path / name).read_bytes().startswith(start)
        assert open_window.notice.text.text() == f"Saved {name} in {tmp_path}."
    assert (tmp_path / "b.svg").read_text() == "another"
    assert with_ending(tmp_path / "x.npz", ".csv", (".csv", ".npz")) == tmp_path / "x.npz"


def test_that_the_copied_picture_is_on_the_clipboard(qtbot: QtBot, open_window: MainWindow) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    open_window.actions_by_name["copy_picture"].trigger()
    open_window.actions_by_name["copy_picture"].trigger()
    qtbot.waitUntil(lambda: not clipboard.image().isNull())
    assert clipboard.image().width() == open_window.map.picture().viewport.width * 2


def test_that_a_picture_stays_as_it_was_seen_while_the_layout_moves_on(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    document = open_window.session.document
    lay_out_for_ever(qtbot, open_window.session)
    figure = open_window.map.picture()
    seen = figure.xy.copy()
    qtbot.waitUntil(lambda: not np.array_equal(document.positions, seen))
    np.testing.assert_array_equal(figure.xy, seen)
    open_window.session.mapping.stop()


def test_that_a_window_closed_while_it_saves_goes_once_the_file_is_whole(
    qtbot: QtBot,
    open_window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gate: threading.Event,
) -> None:
    choose(open_window, monkeypatch, tmp_path / "map.png")
    assert not open_window.close()
    assert open_window.isVisible()
    assert open_window.notice.text.text().startswith("Saving map.png")
    assert not (tmp_path / "map.png").exists()
    gate.set()
    qtbot.waitUntil(lambda: not open_window.isVisible())
    assert QImage(str(tmp_path / "map.png")).width() == 2 * open_window.map.canvas.viewport_now.width
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".png"] == ["map.png"]


def test_that_a_window_stays_to_say_that_its_file_could_not_be_written(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with qtbot.waitSignal(open_window.session.exporting.ended):
        choose(open_window, monkeypatch, tmp_path / "gone" / "map.png")
        assert not open_window.close()
    qtbot.waitUntil(lambda: "does not exist" in open_window.notice.text.text())
    assert open_window.isVisible()
    assert open_window.close()


def test_that_a_window_closed_twice_does_not_wait_and_leaves_no_half_file(
    open_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    (tmp_path / "map.png").write_text("the old one")
    choose(open_window, monkeypatch, tmp_path / "map.png")
    assert not open_window.close()
    assert open_window.close()
    assert (tmp_path / "map.png").read_text() == "the old one"
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".png"] == ["map.png"]
