"""Row numbers that were typed where a text is asked for."""

from __future__ import annotations

import re

_MARKED = re.compile(r"#(\d{1,18})")
_BARE = re.compile(r"#?(\d{1,18})")


def typed_ids(text: str, *, bare: bool = False) -> tuple[int, ...] | None:
    """Row numbers, where nothing else was typed.

    Parameters
    ----------
    text : str
        ``"#5 #17"``; blanks, commas, semicolons and brackets may stand between.
    bare : bool
        Whether plain numbers count, as in ``"5, 17"``: without a vocabulary they can be nothing else.

    Returns
    -------
    tuple of int, or None
        None where anything else stands in the text, or nothing at all.
    """
    form = _BARE if bare else _MARKED
    found = [form.fullmatch(part) for part in re.split(r"[\s,;()\[\]]+", text) if part]
    if not found or None in found:
        return None
    return tuple(int(match[1]) for match in found if match is not None)
