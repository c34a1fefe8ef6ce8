"""A table too large to be laid out whole, in the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.layout import LayoutSettings
from explorer.views.panels.status_bar import StatusBar


@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_the_bottom_line_says_by_how_many_rows_a_map_was_made(
    dimensions: int, qtbot: QtBot, session: Session
) -> None:
    bar = StatusBar(session)
    qtbot.addWidget(bar)
    document = session.document
    document.set_settings(LayoutSettings(epochs=20, most_rows=100, dimensions=dimensions))
    session.mapping.start()
    qtbot.waitUntil(lambda: session.mapping.settled and document.sampled is not None)
    assert document.positions.shape == (310, dimensions)
    assert "100 rows laid out, the others placed by them" in bar.trust.text()
    qtbot.waitUntil(lambda: document.trust is not None)
    assert bar.trust.text().startswith("100 rows laid out, the others placed by them · trustworthiness 0.")
    document.set_settings(LayoutSettings(epochs=20, dimensions=dimensions))
    session.mapping.start()
    qtbot.waitUntil(lambda: session.mapping.settled and document.sampled is None)
    qtbot.waitUntil(lambda: document.trust is not None)
    assert bar.trust.text().startswith("trustworthiness 0.")
