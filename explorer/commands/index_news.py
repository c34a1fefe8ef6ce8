"""What the person is told of an index: which pictures have a vector, which have none, what is still to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer.commands.indexing import Indexing
from explorer.commands.notices import Notices
from explorer.commands.opening import Opening
from explorer.core.listing import LoadedTable
from explorer.core.pictures import Verdict
from explorer.core.table import Role
from explorer.core.wording import counted, has_have, is_are, unmatched_words
from explorer.document import Document


class IndexNews(QObject):
    """Tells once of each index that is opened, and again after each run.

    Signals
    -------
    remarks_wanted(path) : the pictures without a vector, and repeated ones, are to be listed.
    """

    remarks_wanted = Signal(str)

    def __init__(self, document: Document, notices: Notices, opening: Opening, indexing: Indexing) -> None:
        super().__init__()
        self._document = document
        self._notices = notices
        self._indexing = indexing
        self._told: set[str] = set()
        self._is_new = False
        indexing.finished.connect(self._made)
        opening.table_loaded.connect(self._loaded)
        document.sources_changed.connect(self._forget_closed)

    def _made(self) -> None:
        self._is_new = True
        self._told.clear()

    def _forget_closed(self) -> None:
        self._told &= {source.path for source in self._document.sources}

    def _loaded(self) -> None:
        table = self._document.table
        source = None if table is None else self._document.source_at(table.path)
        if table is None or source is None or source.listing.manifest is None:
            return
        if table.listing.role is not Role.IMAGES or table.path in self._told:
            return
        path, is_new = table.path, self._is_new
        self._told.add(path)
        self._is_new = False
        waiting, bad, repeated = counts_of(table)
        actions = []
        if waiting and not self._indexing.is_running:
            actions.append(("Go on", lambda: self._indexing.go_on(path)))
        unmatched = len(source.listing.manifest.unmatched_captions)
        if bad or repeated or unmatched:
            actions.append(("Show those", lambda: self.remarks_wanted.emit(path)))
        if actions or is_new:
            text = words(Path(path).name, table.listing.rows, waiting, bad, repeated, unmatched)
            self._notices.tell(text, *actions)


def counts_of(table: LoadedTable) -> tuple[int, int, int]:
    """Of an index's pictures: not indexed yet, of no use, the same as an earlier one."""
    verdicts = table.metadata.get("verdict", np.empty(0, object))
    waiting = int(np.count_nonzero(verdicts == str(Verdict.PENDING)))
    bad = int(np.count_nonzero(verdicts != str(Verdict.OK))) - waiting
    twins = table.first_twin
    repeated = 0 if twins is None else int(np.count_nonzero(twins != np.arange(len(twins))))
    return waiting, bad, repeated


def words(name: str, rows: int, waiting: int, bad: int, repeated: int, unmatched: int = 0) -> str:
    """The state of an index in one or two sentences."""
    usable = rows - waiting - bad
    parts = [f"{usable:,} of {counted(rows, 'picture')} in {name} {has_have(usable)} a vector"]
    if bad:
        parts.append(f"{bad:,} could not be used")
    if repeated:
        same = "is the same as an earlier one" if repeated == 1 else "are the same as earlier ones"
        parts.append(f"{repeated:,} {same}")
    text = "; ".join(parts) + "."
    if waiting:
        text += f" {counted(waiting, 'picture')} {is_are(waiting)} not indexed yet."
    return f"{text} {unmatched_words(unmatched)}" if unmatched else text
