"""TensorBoard's projector: ``tensors.tsv`` with ``metadata.tsv`` beside it, and ``projector_config.pbtxt``.

Vectors are lines of numbers parted by tabs, or raw float32 values (``.bytes``). Metadata of one column has
no header, of several columns it has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.mapped_file import MappedFile
from explorer.readers.vector_blocks import load_text
from explorer.readers.vector_lines import detect_shape
from explorer.readers.word_vectors import sample_lines

_CONFIG = "projector_config.pbtxt"
_CONFIG_MARK = re.compile(rb"(?:\s|#[^\n]*\n|\w+\s*:\s*\"[^\"\n]*\")*embeddings\s*:?\s*\{")
_TOKEN = re.compile(r'\s+|#[^\n]*|"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|([\w.+-]+)|([{}:;,<>\[\]])')
_ONLY_NUMBERS = re.compile(rb"[-+.\deEnaifNAIF\t\r\n]*")
_LARGEST_CONFIG = 1 << 20
_DEEPEST = 20


def sniff(path: Path, head: bytes) -> bool:
    """A configuration, a folder with one or with ``tensors.tsv``, or lines of numbers and tabs alone."""
    if path.is_dir():
        return (path / _CONFIG).is_file() or (path / "tensors.tsv").is_file()
    if not head or b"\0" in head:
        return False
    if _CONFIG_MARK.match(head):
        return True
    if b"\t" not in head.split(b"\n", 1)[0]:
        return False
    if metadata_beside(path) is not None:
        return _ONLY_NUMBERS.fullmatch(sample_lines(path)) is not None
    try:
        shape = detect_shape(sample_lines(path), path.name)
    except ExplorerError:
        return False
    return shape is not None and not shape.labelled


def read(path: Path) -> OpenedFile:
    """List the projector's tables, each with the file of its metadata, read where labels are attached.

    Raises
    ------
    ExplorerError
        A file is missing, a line does not fit the others, or the vectors lie in a TensorFlow checkpoint.
    """
    folder = path if path.is_dir() else path.parent
    config = path / _CONFIG if path.is_dir() else path
    if path.is_dir() and not config.is_file():
        path = path / "tensors.tsv"
    elif path.is_dir() or _is_config(path):
        entries = _parse_config(config)
        tables = tuple(_configured(folder, entry, config.name) for entry in entries)
        return OpenedFile(path, "TensorBoard projector", tables)
    beside = metadata_beside(path)
    return OpenedFile(path, "TensorBoard tensors", (_table(path, path.stem, (), beside, Role.OTHER),))


def metadata_beside(path: Path) -> Path | None:
    """The metadata that belongs to a file of vectors by its name: ``vecs.tsv`` has ``meta.tsv``."""
    match = re.search(r"tensors?|vectors?|vecs?|embeddings?", path.name, re.IGNORECASE)
    names = ["metadata.tsv"]
    if match:
        renamed = [
            path.name[: match.start()] + word + path.name[match.end() :]
            for word in ("metadata", "meta", "labels")
        ]
        names = [*renamed, *names]
    found = (path.with_name(name) for name in names)
    return next((each for each in found if each != path and each.is_file()), None)


@dataclass
class _Entry:
    """One ``embeddings`` block of a configuration."""

    texts: dict[str, str] = field(default_factory=dict)
    shape: list[int] = field(default_factory=list)
    has_sprite: bool = False


def _is_config(path: Path) -> bool:
    with path.open("rb") as file:
        return _CONFIG_MARK.match(file.read(4096)) is not None


def _parse_config(path: Path) -> list[_Entry]:
    if path.stat().st_size > _LARGEST_CONFIG:
        raise ExplorerError(f"{path.name} is too large for a projector configuration.")
    text = path.read_bytes().decode("utf-8-sig", "backslashreplace")
    entries: list[_Entry] = []
    blocks: list[str] = []
    name = ""
    for kind, value in _tokens(text, path.name):
        if kind == "{":
            blocks.append(name)
            if len(blocks) > _DEEPEST:
                raise ExplorerError(f"{path.name} is nested too deeply.")
            if blocks == ["embeddings"]:
                entries.append(_Entry())
            elif blocks[:1] == ["embeddings"] and name == "sprite":
                entries[-1].has_sprite = True
        elif kind == "}":
            if not blocks:
                raise ExplorerError(f"{path.name} is damaged: it closes a block that is not open.")
            blocks.pop()
        elif kind == "word" and not value[0].isdigit():
            name = value
        elif blocks == ["embeddings"]:
            if kind == "word" and name == "tensor_shape" and value.isdigit() and len(value) < 19:
                entries[-1].shape.append(int(value))
            elif kind == "text":
                entries[-1].texts[name] = value
    if blocks or not entries:
        raise ExplorerError(f"{path.name} is cut off, or names no embeddings.")
    return entries


def _tokens(text: str, name: str) -> list[tuple[str, str]]:
    """Braces, words (names and numbers) and quoted texts of the protocol-buffer text format."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            line = text.count("\n", 0, position) + 1
            raise ExplorerError(f"Line {line} of {name} cannot be understood.")
        position = match.end()
        quoted = match[1] if match[1] is not None else match[2]
        if quoted is not None:
            found.append(("text", re.sub(r"\\(.)", r"\1", quoted)))
        elif match[3]:
            found.append(("word", match[3]))
        elif match[4] in ("{", "<"):
            found.append(("{", ""))
        elif match[4] in ("}", ">"):
            found.append(("}", ""))
    return found


def _configured(folder: Path, entry: _Entry, config: str) -> EmbeddingTable:
    name = entry.texts.get("tensor_name", "")
    tensor = entry.texts.get("tensor_path", "")
    if not tensor:
        raise ExplorerError(
            f"{config} gives no file for “{name}”: its vectors lie in a TensorFlow checkpoint.",
            "Save them as tensors.tsv.",
        )
    path = _inside(folder, tensor, config)
    metadata = entry.texts.get("metadata_path", "")
    beside = _inside(folder, metadata, config) if metadata else None
    return _table(
        path, name or path.stem, tuple(entry.shape), beside, Role.IMAGES if entry.has_sprite else Role.OTHER
    )


def _inside(folder: Path, name: str, config: str) -> Path:
    """A file that a configuration names: in its folder, and nowhere else."""
    plain = name.replace("\\", "/")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if parts and ".." not in parts and ":" not in plain:
        for candidate in (folder.joinpath(*parts), folder / parts[-1]):
            if candidate.is_file() and candidate.resolve().is_relative_to(folder.resolve()):
                return candidate
    raise ExplorerError(f"{config} names {name}, which is not in its folder.")


def _table(
    path: Path, name: str, shape: tuple[int, ...], metadata: Path | None, role: Role
) -> EmbeddingTable:
    read, rows, dim = _raw(path, shape) if path.suffix == ".bytes" else _lines(path)
    if shape and shape != (rows, dim):
        raise ExplorerError(
            f"{path.name} holds {rows:,} × {dim:,} numbers, not {shape} as its configuration says."
        )
    if metadata is not None and role is Role.OTHER:
        role = Role.TOKEN
    return EmbeddingTable(name, rows, dim, "float32", role, read, named_by=metadata)


def _lines(path: Path) -> tuple[Callable[[], NDArray[np.float32]], int, int]:
    shape = detect_shape(sample_lines(path), path.name, bare=True)
    if shape is None:
        raise ExplorerError(f"{path.name} holds no vectors.")
    vectors = load_text(path, shape).vectors
    return (lambda: vectors), *vectors.shape


def _raw(path: Path, shape: tuple[int, ...]) -> tuple[Callable[[], NDArray[np.float32]], int, int]:
    mapped = MappedFile(path)
    if len(shape) != 2 or not all(shape) or 4 * shape[0] * shape[1] != mapped.size:
        raise ExplorerError(
            f"{path.name} is {mapped.size:,} bytes long, which is not {shape} float32 values."
        )

    def read() -> NDArray[np.float32]:
        values: NDArray[np.float32] = mapped.view(0, mapped.size).view("<f4").reshape(shape)
        return values if values.dtype.isnative else values.astype(np.float32)

    return read, *shape
