"""A folder of pictures, and a gallery that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot
from shown_gallery import COLOURS, SIZES, Shown, pictures_in

from explorer.commands import Session
from explorer.views.panels.gallery import GalleryPanel
from explorer.views.thumbnails import Thumbnails


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty pictures of many shapes, then one that is cut off."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(30):
        size, colour = SIZES[number % len(SIZES)], COLOURS[number % len(COLOURS)]
        Image.new("RGB", size, colour).save(folder / f"{number:02}.png")
    (folder / "30.png").write_bytes((folder / "00.png").read_bytes()[:60])
    return folder


@pytest.fixture
def shown(qtbot: QtBot, session: Session, folder: Path) -> Iterator[Shown]:
    thumbnails = Thumbnails()
    panel = GalleryPanel(session, thumbnails)
    qtbot.addWidget(panel)
    panel.resize(320, 760)
    with qtbot.waitExposed(panel):
        panel.show()
    made = Shown(session, panel, thumbnails)
    assert session.document.table is not None
    made.carry(pictures_in(folder, session.document.table.listing.rows))
    yield made
    panel.close_down()
    thumbnails.close()
