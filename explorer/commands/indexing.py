"""Indexing a folder of pictures: start, pause, go on, cancel, and show what has come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.core.encoder_info import EncoderInfo
from explorer.core.errors import ExplorerError, WorkerLost
from explorer.core.index import IndexProgress, IndexReport
from explorer.core.wording import counted
from explorer.document import Document, IndexRun
from explorer.document.settings import Settings
from explorer.jobs import Job, Jobs


@dataclass(frozen=True)
class _Order:
    """What was asked for, to go on with."""

    folder: str
    encoder: str
    index: str
    captions: str | None


class Indexing(QObject):
    """Commands that make indexes, one at a time.

    Signals
    -------
    finished(IndexReport) : a run is over, and its index is being opened.
    index_wanted(str) : an index is to be shown, by its path.
    """

    finished = Signal(object)
    index_wanted = Signal(str)

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, settings: Settings) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._settings = settings
        self._job: Job | None = None
        self._done_when_lost = -1

    @property
    def is_running(self) -> bool:
        """Whether a folder is being indexed, or about to end."""
        return self._job is not None

    def start(self, folder: str, encoder: str, index: str | None = None, captions: str | None = None) -> None:
        """Index a folder of pictures, or bring its index up to date; a run that was stopped goes on.

        Parameters
        ----------
        folder : str
        encoder : str
            A folder, a file, or the name of a cached model.
        index : str, optional
            The index's folder; else one beside the pictures.
        captions : str, optional
            A list chosen by hand.
        """
        if self.is_running:
            self._notices.error(
                ExplorerError("Another folder is being indexed.", "Wait for it to end, or cancel it.")
            )
            return
        from explorer.readers.index_places import place_for

        pictures = Path(folder).absolute()
        place = place_for(pictures, Path(encoder)) if index is None else Path(index).absolute()
        self._done_when_lost = -1
        self._settings.remember_encoder(encoder)
        self._run(_Order(str(pictures), encoder, str(place), captions))

    def go_on(self, index: str) -> None:
        """Take up an index whose run was stopped, or that is damaged."""
        from explorer.readers.index_files import pictures_folder, recovered_manifest

        try:
            manifest = recovered_manifest(Path(index))
            if manifest is None:
                raise ExplorerError(
                    f"Nothing in the index {Path(index).name} says any more which encoder made it.",
                    "Index its folder again, into the same place.",
                )
        except ExplorerError as error:
            self._notices.error(error)
            return
        self.start(str(pictures_folder(Path(index), manifest)), manifest.encoder.path, index)

    def pause(self) -> None:
        """Have the run stand still; queries are still answered."""
        if self._job is not None:
            self._job.pause()

    def resume(self) -> None:
        """Let a paused run go on."""
        if self._job is not None:
            self._job.resume()

    def cancel(self) -> None:
        """End the run; what is done is kept, and the same folder goes on there the next time."""
        if self._job is not None:
            self._job.cancel()

    def close(self) -> None:
        """Let go of the run: the session ends. What is done is kept."""
        if self._job is not None:
            self._job = None
            self._document.set_index_run(None)

    def _run(self, order: _Order) -> None:
        name = Path(order.encoder).name
        run = IndexRun(order.folder, order.index, name, IndexProgress("Loading the encoder"))
        job = self._jobs.encoders.index_folder(order.folder, order.encoder, order.index, order.captions)
        self._job = job
        job.told.connect(lambda news: self._told(job, news))
        job.paused_changed.connect(lambda paused: self._show(job, paused=paused))
        job.finished.connect(lambda report: self._finished(job, order, report))
        job.failed.connect(lambda error: self._failed(job, order, error))
        job.cancelled.connect(lambda: self._cancelled(job, order))
        self._document.set_index_run(run)

    def _told(self, job: Job, news: object) -> None:
        if isinstance(news, EncoderInfo):
            self._show(job, encoder=news.name)
        elif isinstance(news, IndexProgress):
            self._show(job, progress=news)

    def _show(self, job: Job, **changes: object) -> None:
        run = self._document.index_run
        if job is self._job and run is not None:
            self._document.set_index_run(replace(run, **changes))

    def _ended(self, job: Job) -> IndexRun | None:
        """The run as it was; None where it is not this session's any more."""
        if job is not self._job:
            return None
        run = self._document.index_run
        self._job = None
        self._document.set_index_run(None)
        return run

    def _finished(self, job: Job, order: _Order, report: IndexReport) -> None:
        if self._ended(job) is None:
            return
        shown = self._document.table
        if shown is None or shown.path == order.index:
            self.index_wanted.emit(order.index)
        else:
            # What somebody may be asking another table is not taken from under their hands.
            done = f"{counted(report.vectors, 'picture')} in {Path(order.folder).name} can be searched now."
            self._notices.tell(done, ("Show them", lambda: self.index_wanted.emit(order.index)))
        self.finished.emit(report)

    def _failed(self, job: Job, order: _Order, error: ExplorerError) -> None:
        run = self._ended(job)
        if run is None:
            return
        if isinstance(error, WorkerLost) and run.progress.done > self._done_when_lost:
            # What is saved stays; the same picture twice would be too often.
            self._done_when_lost = run.progress.done
            self._notices.tell("The process that indexes pictures had died; it goes on where it was.")
            self._run(order)
            if run.paused:
                self.pause()
            return
        self._notices.error(error, ("Try again", lambda: self._again(order)))

    def _cancelled(self, job: Job, order: _Order) -> None:
        run = self._ended(job)
        if run is None:
            return
        name = Path(order.folder).name
        self._notices.tell(
            f"Indexing {name} was stopped; what is done is kept.",
            ("Go on", lambda: self._again(order)),
            ("Show what is there", lambda: self.index_wanted.emit(order.index)),
        )

    def _again(self, order: _Order) -> None:
        self.start(order.folder, order.encoder, order.index, order.captions)
