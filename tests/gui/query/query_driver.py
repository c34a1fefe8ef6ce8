"""What is seen of the query line and its answers."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.labels import label_of
from explorer.views.panels.query_bar import QueryBar


def answered(qtbot: QtBot, session: Session, text: str) -> None:
    """Wait until a question stands answered."""
    qtbot.waitUntil(
        lambda: session.document.answer is not None and session.document.answer.question.text == text
    )


def best(session: Session) -> str:
    """The label of the nearest neighbour."""
    document = session.document
    assert document.answer is not None
    assert document.table is not None
    return label_of(document.table.labels, int(document.answer.result.rows[0]))


def history(session: Session) -> list[str]:
    return [question.text for question in session.document.questions.items]


def offered(bar: QueryBar) -> list[str]:
    return [offer.label for offer in bar.popup.offers.items] if bar.popup.isVisible() else []
