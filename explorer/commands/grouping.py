"""Clusters, regions and scores of all rows: what the map's colours and names are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from explorer.commands.notices import Notices
from explorer.core.clustering import HDBSCAN, Clustering
from explorer.core.errors import ExplorerError
from explorer.document import Document, LayoutStage
from explorer.document.colouring import CLUSTER, SIMILARITY, TRUST
from explorer.document.columns import scores_of_all
from explorer.jobs import Job, Jobs

SETTLED = (LayoutStage.DONE, LayoutStage.STOPPED)
CLUSTERS, REGIONS, SCORES, AGREEMENT = "clusters", "regions", "scores", "agreement"
MOST_FOR_AGREEMENT = 1_000_000
"""Of more rows, only the sample that trust was measured on is coloured by it."""


class Grouping(QObject):
    """Commands that group rows; it keeps clusters, regions and scores up with the map and the question."""

    def __init__(self, document: Document, jobs: Jobs, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._running: dict[str, Job] = {}
        self._made: tuple[Clustering, NDArray | None] | None = None
        document.table_changed.connect(self._begin)
        document.positions_changed.connect(self._map_changed)
        document.colours_changed.connect(self._keep_up)
        document.isolation_changed.connect(self._find_regions)
        document.answer_changed.connect(self._answer_changed)
        document.trust_changed.connect(self._want_agreement)

    def cluster(self, **settings: object) -> None:
        """Find clusters another way: ``method``, ``count`` or ``smallest``, as in Clustering."""
        colouring = self._document.colouring
        clustering = replace(colouring.clustering, **settings)
        if clustering != colouring.clustering:
            self._document.set_colouring(
                replace(colouring, clustering=clustering, hidden=frozenset(), recoloured={})
            )

    def want_scores(self) -> None:
        """Have every row's score under the question shown computed, where it is not."""
        document = self._document
        table, answer = document.table, document.answer
        if table is None or answer is None or document.similarities is not None or SCORES in self._running:
            return
        vector = answer.query_vector
        job = self._jobs.search(
            table.key,
            answer.question.terms if vector is None else (),
            answer.question.metric,
            table.listing.rows,
            all_rows=True,
            include_query=True,
            vector=vector,
        )
        self._run(
            SCORES,
            job,
            lambda result: document.set_similarities(scores_of_all(result, table.listing.rows)),
        )

    def _want_agreement(self) -> None:
        """Have trust told for every row where the map is coloured by it, not for a sample alone."""
        document = self._document
        trust, positions, key = document.trust, document.positions, document.layout_key
        if trust is None:
            self._stop(AGREEMENT)
        if trust is None or positions is None or key is None or document.colouring.by != TRUST:
            return
        placed = int(np.count_nonzero(np.isfinite(positions).all(axis=1)))
        if trust.sample >= placed or placed > MOST_FOR_AGREEMENT or AGREEMENT in self._running:
            return
        if trust.per_row is not None and np.count_nonzero(np.isfinite(trust.per_row)) > trust.sample:
            return
        self._run(
            AGREEMENT,
            self._jobs.map_agreement(key, positions),
            lambda shares: document.set_trust(replace(trust, per_row=shares)),
        )

    def _begin(self) -> None:
        self._made = None
        for name in list(self._running):
            self._stop(name)

    def _map_changed(self) -> None:
        self._find_regions()
        self._keep_up()

    def _find_regions(self) -> None:
        """Find the regions of a map that has come to rest; while it moves there are none."""
        document = self._document
        table, positions, isolation = document.table, document.positions, document.isolation
        self._stop(REGIONS)
        if document.regions:
            document.set_regions(())
        if table is None or positions is None or document.stage not in SETTLED:
            return
        if isolation is not None:
            shown = np.full_like(positions, np.nan)
            shown[isolation.rows] = positions[isolation.rows]
            positions = shown
        self._run(REGIONS, self._jobs.regions(table.key, positions), document.set_regions)

    def _keep_up(self) -> None:
        """Have found what the colours ask for and is not there: clusters of another kind, scores."""
        document = self._document
        table, clustering = document.table, document.colouring.clustering
        if table is None or document.positions is None:
            return
        if document.colouring.by == SIMILARITY:
            self.want_scores()
        self._want_agreement()
        dense = clustering.method == HDBSCAN
        if dense and document.stage not in SETTLED:
            return
        where = document.positions if dense else None
        if self._made is not None and self._made[0] == clustering and self._made[1] is where:
            return
        if document.colouring.by != CLUSTER and document.clusters is None:
            return
        self._made = (clustering, where)
        self._stop(CLUSTERS)
        if dense:
            job = self._jobs.density_clusters(table.key, document.positions, clustering.smallest)
        else:
            job = self._jobs.clusters(table.key, clustering.count)
        self._run(CLUSTERS, job, document.set_clusters)

    def _answer_changed(self) -> None:
        self._stop(SCORES)
        if self._document.colouring.by == SIMILARITY:
            self.want_scores()

    def _run(self, name: str, job: Job, take: Callable) -> None:
        """Take what a job finds, where it has not been stopped in favour of another."""
        self._running[name] = job

        def finished(found: object) -> None:
            if self._running.get(name) is job:
                del self._running[name]
                take(found)

        def failed(error: ExplorerError) -> None:
            if self._running.get(name) is job:
                del self._running[name]
                self._notices.error(error)

        job.finished.connect(finished)
        job.failed.connect(failed)

    def _stop(self, name: str) -> None:
        job = self._running.pop(name, None)
        if job is not None:
            job.cancel()
