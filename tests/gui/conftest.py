"""What tests of widgets share: the window's look, real worker processes, a small real table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import demo_pictures as demo
from patient_bot import PATIENCE, PatientBot
from window_driver import settle

from explorer.commands import Session
from explorer.core.layout import LayoutSettings
from explorer.core.listing import FileListing
from explorer.document import Document, Source
from explorer.document.settings import Settings
from explorer.jobs import Jobs
from explorer.views.clipboard import let_go
from explorer.views.main_window import MainWindow
from explorer.views.panels import notice_bar
from explorer.views.theme import apply_theme

FILLERS = 300


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The robot of all tests of widgets: none fails for a slow machine's sake."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _empty_clipboard(qapp: QApplication) -> Iterator[None]:
    """No test finds what another copied."""
    yield
    let_go()


@pytest.fixture(scope="session")
def words_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word vectors as text: king - man + woman is queen by construction; 300 words of noise."""
    random = np.random.default_rng(7)
    royal, male, female, city = np.eye(4, 24) * 3
    made = {
        "king": royal + male,
        "queen": royal + female,
        "man": male,
        "woman": female,
        "prince": royal + 0.5 * male,
        "princess": royal + 0.5 * female,
        "Paris": city,
        "new york": city,
        "bank": royal + city,
    }
    rows = [(name, vector + random.normal(0, 0.15, 24)) for name, vector in made.items()]
    rows += [(f"word{number:03}", random.normal(0, 1, 24)) for number in range(FILLERS)]
    rows.append(("bank", male - city))
    path = tmp_path_factory.mktemp("words") / "words.txt"
    lines = (f"{name} {' '.join(f'{value:.6f}' for value in vector)}" for name, vector in rows)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def jobs(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[Jobs]:
    """Real worker processes, started once for all tests of widgets."""
    running = Jobs("cpu")
    ready: set[str] = set()
    running.ready.connect(ready.add)
    # What starts only now must not look as if the first test had left it behind.
    PatientBot(request).waitUntil(lambda: ready == {"vectors", "layout"})
    yield running
    running.shutdown()


@pytest.fixture
def bare_session(qapp: QApplication, jobs: Jobs) -> Iterator[Session]:
    """A session with nothing open."""
    apply_theme(qapp, "light")
    session = Session(Document(), jobs, Settings())
    yield session
    session.close()
    if session.document.table is not None:
        jobs.release_table(session.document.table.key)


@pytest.fixture
def session(qtbot: QtBot, bare_session: Session, words_file: Path) -> Session:
    """A session with the words' table on the map, at its first picture, its labels indexed."""
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    with qtbot.waitSignal(bare_session.asking.index_ready):
        bare_session.opening.open([str(words_file)])
    qtbot.waitUntil(lambda: bare_session.mapping.settled)
    return bare_session


@pytest.fixture(scope="session")
def encoder_worker(jobs: Jobs, request: pytest.FixtureRequest) -> None:
    """The encoder's process, started once for all tests that encode anything."""
    PatientBot(request).waitSignal(jobs.encoders.open(demo.CLIP).finished).wait()


@pytest.fixture(scope="session")
def stages_worker(jobs: Jobs, request: pytest.FixtureRequest) -> None:
    """The process that runs models stage by stage, started once for all tests that need it."""
    source = Source(FileListing(str(demo.CLIP), "", ()))
    PatientBot(request).waitSignal(jobs.stages.open(source).finished).wait()


@pytest.fixture(scope="session")
def scenes_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the index of the demo's pictures is, or will be."""
    return tmp_path_factory.mktemp("scenes") / "scenes.index"


@pytest.fixture
def scenes(qtbot: QtBot, encoder_worker: None, bare_session: Session, scenes_index: Path) -> Session:
    """A session with the index of the demo's pictures on the map and its encoder loaded; made once."""
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    if scenes_index.exists():
        demo.show(qtbot, bare_session, scenes_index)
    else:
        demo.make_index(qtbot, bare_session, demo.SCENES, scenes_index)
    return bare_session


@pytest.fixture
def window(
    qtbot: QtBot, bare_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """An empty window, shown."""
    import explorer.render.kernels  # noqa: F401 - else a thread of the first window loads them

    monkeypatch.setenv("EMBEDDING_EXPLORER_SETTINGS", str(tmp_path / "settings.json"))
    monkeypatch.setattr(notice_bar, "NOTE_MS", PATIENCE)  # a note stays until it has been looked at
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    shown = MainWindow(bare_session)
    shown.resize(1280, 720)
    with qtbot.waitExposed(shown):
        shown.show()
    yield shown
    shown.close()
    shown.deleteLater()


@pytest.fixture
def open_window(qtbot: QtBot, window: MainWindow, words_file: Path) -> MainWindow:
    """A window with the words' table on the map."""
    window.session.opening.open([str(words_file)])
    settle(qtbot, window)
    return window
