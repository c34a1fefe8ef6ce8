"""The pictures that a command searches: an index's, or vectors that were saved elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.cli.opening import choose_table, notes_of, open_with
from explorer.cli.options import Options
from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.opening import open_encoder
from explorer.compute.indexing import check_encoder
from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.core.health import Health
from explorer.core.health_scan import examine, row_blocks
from explorer.core.labels import label_of
from explorer.core.pictures import Verdict
from explorer.readers.index_files import is_index
from explorer.readers.picture_index import PictureIndex, open_index, state_notes


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows of vectors, and what each is of.

    Attributes
    ----------
    vectors : array, shape (rows, dim)
    health : Health
    counted : bool array, shape (rows,)
        Rows that can be results: with a vector, and no repeats of earlier pictures.
    twins : int64 array, shape (rows,)
        The first row of the same content.
    path : callable
        A row's path, absolute where that is known.
    caption : callable
        A row's first caption, or None.
    encoder : callable
        Loads the encoder. Raises ExplorerError.
    encoder_name : str or None
    notes : tuple of str
    why : callable
        Why a row has no vector, in words.
    """

    vectors: NDArray
    health: Health
    counted: NDArray[np.bool_]
    twins: NDArray[np.int64]
    path: Callable[[int], str]
    caption: Callable[[int], str | None]
    encoder: Callable[[], Encoder]
    encoder_name: str | None
    notes: tuple[str, ...]
    why: Callable[[int], str]

    def vector_of(self, row: int) -> NDArray[np.float32]:
        """A row's vector.

        Raises
        ------
        ExplorerError
            There is no such row, or it has none.
        """
        if row >= len(self.vectors):
            raise ExplorerError(f"There is no row #{row}.", f"The last is #{len(self.vectors) - 1}.")
        if not self.health.healthy[row]:
            raise ExplorerError(f"Row #{row} ({self.path(row)}) has no vector: {self.why(row)}.")
        return as_float32(self.vectors[row])


def open_candidates(path: Path, encoder: str | None, options: Options) -> Candidates:
    """Open an index, or a table of vectors.

    Parameters
    ----------
    path : Path
    encoder : str or None
        Asked for by name or place; else the one that the index names.
    options : Options

    Raises
    ------
    ExplorerError
    """
    if is_index(path):
        index = open_index(path)
        if not len(index):
            raise ExplorerError(
                f"The index {path.name} holds no pictures yet.", "Run the index command again."
            )
        return _of_index(index, encoder, options.device)
    return _of_table(path, encoder, options)


def load_encoder(index: PictureIndex, wished: str | None, device: str) -> Encoder:
    """The encoder that made an index.

    Raises
    ------
    ExplorerError
        It is not where it was, or is another one.
    """
    made_by = index.manifest.encoder
    if wished is None and not Path(made_by.path).exists():
        raise ExplorerError(
            f"The encoder {made_by.name} is no longer at {made_by.path}.", "Say where it is with --encoder."
        )
    encoder = open_encoder(made_by.path if wished is None else wished, device=device)
    check_encoder(index.path, index.manifest, encoder)
    return encoder


def _of_index(index: PictureIndex, encoder: str | None, device: str) -> Candidates:
    vectors = index.vectors()
    health = examine(row_blocks(vectors), len(index))
    counted = health.healthy & (index.first_twin == np.arange(len(index)))

    def caption(row: int) -> str | None:
        captions = index.captions(row)
        return captions[0] if captions else None

    def why(row: int) -> str:
        verdict = index.verdict(row)
        return str(verdict) if verdict is Verdict.PENDING else index.reason(row) or str(verdict)

    return Candidates(
        vectors=vectors,
        health=health,
        counted=counted,
        twins=index.first_twin,
        path=lambda row: str(index.file(row)),
        caption=caption,
        encoder=lambda: load_encoder(index, encoder, device),
        encoder_name=index.manifest.encoder.name,
        notes=tuple(state_notes(index)),
        why=why,
    )


def _of_table(path: Path, encoder: str | None, options: Options) -> Candidates:
    opened = open_with(path, options)
    table = choose_table(opened, options)
    vectors = table.read()
    health = examine(row_blocks(vectors), table.rows)
    captions = next(
        (table.metadata[name] for name in ("caption", "captions") if name in table.metadata), None
    )

    def load() -> Encoder:
        if encoder is None:
            raise ExplorerError(
                f"{path.name} does not say which encoder made its vectors.", "Name it with --encoder."
            )
        loaded = open_encoder(encoder, device=options.device)
        if loaded.dim != table.dim:
            raise ExplorerError(
                f"{loaded.name} gives vectors of {loaded.dim} numbers; "
                f"those of {path.name} have {table.dim}.",
                "Name the encoder that made them.",
            )
        return loaded

    def place(row: int) -> str:
        name = label_of(table.labels, row)
        beside = path.absolute().parent / name
        return str(beside) if table.labels is not None and os.path.lexists(beside) else name

    return Candidates(
        vectors=vectors,
        health=health,
        counted=health.healthy,
        twins=np.arange(table.rows),
        path=place,
        caption=lambda row: None if captions is None else str(captions[row]) or None,
        encoder=load,
        encoder_name=encoder,
        notes=tuple(notes_of(opened, table)),
        why=lambda row: "its values are not finite or all zero",
    )
