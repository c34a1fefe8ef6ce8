"""A value that is slow to make, kept until what it follows from is replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QRectF

Value = TypeVar("Value")
PLAIN = (str, int, float, tuple, QRectF)
"""Sources that are compared by value; others, arrays above all, are what they are."""


class Kept(Generic[Value]):
    """One value, and the objects that it was made from."""

    def __init__(self) -> None:
        self._sources: tuple[object, ...] = ()
        self._value: Value | None = None
        self._made = False

    def of(self, make: Callable[[], Value], *sources: object) -> Value:
        """The value; made anew where one of the sources is another one than last time."""
        same = len(sources) == len(self._sources) and all(
            now is before or (isinstance(now, PLAIN) and now == before)
            for now, before in zip(sources, self._sources, strict=True)
        )
        if not self._made or not same:
            self._value, self._sources, self._made = make(), sources, True
        return self._value  # type: ignore[return-value]

    def forget(self) -> None:
        """Let go of the value."""
        self._sources, self._value, self._made = (), None, False
