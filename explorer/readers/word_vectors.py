"""Word vectors as text: word2vec's form (a header ``rows dim``), GloVe's (none), fastText's ``.vec``."""

from __future__ import annotations

from pathlib import Path

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.packed_labels import INSIDE, pack
from explorer.readers.vector_blocks import LONGEST_LINE, load_text
from explorer.readers.vector_lines import LineShape, detect_shape

_SAMPLE = 1 << 20


def sniff(path: Path, head: bytes) -> bool:
    """Whether the lines are a label and the same count of numbers each, parted by blanks."""
    if not head or b"\0" in head:
        return False
    try:
        return detect_shape(sample_lines(path), path.name) is not None
    except ExplorerError:
        return True


def read(path: Path) -> OpenedFile:
    """Open a text of word vectors: one table named after the file, of float32.

    All rows are parsed here: a fault in any line is told before anything is shown.

    Raises
    ------
    ExplorerError
        A line does not fit the others; it is named.
    """
    shape = detect_shape(sample_lines(path), path.name)
    if shape is None:
        raise ExplorerError(f"{path.name} is not a text of word vectors.")
    block = load_text(path, shape)
    labels = pack(block.labels, block.sizes, INSIDE) if shape.labelled else None
    rows, dim = block.vectors.shape
    table = EmbeddingTable(
        name=path.stem,
        rows=rows,
        dim=dim,
        dtype="float32",
        role=Role.TOKEN if shape.labelled else Role.OTHER,
        read=lambda: block.vectors,
        labels=labels,
    )
    return OpenedFile(path, _format(shape), (table,), _notes(path, shape, rows))


def sample_lines(path: Path) -> bytes:
    """Whole lines from the start of a file: about a megabyte, more only where a line is longer."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
        while len(sample) % _SAMPLE == 0 and b"\n" not in sample and len(sample) < LONGEST_LINE:
            more = file.read(_SAMPLE)
            if not more:
                return sample
            sample += more
        whole = not file.read(1)
    return sample if whole else sample[: sample.rfind(b"\n") + 1]


def _format(shape: LineShape) -> str:
    if not shape.labelled:
        return "text of numbers"
    return "word vectors, text" + (" with header" if shape.promised is not None else " without header")


def _notes(path: Path, shape: LineShape, rows: int) -> tuple[str, ...]:
    if shape.promised is None or shape.promised == rows:
        return ()
    note = f"The header promises {shape.promised:,} rows; the file holds {rows:,}, and all of them are here."
    if rows < shape.promised and not _ends_with_line_end(path):
        note += " Its last line has no line end: the file may have been cut off there."
    return (note,)


def _ends_with_line_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
