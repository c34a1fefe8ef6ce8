"""What tests of widgets share: the window's look, real worker processes, a small real table."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import demo_pictures as demo
from window_driver import settle

from explorer.commands import Session
from explorer.core.layout import LayoutSettings
from explorer.core.listing import FileListing
from explorer.document import Document, Source
from explorer.document.settings import Settings
from explorer.jobs import Jobs
from explorer.views.main_window import MainWindow
from explorer.views.theme import apply_theme

FILLERS = 300


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
def jobs(qapp: QApplication) -> Iterator[Jobs]:
    """Real worker processes, started once for all tests of widgets."""
    running = Jobs("cpu")
    ready: list[str] = []
    running.ready.connect(ready.append)
    until = time.monotonic() + 60
    # What starts only now must not look as if the first test had left it behind.
    while len(ready) < 2 and time.monotonic() < until:
        qapp.processEvents()
        time.sleep(0.01)
    assert set(ready) == {"vectors", "layout"}
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
    with qtbot.waitSignal(bare_session.asking.index_ready, timeout=60_000):
        bare_session.opening.open([str(words_file)])
    qtbot.waitUntil(lambda: bare_session.mapping.settled, timeout=30_000)
    return bare_session


@pytest.fixture(scope="session")
def encoder_worker(qapp: QApplication, jobs: Jobs) -> None:
    """The encoder's process, started once for all tests that encode anything."""
    ready: list[str] = []
    jobs.ready.connect(ready.append)
    loading = jobs.encoders.open(demo.CLIP)
    until = time.monotonic() + 60
    while loading.running and time.monotonic() < until:
        qapp.processEvents()
        time.sleep(0.01)
    assert "encoder" in ready


@pytest.fixture(scope="session")
def stages_worker(qapp: QApplication, jobs: Jobs) -> None:
    """The process that runs models stage by stage, started once for all tests that need it."""
    ready: list[str] = []
    jobs.ready.connect(ready.append)
    opening = jobs.stages.open(Source(FileListing(str(demo.CLIP), "", ())))
    until = time.monotonic() + 60
    while opening.running and time.monotonic() < until:
        qapp.processEvents()
        time.sleep(0.01)
    assert "stages" in ready


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
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    shown = MainWindow(bare_session)
    shown.resize(1280, 720)
    shown.show()
    qtbot.waitExposed(shown)
    yield shown
    shown.close()
    shown.deleteLater()


@pytest.fixture
def open_window(qtbot: QtBot, window: MainWindow, words_file: Path) -> MainWindow:
    """A window with the words' table on the map."""
    window.session.opening.open([str(words_file)])
    settle(qtbot, window)
    return window
