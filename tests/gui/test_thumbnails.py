"""Pictures loaded in threads: whatever their form, newest first, and no longer than they are wanted."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from explorer.readers.pictures import thumbnail
from explorer.views.thumbnails import THREADS, Thumbnails

RED, BLUE = (200, 30, 40), (20, 60, 220)


@dataclass
class Folder:
    """Pictures of a test: files by row, with what an index would store of them."""

    files: list[Path]
    stored: dict[int, bytes] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    gate: threading.Event | None = None

    @property
    def rows(self) -> int:
        return len(self.files)

    def file(self, row: int) -> Path:
        self.asked.append(row)
        if self.gate is not None:
            assert self.gate.wait(300)
        return self.files[row]

    def thumbnail(self, row: int) -> bytes | None:
        return self.stored.get(row)

    def is_animated(self, row: int) -> bool:
        return False


@pytest.fixture
def thumbnails(qtbot: QtBot) -> Iterator[Thumbnails]:
    made = Thumbnails()
    yield made
    made.close()


def loaded(qtbot: QtBot, thumbnails: Thumbnails, row: int) -> QImage | None:
    if thumbnails.loaded(row) is None:
        qtbot.waitUntil(lambda: thumbnails.loaded(row) is not None)
    return thumbnails.image(row)


def save(path: Path, image: Image.Image, **options: object) -> Path:
    image.save(path, **options)
    return path


def colour(image: QImage | None, x: float, y: float) -> tuple[int, int, int]:
    assert image is not None
    found = QColor(image.pixel(int(x * (image.width() - 1)), int(y * (image.height() - 1))))
    return found.red(), found.green(), found.blue()


def like(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return bool(np.abs(np.subtract(one, other)).max() <= 12)


def two_halves(width: int, height: int) -> Image.Image:
    """Red at the left, blue at the right."""
    image = Image.new("RGB", (width, height), BLUE)
    image.paste(RED, (0, 0, width // 2, height))
    return image


def test_that_pictures_of_every_form_come_upright_and_no_larger_than_asked(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    deep = Image.fromarray(np.tile(np.linspace(0, 65535, 90, dtype=np.uint16), (40, 1)))
    clear = Image.new("RGBA", (80, 40), (*RED, 0))
    forms = {
        "wide.png": (two_halves(4000, 10), (256, 1)),
        "tall.png": (two_halves(10, 4000), (1, 256)),
        "dot.png": (Image.new("RGB", (1, 1), RED), (1, 1)),
        "small.gif": (two_halves(60, 40), (60, 40)),
        "clear.png": (clear, (80, 40)),
        "press.jpg": (two_halves(600, 300).convert("CMYK"), (256, 128)),
        "deep.png": (deep, (90, 40)),
        "photo.jpg": (two_halves(3000, 2000), (256, 171)),
    }
    files = [save(tmp_path / name, image) for name, (image, _) in forms.items()]
    files.append(save(tmp_path / "turned.jpg", two_halves(400, 200), exif=turned))
    thumbnails.show(Folder(files))
    for row, (name, (_, size)) in enumerate(forms.items()):
        image = loaded(qtbot, thumbnails, row)
        assert image is not None, name
        assert (image.width(), image.height()) == size, name
    assert like(colour(loaded(qtbot, thumbnails, 7), 0.1, 0.5), RED)
    assert like(colour(loaded(qtbot, thumbnails, 7), 0.9, 0.5), BLUE)
    assert colour(loaded(qtbot, thumbnails, 4), 0.5, 0.5) == (255, 255, 255)
    assert like(colour(loaded(qtbot, thumbnails, 6), 0.5, 0.5), (127, 127, 127))
    upright = loaded(qtbot, thumbnails, 8)
    assert upright is not None
    assert (upright.width(), upright.height()) == (128, 256)
    assert like(colour(upright, 0.5, 0.1), RED)
    known = thumbnails.loaded(8)
    assert known is not None
    assert (known.width, known.height) == (200, 400)


def test_that_a_picture_that_cannot_be_shown_says_why(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    whole = save(tmp_path / "whole.png", two_halves(300, 300)).read_bytes()
    bomb = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(bomb, "PNG")
    for name, data in {"cut.png": whole[:200], "bomb.png": bomb.getvalue(), "no.jpg": b"text" * 99}.items():
        (tmp_path / name).write_bytes(data)
    names = ("cut.png", "bomb.png", "no.jpg", "gone.png")
    thumbnails.show(Folder([tmp_path / name for name in names]))
    for row in range(4):
        assert loaded(qtbot, thumbnails, row) is None
    assert [thumbnails.fault(row) for row in range(4)] == [
        "the file ends before the picture does",
        "30,000 × 30,000 pixels are more than are decoded",
        "it is no picture of a known kind",
        "the file is no longer there",
    ]


def test_that_whatever_goes_wrong_in_looking_for_a_file_is_a_fault(
    qtbot: QtBot, thumbnails: Thumbnails
) -> None:
    thumbnails.show(Folder([]))
    assert loaded(qtbot, thumbnails, 5) is None
    assert thumbnails.fault(5) == "it cannot be read: list index out of range"


def test_that_what_an_index_stores_is_taken_without_opening_the_file(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    folder = Folder([tmp_path / "gone.png"] * 2, {0: thumbnail(two_halves(400, 200)), 1: b"\xff\xd8 damaged"})
    thumbnails.show(folder)
    image = loaded(qtbot, thumbnails, 0)
    assert image is not None
    assert (image.width(), image.height()) == (256, 128)
    assert folder.asked == []
    assert loaded(qtbot, thumbnails, 1) is None
    assert thumbnails.fault(1) == "the file is no longer there"


def test_that_a_stored_thumbnail_stands_in_for_a_large_picture_that_is_gone(
    qtbot: QtBot, tmp_path: Path
) -> None:
    there = save(tmp_path / "there.png", two_halves(900, 600))
    stored = thumbnail(two_halves(400, 200))
    large = Thumbnails(side=1024, stored=False)
    large.show(Folder([there, tmp_path / "gone.png"], {0: stored, 1: stored}))
    image = loaded(qtbot, large, 0)
    assert image is not None
    assert image.width() == 900
    stand_in = loaded(qtbot, large, 1)
    assert stand_in is not None
    assert stand_in.width() == 256
    assert large.fault(1) == "the file is no longer there"
    large.close()


def test_that_small_images_are_given_for_painting_small(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    thumbnails.show(Folder([save(tmp_path / "a.png", two_halves(512, 256))]))
    loaded(qtbot, thumbnails, 0)
    widths = {side: thumbnails.image(0, side).width() for side in (1, 64, 65, 128, 129, 256, 900)}
    assert widths == {1: 64, 64: 64, 65: 128, 128: 128, 129: 256, 256: 256, 900: 256}
    assert like(colour(thumbnails.image(0, 64), 0.1, 0.5), RED)


def keep_busy(qtbot: QtBot, thumbnails: Thumbnails, folder: Folder) -> None:
    """Have every thread stand at the folder's gate with one of the last rows in hand."""
    for row in range(folder.rows - THREADS, folder.rows):
        thumbnails.image(row)
    qtbot.waitUntil(lambda: len(folder.asked) == THREADS)


def test_that_what_is_no_longer_shown_is_not_loaded_and_the_newest_comes_first(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    path = save(tmp_path / "a.png", two_halves(30, 20))
    folder = Folder([path] * 100_000, gate=threading.Event())
    thumbnails.show(folder)
    keep_busy(qtbot, thumbnails, folder)
    for top in range(0, 90_000, 300):  # as fast as a hand can scroll
        rows = range(top, top + 30)
        for row in rows:
            thumbnails.image(row)
        thumbnails.want(qtbot, rows)
    assert thumbnails.waiting == 30
    folder.gate.set()
    qtbot.waitUntil(lambda: thumbnails.waiting == 0 and all(thumbnails.loaded(row) for row in rows))
    assert len(folder.asked) == THREADS + 30
    assert folder.asked[THREADS] == rows[-1]


def test_that_what_another_viewer_shows_is_loaded_though_one_has_moved_on(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    folder = Folder([tmp_path / "gone.png"] * 100, gate=threading.Event())
    thumbnails.show(folder)
    keep_busy(qtbot, thumbnails, folder)
    one, other = object(), object()
    for row in range(50):
        thumbnails.image(row)
    thumbnails.want(one, range(50))
    thumbnails.want(other, range(40, 50))
    thumbnails.want(one, range(60, 70))
    assert thumbnails.waiting == 10
    folder.gate.set()


def test_that_memory_is_bounded_but_what_is_shown_stays(qtbot: QtBot, tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", two_halves(60, 60))
    few = Thumbnails(most_bytes=10 * 60 * 60 * 4)
    folder = Folder([path] * 100)
    few.show(folder)
    for row in range(100):
        loaded(qtbot, few, row)
    assert few.kept == 10
    assert few.loaded(99) is not None
    few.want(qtbot, range(20))
    for row in range(20):
        loaded(qtbot, few, row)
    before = len(folder.asked)
    assert all(loaded(qtbot, few, row) for row in range(20))
    assert len(folder.asked) == before
    few.close()


def test_that_another_table_forgets_the_pictures_of_the_last(
    qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path
) -> None:
    gate = threading.Event()
    thumbnails.show(Folder([save(tmp_path / "a.png", two_halves(10, 10))], gate=gate))
    thumbnails.image(0)
    thumbnails.show(Folder([save(tmp_path / "b.png", two_halves(20, 20))]))
    gate.set()
    image = loaded(qtbot, thumbnails, 0)
    assert image is not None
    assert image.width() == 20
    thumbnails.show(None)
    assert thumbnails.image(0) is None
    assert thumbnails.waiting == 0
