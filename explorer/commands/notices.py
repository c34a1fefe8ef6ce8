"""What the person is told in the bar above the map: errors with a way on, and notes worth a glance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from explorer.core.errors import ExplorerError


@dataclass(frozen=True, eq=False)
class Notice:
    """One thing to tell.

    Attributes
    ----------
    text : str
    detail : str
        The technical rest, shown on request.
    serious : bool
        An error, in the error colour; it stays until it is closed.
    actions : tuple of (str, callable)
        Buttons, each with a way on.
    error : ExplorerError or None
        What the notice tells of, where it is an error.
    """

    text: str
    detail: str = ""
    serious: bool = False
    actions: tuple[tuple[str, Callable[[], None]], ...] = ()
    error: ExplorerError | None = None


class Notices(QObject):
    """Carries notices from the commands to whoever shows them."""

    posted = Signal(object)
    cleared = Signal()

    def tell(self, text: str, *actions: tuple[str, Callable[[], None]]) -> None:
        """Post a note."""
        self.posted.emit(Notice(text, actions=actions))

    def error(self, error: ExplorerError, *actions: tuple[str, Callable[[], None]]) -> None:
        """Post an error with its ways on."""
        self.posted.emit(Notice(str(error), error.detail, serious=True, actions=actions, error=error))

    def clear(self) -> None:
        """Take the bar away: what it said no longer holds."""
        self.cleared.emit()
