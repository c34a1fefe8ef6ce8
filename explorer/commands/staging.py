"""Looking into the shown table's model: its stages, where it looks, phrases as points."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject

from explorer.commands.notices import Notices
from explorer.commands.opening import Opening
from explorer.commands.token_paths import TokenPaths
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.model_parts import ModelParts
from explorer.core.stages import Needs, Phrases, StageModelInfo, StageRun, TokenComparison
from explorer.document import Document, ModelView, Source, StageInput
from explorer.export.matrices import Matrix, write_matrix, write_stages
from explorer.export.patches import write_patches
from explorer.export.rows import RowsToSave, write_rows
from explorer.jobs import Job, Jobs
from explorer.jobs.stage_jobs import STAGES_WORKER


class Staging(QObject):
    """Commands that run the model of the file on the map.

    Attributes
    ----------
    paths : TokenPaths
    """

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, opening: Opening) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._opening = opening
        self._wanted = False
        self._source: Source | None = None
        self._running: Job | None = None
        self._killer: StageInput | None = None
        self.paths = TokenPaths(document, jobs, notices)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        document.table_changed.connect(self._table_changed)
        jobs.worker_restarted.connect(self._take_up)

    @property
    def is_running(self) -> bool:
        """Whether the model is being opened or run."""
        return self._running is not None

    def want(self) -> None:
        """Open the shown file's model: somebody is looking."""
        if not self._wanted:
            self._wanted = True
            self._table_changed()

    def _table_changed(self) -> None:
        """Another file's model; another table of the same file keeps it."""
        table = self._document.table
        if table is not None and self._is_own(table.path):
            self.paths.find()
            return
        source = None if table is None else self._document.source_at(table.path)
        if source is None or source != self._source:
            self._stop()
            self._source = self._killer = None
            self._document.set_model_view(ModelView(given=self._document.model_view.given))
            self.paths.follow(None)
            self.paths.find()
            if source is not None and self._wanted:
                self._open(source)
        else:
            self.paths.find()

    def _open(self, source: Source) -> None:
        self._source = source
        job = self._running = self._jobs.stages.open(source)

        def opened(model: StageModelInfo) -> None:
            self._running = None
            self._change(model=model, refusal=None)
            self.run(fitting(self._document.model_view.given, model))

        job.finished.connect(self._if_last(job, opened))
        job.failed.connect(self._if_last(job, self._refused))
        job.cancelled.connect(self._if_last(job, self._opening_stopped))
        parts = self._jobs.stages.parts(source)

        def came(found: ModelParts) -> None:
            if self._source is source:
                self._change(parts=found)

        parts.finished.connect(came)

    def _opening_stopped(self) -> None:
        self._running = self._source = None
        self._refused(ExplorerError("Opening the model was stopped.", "Press Return to open it."))

    def _run_stopped(self) -> None:
        self._running = None

    def _refused(self, error: ExplorerError) -> None:
        self._running = None
        self._change(refusal=error, run=None)
        self.paths.find()

    def _take_up(self, worker: str, _reason: str) -> None:
        """The process had died: open the model again, unless this very input has killed it twice."""
        view = self._document.model_view
        if worker != STAGES_WORKER or self._source is None or self._killer is view.given:
            return
        self._killer = view.given
        if view.model is None:
            self._open(self._source)
        else:
            self.run(view.given)

    def _if_last(self, job: Job, act: Callable) -> Callable:
        """Only where the job's answer is still waited for."""

        def then(*results: object) -> None:
            if self._running is job:
                act(*results)

        return then

    def run(self, given: StageInput) -> None:
        """Take a text, a picture or both through the model; what was under way before stops."""
        model = self._document.model_view.model
        if model is not None:
            self._stop()
        self._change(given=given)
        if self._source is None and self._wanted:
            self._table_changed()
        if self._source is None or model is None:
            return
        if given.is_empty:
            self._change(run=None, refusal=None)
            self.paths.find()
            return
        job = self._running = self._jobs.stages.run(
            self._source,
            given.text,
            picture=given.picture,
            side=given.side,
            special=given.special,
            heads=given.heads,
            source_text=given.source,
        )

        def ran(run: StageRun) -> None:
            self._running = self._killer = None
            self._change(run=run, refusal=None)
            self.paths.find()

        job.finished.connect(self._if_last(job, ran))
        job.failed.connect(self._if_last(job, self._refused))
        job.cancelled.connect(self._if_last(job, self._run_stopped))

    def attention(self, name: str, layer: int) -> Job | None:
        """Fetch where the present run's places look; finishes with float32, shape (heads, queries, keys)."""
        run = self._document.model_view.run
        if run is None or self._source is None:
            return None
        return self._jobs.stages.attention(self._source, run.id, name, layer)

    def compare(self, first: str, second: str, word: str) -> Job | None:
        """Follow a word through two sentences: how alike, in ``model_view``, and where, on the map."""
        if self._source is None:
            return None
        given = self._document.model_view.given
        job = self._jobs.stages.compare_word(self._source, first, second, word, given.side, given.heads)

        def compared(found: tuple[TokenComparison, ...]) -> None:
            self._change(comparison=found)
            self.paths.compare((f"{word} (first)", f"{word} (second)"), found)

        job.finished.connect(compared)
        job.failed.connect(lambda _error: self._change(comparison=()))
        return job

    def phrases(self, texts: Sequence[str]) -> Job | None:
        """Encode phrases and open them as a table of their own."""
        phrases = [text.strip() for text in texts if text.strip()]
        if self._source is None:
            return None
        given = self._document.model_view.given
        job = self._jobs.stages.encode_phrases(self._source, phrases, given.side, given.heads)
        name = Path(self._source.path).stem

        def encoded(found: Phrases) -> None:
            rows = np.arange(len(found.labels))
            named = Labels.from_texts(found.labels, "phrases")
            try:
                path = self._new_file(f"phrases by {name}")
                write_rows(path, RowsToSave(rows, named, vectors=found.vectors))
            except ExplorerError as error:
                self._notices.error(error)
                return
            self._opening.open([str(path)])
            self._notices.tell(" ".join((f"A phrase's vector is {found.how}.", *found.notes)))

        job.finished.connect(encoded)
        return job

    def patches(self, name: str) -> None:
        """Open a stage's patches as a table of their own, each showing its crop.

        Parameters
        ----------
        name : str
            The stage's.
        """
        run = self._document.model_view.run
        if run is None or run.stages.patches is None:
            return
        try:
            path = self._new_file(f"patches, {name}")
            write_patches(path, run.stages[name], run.stages.patches)
        except ExplorerError as error:
            self._notices.error(error)
            return
        self._opening.open([str(path)])

    @property
    def has_run(self) -> bool:
        """Whether there are stages to look at."""
        return self._document.model_view.run is not None

    def save_matrix(self, path: Path, matrix: Matrix) -> None:
        """Write a matrix as CSV or NPZ, by the path's ending."""
        self._save(path, lambda: write_matrix(path, matrix))

    def save_stages(self, path: Path) -> None:
        """Write all matrices of the present run as NPZ."""
        run = self._document.model_view.run
        if run is not None:
            self._save(path, lambda: write_stages(path, run.stages))

    def _save(self, path: Path, write: Callable[[], None]) -> None:
        try:
            write()
        except ExplorerError as error:
            self._notices.error(error)
        else:
            self._notices.tell(f"Saved {path.name} in {path.parent}.")

    def close(self) -> None:
        """Stop what is under way, and remove what was written for this session."""
        self._stop()
        self._source = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _new_file(self, name: str) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="embedding-explorer-phrases-")
        folder = Path(self._folder.name)
        number = 1 + sum(1 for _ in folder.glob("*.parquet"))
        return folder / f"{name}.parquet" if number == 1 else folder / f"{name} ({number}).parquet"

    def _is_own(self, path: str) -> bool:
        """Whether it is a table of phrases that the model itself has made: it stays the model looked into."""
        return self._folder is not None and Path(path).parent == Path(self._folder.name)

    def _change(self, **changes: object) -> None:
        self._document.set_model_view(replace(self._document.model_view, **changes))

    def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self._running = None
        self.paths.stop()


def fitting(given: StageInput, model: StageModelInfo) -> StageInput:
    """What of an input a model can be given; another model's picture, side and heads are left out."""
    heads = given.heads if model.heads is not None and given.heads in model.heads.choices else None
    return StageInput(
        given.text if model.needs is not Needs.PICTURE else "",
        given.picture if model.needs not in (Needs.TEXT, Needs.EVENTS) else None,
        given.side if given.side in model.sides else None,
        given.special,
        heads,
        given.source if given.side in model.source_of else "",
    )
