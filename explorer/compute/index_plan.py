"""What a run over a folder has to do, told from an index and from the files' sizes and times."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from explorer.compute.decoding import Task
from explorer.compute.index_store import empty_rows
from explorer.core.errors import ExplorerError
from explorer.core.index import IndexProgress
from explorer.core.pictures import Verdict
from explorer.readers.index_files import shown_path
from explorer.readers.picture_folder import FolderScan
from explorer.readers.picture_index import PictureIndex

Tell = Callable[[IndexProgress], None]

# Verdicts that stand as long as the file's size and time do; the others may have had another cause.
_LASTING = frozenset((Verdict.OK, Verdict.EMPTY, Verdict.CUT_OFF, Verdict.NOT_A_PICTURE, Verdict.TOO_LARGE))


@dataclass
class Plan:
    """What a run has to do, told from the files' sizes and times.

    Attributes
    ----------
    present : list of bytes
        Paths of all pictures in the folder.
    to_do : array of int
        Rows to decode, in the order of the folder.
    new, new_sizes, new_times : array of int
        Pictures (places in ``present``) that have no row yet; their sizes and times.
    gone : list of int
        Rows whose files are gone.
    changed, added, files : int
    notes : list of str
    """

    present: list[bytes] = field(default_factory=list)
    to_do: array[int] = field(default_factory=lambda: array("q"))
    new: array[int] = field(default_factory=lambda: array("q"))
    new_sizes: array[int] = field(default_factory=lambda: array("q"))
    new_times: array[int] = field(default_factory=lambda: array("q"))
    gone: list[int] = field(default_factory=list)
    changed: int = 0
    added: int = 0
    files: int = 0
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, index: PictureIndex, tell: Tell) -> Plan:
        """Compare a folder with an index that has no journal.

        Raises
        ------
        ExplorerError
            The folder holds no pictures.
        """
        plan = cls()
        scan = FolderScan(folder)
        known = {path: row for row, path in enumerate(index.rows["path"].to_pylist())}
        sizes, times = (index.rows[name].to_numpy() for name in ("size", "modified_ns"))
        verdicts = index.rows["verdict"].to_pylist()
        for number, file in enumerate(scan.files()):
            if number % 1000 == 0:
                tell(IndexProgress("Looking through the folder", number))
            key = os.fsencode(file.path)
            plan.present.append(key)
            row = known.pop(key, None)
            if row is None:
                plan.to_do.append(len(index) + len(plan.new))
                plan.new.append(len(plan.present) - 1)
                plan.new_sizes.append(file.size)
                plan.new_times.append(file.modified_ns)
                continue
            same = (sizes[row], times[row]) == (file.size, file.modified_ns)
            if not same or verdicts[row] not in _LASTING:
                plan.to_do.append(row)
                plan.changed += not same and verdicts[row] != Verdict.PENDING
        plan._miss(known, scan.unreadable, verdicts)
        if not plan.present:
            raise no_pictures(folder)
        plan.added, plan.files = len(plan.new), len(plan.present)
        return plan

    def forget_paths(self) -> None:
        """Let go of what the rows hold by now: it would grow with the folder."""
        self.present.clear()
        self.new, self.new_sizes, self.new_times = array("q"), array("q"), array("q")

    def _miss(self, missing: dict[bytes, int], unreadable: list[str], verdicts: list[str]) -> None:
        """Rows without a file are gone, unless their folder could not be looked into."""
        hidden = tuple(os.fsencode(f"{folder}/") for folder in unreadable)
        for path, row in missing.items():
            if not path.startswith(hidden) and verdicts[row] != Verdict.GONE:
                self.gone.append(row)
        self.notes += [f"The folder {folder or '.'} could not be looked into." for folder in unreadable]

    def rows(self, index: PictureIndex, captions: Mapping[str, tuple[str, ...]]) -> pa.Table:
        """The index's rows with new ones after them, gone ones marked, and today's captions."""
        paths = [self.present[place] for place in self.new]
        rows = pa.concat_tables([index.rows, empty_rows(paths, self.new_sizes, self.new_times)])
        del paths
        if self.gone:
            gone = dict.fromkeys(self.gone)
            for name, value in (("verdict", str(Verdict.GONE)), ("reason", "the file is no longer there")):
                old = rows[name].to_pylist()
                values = [value if row in gone else text for row, text in enumerate(old)]
                rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), [values])
        at = rows.schema.get_field_index("captions")
        texts = (captions.get(shown_path(path.as_py()), ()) for path in rows["path"]) if captions else ()
        column = pa.chunked_array([_lists(texts, len(rows))])
        return rows.set_column(at, rows.schema.field(at), column).combine_chunks()

    def tasks(self, folder: Path, index: PictureIndex) -> Iterator[Task]:
        """The pictures to decode."""
        for row in self.to_do:
            is_known = index.verdict(row) is Verdict.OK
            known = index.rows["hash"][row].as_py() if is_known else None
            yield Task(row, os.path.join(folder, index.name(row)), known)


def no_pictures(folder: Path) -> ExplorerError:
    """What to say of a folder in which there is nothing to index."""
    return ExplorerError(f"The folder {folder} holds no pictures.")


def _lists(texts: Iterable[tuple[str, ...]], rows: int) -> pa.Array:
    """A column of lists of texts, no object kept for each row; none where there are no texts."""
    ends = np.zeros(rows + 1, np.int32)
    found: list[str] = []
    for row, own in enumerate(texts, 1):
        found += own
        ends[row] = len(found)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(found, pa.string()))
