"""What was done, to be taken back and done again: one stack for the whole document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Part = Literal["selection", "filter", "colouring", "isolation", "regions", "settings", "kept"]
"""What of the document can be undone."""

MOST_CHANGES = 200
MOST_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Change:
    """One thing that was done to one part of the document.

    Attributes
    ----------
    text : str
        What was done, to stand behind "Undo": ``"select 1,204 rows"``.
    part : Part
        Which part of the document it was done to.
    before, after : object
        That part's values, never changed in place.
    """

    text: str
    part: Part
    before: object
    after: object

    @property
    def nbytes(self) -> int:
        """How much memory its values' arrays take."""
        return _nbytes(self.before) + _nbytes(self.after)


@dataclass
class UndoStack:
    """Changes done, and those taken back since; a new one drops the latter.

    The oldest go where there are more than ``MOST_CHANGES``, or they hold more than ``MOST_BYTES``.
    """

    done: list[Change] = field(default_factory=list)
    undone: list[Change] = field(default_factory=list)

    def push(self, change: Change, *, merge: bool = False) -> None:
        """Note a change; with ``merge``, it is one with the last where that was to the same part."""
        self.undone.clear()
        if merge and self.done and self.done[-1].part == change.part:
            change = Change(change.text, change.part, self.done.pop().before, change.after)
            if change.before == change.after:
                return
        self.done.append(change)
        held = sum(each.nbytes for each in self.done)
        while len(self.done) > MOST_CHANGES or (held > MOST_BYTES and len(self.done) > 1):
            held -= self.done.pop(0).nbytes

    def undo(self, put: Callable[[Part, object], None]) -> Change | None:
        """Take the last change back by ``put(part, value)``; None where there is none."""
        if not self.done:
            return None
        change = self.done.pop()
        self.undone.append(change)
        put(change.part, change.before)
        return change

    def redo(self, put: Callable[[Part, object], None]) -> Change | None:
        """Do again what was last taken back; None where there is nothing."""
        if not self.undone:
            return None
        change = self.undone.pop()
        self.done.append(change)
        put(change.part, change.after)
        return change

    def forget(self, part: Part) -> None:
        """Drop the changes to one part: what they would bring back fits no longer."""
        self.done = [change for change in self.done if change.part != part]
        self.undone = [change for change in self.undone if change.part != part]

    def clear(self) -> None:
        """Forget everything."""
        self.done.clear()
        self.undone.clear()


def _nbytes(value: object) -> int:
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return int(getattr(value, "nbytes", 0))
