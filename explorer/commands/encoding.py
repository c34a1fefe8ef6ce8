"""The encoder that reads what is asked of the shown table: chosen by itself for an index, else by hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.core.encoder_info import EncoderInfo
from explorer.core.errors import ExplorerError
from explorer.core.listing import LoadedTable
from explorer.demos import demos
from explorer.document import Document
from explorer.document.settings import Settings
from explorer.jobs import Job, Jobs
from explorer.readers.index_files import is_index, recovered_manifest


@dataclass(frozen=True)
class EncoderChoice:
    """An encoder that can be chosen.

    Attributes
    ----------
    name : str
        As shown.
    path : str
        By which it is opened.
    where : {"used before", "demo", "model cache"}
    """

    name: str
    path: str
    where: str


class Encoding(QObject):
    """Commands that load encoders.

    Signals
    -------
    wanted(str) : an encoder has to be chosen by hand; why, in a sentence.
    loading_changed(bool) : one is being loaded.
    """

    wanted = Signal(str)
    loading_changed = Signal(bool)

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, settings: Settings) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._settings = settings
        self._loading: Job | None = None
        self._next = ""
        self._foreseen: dict[str, Job | None] = {}  # by index

    @property
    def is_loading(self) -> bool:
        """Whether an encoder is on its way."""
        return self._loading is not None

    def begin(self) -> None:
        """Take up a new table: load the encoder that made its vectors, where its file names it."""
        self._stop()
        table, chosen = self._document.table, self._next
        self._next = ""
        if chosen:
            self.use(chosen)
            return
        if table is None or table.encoder is None:
            return
        made_by = table.encoder
        if not Path(made_by.path).exists():
            gone = ExplorerError(
                f"The encoder {made_by.name} is no longer at {made_by.path}.",
                "Choose it where it is now to ask in words.",
            )
            self._refuse(gone)
            return
        self._load(table, made_by.path, self._document.set_encoder)

    def foresee(self, path: str) -> None:
        """Have an index's encoder loaded while the index still is; what fails is told when it is wanted."""
        if path in self._foreseen or not is_index(Path(path)):
            return
        self._foreseen[path] = None
        with suppress(ExplorerError):
            manifest = recovered_manifest(Path(path))
            if manifest is not None and Path(manifest.encoder.path).exists():
                self._foreseen[path] = self._jobs.encoders.open(manifest.encoder.path)

    def use(self, encoder: str) -> None:
        """Load an encoder for the shown table: a folder, a file, or the name of a cached model."""
        self._stop()
        table = self._document.table
        if table is None:
            self._notices.error(ExplorerError("There is no table to ask by an encoder.", "Open one first."))
            return

        def arrived(info: EncoderInfo) -> None:
            self._settings.remember_encoder(info.path)
            self._document.set_encoder(info)

        self._load(table, encoder, arrived)

    def use_next(self, encoder: str) -> None:
        """Load an encoder, not for the shown table but for the one that is on its way."""
        self._next = encoder

    def close(self) -> None:
        """Have no encoder for the shown table."""
        self._stop()
        self._document.set_encoder(None)

    def local(self) -> tuple[EncoderChoice, ...]:
        """Encoders to choose from: those used before, the demo's, and the local model cache's."""
        demo = [
            EncoderChoice(f"{each.name} (demo)", str(each.path), "demo")
            for each in demos()
            if each.kind == "CLIP"
        ]
        cached = [
            EncoderChoice(model.name, str(model.path), "model cache") for model in self._jobs.encoders.local()
        ]
        names = {choice.path: choice.name for choice in (*demo, *cached)}
        used = [
            EncoderChoice(names.get(path) or Path(path).name, path, "used before")
            for path in self._settings.encoders
            if Path(path).exists()
        ]
        known: dict[str, EncoderChoice] = {}
        for choice in (*used, *demo, *cached):
            known.setdefault(choice.path, choice)
        return tuple(known.values())

    def _load(self, table: LoadedTable, encoder: str, arrived: Callable[[EncoderInfo], None]) -> None:
        ahead = self._foreseen.get(table.path)
        if ahead is not None:
            ahead.cancel()  # What is loaded of it stays; one job is enough to wait for.
        job = self._jobs.encoders.open(encoder, table.path if table.encoder is not None else None)
        self._loading = job

        def fits(info: EncoderInfo) -> None:
            if self._loading is not job:
                return
            if info.dim == table.listing.dim:
                arrived(info)
            else:
                self._refuse(
                    ExplorerError(
                        f"{info.name} gives vectors of {info.dim} numbers; those of {table.listing.name} "
                        f"have {table.listing.dim}.",
                        "Choose the encoder that made them.",
                    )
                )
            self._ended()

        def failed(error: ExplorerError) -> None:
            if self._loading is job:
                self._ended()
                self._refuse(error)

        job.finished.connect(fits)
        job.failed.connect(failed)
        job.cancelled.connect(lambda: self._ended() if self._loading is job else None)
        self.loading_changed.emit(True)

    def _refuse(self, error: ExplorerError) -> None:
        self._notices.error(error, ("Choose an encoder…", lambda: self.wanted.emit(error.message)))

    def _ended(self) -> None:
        self._loading = None
        self.loading_changed.emit(False)

    def _stop(self) -> None:
        job, self._loading = self._loading, None
        if job is not None:
            job.cancel()
            self.loading_changed.emit(False)
