"""An index of pictures, opened to be searched; also read while a run is filling it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.index import Manifest
from explorer.core.labels import Labels
from explorer.core.pictures import DIGEST_BYTES, Pictures, Thumbnails, Verdict
from explorer.core.wording import counted, has_have, is_are
from explorer.readers import safetensors_file
from explorer.readers.arrow_labels import labels_of
from explorer.readers.index_columns import FOUND, ROW_COLUMNS, vectors_of
from explorer.readers.index_files import (
    CAPTION_DIGESTS,
    CAPTION_VECTORS,
    CAPTIONS,
    IMAGE_DIGESTS,
    IMAGE_VECTORS,
    PICTURES,
    ROWS,
    THUMBNAILS,
    VECTORS,
    IndexDamaged,
    caption_digest,
    journal_files,
    pictures_folder,
    read_manifest,
    shown_path,
)

_TRIES = 5
_FAULTS = (pa.ArrowException, OSError, ValueError, KeyError)


@dataclass(frozen=True, eq=False)
class PictureIndex:
    """An index as it was when it was opened.

    Attributes
    ----------
    path : Path
        The index.
    folder : Path
        The pictures'.
    manifest : Manifest
    rows : pyarrow.Table
        With ``index_columns.ROW_COLUMNS``; row i is picture i.
    """

    path: Path
    folder: Path
    manifest: Manifest
    rows: pa.Table
    _journal: tuple[Path, ...] = ()
    _caption_journal: tuple[Path, ...] = ()

    @property
    def dim(self) -> int:
        return self.manifest.encoder.dim

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def name(self, row: int) -> str:
        """A picture's path in the folder, with ``/``."""
        return shown_path(self.rows["path"][row].as_py())

    def file(self, row: int) -> Path:
        """A picture's absolute path."""
        return self.folder / self.name(row)

    def captions(self, row: int) -> tuple[str, ...]:
        """A picture's captions."""
        return tuple(self.rows["captions"][row].as_py() or ())

    def verdict(self, row: int) -> Verdict:
        """Whether a picture has a vector, or why not."""
        return Verdict(self.rows["verdict"][row].as_py())

    def reason(self, row: int) -> str:
        """Why a picture has no vector, in words; empty where it has one."""
        return self.rows["reason"][row].as_py() or ""

    def thumbnail(self, row: int) -> bytes | None:
        """A picture's thumbnail as a JPEG, its longer side at most 256 pixels; None where there is none."""
        number, start, size = (
            self.rows[f"thumbnail_{what}"][row].as_py() for what in ("file", "start", "size")
        )
        if number is None or not size:
            return None
        try:
            with (self.path / THUMBNAILS / f"{number:06}.bin").open("rb") as file:
                file.seek(start)
                data = file.read(size)
        except OSError:
            return None
        return data if len(data) == size else None

    @cached_property
    def has_vector(self) -> NDArray[np.bool_]:
        """Rows with a vector, shape (rows,)."""
        ok = pc.equal(self.rows["verdict"], str(Verdict.OK))
        known: NDArray[np.bool_] = ok.combine_chunks().to_numpy(zero_copy_only=False).astype(np.bool_)
        return known

    @cached_property
    def first_twin(self) -> NDArray[np.int64]:
        """For each row the first row with a vector and the same content; itself where there is none before.

        Shape (rows,). Rows without a vector are nobody's twin.
        """
        rows = np.flatnonzero(self.has_vector)
        twins = np.arange(len(self), dtype=np.int64)
        if len(rows):
            high, low = self.digests().view(np.uint64)[rows].T
            order = np.lexsort((rows, low, high))
            begins = np.ones(len(rows), np.bool_)
            begins[1:] = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
            firsts = rows[order][begins]
            twins[rows[order]] = firsts[np.cumsum(begins) - 1]
        return twins

    @property
    def duplicates(self) -> NDArray[np.int64]:
        """Rows whose content an earlier row has, ascending."""
        return np.flatnonzero(self.first_twin != np.arange(len(self)))

    def digests(self) -> NDArray[np.uint8]:
        """What tells each picture's content, shape (rows, DIGEST_BYTES); zeros where it is not known."""
        hashes = self.rows["hash"].combine_chunks().fill_null(b"\0" * DIGEST_BYTES)
        size, start = DIGEST_BYTES * len(hashes), DIGEST_BYTES * hashes.offset
        return np.frombuffer(hashes.buffers()[1], np.uint8, size, start).reshape(-1, DIGEST_BYTES)

    def vectors(self) -> NDArray[np.float32]:
        """All rows' vectors, shape (rows, dim): of unit length, NaN where there is none.

        Raises
        ------
        ExplorerError
            The file is damaged, or is not of these rows.
        """
        # A journal file that is gone by now is in the stored vectors, which are looked at after it.
        journal = [table for file in self._journal if (table := _vectors_in(file, "row")) is not None]
        stored, own = self.stored_vectors()
        usable = self.has_vector
        holds = np.isfinite(stored[:, 0])
        if not journal and np.array_equal(holds, usable) and own[usable].all():
            return stored
        # In memory where the stored vectors are not all there is.
        vectors = np.full((len(self), self.dim), np.nan, np.float32)
        count = min(len(stored), len(self))
        vectors[:count] = stored[:count]
        vectors[:count][~own[:count]] = np.nan
        for table in journal:
            rows = table["row"].to_numpy()
            vectors[rows[rows < len(self)]] = vectors_of(table["vector"], self.dim)[rows < len(self)]
        vectors[~usable] = np.nan
        lost = int(np.count_nonzero(usable & ~np.isfinite(vectors[:, 0])))
        # While a run goes on, a picture may have changed since the rows were read.
        if lost and (lost == usable.sum() or read_manifest(self.path).complete):
            raise IndexDamaged(
                self.path,
                f"the vectors of {counted(lost, 'picture')} of {len(self):,} are missing in {VECTORS}",
            )
        return vectors

    def stored_vectors(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The image vectors in the file, the journal left aside, and which are of the rows' own content.

        Returns
        -------
        float32 array, shape (n, dim)
            n may differ from the number of rows.
        bool array, shape (n,)
            An index of an earlier version of this program names no contents: all of its vectors are.

        Raises
        ------
        ExplorerError
            The file is damaged.
        """
        stored = self._tensor(IMAGE_VECTORS, self.dim, np.float32)
        made_of = self._tensor(IMAGE_DIGESTS, DIGEST_BYTES, np.uint8)
        own, count = np.ones(len(stored), np.bool_), min(len(made_of), len(stored), len(self))
        own[:count] = (made_of[:count] == self.digests()[:count]).all(axis=1)
        return stored, own

    def caption_vectors(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors of all captions in the order of their rows, and the row of each.

        Returns
        -------
        float32 array, shape (captions, dim)
            NaN for captions that have not been encoded.
        int64 array, shape (captions,)

        Raises
        ------
        ExplorerError
            The file is damaged.
        """
        texts, owners = self.all_captions()
        digests = [caption_digest(text) for text in texts]
        places = dict.fromkeys(digests, -1)
        vectors = np.full((len(texts), self.dim), np.nan, np.float32)
        for keys, stored in self.caption_sources():
            places = dict.fromkeys(places, -1) | {key: i for i, key in enumerate(keys) if key in places}
            here = np.array([places[key] for key in digests], np.int64)
            vectors[here >= 0] = stored[here[here >= 0]]
        return vectors, owners

    def all_captions(self) -> tuple[list[str], NDArray[np.int64]]:
        """All captions in the order of their rows, and the row of each."""
        return self.rows["captions"].combine_chunks().flatten().to_pylist(), self.owners

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The row of each caption, shape (captions,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.caption_starts))

    def caption_sources(self) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
        """Digests of captions and their vectors, source by source; later ones count."""
        tables = [_vectors_in(file, "digest") for file in self._caption_journal]
        vectors = self._tensor(CAPTION_VECTORS, self.dim, np.float32)
        digests = [bytes(key) for key in self._tensor(CAPTION_DIGESTS, DIGEST_BYTES, np.uint8)]
        if len(digests) != len(vectors):
            raise IndexDamaged(self.path, f"captions and their vectors differ in number in {VECTORS}")
        yield digests, vectors
        for table in tables:
            if table is not None:
                yield table["digest"].to_pylist(), vectors_of(table["vector"], self.dim)

    def labels(self) -> Labels:
        """The pictures' paths in the folder."""
        return labels_of(self.rows["path"], "file names")

    @cached_property
    def caption_labels(self) -> Labels:
        """All captions in the order of their rows."""
        return labels_of(self.rows["captions"].combine_chunks().flatten(), "captions")

    @cached_property
    def caption_starts(self) -> NDArray[np.int64]:
        """Row i has the captions from entry i to entry i + 1, shape (rows + 1,)."""
        counts = pc.fill_null(pc.list_value_length(self.rows["captions"]), 0)
        starts = np.zeros(len(self) + 1, np.int64)
        np.cumsum(counts.to_numpy(), out=starts[1:])
        return starts

    def pictures(self, of_row: NDArray[np.int64] | None = None) -> Pictures:
        """What the window shows of the pictures.

        Parameters
        ----------
        of_row : int64 array, optional
            The picture of each row of a table whose rows are not the pictures themselves.
        """
        positions = [
            pc.fill_null(self.rows[f"thumbnail_{what}"], value).to_numpy()
            for what, value in (("file", -1), ("start", 0), ("size", 0))
        ]
        sides = [pc.fill_null(self.rows[side], 0).to_numpy() for side in ("width", "height")]
        reasons = pc.if_else(
            pc.equal(self.rows["verdict"], str(Verdict.OK)),
            pa.scalar(None, pa.string()),
            pc.if_else(
                pc.equal(pc.fill_null(self.rows["reason"], ""), ""), self.rows["verdict"], self.rows["reason"]
            ),
        )
        return Pictures(
            self.folder,
            self.labels(),
            of_row,
            Thumbnails(self.path / THUMBNAILS, *positions),
            self.caption_labels,
            self.caption_starts,
            pc.fill_null(self.rows["animated"], False).to_numpy(),
            self.first_twin,
            labels_of(reasons, "reasons"),
            np.stack(sides, axis=1),
        )

    def _tensor(self, name: str, width: int, dtype: type) -> NDArray:
        file = self.path / VECTORS
        fault = ""
        for _ in range(_TRIES):
            if not file.exists():
                return np.empty((0, width), dtype)
            try:
                tensor = safetensors_file.read_contents(file).tensors.get(name)
                values = np.empty((0, width), dtype) if tensor is None else tensor.read()
            except ExplorerError as error:  # a run may be putting another file into its place
                fault = f"{error.message} {error.detail}"
                continue
            if values.shape[1:] == (width,) and values.dtype == dtype:
                return values
            fault = f"{name} is {values.shape} of {values.dtype}"
            break
        raise IndexDamaged(self.path, f"{VECTORS} cannot be read", fault)


def open_index(path: Path) -> PictureIndex:
    """Open an index.

    Raises
    ------
    ExplorerError
        It is none, or damaged.
    """
    for _ in range(_TRIES):
        try:
            manifest = read_manifest(path)
            # The journal first: what is moved out of it meanwhile is in the files read after it.
            files = tuple(journal_files(path, PICTURES))
            tables = [pq.read_table(file, columns=["row", *FOUND.names]) for file in files]
            captions = tuple(journal_files(path, CAPTIONS))
            rows = read_rows(path)
            if tables:
                journal = pa.concat_tables(tables)
                rows = _overlaid(rows, _last_of_each(journal.filter(pc.less(journal["row"], rows.num_rows))))
            return PictureIndex(path, pictures_folder(path, manifest), manifest, rows, files, captions)
        except FileNotFoundError:
            continue
        except _FAULTS as error:
            raise IndexDamaged(path, f"{ROWS} or its journal cannot be read", str(error)) from error
    raise IndexDamaged(path, f"{ROWS} is missing")


def state_notes(index: PictureIndex) -> list[str]:
    """What is to be said of an index that is not whole, or not wholly of vectors."""
    notes = []
    if not index.folder.is_dir():
        notes.append(f"The pictures' folder {index.folder} is not there any more.")
    waiting = pc.sum(pc.equal(index.rows["verdict"], str(Verdict.PENDING))).as_py() or 0
    without = len(index) - waiting - int(index.has_vector.sum())
    if waiting:
        notes.append(
            f"{counted(waiting, 'picture')} {is_are(waiting)} not indexed yet: run the index command again."
        )
    if without:
        notes.append(
            f"{counted(without, 'picture')} of {len(index):,} could not be used and {has_have(without)} "
            "no vector."
        )
    if twins := len(index.duplicates):
        notes.append(
            f"{counted(twins, 'picture')} {is_are(twins)} the same as an earlier one and counted once."
        )
    return notes


def read_rows(path: Path) -> pa.Table:
    """An index's rows, the journal left aside.

    Raises
    ------
    ArrowException, OSError, ValueError
        They are damaged.
    """
    if (path / ROWS).is_dir():
        raise ValueError(f"{ROWS} is a folder")
    rows = pq.read_table(path / ROWS, page_checksum_verification=True)
    if rows.schema.names != ROW_COLUMNS.names:
        raise ValueError(f"{ROWS} has the columns {', '.join(rows.schema.names)}")
    return rows.cast(ROW_COLUMNS)


def _vectors_in(file: Path, key: str) -> pa.Table | None:
    """A journal file's vectors; None where it has been folded into the others meanwhile."""
    try:
        return pq.read_table(file, columns=[key, "vector"])
    except FileNotFoundError:
        return None
    except _FAULTS as error:
        index = file.parent.parent
        raise IndexDamaged(index, f"{file.name} in its journal cannot be read", str(error)) from error


def _last_of_each(journal: pa.Table) -> pa.Table:
    """The last entry of each row."""
    rows = journal["row"].to_numpy()
    _, last = np.unique(rows[::-1], return_index=True)
    return journal.take(pa.array(len(rows) - 1 - last))


def _overlaid(rows: pa.Table, journal: pa.Table) -> pa.Table:
    """The rows with what the journal says of some."""
    places = np.arange(rows.num_rows)
    places[journal["row"].to_numpy()] = rows.num_rows + np.arange(journal.num_rows)
    return with_found(rows, journal, places)


def with_found(rows: pa.Table, found: pa.Table, places: Sequence[int] | NDArray[np.int64]) -> pa.Table:
    """The rows with their found columns taken from rows and found joined, at the places given."""
    taken = pa.array(places)
    for name in FOUND.names:
        joined = pa.chunked_array([*rows[name].chunks, *found[name].chunks], type=rows[name].type)
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), joined.take(taken))
    return rows
