"""Opening files, choosing tables, joining labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.core.errors import ExplorerError, WorkerLost
from explorer.core.listing import FileListing, LoadedTable
from explorer.document import Document, Source
from explorer.document.settings import Settings
from explorer.jobs import Job, Jobs
from explorer.readers.index_files import is_index

MANY_PICTURES = 10
"""So many beside a checkpoint are no mere illustrations of it."""


class Opening(QObject):
    """Commands that bring tables into the document.

    Signals
    -------
    table_loaded : a table has been put onto the map.
    picker_wanted(path) : the tables of that file are to be shown to choose from.
    encoder_wanted(encoder, path, table) : an encoder that was opened is to read for that table.
    pictures_found(folder) : what was to be opened is a folder of pictures, to be indexed first.
    mending_wanted(index) : an index that could not be opened is to be indexed again.
    looking_into(path) : a file or folder is going to be opened.
    reading_begun, reading_failed : around every file that is read.
    """

    table_loaded = Signal()
    picker_wanted = Signal(str)
    encoder_wanted = Signal(str, str, str)
    pictures_found = Signal(str)
    mending_wanted = Signal(str)
    looking_into = Signal(str)
    reading_begun = Signal()
    reading_failed = Signal()

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, settings: Settings) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._settings = settings
        self._loading: Job | None = None
        self._loading_path = ""

    def open(self, paths: list[str], *, table: str | None = None, **labels: object) -> None:
        """Open files or folders; the likeliest table of the last one goes onto the map.

        Parameters
        ----------
        paths : list of str
        table : str, optional
            The table to show, where it is known by name.
        **labels
            ``labels``, ``target_labels``, ``header`` and ``scaled``, as in ``choose_table``.
        """
        for path in paths:
            self._open_one(str(Path(path).absolute()), table, labels)

    def _list(self, path: str, **joined: object) -> Job:
        self.looking_into.emit(path)
        self.reading_begun.emit()
        job = self._jobs.open_file(path, **joined)
        job.failed.connect(lambda _error: self.reading_failed.emit())
        return job

    def _open_one(self, path: str, table: str | None, labels: dict) -> None:
        scaled = bool(labels.get("scaled", False))
        joined = {name: labels.get(name) for name in ("labels", "target_labels", "header")}
        job = self._list(path, **joined)
        job.finished.connect(lambda listing: self._opened(Source(listing, **joined), table, scaled, path))
        job.failed.connect(lambda error: self._failed(error, path, joined))

    def drop(self, paths: list[str]) -> None:
        """Open what was dropped; a file without a table is tried as labels.

        A checkpoint and its vocabulary may come in one drop, in any order; a vocabulary alone is for
        the table on the map.
        """
        waiting = set(paths)
        opened: list[str] = []
        failures: list[tuple[str, ExplorerError]] = []

        def ended(path: str) -> None:
            waiting.discard(path)
            if waiting:
                return
            table = self._document.table
            named = opened[-1] if opened else None if table is None else table.path
            for failed, error in failures:
                self._try_as_labels(named, failed, error)

        def came(path: str, listing: FileListing) -> None:
            opened.append(path)
            self._opened(Source(listing), None, False, path)

        for path in paths:
            job = self._list(path)
            job.finished.connect(lambda listing, path=path: came(path, listing))
            job.failed.connect(lambda error, path=path: failures.append((path, error)))
            for signal in (job.finished, job.failed, job.cancelled):
                signal.connect(lambda *_outcome, path=path: ended(path))

    def _try_as_labels(self, named: str | None, dropped: str, error: ExplorerError) -> None:
        source = None if named is None else self._document.source_at(named)
        if source is None or Path(dropped).is_dir():
            self._refused(dropped, error)
            return
        job = self._list(source.path, labels=dropped, target_labels=source.target_labels)

        def joined(listing: FileListing) -> None:
            table = self._document.table
            shown = table.listing.name if table is not None and table.path == source.path else None
            self._opened(replace(source, listing=listing, labels=dropped), shown, False)
            first = next((entry for entry in listing.tables if entry.labels_source is not None), None)
            if first is not None:
                named_rows = f"{first.labels_count:,} of {first.rows:,} rows"
                self._notices.tell(f"{Path(dropped).name} names {named_rows} of {first.name}.")

        job.finished.connect(joined)
        name = Path(source.path).name
        use = (f"Use it as labels for {name}", lambda: self.join_labels(source.path, dropped))
        job.failed.connect(lambda _refused: self._notices.error(error, use))

    def _opened(self, source: Source, table: str | None, scaled: bool, asked: str = "") -> None:
        """Show a table of what has been opened; ``asked`` is its path, or its folder's."""
        listing = source.listing
        self._document.put_source(source)
        self._settings.remember_file(source.path)
        names = [entry.name for entry in listing.tables]
        if table is not None and table not in names:
            self._notices.error(
                ExplorerError(
                    f"{Path(source.path).name} has no table named {table}.", "Choose one of its tables."
                ),
                ("Choose table…", lambda: self.picker_wanted.emit(source.path)),
            )
            return
        before = self._document.table
        self.choose_table(source.path, table or names[0], scaled=scaled)
        self._tell(listing, table or names[0], asked, before)

    def _tell(self, listing: FileListing, shown: str, asked: str, before: LoadedTable | None) -> None:
        name = Path(listing.path).name
        notes = list(listing.notes)
        actions = []
        if listing.manifest is not None:
            self._notices.clear()  # what there is to say of an index, IndexNews says
            return
        if _pictures_in(asked) >= MANY_PICTURES:
            notes.append(f"{Path(asked).name} holds pictures, too.")
            actions.append(("Index its pictures…", lambda: self.pictures_found.emit(asked)))
        if before is not None and self._reads(asked, listing, before):
            place, read = before.path, before.listing.name
            actions.append(
                (
                    f"Use it as encoder for {Path(place).name}",
                    lambda: self.encoder_wanted.emit(asked, place, read),
                )
            )
            notes.append(f"{name} is an encoder, too.")
        if len(listing.tables) > 1:
            notes.insert(0, f"{name} holds {len(listing.tables)} tables; {shown} is shown.")
            actions.append(("Choose table…", lambda: self.picker_wanted.emit(listing.path)))
        if notes:
            self._notices.tell(" ".join(notes), *actions)
        else:
            self._notices.clear()

    def _reads(self, asked: str, listing: FileListing, table: LoadedTable) -> bool:
        """Whether what was opened is an encoder that may have made another table's vectors."""
        if not asked or table.path == listing.path:
            return False
        dims = self._jobs.encoders.dims(asked, [entry.name for entry in listing.tables])
        return dims is not None and (table.encoder is not None or table.listing.dim in dims)

    def _failed(self, error: ExplorerError, path: str, joined: dict) -> None:
        actions = []
        if joined["labels"] is not None and joined["header"] is None:
            actions = [
                ("First line is a header", lambda: self._open_one(path, None, {**joined, "header": True})),
                ("It is a label", lambda: self._open_one(path, None, {**joined, "header": False})),
            ]
        if joined["labels"] is not None or joined["target_labels"] is not None:
            actions.append(("Open without labels", lambda: self.open([path])))
        if actions:
            self._notices.error(error, *actions)
        else:
            self._refused(path, error)

    def _refused(self, path: str, error: ExplorerError) -> None:
        """Tell why something was not opened; pictures in a folder can be indexed instead."""
        if not is_index(Path(path)) and _pictures_in(path):
            self.pictures_found.emit(path)
        else:
            self._notices.error(error, *self._mending(path, error))

    def _mending(self, path: str, error: ExplorerError) -> list[tuple[str, Callable[[], None]]]:
        """The way on from an index that cannot be opened."""
        if isinstance(error, WorkerLost) or not is_index(Path(path)):
            return []
        return [("Index again", lambda: self.mending_wanted.emit(path))]

    def show_index(self, index: str) -> None:
        """Open an index that has been made or brought up to date; the table of it that is shown stays so."""
        table = self._document.table
        shown = table.listing.name if table is not None and table.path == index else None
        self._open_one(index, shown, {})

    def choose_table(self, path: str, name: str, *, scaled: bool = False) -> None:
        """Load a table of an open file and put it onto the map.

        Parameters
        ----------
        path, name : str
        scaled : bool
            Multiply rows by the square root of dim, as a Transformer's lookup does.
        """
        source = self._document.source_at(path)
        if source is None:
            return
        if self._loading is not None:
            self._loading.cancel()
        self.reading_begun.emit()
        job = self._jobs.load_table(
            path,
            name,
            labels=source.labels,
            target_labels=source.target_labels,
            header=source.header,
            scaled=scaled,
        )
        self._loading, self._loading_path = job, path
        again = "Try again", lambda: self.choose_table(path, name, scaled=scaled)
        job.finished.connect(self._loaded)
        job.failed.connect(lambda error: self._notices.error(error, *self._mending(path, error) or [again]))

    def _loaded(self, table: LoadedTable) -> None:
        self._loading = None
        last = self._document.table
        self._document.set_table(table)
        if last is not None:
            self._jobs.release_table(last.key)
        self.table_loaded.emit()

    def scale_rows(self, scaled: bool) -> None:
        """Show the present table with its rows scaled by the square root of dim, or as stored."""
        table = self._document.table
        if table is not None and table.scaled != scaled:
            self.choose_table(table.path, table.listing.name, scaled=scaled)

    def join_labels(self, path: str, labels: str, *, target: bool = False) -> None:
        """Give an open file's tables their names from a vocabulary file.

        Parameters
        ----------
        path : str
            The open file.
        labels : str
            The vocabulary file.
        target : bool
            It names a translator's target side.
        """
        source = self._document.source_at(path)
        if source is None:
            return
        chosen = replace(source, target_labels=labels) if target else replace(source, labels=labels)
        table = self._document.table
        shown = table.listing.name if table is not None and table.path == path else None
        self._open_one(
            path,
            shown,
            {
                "labels": chosen.labels,
                "target_labels": chosen.target_labels,
                "header": None,
                "scaled": table is not None and table.scaled,
            },
        )

    def close_source(self, path: str) -> None:
        """Close a file; a table of it that is still loading does not come."""
        if self._loading is not None and self._loading_path == path:
            self._loading.cancel()
        table = self._document.table
        self._document.remove_source(path)
        if table is not None and self._document.table is None:
            self._jobs.release_table(table.key)

    def close(self) -> None:
        """Let no table come any more."""
        if self._loading is not None:
            self._loading.cancel()


def _pictures_in(path: str) -> int:
    """How many pictures a first look into a folder finds."""
    if not path or not Path(path).is_dir():
        return 0
    # Imports Pillow, which most sessions do not need.
    from explorer.readers.picture_folder import count_by_name

    return count_by_name(Path(path))
