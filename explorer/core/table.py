"""Embedding tables: what a file offers, and the roles that tables play in a model.

Row *i* of a table is row *i* of its labels, metadata, layout, neighbours and every export.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from numpy.typing import NDArray

from explorer.core.index import EncoderIdentity, Manifest
from explorer.core.labels import Labels
from explorer.core.pictures import Pictures

# The column of a table that holds vectors of several kinds, such as pictures and captions.
MODALITY = "modality"


class Role(StrEnum):
    """What a table is for in its model."""

    TOKEN = "token"
    POSITION = "position"
    PATCH = "patch"
    CLASS_TOKEN = "class token"
    OUTPUT = "output layer"
    IMAGES = "image vectors"
    JOINT = "pictures and captions"
    OTHER = "other"


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """A table found in a file; its vectors are read only when asked for.

    Attributes
    ----------
    name : str
        The tensor's or column's own name, unique within its file.
    rows, dim : int
    dtype : str
        Stored type (``explorer.core.dtypes``), e.g. ``"bfloat16"``.
    role : Role
    read : callable
        Returns the vectors, shape ``(rows, dim)``, in the stored type; memory-mapped where the
        format allows. Raises ExplorerError. Call it once and keep what it gives.
    labels : Labels or None
        One name per row, ``len(labels) == rows`` always; None where no vocabulary was found.
    aliases : tuple of str
        Other names over the same storage (tied weights).
    metadata : mapping of str to array, each of length ``rows``
        Further columns: strings (object arrays of str) or numbers.
    notes : tuple of str
        What the user should know of this table, one sentence each.
    named_by : Path or None
        A text of labels that the table's file says is its own (TensorBoard's metadata): still to be read.
    encoder : EncoderIdentity or None
        Who made the vectors, where the file says so.
    first_twin : int64 array, shape (rows,), or None
        The first row of the same content (a picture's copy in another file), where the file knows.
    pictures : callable or None
        Gives the pictures that the rows carry, where the file knows them.
    """

    name: str
    rows: int
    dim: int
    dtype: str
    role: Role
    read: Callable[[], NDArray]
    labels: Labels | None = None
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, NDArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    named_by: Path | None = None
    encoder: EncoderIdentity | None = None
    first_twin: NDArray | None = None
    pictures: Callable[[], Pictures] | None = None


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """A recognised file or folder and the tables inside it, the likeliest first.

    Attributes
    ----------
    path : Path
    format : str
        What the file is, in words, e.g. ``"PyTorch checkpoint (zip)"``.
    tables : tuple of EmbeddingTable
        Never empty: a file without a table raises ExplorerError.
    notes : tuple of str
        What the user should know of the file, e.g. a header that promised more rows.
    manifest : Manifest or None
        Of an index of pictures.
    """

    path: Path
    format: str
    tables: tuple[EmbeddingTable, ...]
    notes: tuple[str, ...] = ()
    manifest: Manifest | None = None
