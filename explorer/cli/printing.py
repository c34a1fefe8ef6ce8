"""Answers on standard output: aligned columns for people, strict JSON for programs."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import unicodedata
from collections.abc import Collection, Sequence

from explorer.core.errors import ExplorerError

_GAP = "  "
_LONGEST = 60
_NAMES = "Qt|Python|Debian|Ubuntu|Linux|Windows|NumPy|PyTorch"


def print_json(answer: object) -> None:
    """Print strict JSON: no NaN (null instead), ASCII only, so that any terminal and any label will do."""
    print(json.dumps(_strict(answer), indent=2, allow_nan=False))


def print_notes(notes: Sequence[str]) -> None:
    """Print notes under an answer."""
    for note in notes:
        print(f"note: {printable(note)}")


def print_columns(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    """Print a table with its columns aligned; those in ``right`` to the right.

    On a terminal the last column is cut to fit; any text longer than 60 columns loses its middle there.
    """
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = [list(header)]
    for row in rows:
        shown = [printable(text) for text in row]
        lines.append([_shortened(text, _LONGEST) for text in shown] if room else shown)
    widths = [max(_width(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = []
        for column, (text, width) in enumerate(zip(line, widths, strict=True)):
            blanks = " " * (width - _width(text))
            cells.append(blanks + text if column in right else text + blanks)
        text = _GAP.join(cells).rstrip()
        print(_cut(text, room) if room else text)


def printable(text: str) -> str:
    """The text with characters that would upset a terminal (controls, lone surrogates) as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def one_sentence(error: ExplorerError) -> str:
    """An error's message and hint as one sentence on one line."""
    text = re.sub(r"\s+", " ", str(error)).strip()
    # "Choose …" goes on in lower case; "Qt …" and "UMAP …" do not.
    text = re.sub(rf"\. (?!{_NAMES})([A-Z])(?=[a-z ])", lambda match: f"; {match[1].lower()}", text)
    text = re.sub(rf"\. (?={_NAMES}|[A-Z])", "; ", text)
    return printable(text if text.endswith((".", "!", "?")) else text + ".")


def _strict(value: object) -> object:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2 - 1) :]}"


def _cut(text: str, room: int) -> str:
    while _width(text) > room:
        text = text[:-2] + "…"
    return text
