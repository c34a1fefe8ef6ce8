"""From the last key to the painted stages in a window, and how long its thread is held up meanwhile.

Run as ``python -m benchmarks.stages_window``. Models of the sizes of the tests' full ones, with random
weights; 20 tokens, or a picture, given by row numbers so that no vocabulary is needed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "compute" / "stages"))

import picture_checkpoints
import stage_checkpoints
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.commands import Session
from explorer.core.layout import LayoutSettings
from explorer.document import Document, LayoutStage
from explorer.document.settings import Settings
from explorer.jobs import Jobs
from explorer.views.main_window import MainWindow
from explorer.views.panels.matrix_pictures import ValuesPicture
from explorer.views.panels.stages.stages_panel import RUN_AFTER
from explorer.views.theme import apply_theme

TOKENS = 20
TIMES = 15
GOAL = 100  # ms from the pause in typing to the screen
TICK = 5  # ms

MODELS: dict[str, Callable[[], stage_checkpoints.State]] = {
    "word LSTM, 3 × 128": stage_checkpoints.word_lstm,
    "translator, 6 × 256": lambda: stage_checkpoints.translator(11_055, 11_239),
    "GPT, 3 × 256": stage_checkpoints.gpt,
    "music model, 6 × 512": stage_checkpoints.music,
    "captioning, 6 + 6 × 192": picture_checkpoints.captioning,
    "ViT, 4 × 48": picture_checkpoints.cifar_vit,
}


class Painted(QObject):
    """Notes when a stage's values were painted last."""

    at = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Paint and isinstance(watched, ValuesPicture):
            self.at = time.perf_counter()
        return False


def wait(application: QApplication, done: Callable[[], bool]) -> None:
    """Let the window work until something is so."""
    until = time.monotonic() + 60
    while not done():
        application.processEvents()
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.0005)


def measure(application: QApplication, window: MainWindow, path: Path) -> tuple[float, float]:
    """Milliseconds from the last key to the painted stages (median), and the longest gap on the thread."""
    session, panel, document = window.session, window.stages, window.session.document
    session.opening.open([str(path)])
    shows = lambda: document.table is not None and document.table.path == str(path)  # noqa: E731
    wait(application, lambda: shows() and document.stage is LayoutStage.DONE)
    wait(application, lambda: document.model_view.model is not None)
    wait(application, lambda: session.mapping.settled)
    QTest.qWait(1500)
    painted = Painted()
    application.installEventFilter(painted)
    ticks: list[float] = []
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    taken, gaps = [], []
    for turn in range(TIMES + 2):
        before = document.model_view.run
        QTest.qWait(40)
        ticks.clear()
        timer.start(TICK)
        if panel.form.field.isHidden():
            started = time.perf_counter() - RUN_AFTER / 1000  # a picture is run at once
            panel.set_picture(str(path.with_name(f"scene{turn % 2}.png")))
        else:
            text = " ".join(f"#{3 + at + turn}" for at in range(TOKENS))
            panel.form.field.setText(text[:-1])
            started = time.perf_counter()
            QTest.keyClick(panel.form.field, Qt.Key(ord(text[-1])))
        wait(application, lambda before=before: document.model_view.run is not before)
        arrived = time.perf_counter()
        wait(application, lambda arrived=arrived: painted.at > arrived or time.perf_counter() > arrived + 0.2)
        timer.stop()
        run = document.model_view.run
        assert run is not None
        assert panel.form.field.isHidden() or len(run.stages.tokens) == TOKENS
        if turn >= 2:
            taken.append(1e3 * (max(painted.at, arrived) - started))
            gaps.append(1e3 * max((b - a for a, b in pairwise(ticks)), default=0.0))
    application.removeEventFilter(painted)
    return statistics.median(taken), max(gaps)


def main() -> None:
    """Print the table."""
    application = QApplication(sys.argv)
    apply_theme(application, "light")
    jobs = Jobs("cpu")
    session = Session(Document(), jobs, Settings())
    session.document.set_settings(LayoutSettings(method="pca"))
    print(f"{TOKENS} tokens; a run begins {RUN_AFTER} ms after the last key; goal: {GOAL} ms from there.\n")
    print("| model | last key to painted, ms | of it after the pause, ms | longest gap on the thread, ms |")
    print("|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EMBEDDING_EXPLORER_SETTINGS"] = str(Path(folder, "settings.json"))
        window = MainWindow(session)
        window.show()
        dock = window.stages.parentWidget()
        dock.raise_()
        for number, (name, make) in enumerate(MODELS.items()):
            own = Path(folder, str(number))
            own.mkdir()
            for scene in range(2):
                picture_checkpoints.scene(400 + scene, 300).save(own / f"scene{scene}.png")
            path = stage_checkpoints.save(make(), own / "model.pth")
            if name.startswith("captioning"):
                window.stages.set_picture(str(own / "scene0.png"))
            whole, gap = measure(application, window, path)
            print(f"| {name} | {whole:.0f} | {whole - RUN_AFTER:.0f} | {gap:.0f} |", flush=True)
        window.close()
        session.close()
        jobs.shutdown()


if __name__ == "__main__":
    main()
