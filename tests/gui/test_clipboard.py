"""What the program leaves on the clipboard when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COPIES = """
import sys
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from explorer.views.clipboard import let_go, put_picture

application = QApplication([])
image = QImage(4, 4, QImage.Format.Format_RGB32)
image.fill(QColor("red"))
put_picture(image, [QUrl.fromLocalFile("/a.png")])
assert application.clipboard().image() == image
let_go()
"""


def test_that_a_program_that_copied_a_picture_ends_well(tmp_path: Path) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "XDG_RUNTIME_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", COPIES], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
