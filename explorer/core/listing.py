"""What the window knows of a file and of a loaded table: everything but the vectors themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.typing import NDArray

from explorer.core.health import Health
from explorer.core.index import EncoderIdentity, Manifest
from explorer.core.labels import Labels
from explorer.core.pictures import Pictures
from explorer.core.table import Role
from explorer.core.texts import Texts


@dataclass(frozen=True)
class TableListing:
    """One table of an opened file, as the table picker shows it.

    Attributes
    ----------
    labels_source, labels_count : str or None, int
        Where its names come from and how many rows have one.
    preview : tuple of (int, str, tuple of float)
        The first and last rows: row, label, first few values. A shift shows here.
    """

    name: str
    rows: int
    dim: int
    dtype: str
    role: Role
    aliases: tuple[str, ...] = ()
    labels_source: str | None = None
    labels_count: int = 0
    notes: tuple[str, ...] = ()
    preview: tuple[tuple[int, str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True)
class FileListing:
    """An opened file and its tables, the likeliest first; an index of pictures has a manifest."""

    path: str
    format: str
    tables: tuple[TableListing, ...]
    notes: tuple[str, ...] = ()
    manifest: Manifest | None = None


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table whose vectors lie in the vectors worker, ready for search and layout.

    Attributes
    ----------
    key : int
        Names the table to the worker.
    path : str
    listing : TableListing
    labels : Labels or None
    metadata : mapping of str to array or Texts
    health : Health
    scaled : bool
        Rows were multiplied by the square root of dim, as a Transformer's lookup does.
    device : str
        Where the vectors lie, e.g. ``"cpu"`` or ``"cuda:0"``.
    pictures : Pictures or None
        What pictures the rows carry.
    encoder : EncoderIdentity or None
        Who made the vectors, where the file says so.
    first_twin : int64 array, shape (rows,), or None
        The first row of the same content, where the file knows; repeats are no neighbours of anything.
    """

    key: int
    path: str
    listing: TableListing
    labels: Labels | None
    health: Health
    scaled: bool
    device: str
    metadata: Mapping[str, NDArray | Texts] = field(default_factory=dict)
    pictures: Pictures | None = None
    encoder: EncoderIdentity | None = None
    first_twin: NDArray | None = None

    @property
    def title(self) -> str:
        """What it is, in a few words, for window and picture."""
        name = self.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
        return f"{name} · {self.listing.name} · {self.listing.rows:,} × {self.listing.dim}"
