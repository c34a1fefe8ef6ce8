"""Numbers in words, as the window writes them."""

from __future__ import annotations

from explorer.core.index import IndexProgress


def counted(count: int, noun: str) -> str:
    """A count with its noun: ``"1 row"``, ``"1,204 rows"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def is_are(count: int) -> str:
    """The verb for so many."""
    return "is" if count == 1 else "are"


def has_have(count: int) -> str:
    """The verb for so many."""
    return "has" if count == 1 else "have"


def unmatched_words(count: int) -> str:
    """That so many names in lists of captions are no picture's."""
    return f"{counted(count, 'name')} in the captions {'belongs' if count == 1 else 'belong'} to no picture."


def time_left(seconds: float) -> str:
    """A time that is still to go, in words, e.g. ``"2 s left"``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s left"
    minutes = round(seconds / 60)
    return f"{minutes} min left" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min left"


def progress_words(progress: IndexProgress, *, paused: bool = False) -> str:
    """How far an index run is, e.g. ``"Pictures: 1,204 of 8,091 · 31 a second · 4 min left"``."""
    if not progress.total:
        return progress.stage + (f" {progress.done:,}" if progress.done else "…")
    parts = [f"{progress.stage}: {progress.done:,} of {progress.total:,}"]
    if paused:
        parts.append("paused")
    elif progress.done < progress.total:
        if progress.rate:
            parts.append(f"{progress.rate:,.{0 if progress.rate >= 10 else 1}f} a second")
        if progress.seconds_left is not None:
            parts.append(time_left(progress.seconds_left))
    return " · ".join(parts)
