"""A folder of pictures to an index: what is new or changed is decoded, encoded and saved as it comes."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from explorer.compute.decoders import Decoders
from explorer.compute.decoding import Decoded, Task
from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.compute.index_mending import check_places, mend
from explorer.compute.index_plan import Plan, Tell, no_pictures
from explorer.compute.index_store import IndexStore, open_store
from explorer.core.errors import ExplorerError
from explorer.core.index import EncoderIdentity, IndexProgress, IndexReport, Manifest
from explorer.core.pictures import Verdict
from explorer.readers.captions import find_captions
from explorer.readers.index_files import (
    CAPTIONS,
    MANIFEST,
    PICTURES,
    caption_digest,
    is_index,
    journal_files,
    recovered_manifest,
    shown_path,
)
from explorer.readers.picture_folder import FolderScan
from explorer.readers.picture_index import PictureIndex, state_notes
from explorer.readers.pictures import BACKGROUND

_CPU_BATCH, _GPU_BATCH = 32, 256
_FIRST_PORTION = 8
_PORTION_SECONDS = 1.0
_CAPTION_BATCH = 256
_SAVE_SECONDS = 5.0
_SAVE_ROWS = 1024
_RATE_SECONDS = 10.0


def update_index(
    folder: Path,
    encoder: Encoder,
    path: Path,
    *,
    captions: Path | None = None,
    tell: Tell = lambda progress: None,
    processes: int | None = None,
) -> IndexReport:
    """Make an index of a folder's pictures, or bring one up to date.

    A run that is stopped or killed at any moment is taken up where it was by the next one: at most the last
    five seconds' pictures are encoded again. Of an index that is damaged, all is kept that can be trusted.

    Parameters
    ----------
    folder : Path
        The pictures, in it and in its folders.
    encoder : Encoder
    path : Path
        The index's folder; made where it is not there.
    captions : Path, optional
        A list of captions; else those that are found (``explorer.readers.captions``).
    tell : function of an IndexProgress
        Called after every batch. What it raises ends the run, with all that is done saved; while it does
        not return, the run pauses.
    processes : int, optional
        To decode with.

    Returns
    -------
    IndexReport

    Raises
    ------
    ExplorerError
        There are no pictures, the encoder sees none, the index belongs to another encoder or folder, or it
        can't be written.
    """
    old, manifest = _manifests_for(folder, encoder, path)
    is_new = not is_index(path)
    with open_store(path, manifest, new=is_new) as store:
        if journal_files(path, PICTURES) or journal_files(path, CAPTIONS):
            tell(IndexProgress("Taking up what was stopped"))
        faults = mend(store, vouched=is_new or old is not None)
        index = store.read()
        plan = Plan.of(folder, index, tell)
        found = find_captions(folder, [shown_path(path) for path in plan.present], captions)
        rows = plan.rows(index, found.of)
        dirty = not rows.equals(index.rows)
        if dirty:
            store.write_rows(rows)
        plan.forget_paths()
        del rows
        store.describe(caption_sources=found.sources, unmatched_captions=found.unmatched)
        del found
        index = store.read()
        run = _Run(store, encoder, index, tell)
        run.encode_pictures(plan.tasks(folder, index), len(plan.to_do), processes)
        run.encode_captions()
        if run.touched:
            store.write_rows(_with_times(store.read().rows, run.touched))
        if dirty or run.saved or run.touched:
            tell(IndexProgress("Saving"))
            store.fold()
        store.describe(complete=True)
        return _report(store.read(), plan, run, faults)


def identity_of(encoder: Encoder) -> EncoderIdentity:
    """An encoder as manifests name it."""
    where = str(encoder.path.absolute())
    return EncoderIdentity(encoder.name, encoder.kind, where, encoder.fingerprint, encoder.dim)


def _manifests_for(folder: Path, encoder: Encoder, path: Path) -> tuple[Manifest | None, Manifest]:
    """The index's manifest as it was, where it has one that can be read, and as it will be."""
    if encoder.preprocessing is None:
        raise ExplorerError(f"{encoder.name} sees no pictures.", "Choose an encoder such as CLIP.")
    if not folder.is_dir():
        raise ExplorerError(f"There is no folder {folder}.")
    if is_index(folder):
        raise ExplorerError(f"{folder} is an index, not a folder of pictures.")
    folder = folder.resolve()
    target = path.absolute()
    if target.resolve() == folder:
        raise ExplorerError(
            "The index cannot be the folder of pictures itself.", "Name another folder for it."
        )
    new = Manifest(
        folder=str(folder),
        folder_beside=_beside(folder, target.resolve()),
        encoder=identity_of(encoder),
        preprocessing=encoder.preprocessing.to_json(),
        background=BACKGROUND,
    )
    if not (path / MANIFEST).exists() and not is_index(path):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ExplorerError(
                f"{path} is no index, and not empty.",
                "Name a new folder for the index, or an index to bring up to date.",
            )
        if next(FolderScan(folder).files(), None) is None:  # else an empty index would be left behind
            raise no_pictures(folder)
        return None, new
    old = recovered_manifest(path)
    check_places(path)
    if old is None:
        return None, new
    check_encoder(path, old, encoder)
    recorded = Path(old.folder)
    if recorded.is_dir() and not recorded.samefile(folder):
        raise ExplorerError(
            f"The index {path.name} belongs to the folder {old.folder}, not to {folder}.",
            "Name another folder for the index.",
        )
    return old, new


def check_encoder(path: Path, manifest: Manifest, encoder: Encoder) -> None:
    """Refuse an encoder that did not make an index.

    Raises
    ------
    ExplorerError
        Both are named.
    """
    made_by = manifest.encoder
    if made_by.fingerprint != encoder.fingerprint or made_by.dim != encoder.dim:
        if (made_by.name, made_by.path) == (encoder.name, str(encoder.path.absolute())):
            raise ExplorerError(
                f"The encoder {made_by.name} ({made_by.path}) has changed since it made "
                f"the index {path.name}.",
                "Name another folder for the index, to index the pictures anew.",
            )
        raise ExplorerError(
            f"The index {path.name} was made by the encoder {made_by.name} ({made_by.path}), "
            f"not by {encoder.name} ({encoder.path.absolute()}).",
            "Use that encoder, or name another folder for the index.",
        )
    if encoder.preprocessing is not None:
        try:
            same = Preprocessing.from_json(manifest.preprocessing) == encoder.preprocessing
        except ValueError:
            same = False
        if not same:
            raise ExplorerError(
                f"The index {path.name} was made by {made_by.name} with another preprocessing.",
                "Name another folder for the index.",
            )


def _beside(folder: Path, target: Path) -> str:
    try:
        return os.path.relpath(folder, target)
    except ValueError:  # another drive
        return str(folder)


class _Run:
    """Decoded pictures and captions to vectors in the journal; what is done is saved whatever happens."""

    def __init__(self, store: IndexStore, encoder: Encoder, index: PictureIndex, tell: Tell) -> None:
        self.store, self.encoder, self.index, self.tell = store, encoder, index, tell
        self.encoded = 0
        self.saved = False
        self.touched: dict[
            int, tuple[int, int]
        ] = {}  # rows whose files have another time but the same content
        self._found: list[Decoded] = []
        self._vectors: list[NDArray[np.float32]] = []
        # The first come soon, to be looked at.
        self._saved_at = time.monotonic() - _SAVE_SECONDS + 1.0

    def encode_pictures(self, tasks: Iterator[Task], total: int, processes: int | None) -> None:
        preprocessing = self.encoder.preprocessing
        assert preprocessing is not None
        if not total:
            return
        size = _CPU_BATCH if self.encoder.device.type == "cpu" else _GPU_BATCH
        pace = _Pace("Pictures", total)
        portions = _Portions(size)
        self.tell(pace.at(0))
        done = 0

        def waiting() -> None:
            self.tell(pace.at(done))

        with Decoders(preprocessing, min(size, total), processes) as decoders:
            try:
                for batch in decoders.batches(tasks, waiting):
                    for start, stop in portions.of(len(batch.decoded)):
                        self._take(batch.decoded[start:stop], batch.pixels[start:stop])
                        done += stop - start
                        self._save_now_and_then()
                        self.tell(pace.at(done))
            finally:
                self._save()  # before the decoders end, which takes its time

    def encode_captions(self) -> None:
        """Encode the captions that have no vector yet, where the encoder reads texts."""
        if not self.encoder.has_text:
            return
        known = {key for keys, _ in self.index.caption_sources() for key in keys}
        texts = {caption_digest(text): text for text in self.index.all_captions()[0]}
        missing = [key for key in texts if key not in known]
        pace = _Pace("Captions", len(missing))
        for start, stop in _Portions(_CAPTION_BATCH).of(len(missing)):
            keys = missing[start:stop]
            self.store.add_captions(keys, self.encoder.encode_text([texts[key] for key in keys]).vectors)
            self.saved = True
            self.tell(pace.at(stop))

    def _take(self, decoded: Sequence[Decoded], pixels: NDArray[np.uint8]) -> None:
        """Encode the good ones of some pictures."""
        for each in decoded:
            if each.unchanged:
                self.touched[each.row] = (each.size, each.modified_ns)
        places = [i for i, each in enumerate(decoded) if not each.unchanged]
        good = [i for i in places if decoded[i].verdict is Verdict.OK]
        vectors = np.full((len(decoded), self.encoder.dim), np.nan, np.float32)
        if good:
            vectors[good] = self.encoder.encode_images(pixels if len(good) == len(decoded) else pixels[good])
        for i in places:
            self._found.append(_judged(decoded[i], vectors[i]))
            self._vectors.append(vectors[i : i + 1])
        self.encoded += len(good)

    def _save_now_and_then(self) -> None:
        if time.monotonic() - self._saved_at > _SAVE_SECONDS or len(self._found) >= _SAVE_ROWS:
            self._save()

    def _save(self) -> None:
        found, vectors = self._found, self._vectors
        if found:
            self._found, self._vectors = [], []
            self.store.add_pictures(found, np.concatenate(vectors))
            self.saved = True
        self._saved_at = time.monotonic()


def _judged(decoded: Decoded, vector: NDArray[np.float32]) -> Decoded:
    """A good picture that the encoder could make nothing of is a bad one."""
    if decoded.verdict is not Verdict.OK or (np.isfinite(vector).all() and vector.any()):
        return decoded
    vector[:] = np.nan
    reason = "the encoder's numbers for it are none"
    return Decoded(
        decoded.row, Verdict.NOT_ENCODED, reason, False, decoded.size, decoded.modified_ns, decoded.hash
    )


class _Portions:
    """Cuts work into parts of about a second of a slow encoder: between them it can be stopped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = min(_FIRST_PORTION, most)

    def of(self, count: int) -> Iterator[tuple[int, int]]:
        """Start and stop of each part of so many, which are about equally large."""
        start = 0
        while start < count:
            left = count - start
            stop = start + -(-left // -(-left // self._size))
            began = time.monotonic()
            yield start, stop
            each = (time.monotonic() - began) / (stop - start)
            fitting = int(_PORTION_SECONDS / max(each, 1e-9))
            self._size = max(1, min(2 * self._size, fitting, self._most))
            start = stop


class _Pace:
    """How fast a stage is of late."""

    def __init__(self, stage: str, total: int) -> None:
        self._stage, self._total = stage, total
        self._marks: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def at(self, done: int) -> IndexProgress:
        now = time.monotonic()
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _RATE_SECONDS:
            self._marks.popleft()
        start, before = self._marks[0]
        rate = (done - before) / (now - start) if now > start else 0.0
        return IndexProgress(self._stage, done, self._total, rate)


def _with_times(rows: pa.Table, touched: dict[int, tuple[int, int]]) -> pa.Table:
    """The rows with the present size and time of files whose content is the same."""
    for place, name in enumerate(("size", "modified_ns")):
        values = rows[name].to_numpy().copy()
        for row, facts in touched.items():
            values[row] = facts[place]
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), [values])
    return rows


def _report(index: PictureIndex, plan: Plan, run: _Run, faults: Sequence[str]) -> IndexReport:
    mended = f"The index was damaged ({', '.join(faults)}); what it had lost was made anew."
    return IndexReport(
        rows=len(index),
        vectors=int(index.has_vector.sum()),
        encoded=run.encoded,
        unchanged=plan.files - len(plan.to_do) + len(run.touched),
        added=plan.added,
        changed=plan.changed - len(run.touched),
        gone=len(plan.gone),
        captions=len(index.all_captions()[0]),
        notes=(*([mended] if faults else []), *plan.notes, *state_notes(index)),
    )
