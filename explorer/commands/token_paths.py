"""Tokens' ways over the map: where each stage's rows lie among the table's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from explorer.commands.notices import Notices
from explorer.core.listing import TableListing
from explorer.core.placement import MOST_ROWS, place_vectors
from explorer.core.results import Metric
from explorer.core.stages import Of, Stage, StageRun, TokenComparison
from explorer.document import Document, LayoutStage, TokenPath
from explorer.jobs import Job, Jobs

MOST_PATHS = 24
"""Of a longer sequence the first are drawn: more would be a ball of wool."""
_OWN_ROW = ("looked up", "scaled")
"""Stages in which a token's vector still points where its row does."""
MOST_WORK = 1 << 33
"""Products of numbers that placing may take, so that it never holds a query up for long."""


@dataclass(frozen=True, eq=False)
class _Ways:
    """What is to be placed: for each stage the vectors of some tokens, stage by stage.

    Attributes
    ----------
    labels : tuple of str
        Of the tokens.
    stages : tuple of str
    vectors : float32 array, shape (stages * tokens, dim)
    rows : tuple of int or None
        Each token's own row; None where only its vectors are known.
    """

    labels: tuple[str, ...]
    stages: tuple[str, ...]
    vectors: NDArray[np.float32]
    rows: tuple[int | None, ...]


class TokenPaths(QObject):
    """Follows the document's run and map with its ``token_paths``."""

    def __init__(self, document: Document, jobs: Jobs, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._shown = True
        self._followed: int | None = None
        self._placing: Job | None = None
        self._ways: _Ways | None = None
        self._nearest: NDArray[np.int64] | None = None
        document.positions_changed.connect(self._place)

    def show(self, shown: bool) -> None:
        """Draw the tokens' ways over the map, or not."""
        self._shown = shown
        self._place()

    @property
    def followed(self) -> int | None:
        """The only token whose way is drawn; None for all."""
        return self._followed

    def follow(self, token: int | None) -> None:
        """Draw one token's way alone; None draws all."""
        if token != self._followed:
            self._followed = token
            self.find()

    def find(self) -> None:
        """Look for the rows nearest to each stage's rows, where they are of the table's width."""
        run, table = self._document.model_view.run, self._document.table
        stages = [] if run is None or table is None else _placeable(run, table.listing)
        if run is None or table is None or not stages:
            self._look(None)
            return
        stages = [stage for stage in stages if self._followed in _places_in(stage)] or stages
        tokens = self._tokens(stages, MOST_WORK // (table.listing.rows * table.listing.dim))
        sequence = run.stages.sequence(stages[0].of)
        self._look(
            _Ways(
                tuple(sequence[token].label for token in tokens),
                tuple(stage.name for stage in stages),
                np.concatenate(
                    [_values(each)[tokens.start - each.first : tokens.stop - each.first] for each in stages]
                ),
                tuple(sequence[token].id for token in tokens),
            )
        )

    def compare(self, labels: tuple[str, str], found: Sequence[TokenComparison]) -> None:
        """Draw a word's ways in two sentences, where its vectors are of the table's width."""
        table = self._document.table
        dim = 0 if table is None else table.listing.dim
        placeable = [each for each in found if each.vectors.shape[1] == dim]
        self._look(
            _Ways(
                labels,
                tuple(each.stage for each in placeable),
                np.concatenate([each.vectors for each in placeable]),
                (None, None),
            )
            if placeable
            else None
        )

    def _look(self, ways: _Ways | None) -> None:
        """Look for the rows nearest to each vector; None draws nothing."""
        self.stop()
        table = self._document.table
        self._ways, self._nearest = ways, None
        if ways is None or table is None or not ways.labels:
            self._ways = None
            self._place()
            return
        job = self._placing = self._jobs.nearest(table.key, ways.vectors, MOST_ROWS, Metric.COSINE)

        def found(rows: NDArray[np.int64]) -> None:
            if self._placing is job:
                self._placing = None
                self._nearest = rows
                self._place()

        job.finished.connect(found)
        job.failed.connect(self._notices.error)

    def stop(self) -> None:
        """Look no further."""
        if self._placing is not None:
            self._placing.cancel()
            self._placing = None

    def _tokens(self, stages: list[Stage], most: int) -> range:
        """Which places to look for, all with a row in each stage, and no more than so many vectors."""
        places = [_places_in(stage) for stage in stages]
        shared = range(max(each.start for each in places), min(each.stop for each in places))
        followed = self._followed
        if followed is not None and followed in shared:
            shared = range(followed, followed + 1)
        return shared[: min(MOST_PATHS, most // len(stages))]

    def _place(self) -> None:
        """Put the tokens' ways onto the map, once it does not move."""
        document, ways, rows = self._document, self._ways, self._nearest
        if document.positions is None or ways is None or not self._shown:
            if document.token_paths:
                document.set_token_paths(())
            return
        if document.stage is not LayoutStage.MOVING and rows is not None:
            document.set_token_paths(_paths(ways, rows, document.positions))


def _values(stage: Stage) -> NDArray[np.float32]:
    assert stage.values is not None
    return stage.values


def _places_in(stage: Stage) -> range:
    """The places of its sequence that a stage has a row for: a class token comes after the patches."""
    return range(stage.first, stage.first + len(_values(stage)))


def _placeable(run: StageRun, table: TableListing) -> list[Stage]:
    """Stages with a row a place, of a table's width, all of the same sequence.

    None on a table that the tokens are no rows of: a translator's other side, or phrases.
    """
    choices = next((stage.shape[1] for stage in run.stages.stages if stage.name == "one-hot"), table.rows)
    if choices != table.rows:
        return []
    found = [
        stage
        for stage in run.stages.stages
        if stage.values is not None and stage.values.ndim == 2 and stage.values.shape[1] == table.dim
    ]
    # A caption's words belong among the table's; the patches of its picture only where there are none.
    first = next((stage for stage in found if stage.of is Of.TOKENS), found[0] if found else None)
    if first is None:
        return []
    return [stage for stage in found if stage.of is first.of]


def _paths(ways: _Ways, nearest: NDArray[np.int64], positions: NDArray[np.float32]) -> tuple[TokenPath, ...]:
    """Each token's way: from its own row, if that is on the map, to where its nearest rows lie together."""
    by_stage = place_vectors(positions, nearest).reshape(len(ways.stages), len(ways.labels), -1)
    first = nearest.reshape(len(ways.stages), len(ways.labels), -1)[..., 0]
    for at, name in enumerate(ways.stages):
        for token, row in enumerate(ways.rows) if name in _OWN_ROW else ():
            own = first[at, token] if row is None else row
            if own >= 0 and np.isfinite(positions[own]).all():
                by_stage[at, token] = positions[own]
    return tuple(
        TokenPath(label, ways.stages, by_stage[:, number])
        for number, label in enumerate(ways.labels)
        if np.isfinite(by_stage[:, number]).all()
    )
