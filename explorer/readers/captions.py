"""Captions of pictures: lists of names and texts, texts beside the pictures, JSON Lines; joined by name."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.readers.pictures import SUFFIXES

LISTS = ("captions.txt", "captions.csv", "captions.tsv", "captions.jsonl", "metadata.jsonl", "metadata.csv")
_NAME_COLUMNS = re.compile(r"(image|img|picture|photo|file)s?([_ ]?(name|file|path|id))?|path", re.IGNORECASE)
_TEXT_COLUMNS = re.compile(
    r"(caption|text|comment|description|sentence|title)s?|raw|additional_feature", re.IGNORECASE
)
_NUMBERED = re.compile(r"#\d+$")  # name#2, as Flickr's token files have it
_MOST_BYTES = 1 << 30
_MOST_SIDECAR_BYTES = 1 << 16
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Captions:
    """Captions of some pictures.

    Attributes
    ----------
    of : mapping of str to tuple of str
        A picture's captions by its path in the folder, with ``/``; only pictures that have any.
    sources : tuple of str
        The lists they come from; texts beside the pictures are one more source.
    unmatched : tuple of str
        Names in the lists that no picture has, each once.
    """

    of: Mapping[str, tuple[str, ...]]
    sources: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


def find_captions(folder: Path, pictures: Sequence[str], chosen: Path | None = None) -> Captions:
    """Captions for the pictures of a folder.

    Parameters
    ----------
    folder : Path
    pictures : sequence of str
        Their paths in the folder, with ``/``.
    chosen : Path, optional
        A list chosen by hand. Otherwise lists of the usual names in the folder or beside it are taken, the
        latter only where they name one of the pictures; and texts that lie beside each picture.

    Returns
    -------
    Captions

    Raises
    ------
    ExplorerError
        The chosen list holds no captions or can't be read.
    """
    lists = _lists(folder) if chosen is None else [chosen]
    names = _Names(pictures if lists else ())
    found: dict[str, list[str]] = defaultdict(list)
    sources: list[str] = []
    unmatched: dict[str, None] = {}
    for path in lists:
        pairs = read_captions(path)
        matches = {name: names.find(name) for name, _ in pairs}
        if chosen is None and path.parent != folder and not any(matches.values()):
            continue
        sources.append(path.name)
        for name, text in pairs:
            picture = matches[name]
            if picture is None:
                unmatched[name] = None
            elif text not in found[picture]:
                found[picture].append(text)
    if chosen is None:
        beside = _beside(folder, [picture for picture in pictures if picture not in found])
        if beside:
            sources.append("texts beside the pictures")
            found.update(beside)
    return Captions({name: tuple(texts) for name, texts in found.items()}, tuple(sources), tuple(unmatched))


def read_captions(path: Path) -> Pairs:
    """The names and captions in a list, in its order; a caption that stands twice for a name is kept twice.

    Known are columns parted by commas, tabs or bars with or without a header, and JSON Lines.

    Raises
    ------
    ExplorerError
        It can't be read or holds no captions.
    """
    text = _text_of(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    pairs = list(
        _from_json_lines(text, path) if first.lstrip().startswith("{") else _from_columns(text, first, path)
    )
    if not pairs:
        raise ExplorerError(
            f"{path.name} holds no captions.", "It should have two columns, image and caption."
        )
    return pairs


def _lists(folder: Path) -> list[Path]:
    found = [folder / name for name in LISTS if (folder / name).is_file()]
    return found or [
        folder.parent / name
        for name in LISTS
        if name.startswith("captions") and (folder.parent / name).is_file()
    ]


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise ExplorerError(f"The captions {path} cannot be read: {why}.") from error
    if len(data) > _MOST_BYTES:
        raise ExplorerError(f"The captions {path.name} are larger than 1 GiB.")
    return _decoded(data)


def _decoded(data: bytes) -> str:
    """Bytes as text; those that are no UTF-8 as the file system's names have them."""
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), "utf-8")
    if encoding == "utf-16":
        return data.decode("utf-16", "replace")
    return data.decode(encoding, "surrogateescape")


def _clean(text: str) -> str:
    """A caption in one line; stray bytes are read as Latin-1, which they mostly are."""
    if not text.isascii():
        text = "".join(chr(ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in text)
    text = " ".join(text.split())
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] == '"' else text


def _from_json_lines(text: str, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ExplorerError(f"Line {number} of {path.name} is no JSON.", detail=str(error)) from error
        if isinstance(entry, dict):
            name = _value(entry, _NAME_COLUMNS)
            texts = _value(entry, _TEXT_COLUMNS)
            for caption in texts if isinstance(texts, list) else [texts]:
                if isinstance(name, str | int) and isinstance(caption, str) and _clean(caption):
                    yield str(name), _clean(caption)


def _value(entry: Mapping[str, Any], names: re.Pattern[str]) -> Any:
    return next((value for key, value in entry.items() if names.fullmatch(key)), None)


def _from_columns(text: str, first: str, path: Path) -> Iterator[tuple[str, str]]:
    delimiter = next((mark for mark in ("\t", "|") if mark in first), ",")
    csv.field_size_limit(1 << 24)
    lines = (line for line in io.StringIO(text, newline="") if line.strip())
    if delimiter == ",":
        rows = csv.reader(lines)
    else:
        rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    header = [name.strip() for name in first.rstrip("\r\n").split(delimiter)]
    name_at, text_at = 0, 1
    at = [i for i, name in enumerate(header) if _NAME_COLUMNS.fullmatch(name.strip('"'))]
    texts = [i for i, name in enumerate(header) if _TEXT_COLUMNS.fullmatch(name.strip('"'))]
    if at and texts:
        name_at, text_at = at[0], texts[0]
        next(rows)
    last = text_at >= len(header) - 1
    try:
        for row in rows:
            if len(row) > max(name_at, text_at):
                # A caption that holds commas and was not quoted.
                caption = _clean(delimiter.join(row[text_at:]) if last else row[text_at])
                if caption and row[name_at].strip():
                    yield _NUMBERED.sub("", row[name_at].strip()), caption
    except csv.Error as error:
        raise ExplorerError(f"The captions {path.name} cannot be read.", detail=str(error)) from error


def _beside(folder: Path, pictures: Iterable[str]) -> dict[str, list[str]]:
    """Texts named like their pictures: ``a.txt`` or ``a.jpg.txt``, a caption a line."""
    found = {}
    for picture in pictures:
        path = folder / picture
        for beside in (path.with_suffix(".txt"), path.with_name(path.name + ".txt")):
            if not beside.is_file():
                continue
            try:
                with beside.open("rb") as file:
                    text = _decoded(file.read(_MOST_SIDECAR_BYTES))
            except OSError:
                continue
            if captions := [clean for line in text.splitlines() if (clean := _clean(line))]:
                found[picture] = captions
                break
    return found


class _Names:
    """Pictures by what a list may call them: their path, their name, their name without its suffix."""

    def __init__(self, pictures: Sequence[str]) -> None:
        self._paths = set(pictures)
        self._names: dict[str, str | None] = {}
        self._stems: dict[str, str | None] = {}
        for picture in pictures:
            path = PurePosixPath(picture)
            for table, key in ((self._names, path.name), (self._stems, path.stem)):
                # Several pictures of one name: none of them is meant.
                table[key] = None if key in table else picture

    def find(self, name: str) -> str | None:
        name = name.replace("\\", "/").removeprefix("./")
        if name in self._paths:
            return name
        path = PurePosixPath(name)
        if path.name in self._names:
            return self._names[path.name]
        return self._stems.get(path.stem if path.suffix.lower() in SUFFIXES else path.name)
