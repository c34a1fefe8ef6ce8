"""Text of models and their files in the panel's labels."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from explorer.views.panels.form import quiet

_DOT = re.compile(r"\.(?=[^\W\d])|(?<=[^\W\d])\.(?=\d)")


def plain(text: str = "") -> QLabel:
    """Quiet text that is shown as it is: a token may be ``<s>``."""
    label = quiet(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def breakable(text: str) -> str:
    """A text whose tensors' names can go on in the next line after a dot; numbers stay whole."""
    return _DOT.sub(".\u200b", text)
