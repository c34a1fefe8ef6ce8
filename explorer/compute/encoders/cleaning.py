"""Texts cleaned as an encoder's training did, with every character still traced to where it was typed."""

from __future__ import annotations

import html
import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cleaned:
    """A cleaned text.

    Attributes
    ----------
    text : str
    places : tuple of int or None
        Where in the typed text each character came from, and at last the typed text's length; None where
        nothing has moved.
    """

    text: str
    places: tuple[int, ...] | None = None

    def place(self, position: int) -> int:
        """Where in the typed text a place in the cleaned one was."""
        return position if self.places is None else self.places[min(position, len(self.text))]

    def replaced(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> Cleaned:
        """Every match replaced; what stands in its place keeps the match's place."""
        parts: list[str] = []
        places: list[int] = []
        last = 0
        for match in pattern.finditer(self.text):
            text = new(match)
            parts += self.text[last : match.start()], text
            places += map(self.place, range(last, match.start()))
            places += [self.place(match.start())] * len(text)
            last = match.end()
        if not parts:
            return self
        parts.append(self.text[last:])
        places += map(self.place, range(last, len(self.text) + 1))
        return Cleaned("".join(parts), tuple(places))


Cleaner = Callable[[str], Cleaned]

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
# Typographic quotes, ligatures, wide and half-width forms, and control characters.
_SINGLE, _DOUBLE = "\u02bc\u2018-\u201b", "\u201c-\u201f"
_TYPOGRAPHY = re.compile(
    f"[{_SINGLE}{_DOUBLE}\u0132\u0133\u0149\u01f1-\u01f3\u01c4-\u01cc\ufb00-\ufb06\u3000\uff01-\uffee"
    "\x00-\x08\x0b\x0e-\x1f\x7f\u206a-\u206f\ufeff\ufff9-\ufffc]"
)
_IS_SINGLE, _IS_DOUBLE = re.compile(f"[{_SINGLE}]"), re.compile(f"[{_DOUBLE}]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\u206a-\u206f\ufeff\ufff9-\ufffc]")
_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]")
_EDGES = re.compile(r"\A\s+|\s+\Z")
_SPACES = re.compile(r"\s+")
_UPPER = re.compile(r"[^\W\d_a-z]")


def as_typed(text: str) -> Cleaned:
    """The text itself; halves of characters, which no tokenizer takes, become replacement characters."""
    return Cleaned(_SURROGATE.sub("\ufffd", text))


def as_open_ai(text: str) -> Cleaned:
    """As OpenAI's CLIP cleans: typography made plain, HTML's entities undone twice, spaces at the ends cut.

    Texts that were decoded wrongly (``â€™``) are not repaired. Lower case and single spaces are the
    tokenizer's own work.
    """
    cleaned = as_typed(text).replaced(_TYPOGRAPHY, _plain)
    for _ in range(2):
        cleaned = cleaned.replaced(_ENTITY, lambda match: html.unescape(match[0]))
    return cleaned.replaced(_EDGES, lambda _: "")


def canonical(text: str, *, lower: bool = True) -> Cleaned:
    """As SigLIP cleans: lower case, ASCII punctuation taken away, single spaces."""
    cleaned = as_typed(text)
    if lower:
        cleaned = lowered(cleaned)
    return _single_spaced(cleaned.replaced(_PUNCTUATION, lambda _: ""))


def canonical_open_clip(text: str) -> Cleaned:
    """As OpenCLIP cleans for its SigLIP models: as OpenAI, then underscores to spaces, then as SigLIP."""
    cleaned = as_open_ai(text).replaced(re.compile("_"), lambda _: " ")
    return _single_spaced(lowered(cleaned.replaced(_PUNCTUATION, lambda _: "")))


def in_lower_case(text: str) -> Cleaned:
    """Only lower case, as SigLIP 2 was trained."""
    return lowered(as_typed(text))


def lowered(cleaned: Cleaned) -> Cleaned:
    """Lower case, letter by letter."""
    return cleaned.replaced(_UPPER, lambda match: match[0].lower())


def _single_spaced(cleaned: Cleaned) -> Cleaned:
    return cleaned.replaced(_SPACES, lambda _: " ").replaced(_EDGES, lambda _: "")


def _plain(match: re.Match[str]) -> str:
    character = match[0]
    if _CONTROL.fullmatch(character):
        return ""
    if _IS_SINGLE.fullmatch(character):
        return "'"
    return '"' if _IS_DOUBLE.fullmatch(character) else unicodedata.normalize("NFKC", character)
