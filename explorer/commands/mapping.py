"""The map: first picture, layout that moves, clusters to colour by, trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.core.layout import Layout, LayoutSettings
from explorer.core.results import Metric, Trust
from explorer.document import Document, LayoutStage
from explorer.jobs import Job, Jobs

FEWEST_FOR_TRUST = 3
"""Fewer rows have no neighbourhoods."""


class Mapping(QObject):
    """Commands that lay the table's rows out."""

    layout_job_changed = Signal(object)

    def __init__(self, document: Document, jobs: Jobs, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._layout_job: Job | None = None
        self._made_way = False
        self._pairs_asked: int | None = None

    @property
    def settled(self) -> bool:
        """Whether nothing is being laid out: the map stays as it is."""
        return self._document.stage in (LayoutStage.DONE, LayoutStage.STOPPED)

    @property
    def _key(self) -> int | None:
        return self._document.layout_key

    def begin(self) -> None:
        """Draw the first picture of a table that has just been loaded, then start its layout."""
        self._stop_job()
        self._made_way = False
        table = self._document.table
        if table is None:
            return
        key = table.key
        job = self._pca(key)
        job.finished.connect(lambda positions: self._first_picture(key, positions))
        job.failed.connect(lambda error: self._notices.error(error, ("Try again", self.begin)))

    def _pca(self, key: int) -> Job:
        settings = self._document.settings
        return self._jobs.pca(key, settings.dimensions, settings.centred)

    def _first_picture(self, key: int, positions: np.ndarray) -> None:
        table = self._document.table
        if table is None or table.key != key:
            return
        self._document.set_positions(positions, LayoutStage.FIRST)
        settings = self._document.settings
        if settings.method == "umap" and table.listing.dim > settings.dimensions:
            self.start()
        else:
            self._settle(positions, LayoutStage.DONE)

    def start(self) -> None:
        """Lay the table out anew with the present settings, or its isolated rows where they are alone."""
        self._stop_job()
        self._made_way = False
        key = self._key
        if key is None:
            return
        if self._document.settings.method == "pca":
            job = self._pca(key)
            job.finished.connect(lambda xy: self._if_shown(key, lambda: self._settle(xy, LayoutStage.DONE)))
        else:
            job = self._jobs.umap(key, self._document.settings, None)
            job.moving.connect(
                lambda xy: self._if_shown(key, lambda: self._document.set_positions(xy, LayoutStage.MOVING))
            )
            job.finished.connect(lambda layout: self._if_shown(key, lambda: self._done(layout)))
        job.cancelled.connect(lambda: self._if_shown(key, self._stopped))
        job.failed.connect(lambda error: self._broke(key, error))
        self._layout_job = job
        self.layout_job_changed.emit(job)

    def _done(self, layout: Layout) -> None:
        self._settle(layout.xy, LayoutStage.DONE)

    def _stopped(self) -> None:
        if self._document.positions is not None:
            self._settle(self._document.positions.copy(), LayoutStage.STOPPED)

    def _broke(self, key: int, error: Exception) -> None:
        self._notices.error(error, ("Lay out again", self.start))
        self._if_shown(key, self._stopped)

    def _settle(self, positions: np.ndarray, stage: LayoutStage) -> None:
        self._layout_job = None
        self.layout_job_changed.emit(None)
        self._document.set_positions(positions, stage)
        self.measure_trust()

    def stop(self) -> None:
        """Stop the layout and keep the map as it is now."""
        if self._layout_job is not None:
            self._layout_job.cancel()

    def make_way(self) -> None:
        """Stop a layout that is still looking for neighbours: a file that is to be read would wait for it."""
        if self._layout_job is not None and self._document.stage is not LayoutStage.MOVING:
            self._made_way = True
            self.stop()

    def take_up(self) -> None:
        """Start the layout again that made way for a file which then could not be read."""
        if self._made_way:
            self.start()

    def _stop_job(self) -> None:
        job, self._layout_job = self._layout_job, None
        if job is not None:
            job.cancelled.disconnect()
            job.cancel()
            self.layout_job_changed.emit(None)

    def close(self) -> None:
        """Stop what is under way."""
        self._stop_job()

    def change(self, **settings: object) -> None:
        """Change the layout's settings by name; the next start uses them."""
        self._document.set_settings(replace(self._document.settings, **settings))

    def lay_out_in(self, dimensions: int) -> None:
        """Lay the table out in two or three dimensions, at once; the map that was there is kept."""
        if dimensions == self._document.settings.dimensions:
            return
        if self.settled:
            self.keep()
        self.change(dimensions=dimensions)
        if self._document.positions is not None:
            self.start()

    def keep(self) -> None:
        """Remember the present positions, to come back to after another layout."""
        settings: LayoutSettings = self._document.settings
        if settings.method == "pca":
            name = "PCA"
        else:
            name = f"UMAP {settings.neighbours} · {settings.min_dist:g} · {settings.seed}"
        taken = [kept for kept, _ in self._document.kept]
        count = sum(kept.split(" (")[0] == name for kept in taken)
        self._document.keep_layout(f"{name} ({count + 1})" if count else name)

    def show_kept(self, place: int) -> None:
        """Go back to a layout that was kept."""
        self.show(self._document.kept[place][1].copy())

    def show(self, positions: np.ndarray) -> None:
        """Put the rows where they were once, in place of a layout that is under way."""
        self._stop_job()
        self._settle(positions, LayoutStage.DONE)

    def measure_trust(self) -> None:
        """Have the present layout's trustworthiness and continuity computed."""
        key, positions = self._key, self._document.positions
        if key is None or positions is None:
            return
        if np.count_nonzero(np.isfinite(positions).all(axis=1)) < FEWEST_FOR_TRUST:
            return
        job = self._jobs.trust(key, positions)

        def arrived(trust: Trust) -> None:
            if self._document.positions is positions:
                self._document.set_trust(trust)

        job.finished.connect(arrived)
        job.failed.connect(self._notices.error)

    def measure_pairs(self) -> None:
        """Have the table's histogram of pairwise cosine similarities computed, once.

        Cosine whatever questions are asked by: beside it stands the one of one-hot vectors, 0.
        """
        table = self._document.table
        if table is None or self._pairs_asked == table.key:
            return
        key = self._pairs_asked = table.key
        job = self._jobs.pair_histogram(key, Metric.COSINE)
        job.finished.connect(lambda pairs: self._document.table is table and self._document.set_pairs(pairs))
        job.failed.connect(self._notices.error)

    def _if_shown(self, key: int, act: Callable[[], None]) -> None:
        if self._key == key:
            act()
