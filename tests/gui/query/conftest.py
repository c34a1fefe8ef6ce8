"""The query line in a window of its own, on real workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.views.panels.query_bar import QueryBar


@pytest.fixture
def bar(qtbot: QtBot, session: Session) -> Iterator[QueryBar]:
    """A query bar at the top of a window, with the cursor in it."""
    window = QWidget()
    made = QueryBar(session)
    column = QVBoxLayout(window)
    column.addWidget(made)
    column.addStretch(1)
    window.resize(640, 420)
    qtbot.addWidget(window)
    window.show()
    qtbot.focus(made.field)
    yield made
    window.close()
