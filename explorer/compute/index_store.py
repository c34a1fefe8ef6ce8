"""Writes a picture index so that a run can be killed at any moment and nothing that it had saved is lost.

What a run does goes into a journal of small files, each written beside its place, flushed and renamed. At the
end (or at the beginning of the next run) the journal is folded into the vectors, then into the rows, and only
then removed: folding twice gives the same. ``explorer.readers.index_files`` describes the files.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.compute.decoding import Decoded
from explorer.core.errors import ExplorerError
from explorer.core.index import Manifest
from explorer.core.pictures import DIGEST_BYTES, Verdict
from explorer.readers.index_columns import FOUND, ROW_COLUMNS, caption_columns, journal_columns, vectors_of
from explorer.readers.index_files import (
    CAPTION_DIGESTS,
    CAPTION_VECTORS,
    CAPTIONS,
    IMAGE_DIGESTS,
    IMAGE_VECTORS,
    JOURNAL,
    LOCK,
    MANIFEST,
    PICTURES,
    ROWS,
    THUMBNAILS,
    VECTORS,
    caption_digest,
    journal_files,
)
from explorer.readers.picture_index import PictureIndex, open_index

_BLOCK_BYTES = 4 << 20
_TEMPORARY = ".part"


class IndexStore:
    """An index that is being written: by one process at a time.

    Use ``open_store``; the journal methods may be called in any order.

    Attributes
    ----------
    path : Path
    manifest : Manifest
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._numbers = {kind: _last_number(journal_files(path, kind)) + 1 for kind in (PICTURES, CAPTIONS)}
        self._thumbnails = _last_number(list((path / THUMBNAILS).glob("*.bin"))) + 1

    def describe(self, **changes: Any) -> None:
        """Write the manifest, with some of its facts changed."""
        self.manifest = replace(self.manifest, **changes)
        # ASCII, with escapes: names of folders need not be UTF-8.
        text = json.dumps(self.manifest.to_json(), indent=2)
        with _replacing(self.path / MANIFEST) as file:
            file.write(text.encode("ascii"))

    def read(self) -> PictureIndex:
        """The index as it is by now."""
        return open_index(self.path)

    def write_rows(self, rows: pa.Table) -> None:
        """Write all rows; those that have a vector keep it by their verdict."""
        with _replacing(self.path / ROWS) as file:
            pq.write_table(rows.cast(ROW_COLUMNS), file, compression="zstd", write_page_checksum=True)

    def add_pictures(self, found: Sequence[Decoded], vectors: NDArray[np.float32]) -> None:
        """Put some pictures into the journal.

        Parameters
        ----------
        found : sequence of Decoded
        vectors : float32 array, shape (len(found), dim)
            NaN for bad pictures.
        """
        number = self._thumbnails
        with _replacing(self.path / THUMBNAILS / f"{number:06}.bin") as file:
            for each in found:
                file.write(each.thumbnail)
        self._thumbnails += 1
        sizes = np.array([len(each.thumbnail) for each in found], np.int64)
        columns = {
            "row": [each.row for each in found],
            "size": [each.size for each in found],
            "modified_ns": [each.modified_ns for each in found],
            "hash": [each.hash for each in found],
            "verdict": [str(each.verdict) for each in found],
            "reason": [each.reason for each in found],
            "width": [each.width for each in found],
            "height": [each.height for each in found],
            "animated": [each.animated for each in found],
            "thumbnail_file": [number] * len(found),
            "thumbnail_start": np.cumsum(sizes) - sizes,
            "thumbnail_size": sizes,
            "vector": _lists(vectors),
        }
        self._add(PICTURES, pa.table(columns, schema=journal_columns(self.manifest.encoder.dim)))

    def add_captions(self, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Put some captions' vectors, shape (len(digests), dim), into the journal."""
        columns = {"digest": list(digests), "vector": _lists(vectors)}
        self._add(CAPTIONS, pa.table(columns, schema=caption_columns(self.manifest.encoder.dim)))

    def fold(self, without: Set[bytes] = frozenset()) -> None:
        """Bring the journal into the vectors and the rows, and remove it. Memory does not grow with it.

        Parameters
        ----------
        without : set of bytes
            Digests of captions whose vectors are not kept.
        """
        journal = [*journal_files(self.path, PICTURES), *journal_files(self.path, CAPTIONS)]
        index = self.read()
        self._write_vectors(index, without)
        self.write_rows(index.rows)
        for file in journal:
            file.unlink(missing_ok=True)
        self._numbers = dict.fromkeys(self._numbers, 0)
        self._tidy(index.rows)

    def _add(self, kind: str, table: pa.Table) -> None:
        number = self._numbers[kind]
        with _replacing(self.path / JOURNAL / f"{kind}-{number:06}.parquet") as file:
            pq.write_table(table, file, compression="none", use_dictionary=False)
        self._numbers[kind] = number + 1

    def _write_vectors(self, index: PictureIndex, without: Set[bytes]) -> None:
        rows, dim = len(index), index.dim
        wanted = {caption_digest(text) for text in index.all_captions()[0]} - without
        kept = sum(1 for _ in _first_of(wanted, (keys for keys, _ in index.caption_sources())))
        # The digests come first, so that a file that is cut off still has them.
        shapes = {
            IMAGE_DIGESTS: ("U8", (rows, DIGEST_BYTES), DIGEST_BYTES * rows),
            IMAGE_VECTORS: ("F32", (rows, dim), 4 * rows * dim),
        }
        if kept:
            shapes[CAPTION_VECTORS] = ("F32", (kept, dim), 4 * kept * dim)
            shapes[CAPTION_DIGESTS] = ("U8", (kept, DIGEST_BYTES), DIGEST_BYTES * kept)
        with _replacing(self.path / VECTORS) as file:
            file.write(_header(shapes, self.manifest))
            file.write(np.ascontiguousarray(index.digests()).data)
            start = file.tell()
            self._copy_vectors(file, index)
            for path in journal_files(self.path, PICTURES):
                _overwrite(file, start, pq.read_table(path, columns=["row", "vector"]), dim)
            file.seek(start + 4 * rows * dim)
            digests: list[bytes] = []
            for keys, vectors in index.caption_sources():
                places = dict(_first_of(wanted.difference(digests), [keys]))
                for block in _blocks(np.array(list(places.values()), np.int64), 4 * dim):
                    file.write(np.ascontiguousarray(vectors[block], "<f4").data)
                digests += places
            file.write(b"".join(digests))

    def _copy_vectors(self, file: IO[bytes], index: PictureIndex) -> None:
        """The stored vectors, and NaN for rows that are newer or have none any more."""
        (stored, own), usable = index.stored_vectors(), index.has_vector
        step = max(1, _BLOCK_BYTES // (4 * index.dim))
        for first in range(0, len(index), step):
            block = np.full((min(step, len(index) - first), index.dim), np.nan, "<f4")
            old = stored[first : first + len(block)]
            block[: len(old)] = old
            block[: len(old)][~own[first : first + len(old)]] = np.nan
            block[~usable[first : first + step]] = np.nan
            file.write(block.data)

    def _tidy(self, rows: pa.Table) -> None:
        """Remove thumbnails that no row speaks of, and what a killed run had begun to write."""
        used = set(pc.unique(rows["thumbnail_file"]).to_pylist())
        for file in (self.path / THUMBNAILS).glob("*.bin"):
            if _number(file) not in used:
                file.unlink(missing_ok=True)
        for folder in (self.path, self.path / THUMBNAILS, self.path / JOURNAL):
            for file in folder.glob(f"*{_TEMPORARY}"):
                file.unlink(missing_ok=True)


@contextmanager
def open_store(path: Path, manifest: Manifest, *, new: bool) -> Iterator[IndexStore]:
    """Open an index to write to it, for as long as the block lasts.

    Parameters
    ----------
    path : Path
        Made where it is not there.
    manifest : Manifest
        Written at once.
    new : bool
        Nothing is in the folder yet: empty rows are written.

    Raises
    ------
    ExplorerError
        It can't be written to, or another process is writing to it.
    """
    try:
        for folder in (path, path / JOURNAL, path / THUMBNAILS):
            folder.mkdir(parents=True, exist_ok=True)
        with _locked(path / LOCK, path.name):
            store = IndexStore(path, manifest)
            if new:
                store.write_rows(ROW_COLUMNS.empty_table())
            store.describe(complete=False)
            yield store
    except OSError as error:
        if error.filename is not None and not _is_within(Path(os.fsdecode(error.filename)), path):
            raise
        raise ExplorerError(
            f"The index {path} cannot be written to: {error.strerror or error}.", "Choose another place."
        ) from error


def _is_within(file: Path, index: Path) -> bool:
    """Whether a file is the index's, or one of the folders that lead to it."""
    file, index = file.absolute(), index.absolute()
    return file == index or index in file.parents or file in index.parents


def empty_rows(paths: Sequence[bytes], sizes: Sequence[int], times: Sequence[int]) -> pa.Table:
    """Rows of pictures that nothing is known of yet."""
    count = len(paths)
    columns: dict[str, Any] = {name: pa.nulls(count, ROW_COLUMNS.field(name).type) for name in FOUND.names}
    columns |= {"path": pa.array(paths, pa.binary()), "captions": pa.nulls(count, pa.list_(pa.string()))}
    columns |= {"size": sizes, "modified_ns": times, "verdict": [str(Verdict.PENDING)] * count}
    return pa.table({name: columns[name] for name in ROW_COLUMNS.names}, schema=ROW_COLUMNS)


def _header(shapes: dict[str, tuple[str, tuple[int, int], int]], manifest: Manifest) -> bytes:
    """The beginning of a safetensors file whose tensors follow one another, and a manifest's copy in it."""
    short = replace(manifest, caption_sources=(), unmatched_captions=())
    facts = {"made_by": "Embedding Explorer", MANIFEST: json.dumps(short.to_json())}
    entries: dict[str, Any] = {"__metadata__": facts}
    at = 0
    for name, (dtype, shape, size) in shapes.items():
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _overwrite(file: IO[bytes], start: int, journal: pa.Table, dim: int) -> None:
    """Write a journal file's vectors to the places of their rows."""
    rows = journal["row"].to_numpy()
    vectors = vectors_of(journal["vector"], dim).astype("<f4", copy=False)
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    for run in np.split(np.arange(len(rows)), breaks):
        if len(run):
            file.seek(start + 4 * dim * int(rows[run[0]]))
            file.write(np.ascontiguousarray(vectors[run]).data)


def _first_of(wanted: Set[bytes], sources: Iterable[Sequence[bytes]]) -> Iterator[tuple[bytes, int]]:
    """Each wanted key that some source has, once, and its place in the first that has it."""
    missing = set(wanted)
    for keys in sources:
        for place, key in enumerate(keys):
            if key in missing:
                missing.discard(key)
                yield key, place


def _lists(vectors: NDArray[np.float32]) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def _blocks(places: NDArray[np.int64], row_bytes: int) -> Iterator[NDArray[np.int64]]:
    step = max(1, _BLOCK_BYTES // row_bytes)
    return (places[start : start + step] for start in range(0, len(places), step))


def _number(file: Path) -> int:
    digits = file.stem.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1


def _last_number(files: list[Path]) -> int:
    return max(map(_number, files), default=-1)


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place only once it is whole and on the disk."""
    temporary = path.with_name(path.name + _TEMPORARY)
    with temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the folder's entries on the disk, too, where the system offers that."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Hold a lock that the system lets go when this process ends, however it ends."""
    with path.open("a+b") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ExplorerError(
                f"Another process is writing to the index {name}.", "Wait for it to end.", str(error)
            ) from error
        yield
