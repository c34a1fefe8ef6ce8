"""Word-vector text at speed: whole blocks of lines to a float32 matrix and packed labels.

A block's fields lie between its blanks, so with the blanks taken out they are one packed Arrow string
array, whose cast to float32 is exact and runs in C++. NumPy finds the blanks. Lines that are not a
one-word label followed by plain numbers go through ``vector_lines.split_line``, which defines what they mean.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.readers.vector_lines import LineShape, split_line

BLOCK = 1 << 19  # bytes: its arrays stay in the processor's cache
LONGEST_LINE = 1 << 26
_BLANKS = bytes(range(33))


@dataclass(frozen=True, eq=False)
class Block:
    """Rows read from some lines.

    Attributes
    ----------
    vectors : float32 array, shape (rows, dim)
    labels : bytes
        All labels, one after the other.
    sizes : int64 array, shape (rows,)
        Their lengths in bytes.
    length : int
        Bytes of text that the rows took.
    """

    vectors: NDArray[np.float32]
    labels: bytes
    sizes: NDArray[np.int64]
    length: int


def load_text(path: Path, shape: LineShape) -> Block:
    """All rows of a file of vectors, in order.

    Takes little more memory than the vectors: the text passes through in blocks, and threads parse
    them (Arrow lets go of the interpreter's lock).

    Raises
    ------
    ExplorerError
        A line does not fit; it is named.
    """
    size = path.stat().st_size - shape.begin
    most = size // (2 * shape.dim - 1) + 1  # a number takes a digit and a blank at least
    vectors = np.empty((0, shape.dim), np.float32)
    labels: list[bytes] = []
    sizes: list[NDArray[np.int64]] = []
    rows = 0
    for block in _parsed_blocks(path, shape):
        count = len(block.vectors)
        if not rows:
            likely = shape.promised or size * count // block.length + 1
            vectors = np.empty((min(most, max(likely, count)), shape.dim), np.float32)
        elif rows + count > len(vectors):
            vectors.resize((rows + count + rows // 16, shape.dim), refcheck=False)
        vectors[rows : rows + count] = block.vectors
        labels.append(block.labels)
        sizes.append(block.sizes)
        rows += count
    return Block(vectors[:rows], b"".join(labels), np.concatenate([np.empty(0, np.int64), *sizes]), size)


def _parsed_blocks(path: Path, shape: LineShape) -> Iterator[Block]:
    workers = min(4, os.cpu_count() or 1)
    pending: deque[Future[Block]] = deque()
    with path.open("rb", buffering=0) as file, ThreadPoolExecutor(workers) as pool:
        file.seek(shape.begin)
        number = shape.first_line
        try:
            for text in whole_lines(file, path.name):
                pending.append(pool.submit(parse_block, text, shape, number, path.name))
                number += text.count(b"\n")
                if len(pending) > workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def whole_lines(file: BinaryIO, name: str, block: int = BLOCK) -> Iterator[bytes]:
    """The rest of an open file in blocks that end at a line's end, which the last line gets if it has none.

    Raises
    ------
    ExplorerError
        A line is too long to be a row.
    """
    rest = b""
    while chunk := file.read(block):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
        if len(rest) > LONGEST_LINE:
            raise ExplorerError(f"{name} has a line of over {LONGEST_LINE >> 20} MB, too long to be a row.")
    if rest:
        yield rest + b"\n"


def parse_block(text: bytes, shape: LineShape, first_line: int, name: str) -> Block:
    """The rows of some whole lines.

    Parameters
    ----------
    text : bytes
        Ends with a line end.
    shape : LineShape
    first_line : int
        The first line's number in the file, for messages.
    name : str
        The file's name, for messages.
    """
    fields = _Fields(text)
    regular = fields.regular(shape)
    try:
        vectors = fields.numbers(regular, shape)
    except pa.ArrowInvalid:
        # Some field is no number in Arrow's eyes: say where, or read it after all ("+1").
        regular[:] = False
        vectors = np.empty((0, shape.dim), np.float32)
    if np.array_equal(regular, fields.counts > 0):
        if not shape.labelled:
            return Block(vectors, b"", np.zeros(len(vectors), np.int64), len(text))
        return Block(vectors, *fields.labels(), len(text))
    return _mixed(text, fields, regular, vectors, shape, first_line, name)


class _Fields:
    """Where the fields and lines of a block lie.

    Attributes
    ----------
    line_starts, line_stops : int64 array, shape (lines,)
        Bytes of the block; a stop is that of the line end.
    counts : int64 array, shape (lines,)
        Fields in each line.
    first : int64 array, shape (lines,)
        Each line's first field.
    """

    def __init__(self, text: bytes) -> None:
        self._bytes = np.frombuffer(text, np.uint8)
        blanks = np.flatnonzero(self._bytes <= 32)
        ends = np.flatnonzero(self._bytes[blanks] == 10)
        self.line_stops = blanks[ends]
        self.line_starts = np.concatenate([np.zeros(1, np.int64), self.line_stops[:-1] + 1])
        # A field ends at a blank that follows no other blank; without the blanks it ends so much earlier.
        stops = np.zeros(len(blanks) + 1, np.int32)
        stops[1:] = blanks - np.arange(len(blanks))
        solid = np.greater(stops[1:], stops[:-1])
        through: NDArray[np.int64] = ends + 1
        if not solid.all():
            through = np.cumsum(solid)[ends]
            stops = np.concatenate([stops[:1], stops[1:][solid]])
        self.first = np.concatenate([np.zeros(1, np.int64), through[:-1]])
        self.counts = through - self.first
        self._stops = stops
        self._solid = text.translate(None, _BLANKS)
        self._plain = np.greater(self._bytes[self.line_starts], 32)
        self._plain[self._lines_with_control(blanks)] = False

    def regular(self, shape: LineShape) -> NDArray[np.bool_]:
        """Lines made of one word, where there are labels, and as many fields as the row has numbers."""
        fitting: NDArray[np.bool_] = self._plain & (self.counts == shape.dim + shape.labelled)
        return fitting

    def _lines_with_control(self, blanks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lines with a control character: it may be part of a label."""
        kinds = self._bytes[blanks]
        control = np.flatnonzero((kinds != 32) & (kinds != 10) & (kinds != 9))
        if len(control):  # a text ends with a line end, so something always follows
            line_end = (kinds[control] == 13) & (self._bytes[blanks[control] + 1] == 10)
            control = control[~line_end]
        return np.searchsorted(self.line_stops, blanks[control])

    def numbers(self, regular: NDArray[np.bool_], shape: LineShape) -> NDArray[np.float32]:
        """The numbers of the regular lines, shape (regular lines, dim); ArrowInvalid where one is none."""
        width = shape.dim + shape.labelled
        first = self.first[regular]
        total = len(self._stops) - 1
        aligned = len(first) * width == total
        take = slice(None) if aligned else first[:, None] + np.arange(width)
        valid = np.zeros(total, np.bool_)
        valid[take] = True
        if shape.labelled:
            valid[first] = False
        texts = self._array(pa.string(), pa.py_buffer(np.packbits(valid, bitorder="little")))
        parsed = pc.cast(texts, pa.float32())
        values = np.frombuffer(parsed.buffers()[1], np.float32, total)
        return values[take].reshape(len(first), width)[:, int(shape.labelled) :]

    def labels(self) -> tuple[bytes, NDArray[np.int64]]:
        """The first field of each line that is not blank, packed."""
        names = self._array(pa.binary(), None).take(pa.array(self.first[self.counts > 0]))
        offsets = np.frombuffer(names.buffers()[1], np.int32, len(names) + 1)
        packed = names.buffers()[2].to_pybytes()[: offsets[-1]] if len(names) else b""
        return packed, np.diff(offsets).astype(np.int64)

    def _array(self, kind: pa.DataType, valid: pa.Buffer | None) -> pa.Array:
        buffers = [valid, pa.py_buffer(self._stops), pa.py_buffer(self._solid)]
        return pa.Array.from_buffers(kind, len(self._stops) - 1, buffers)


def _mixed(
    text: bytes,
    fields: _Fields,
    regular: NDArray[np.bool_],
    vectors: NDArray[np.float32],
    shape: LineShape,
    first_line: int,
    name: str,
) -> Block:
    """Rows of a block of which some lines need care."""
    rows = np.empty((int((fields.counts > 0).sum()), shape.dim), np.float32)
    labels: list[bytes] = []
    plain = iter(vectors)
    spans = zip(fields.line_starts.tolist(), fields.line_stops.tolist(), regular.tolist(), strict=True)
    for index, (start, stop, is_regular) in enumerate(spans):
        line = text[start:stop].removesuffix(b"\r")
        if is_regular:
            rows[len(labels)] = next(plain)
            labels.append(line.replace(b"\t", b" ").split(b" ", 1)[0])
        elif fields.counts[index]:
            label, numbers = split_line(line, shape, first_line + index, name)
            with np.errstate(over="ignore"):
                rows[len(labels)] = numbers
            labels.append(label)
    if not shape.labelled:
        return Block(rows[: len(labels)], b"", np.zeros(len(labels), np.int64), len(text))
    sizes = np.fromiter(map(len, labels), np.int64, len(labels))
    return Block(rows[: len(labels)], b"".join(labels), sizes, len(text))
