"""Which tokens a tokenizer marks as special: PAD, UNK, BOS, EOS, ``[CLS]`` and their like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from explorer.readers.packed_labels import BRACKETED

_BARE = frozenset(["PAD", "UNK", "BOS", "EOS", "SOS", "CLS", "SEP", "MASK"])
_BARE_LOWER = frozenset(["pad", "unk", "bos", "eos", "sos", "start", "end"])
_PIPED = re.compile(r"<\|[^<>|]+\|>|\[(?:PAD|UNK|CLS|SEP|MASK)\d?\]")


def special_names(content: dict[str, Any]) -> Iterable[str]:
    """Tokens under keys like ``pad_token``, as text or with their settings; and decoders' special ones."""
    for key, value in content.items():
        entries: list[Any] = []
        if key.endswith("_token"):
            entries = [value]
        elif key == "additional_special_tokens" and isinstance(value, list):
            entries = value
        elif key == "added_tokens_decoder" and isinstance(value, dict):
            entries = [
                each for each in value.values() if isinstance(each, dict) and each.get("special") is True
            ]
        for entry in entries:
            token = entry.get("content") if isinstance(entry, dict) else entry
            if isinstance(token, str) and token:
                yield token


def special_by_name(texts: Sequence[str | None]) -> frozenset[int]:
    """Ids whose names say that they are special.

    Names in brackets say so anywhere. Bare ones (``PAD``, ``UNK``) only among the first ids, and in lower
    case, where they could be words, only two or more of them together.
    """
    found = {
        number
        for number, text in enumerate(texts)
        if text is not None and text[:1] in ("<", "[") and (text in BRACKETED or _PIPED.fullmatch(text))
    }
    found |= {number for number, text in enumerate(texts[:10]) if text in _BARE}
    lower = {number for number, text in enumerate(texts[:4]) if text in _BARE_LOWER}
    return frozenset(found | (lower if len(lower) > 1 else set()))
