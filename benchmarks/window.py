"""The window: time until it is on screen, gaps on its thread under load, time from a dropped file to its map.

Run as ``python -m benchmarks.window``; each part runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, DIM = 12_778, 128
TIMES = 7

WATCH = """
import sys, time
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
class Watch(QObject):
    seen = False
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not self.seen:
            self.seen = True
            QTimer.singleShot(0, self.tell)
        return False
    def tell(self):
        print(time.time(), flush=True)
        window.close()
"""
BARE = (
    WATCH
    + """
import pyqtgraph
application = QApplication(sys.argv)
window = QMainWindow()
window.setCentralWidget(pyqtgraph.PlotWidget())
window.resize(1440, 900)
watch = Watch()
application.installEventFilter(watch)
window.show()
application.exec()
"""
)
OURS = (
    WATCH
    + """
from explorer.app import make_window
from explorer.cli.options import Options
if __name__ == "__main__":
    application = QApplication(sys.argv)
    window = make_window(application, Options())
    watch = Watch()
    application.installEventFilter(watch)
    window.show()
    application.exec()
    window.session.jobs.shutdown()
"""
)


def measure_start() -> dict[str, float]:
    """Seconds from starting a process to its window's first picture: ours and a bare one, in turn."""
    seconds: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, source in (("bare", BARE), ("ours", OURS)):
            Path(folder, f"{name}.py").write_text(source)
        for _ in range(TIMES):
            for name, taken in seconds.items():
                started = time.time()
                done = subprocess.run(
                    [sys.executable, str(Path(folder, f"{name}.py"))],
                    check=True,
                    capture_output=True,
                    text=True,
                    env=_environment(folder),
                    timeout=60,
                )
                taken.append(float(done.stdout.split()[0]) - started)
    bare, ours = (statistics.median(seconds[name]) for name in ("bare", "ours"))
    return {"bare": bare, "ours": ours, "ratio": ours / bare}


def _environment(folder: str) -> dict[str, str]:
    return os.environ | {
        "EMBEDDING_EXPLORER_SETTINGS": str(Path(folder, "settings.json")),
        "PYTHONPATH": str(Path(__file__).parent.parent),
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
    }


def write_table(path: Path, seed: int = 0) -> None:
    """A clustered table of the word LSTM's size, for timing."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(60, DIM))
    rows = centres[rng.integers(60, size=ROWS)] + rng.normal(scale=0.6, size=(ROWS, DIM))
    np.save(path, rows.astype(np.float32))


def run_under_load(folder: Path) -> dict[str, float]:
    """Open a table in a warm window and ask all through its layout; needs a QApplication of its own."""
    from PySide6.QtCore import QElapsedTimer, QTimer
    from PySide6.QtWidgets import QApplication

    from explorer.app import make_window
    from explorer.cli.options import Options
    from explorer.document import LayoutStage

    application = QApplication.instance() or QApplication(sys.argv[:1])
    window = make_window(application, Options())
    session, document = window.session, window.session.document
    window.show()
    first, second = folder / "first.npy", folder / "second.npy"
    write_table(first)
    write_table(second, 1)

    def until(holds: object, seconds: float = 120.0) -> None:
        end = time.monotonic() + seconds
        while not holds() and time.monotonic() < end:
            application.processEvents()
            time.sleep(0.001)

    warm = set()
    session.jobs.ready.connect(warm.add)
    until(lambda: {"vectors", "layout"} <= warm)
    until(lambda: False, 2.0)
    session.opening.open([str(second)])
    until(lambda: document.stage is LayoutStage.DONE)
    until(lambda: document.trust is not None)

    marks: dict[str, float] = {}

    def note() -> None:
        if document.table is None or document.table.path != str(first):
            return
        if document.stage is not LayoutStage.WAITING:
            marks.setdefault("pca", time.monotonic())
        if document.stage is LayoutStage.DONE:
            marks.setdefault("umap", time.monotonic())

    document.positions_changed.connect(note)
    started = time.monotonic()
    session.opening.open([str(first)])
    until(lambda: "umap" in marks)
    until(lambda: document.trust is not None)

    gaps: list[float] = []
    clock = QElapsedTimer()
    ticker = QTimer()
    ticker.setInterval(5)

    def tick() -> None:
        gaps.append(clock.nsecsElapsed() / 1e6)
        clock.start()

    ticker.timeout.connect(tick)
    clock.start()
    ticker.start()
    asker = QTimer()
    asker.setInterval(100)
    asker.timeout.connect(lambda: session.asking.ask_row(int(time.monotonic() * 1000) % ROWS))
    asker.start()
    loads = QTimer()
    loads.setInterval(700)
    loads.timeout.connect(lambda: session.jobs.load_table(str(second), second.stem))
    loads.start()
    session.mapping.start()
    done = time.monotonic()
    QTimer.singleShot(8000, application.quit)
    application.exec()
    for timer in (ticker, asker, loads):
        timer.stop()
    window.close()
    session.jobs.shutdown()
    found = np.array(gaps[1:])
    return {
        "drop_to_pca": marks["pca"] - started,
        "drop_to_umap": marks["umap"] - started,
        "gap_p99": float(np.percentile(found, 99)),
        "gap_max": float(found.max()),
        "ticks": len(found),
        "seconds": time.monotonic() - done,
    }


def main() -> None:
    """Print both parts as Markdown."""
    start = measure_start()
    print("| window on screen | seconds, median of", TIMES, "|\n|---|---|")
    print(f"| bare PySide6 + pyqtgraph | {start['bare']:.2f} |")
    print(f"| Embedding Explorer | {start['ours']:.2f} ({start['ratio']:.2f} ×, goal 2 ×) |\n")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.window", "--load", folder],
            check=True,
            capture_output=True,
            text=True,
            env=_environment(folder),
            timeout=600,
        )
    load = json.loads(done.stdout.splitlines()[-1])
    print(f"| {ROWS:,} × {DIM}, warm | measured | goal |\n|---|---|---|")
    print(f"| dropped file to PCA on screen | {load['drop_to_pca']:.2f} s | 0.5 s |")
    print(f"| dropped file to finished UMAP | {load['drop_to_umap']:.2f} s | 5 s |")
    print(f"| gap of a 5 ms timer under load, p99 | {load['gap_p99']:.0f} ms | 50 ms |")
    print(f"| the longest of {load['ticks']:,} | {load['gap_max']:.0f} ms | 150 ms |")


if __name__ == "__main__":
    if "--load" in sys.argv:
        print(json.dumps(run_under_load(Path(sys.argv[-1]))))
    else:
        main()
