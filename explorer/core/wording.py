"""Numbers in words, as the window writes them."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A count with its noun: ``"1 row"``, ``"1,204 rows"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
