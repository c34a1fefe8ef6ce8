"""A folder of pictures on the window: offered, indexed, paused, stopped, opened; and what was left out."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import demo_pictures as demo
import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot
from window_driver import drop

from explorer.commands import Session
from explorer.readers.index_places import indexes_of
from explorer.views import file_commands
from explorer.views.dialogs.verdicts import BAD, EVERY, REPEATED, UNMATCHED, WAITING, Verdicts
from explorer.views.main_window import MainWindow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve pictures of the demo, one of them twice, and four files that are none."""
    made = tmp_path / "odd ones"
    (made / "more").mkdir(parents=True)
    for number in range(12):
        shutil.copy(demo.scene(number), made)
    shutil.copy(demo.scene(3), made / "more" / "copy.png")
    (made / "cut.png").write_bytes(demo.scene(5).read_bytes()[:400])
    (made / "empty.jpg").touch()
    (made / "page.jpg").write_text("<html>404</html>")
    if sys.platform != "win32":
        (made / "link.png").symlink_to(made / "nowhere.png")
    return made


@pytest.fixture
def watched(encoder_worker: None, window: MainWindow) -> Iterator[MainWindow]:
    """A window whose run, if one is left, is ended."""
    yield window
    window.session.indexing.cancel()


def offered(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.offer.isVisible() and not window.offer.is_counting)


def press(window: MainWindow, text: str) -> None:
    """Press a button of the message above the map."""
    next(button for button in window.notice.findChildren(QPushButton) if button.text() == text).click()


def indexed(qtbot: QtBot, window: MainWindow, vectors: int) -> None:
    document = window.session.document
    qtbot.waitUntil(
        lambda: (
            document.table is not None
            and document.encoder is not None
            and document.index_run is None
            and int(document.table.health.healthy.sum()) == vectors
        )
    )


MANY = 160


def bad_files() -> int:
    return 3 if sys.platform == "win32" else 4


# Offered


def test_that_a_dropped_folder_is_indexed_and_what_was_left_out_is_told(
    qtbot: QtBot, watched: MainWindow, folder: Path
) -> None:
    (folder / "captions.csv").write_text("image,caption\nscene-0003.png,a scene\nabsent.png,nothing\n")
    drop(watched, folder)
    offered(qtbot, watched)
    offer, rows = watched.offer, 13 + bad_files()
    assert offer.text.text() == f"Index {rows} pictures in odd ones with"
    assert offer.encoder.currentText() == "clip (demo)"
    assert offer.place.text() == f"The index goes to {folder.parent / 'odd ones-index'}"
    assert offer.present.isHidden()
    assert watched.notice.isHidden()
    offer.go.click()
    assert offer.isHidden()
    assert watched.side.index_run.isVisible()
    assert watched.side.index_run.name.text() == "odd ones with clip"
    indexed(qtbot, watched, vectors=13)
    assert watched.side.index_run.isHidden()
    qtbot.waitUntil(watched.notice.isVisible)
    assert watched.notice.text.text() == (
        f"13 of {rows} pictures in odd ones-index have a vector; {bad_files()} could not be used; "
        "1 is the same as an earlier one. 1 name in the captions belongs to no picture."
    )
    press(watched, "Show those")
    listed = watched.findChild(Verdicts).model.shown
    (cut,) = [remark for remark in listed if remark.verdict == "cut off"]
    assert cut.picture == "cut.png"
    assert [remark.reason for remark in listed if remark.picture == "more/copy.png"] == ["scene-0003.png"]
    dialog = watched.findChild(Verdicts)
    dialog.which.setCurrentText(UNMATCHED)
    assert [(remark.picture, remark.reason) for remark in dialog.model.shown] == [
        ("absent.png", "named in captions.csv")
    ]
    dialog.copy.click()
    assert QApplication.clipboard().text().splitlines()[1].startswith("\tabsent.png\t")
    dialog.list.activated.emit(dialog.model.index(0, 0))  # leads nowhere
    dialog.close()
    assert watched.session.document.pictures is not None
    assert indexes_of(folder) == (folder.parent / "odd ones-index",)
    with qtbot.waitSignal(watched.session.asking.rejected) as refused:
        watched.session.asking.ask(f"#{cut.row}")
    why = "the file ends before the picture does"
    assert refused.args[0].message == f"Row #{cut.row} (cut.png) has no vector: {why}."


def test_that_return_takes_the_offer_and_escape_does_not(
    qtbot: QtBot, watched: MainWindow, folder: Path
) -> None:
    watched.session.opening.open([str(folder)])
    offered(qtbot, watched)
    qtbot.keyClick(watched.offer, Qt.Key.Key_Escape)
    assert watched.offer.isHidden()
    assert watched.session.document.index_run is None
    watched.session.opening.open([str(folder)])
    offered(qtbot, watched)
    qtbot.keyClick(watched.offer, Qt.Key.Key_Return)
    assert watched.session.document.index_run is not None


def test_that_the_index_goes_where_the_person_says(
    qtbot: QtBot, watched: MainWindow, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args, **_named: str(folder))
    watched.actions_by_name["index_folder"].trigger()
    offered(qtbot, watched)
    chosen = tmp_path / "elsewhere" / "mine"
    chosen.parent.mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args, **_named: (str(chosen), ""))
    watched.offer.elsewhere.click()
    assert watched.offer.place.text() == f"The index goes to {chosen}"
    watched.offer.go.click()
    indexed(qtbot, watched, vectors=13)
    assert watched.session.document.table.path == str(chosen)


def test_that_a_folder_with_an_index_offers_to_open_it_or_to_bring_it_up_to_date(
    qtbot: QtBot, watched: MainWindow, folder: Path
) -> None:
    watched.session.indexing.start(str(folder), str(demo.CLIP))
    indexed(qtbot, watched, vectors=13)
    index = folder.parent / "odd ones-index"
    watched.session.opening.close_source(str(index))
    drop(watched, folder)
    offered(qtbot, watched)
    assert watched.offer.place.text() == f"Brings {index} up to date."
    watched.offer.present.click()
    indexed(qtbot, watched, vectors=13)
    assert watched.offer.isHidden()
    shutil.copy(demo.scene(40), folder)
    drop(watched, folder)
    offered(qtbot, watched)
    watched.offer.go.click()
    indexed(qtbot, watched, vectors=14)


def test_that_a_folder_of_nothing_says_so_in_one_sentence(
    qtbot: QtBot, watched: MainWindow, tmp_path: Path
) -> None:
    empty = tmp_path / "notes"
    empty.mkdir()
    (empty / "todo.md").write_text("milk")
    drop(watched, empty)
    qtbot.waitUntil(watched.notice.isVisible)
    assert watched.notice.text.text() == "The folder notes holds neither a checkpoint nor pictures."
    assert watched.offer.isHidden()


def test_that_a_checkpoint_comes_before_the_pictures_beside_it_which_are_offered(
    qtbot: QtBot, watched: MainWindow, folder: Path
) -> None:
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32))
    drop(watched, folder)
    qtbot.waitUntil(lambda: watched.session.document.table is not None)
    qtbot.waitUntil(watched.notice.isVisible)
    assert "odd ones holds pictures, too." in watched.notice.text.text()
    assert watched.offer.isHidden()
    press(watched, "Index its pictures…")
    offered(qtbot, watched)


# Under way


def test_that_a_run_is_paused_stopped_and_offered_to_go_on(
    qtbot: QtBot, watched: MainWindow, tmp_path: Path
) -> None:
    many = tmp_path / "many"
    many.mkdir()
    random = np.random.default_rng(0)
    for number in range(MANY):
        fields = random.integers(0, 256, (4, 5, 3), dtype=np.uint8)
        Image.fromarray(fields).resize((160, 128), Image.Resampling.NEAREST).save(many / f"{number:03}.png")
    watched.session.indexing.start(str(many), str(demo.CLIP))
    section = watched.side.index_run
    document = watched.session.document
    demo.at_picture(watched.session, 32, section.pause.click)
    qtbot.waitUntil(lambda: document.index_run.paused)
    assert section.pause.text() == "Resume"
    assert section.words.text().startswith("Pictures: ")
    assert section.words.text().endswith("of 160 · paused")
    (line,) = (line for job, line in watched.status._lines.items() if job.pausable)
    assert (line.pause.text(), line.left.text()) == ("Resume", "paused")
    line.pause.click()
    assert section.pause.text() == "Pause"
    assert line.pause.text() == "Pause"
    section.cancel.click()
    qtbot.waitUntil(lambda: document.index_run is None)
    assert "Indexing many was stopped" in watched.notice.text.text()
    press(watched, "Show what is there")
    qtbot.waitUntil(lambda: "not indexed yet" in watched.notice.text.text())
    have = int(document.table.health.healthy.sum())
    assert have < MANY
    watched.side.table.quarantined.click()
    dialog = watched.findChild(Verdicts)
    assert dialog.about.text() == f"{MANY - have} pictures are not indexed yet."
    assert [dialog.which.itemText(place) for place in range(dialog.which.count())] == [EVERY, WAITING]
    dialog.close()
    press(watched, "Go on")
    indexed(qtbot, watched, vectors=MANY)


# Listed


def test_that_the_list_is_filtered_copied_and_saved(
    qtbot: QtBot, watched: MainWindow, folder: Path, tmp_path: Path
) -> None:
    watched.session.indexing.start(str(folder), str(demo.CLIP))
    indexed(qtbot, watched, vectors=13)
    watched.side.table.quarantined.click()
    dialog = watched.findChild(Verdicts)
    assert len(dialog.model.shown) == bad_files() + 1
    dialog.which.setCurrentText(REPEATED)
    assert [remark.picture for remark in dialog.model.shown] == ["more/copy.png"]
    dialog.which.setCurrentText(BAD)
    assert len(dialog.model.shown) == bad_files()
    qtbot.keyClicks(dialog.filter, "EMPTY")
    assert [remark.picture for remark in dialog.model.shown] == ["empty.jpg"]
    assert dialog.count.text() == f"1 of {bad_files() + 1} shown"
    dialog.copy.click()
    assert QApplication.clipboard().text().splitlines() == [
        "Row\tPicture\tVerdict\tReason",
        "1\tempty.jpg\tempty\tthe file is empty",
    ]
    path = tmp_path / "left out.csv"
    dialog.save_csv(path)
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [
            {"row": "1", "picture": "empty.jpg", "verdict": "empty", "reason": "the file is empty"}
        ]
    qtbot.keyClicks(dialog.filter, " no such")
    assert not dialog.save.isEnabled()
    dialog.close()


# The demo


def test_that_the_demo_makes_its_index_once_and_shows_its_pictures(
    qtbot: QtBot, watched: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.demos.user_cache_path", lambda *_args, **_named: tmp_path)
    watched.start.pictures.click()
    assert watched.session.document.index_run is not None
    indexed(qtbot, watched, vectors=demo.COUNT)
    document = watched.session.document
    assert Path(document.table.path).name == "demo pictures"
    assert document.pictures is not None
    watched.session.asking.ask("two green stars")
    qtbot.waitUntil(lambda: document.answer is not None)
    monkeypatch.setattr(
        file_commands.FileCommands, "index_folder", lambda self: pytest.fail("it is there already")
    )
    watched.session.opening.close_source(document.table.path)
    watched.files.open_demo("clip")
    assert document.index_run is None
    indexed(qtbot, watched, vectors=demo.COUNT)


def test_that_a_message_and_the_offer_stand_one_above_the_other(
    qtbot: QtBot, bare_session: Session, watched: MainWindow, folder: Path
) -> None:
    drop(watched, folder)
    offered(qtbot, watched)
    bare_session.notices.tell("Something else.")
    assert watched.offer.isVisible()
    assert watched.notice.isVisible()
    watched.restyle()
    watched.offer.shut.click()
    assert watched.offer.isHidden()
