"""The demo's pictures and CLIP, and what a person does with an index of pictures, as functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.resources import resource_path

CLIP = resource_path("demo", "clip")
SCENES = resource_path("demo", "pictures")
COUNT = 60


def scene(number: int) -> Path:
    """A picture of the demo's."""
    return SCENES / f"scene-{number:04}.png"


def make_index(qtbot: QtBot, session: Session, folder: Path, index: Path) -> None:
    """Index a folder by the demo's CLIP, as a person does, and wait until the index is shown."""
    with qtbot.waitSignal(session.indexing.finished):
        session.indexing.start(str(folder), str(CLIP), str(index))
    show(qtbot, session, index)


def at_picture(session: Session, count: int, act: Callable[[], None]) -> None:
    """Do something at the moment when it is told that so many pictures of a run are done."""
    waits = True

    def look() -> None:
        nonlocal waits
        run = session.document.index_run
        if waits and run is not None and run.progress.stage == "Pictures" and run.progress.done >= count:
            waits = False
            act()

    session.document.index_run_changed.connect(look)


def show(qtbot: QtBot, session: Session, index: Path, table: str = "image_vectors") -> None:
    """Wait until a table of the index is shown, with its labels and its encoder."""
    if session.document.source_at(str(index)) is None:
        session.opening.open([str(index)])
    document = session.document

    def shown() -> bool:
        return document.table is not None and document.table.path == str(index)

    qtbot.waitUntil(shown)
    if document.table.listing.name != table:
        session.opening.choose_table(str(index), table)
    qtbot.waitUntil(
        lambda: (
            shown()
            and document.table.listing.name == table
            and document.encoder is not None
            and session.asking.index is not None
        )
    )
