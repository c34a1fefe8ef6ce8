"""Makes a damaged index sound before a run: what cannot be trusted is put aside, for the run to make anew.

A vector counts as lost where its file cannot be read or is another index's, where it is not of unit length,
and where its digest is not its row's hash. A row never takes another one's vector: without the rows
themselves, all vectors are lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.compute.index_store import IndexStore
from explorer.compute.parallel import spans
from explorer.core.errors import ExplorerError
from explorer.core.index import Manifest
from explorer.core.pictures import DIGEST_BYTES, Verdict
from explorer.core.wording import counted
from explorer.readers import safetensors_file
from explorer.readers.index_columns import ROW_COLUMNS, caption_columns, journal_columns
from explorer.readers.index_files import (
    CAPTIONS,
    IMAGE_VECTORS,
    JOURNAL,
    LOCK,
    MANIFEST,
    PICTURES,
    ROWS,
    THUMBNAILS,
    VECTORS,
    journal_files,
    manifest_of_vectors,
)
from explorer.readers.picture_index import PictureIndex, read_rows

_FAULTS = (pa.ArrowException, OSError, ValueError, KeyError)
_BLOCK_BYTES = 4 << 20
# How far the square of a unit vector's length may be from 1.
_ROUNDING = 0.02


def check_places(path: Path) -> None:
    """Refuse an index in which a folder stands in a file's place, or a file in a folder's.

    Raises
    ------
    ExplorerError
    """
    places = {MANIFEST: False, ROWS: False, VECTORS: False, LOCK: False, JOURNAL: True, THUMBNAILS: True}
    for name, is_folder in places.items():
        if (path / name).exists() and (path / name).is_dir() != is_folder:
            what = "file" if is_folder else "folder"
            raise ExplorerError(
                f"The index {path.name} cannot be written to: {name} in it is a {what}.",
                "Move that away; what is lost is made anew then.",
            )


def mend(store: IndexStore, *, vouched: bool) -> list[str]:
    """Fold the journal, and leave nothing in the index that cannot be trusted; what is lost is to be indexed.

    Parameters
    ----------
    store : IndexStore
    vouched : bool
        The manifest, or its copy, says that the index is the present encoder's.

    Returns
    -------
    list of str
        What was damaged or lost.
    """
    faults = _put_aside(store, vouched=vouched)
    if journal_files(store.path, PICTURES) or journal_files(store.path, CAPTIONS):
        store.fold()
    return faults + _mark_lost(store)


def _put_aside(store: IndexStore, *, vouched: bool) -> list[str]:
    """Remove what cannot be read, or belongs to another index, and name it."""
    faults = [] if vouched else [MANIFEST]
    rows = _sound_rows(store.path)
    if rows is None:
        faults.append(ROWS)
        rows = ROW_COLUMNS.empty_table()
        for file in journal_files(store.path, PICTURES):
            file.unlink()
        store.write_rows(rows)
    faults += _put_journal_aside(store, rows.num_rows, vouched=vouched)
    file = store.path / VECTORS
    if file.exists():
        index = PictureIndex(store.path, Path(store.manifest.folder), store.manifest, rows)
        was_cut_off = _fill_up(file, index)
        is_sound = vouched and _has_sound_vectors(index)
        if was_cut_off or not is_sound:
            faults.append(VECTORS)
        if not is_sound:
            file.unlink()
    return faults


def _mark_lost(store: IndexStore) -> list[str]:
    """Have the rows be indexed again that lack their vector or thumbnail, and say how many."""
    index = store.read()
    lost = index.has_vector & ~_held(index)
    without_thumbnail = index.has_vector & ~lost & ~_has_thumbnail(index)
    faults = [
        f"the {what} of {counted(int(count), 'picture')}"
        for what, count in (("vectors", lost.sum()), ("thumbnails", without_thumbnail.sum()))
        if count
    ]
    if faults:
        at = index.rows.schema.get_field_index("verdict")
        verdicts = pc.if_else(pa.array(lost | without_thumbnail), str(Verdict.PENDING), index.rows["verdict"])
        store.write_rows(index.rows.set_column(at, index.rows.schema.field(at), verdicts))
    captions = _unsound_captions(index)
    if captions:
        faults.append(f"the vectors of {counted(len(captions), 'caption')}")
        store.fold(without=captions)
    return faults


def _sound_rows(path: Path) -> pa.Table | None:
    """An index's rows; None where they are missing or cannot be right."""
    try:
        rows = read_rows(path)
        rows.validate(full=True)
        known = {str(verdict) for verdict in Verdict}
        paths = rows["path"]
        sound = paths.null_count == 0 and pc.count_distinct(paths).as_py() == rows.num_rows
        return rows if sound and set(pc.unique(rows["verdict"]).to_pylist()) <= known else None
    except _FAULTS:
        return None


def _put_journal_aside(store: IndexStore, rows: int, *, vouched: bool) -> list[str]:
    """Remove the files of the journal that cannot be read, or are of other rows."""
    dim, faults = store.manifest.encoder.dim, []
    kinds = ((PICTURES, journal_columns(dim)), (CAPTIONS, caption_columns(dim)))
    for file, columns in (
        (file, columns) for kind, columns in kinds for file in journal_files(store.path, kind)
    ):
        try:
            table = pq.read_table(file).cast(columns)
            table.validate(full=True)
            places = table["row"].to_numpy() if "row" in columns.names else np.zeros(0, np.int64)
            sound = vouched and ((places >= 0) & (places < rows)).all()
        except _FAULTS:
            sound = False
        if not sound:
            faults.append(file.name)
            file.unlink()
    return faults


def _has_sound_vectors(index: PictureIndex) -> bool:
    """Whether the file of vectors can be read, and its encoder is the index's."""
    made_with = manifest_of_vectors(index.path)
    if made_with is not None and _encoding(made_with) != _encoding(index.manifest):
        return False
    try:
        index.stored_vectors()
        return len(list(index.caption_sources())) == 1
    except ExplorerError:
        return False


def _encoding(manifest: Manifest) -> str:
    """What a vector depends on beside its picture."""
    made_by = manifest.encoder
    return json.dumps([made_by.fingerprint, made_by.dim, dict(manifest.preprocessing)], sort_keys=True)


def _fill_up(file: Path, index: PictureIndex) -> bool:
    """Give a file that is cut off the length that its header promises: zeros are nobody's vectors.

    Returns
    -------
    bool
        Whether it was cut off, and can be read now.
    """
    try:
        header, start = safetensors_file.read_header(file)
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        is_ours = header[IMAGE_VECTORS]["shape"][1:] == [index.dim]
        most = (len(index) + len(index.owners)) * (4 * index.dim + DIGEST_BYTES)
        if not is_ours or not file.stat().st_size < start + max(ends) <= start + most:
            return False
        os.truncate(file, start + max(ends))
    except (ExplorerError, OSError, KeyError, TypeError, IndexError):
        return False
    return True


def _held(index: PictureIndex) -> NDArray[np.bool_]:
    """Rows that have a vector of their own content."""
    stored, own = index.stored_vectors()
    held, count = np.zeros(len(index), np.bool_), min(len(stored), len(index))
    held[:count] = own[:count] & _is_unit(stored)[:count]
    return held


def _unsound_captions(index: PictureIndex) -> set[bytes]:
    """Digests of captions whose vectors are none."""
    digests, vectors = next(index.caption_sources())
    return {digests[place] for place in np.flatnonzero(~_is_unit(vectors))}


def _is_unit(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which vectors have unit length, as everything that an encoder gives has."""
    found = np.zeros(len(vectors), np.bool_)
    for start, stop in spans(len(vectors), max(1, _BLOCK_BYTES // (4 * vectors.shape[1]))):
        block = vectors[start:stop].astype(np.float64)
        with np.errstate(all="ignore"):
            found[start:stop] = np.abs(np.einsum("ij,ij->i", block, block) - 1.0) < _ROUNDING
    return found


def _has_thumbnail(index: PictureIndex) -> NDArray[np.bool_]:
    """Rows whose thumbnail lies where it should, as a JPEG begins."""
    columns = (
        pc.fill_null(index.rows[f"thumbnail_{what}"], -1).to_numpy() for what in ("file", "start", "size")
    )
    found = np.zeros(len(index), np.bool_)
    numbers, starts, sizes = columns
    order = np.lexsort((starts, numbers))
    for rows in _runs(numbers, order):
        path = index.path / THUMBNAILS / f"{numbers[rows[0]]:06}.bin"
        try:
            with path.open("rb") as file:
                length = os.fstat(file.fileno()).st_size
                for row in rows:
                    if sizes[row] > 0 and starts[row] >= 0 and starts[row] + sizes[row] <= length:
                        file.seek(starts[row])
                        found[row] = file.read(2) == b"\xff\xd8"
        except OSError:
            continue
    return found


def _runs(keys: NDArray[np.integer], order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Places of equal keys, together."""
    breaks = np.flatnonzero(np.diff(keys[order])) + 1
    return (run for run in np.split(order, breaks) if len(run))
