"""The map: first picture, layout that moves, clusters to colour by, trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.core.layout import Layout, LayoutSettings
from explorer.core.results import Metric, Trust
from explorer.core.table import MODALITY
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
        self._drawn_of: dict[str, LayoutSettings] = {}

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
        if MODALITY in table.metadata:
            gap = self._jobs.modality_gap(key)
            gap.finished.connect(
                lambda gap: self._document.table is table and self._document.set_modality_gap(gap)
            )
            gap.failed.connect(self._notices.error)

    def _pca(self, key: int) -> Job:
        settings = self._document.settings
        return self._jobs.pca(key, settings.dimensions, settings.centred)

    def _first_picture(self, key: int, positions: np.ndarray) -> None:
        table = self._document.table
        if table is None or table.key != key:
            return
        settings = self._document.settings
        self._document.set_positions(positions, LayoutStage.FIRST, replace(settings, method="pca"))
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
        settings = self._document.settings
        if settings.method == "pca":
            job = self._pca(key)
            job.finished.connect(
                lambda xy: self._if_shown(key, lambda: self._settle(xy, LayoutStage.DONE, settings))
            )
        else:
            job = self._jobs.umap(key, settings, None)
            job.moving.connect(
                lambda xy: self._if_shown(
                    key, lambda: self._document.set_positions(xy, LayoutStage.MOVING, settings)
                )
            )
            job.finished.connect(lambda layout: self._if_shown(key, lambda: self._done(layout)))
        job.cancelled.connect(lambda: self._if_shown(key, self._stopped))
        job.failed.connect(lambda error: self._broke(key, error))
        self._layout_job = job
        self.layout_job_changed.emit(job)

    def _done(self, layout: Layout) -> None:
        self._settle(layout.xy, LayoutStage.DONE, layout.settings, layout.sampled)

    def _stopped(self) -> None:
        if self._document.positions is not None:
            self._settle(self._document.positions.copy(), LayoutStage.STOPPED)

    def _broke(self, key: int, error: Exception) -> None:
        self._notices.error(error, ("Lay out again", self.start))
        self._if_shown(key, self._stopped)

    def _settle(
        self,
        positions: np.ndarray,
        stage: LayoutStage,
        drawn: LayoutSettings | None = None,
        sampled: int | None = None,
    ) -> None:
        self._layout_job = None
        self.layout_job_changed.emit(None)
        self._document.set_positions(positions, stage, drawn, sampled)
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

    def lay_out_as(self, **settings: object) -> None:
        """Change settings by name and lay the table out by them at once; the map that was there is kept."""
        before = self._document.settings
        if replace(before, **settings) == before:
            return
        if self.settled:
            self.keep()
        self.change(**settings)
        if self._document.positions is not None:
            self.start()

    def keep(self) -> None:
        """Remember the present positions, to come back to after another layout."""
        drawn = self._document.drawn
        parts = ["PCA"] if drawn.method == "pca" else [f"UMAP {drawn.neighbours}", f"{drawn.min_dist:g}"]
        parts += [f"{drawn.seed}"] if drawn.method == "umap" else []
        parts += ["3-D"] if drawn.dimensions == 3 else []
        parts += ["each centred"] if drawn.centred else []
        name = " · ".join(parts)
        taken = [kept for kept, _ in self._document.kept]
        count = sum(kept.split(" (")[0] == name for kept in taken)
        name = f"{name} ({count + 1})" if count else name
        self._drawn_of[name] = drawn
        self._document.keep_layout(name)

    def show_kept(self, place: int) -> None:
        """Go back to a layout that was kept."""
        name, positions = self._document.kept[place]
        self._stop_job()
        self._settle(positions.copy(), LayoutStage.DONE, self._drawn_of.get(name))

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
