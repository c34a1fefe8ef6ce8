"""The one error tree. Every message is written for the person at the window."""

from __future__ import annotations


class ExplorerError(Exception):
    """Something the user can understand and act on.

    Parameters
    ----------
    message : str
        What went wrong and where, in one plain sentence.
    hint : str, optional
        What to do about it.
    detail : str, optional
        Technical rest, shown only on request.
    """

    def __init__(self, message: str, hint: str = "", detail: str = "") -> None:
        super().__init__(message, hint, detail)
        self.message = message
        self.hint = hint
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class WorkerLost(ExplorerError):  # noqa: N818 - named for what happened
    """The process that did some work has ended before it was done."""


class Cancelled(Exception):  # noqa: N818 - not an error: the person asked for it
    """Raised inside long work when the person has asked for it to stop."""
