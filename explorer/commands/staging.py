"""Looking into the shown table's model: its stages, where it looks, phrases as points."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.commands.opening import Opening
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.placement import MOST_ROWS, place_vectors
from explorer.core.results import Metric
from explorer.core.stages import ModelParts, Phrases, Stage, StageModelInfo, StageRun, TokenComparison
from explorer.document import Document, LayoutStage, ModelView, Source, StageInput, TokenPath
from explorer.export.patches import write_patches
from explorer.export.rows import RowsToSave, write_rows
from explorer.jobs import Job, Jobs

MOST_PLACED = 160
"""Vectors whose nearest rows are looked for: a path is for a sentence, not for a book."""
MOST_WORK = 1 << 33
"""Products of numbers that placing may take, so that it never holds a query up for long."""


class Staging(QObject):
    """Commands that run the model of the file on the map.

    Signals
    -------
    rejected(ExplorerError) : what was typed or chosen cannot be run.
    """

    rejected = Signal(object)

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, opening: Opening) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._opening = opening
        self._wanted = False
        self._on_map = True
        self._source: Source | None = None
        self._running: Job | None = None
        self._placing: Job | None = None
        self._placed: tuple[list[Stage], NDArray[np.int64]] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        document.table_changed.connect(self._table_changed)
        document.positions_changed.connect(self._place)

    @property
    def is_running(self) -> bool:
        """Whether the model is being opened or run."""
        return self._running is not None

    def want(self) -> None:
        """Open the shown file's model: somebody is looking."""
        self._wanted = True
        self._table_changed()

    def _table_changed(self) -> None:
        """Another file's model; another table of the same file keeps it."""
        table = self._document.table
        if table is not None and self._is_own(table.path):
            self._find_places()
            return
        source = None if table is None else self._document.source_at(table.path)
        if source is None or source != self._source:
            self._stop()
            self._source = None
            self._placed = None
            self._document.set_model_view(ModelView(given=self._document.model_view.given))
            self._document.set_token_paths(())
            if source is not None and self._wanted:
                self._open(source)
        else:
            self._find_places()

    def _open(self, source: Source) -> None:
        self._source = source
        job = self._running = self._jobs.stages.open(source)

        def opened(model: StageModelInfo) -> None:
            self._running = None
            self._change(model=model, refusal=None)
            self.run(self._document.model_view.given)

        job.finished.connect(self._if_last(job, opened))
        job.failed.connect(self._if_last(job, self._refused))
        parts = self._jobs.stages.parts(source)

        def came(found: ModelParts) -> None:
            if self._source is source:
                self._change(parts=found)

        parts.finished.connect(came)

    def _refused(self, error: ExplorerError) -> None:
        self._running = None
        self._change(refusal=error, run=None)
        self.rejected.emit(error)

    def _if_last(self, job: Job, act: Callable) -> Callable:
        """Only where the job's answer is still waited for."""

        def then(*results: object) -> None:
            if self._running is job:
                act(*results)

        return then

    def run(self, given: StageInput) -> None:
        """Take a text, a picture or both through the model; what was under way before stops."""
        if self._document.model_view.model is not None:
            self._stop()
        self._change(given=given)
        if self._source is None or self._document.model_view.model is None:
            return
        if given.is_empty:
            self._placed = None
            self._change(run=None, refusal=None)
            self._document.set_token_paths(())
            return
        job = self._running = self._jobs.stages.run(
            self._source, given.text, picture=given.picture, side=given.side, special=given.special
        )

        def ran(run: StageRun) -> None:
            self._running = None
            self._change(run=run, refusal=None)
            self._find_places()

        job.finished.connect(self._if_last(job, ran))
        job.failed.connect(self._if_last(job, self._refused))

    def attention(self, name: str, layer: int) -> Job | None:
        """Fetch where the present run's places look; finishes with float32, shape (heads, queries, keys)."""
        run = self._document.model_view.run
        if run is None or self._source is None:
            return None
        return self._jobs.stages.attention(self._source, run.id, name, layer)

    def compare(self, first: str, second: str, word: str) -> Job | None:
        """Follow a word through two sentences; the document's ``model_view`` has the result."""
        if self._source is None:
            return None
        side = self._document.model_view.given.side
        job = self._jobs.stages.compare_word(self._source, first, second, word, side)

        def compared(found: tuple[TokenComparison, ...]) -> None:
            self._change(comparison=found)

        job.finished.connect(compared)
        job.failed.connect(self.rejected.emit)
        return job

    def phrases(self, texts: Sequence[str]) -> Job | None:
        """Encode phrases and open them as a table of their own."""
        phrases = [text.strip() for text in texts if text.strip()]
        if self._source is None:
            return None
        job = self._jobs.stages.encode_phrases(self._source, phrases, self._document.model_view.given.side)
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
        job.failed.connect(self.rejected.emit)
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

    def show_on_map(self, shown: bool) -> None:
        """Draw the tokens' ways over the map, or not."""
        self._on_map = shown
        self._place()

    def close(self) -> None:
        """Stop what is under way, and remove what was written for this session."""
        self._stop()
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
        for job in (self._running, self._placing):
            if job is not None:
                job.cancel()
        self._running = self._placing = None

    # The map

    def _find_places(self) -> None:
        """Look for the rows nearest to each stage's rows, where they are of the table's width."""
        run, table = self._document.model_view.run, self._document.table
        self._placed = None
        if self._placing is not None:
            self._placing.cancel()
            self._placing = None
        stages = [] if run is None or table is None else _placeable(run, table.listing.dim)
        count = sum(len(stage.values) for stage in stages if stage.values is not None)
        if table is None or not stages or count > MOST_PLACED:
            self._document.set_token_paths(())
            return
        if count * table.listing.rows * table.listing.dim > MOST_WORK:
            self._document.set_token_paths(())
            return
        vectors = np.concatenate([stage.values for stage in stages if stage.values is not None])
        job = self._placing = self._jobs.nearest(table.key, vectors, MOST_ROWS, Metric.COSINE)

        def found(rows: NDArray[np.int64]) -> None:
            if self._placing is job:
                self._placing = None
                self._placed = (stages, rows)
                self._place()

        job.finished.connect(found)
        job.failed.connect(self._notices.error)

    def _place(self) -> None:
        """Put the tokens' ways onto the map, once it does not move."""
        document = self._document
        positions, run = document.positions, document.model_view.run
        if positions is None or run is None or self._placed is None or not self._on_map:
            if document.token_paths:
                document.set_token_paths(())
            return
        if document.stage is LayoutStage.MOVING:
            return
        stages, rows = self._placed
        document.set_token_paths(_paths(run, stages, place_vectors(positions, rows)))


def _placeable(run: StageRun, dim: int) -> list[Stage]:
    """Stages with a row a place, of a table's width, all of the same sequence."""
    found = [
        stage
        for stage in run.stages.stages
        if stage.values is not None and stage.values.ndim == 2 and stage.values.shape[1] == dim
    ]
    return [stage for stage in found if stage.of is found[0].of and stage.first == found[0].first]


def _paths(run: StageRun, stages: list[Stage], places: NDArray[np.float32]) -> tuple[TokenPath, ...]:
    tokens = run.stages.sequence(stages[0].of)[stages[0].first :]
    count = min(len(stage.values) for stage in stages if stage.values is not None)
    names = tuple(stage.name for stage in stages)
    by_stage = places.reshape(len(stages), count, -1)
    return tuple(
        TokenPath(token.label, names, by_stage[:, number])
        for number, token in enumerate(tokens[:count])
        if np.isfinite(by_stage[:, number]).all()
    )
