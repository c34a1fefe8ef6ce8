"""What a start of the window waits for, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("PIL", "llvmlite", "numba", "pyarrow", "scipy", "sklearn", "tokenizers", "torch", "transformers")

START = """
import json, sys
from PySide6.QtWidgets import QApplication
from explorer.app import make_window
from explorer.cli.options import Options

if __name__ == "__main__":
    application = QApplication([])
    window = make_window(application, Options())
    window.show()
    shown = set(sys.modules)  # the drawing kernels are loaded after the first picture
    application.processEvents()
    filled = [dock.windowTitle() for dock in window.docks if dock.widget() is not None]
    window.docks[3].raise_()
    while window.docks[3].widget() is None:
        application.processEvents()
    raised = [dock.windowTitle() for dock in window.docks if dock.widget() is not None]
    window.close()
    window.session.jobs.shutdown()
    print(json.dumps({"modules": sorted(shown), "filled": filled, "raised": raised}))
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("start")
    script = Path(folder, "start.py")
    script.write_text(START)
    settings = {"EMBEDDING_EXPLORER_SETTINGS": str(folder / "settings.json"), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **settings, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_that_a_start_imports_no_heavy_library(started: dict) -> None:
    assert [name for name in HEAVY if name in started["modules"]] == []


def test_that_a_start_imports_no_dialog_and_no_panel_that_lies_behind_others(started: dict) -> None:
    late = ("explorer.views.dialogs.", "explorer.views.panels.stages", "explorer.views.panels.gallery")
    assert [name for name in started["modules"] if name.startswith(late)] == []


def test_that_a_panel_behind_others_is_made_once_it_is_seen(started: dict) -> None:
    assert started["filled"] == ["Sources", "Neighbours"]
    assert started["raised"] == ["Sources", "Neighbours", "Stages"]
