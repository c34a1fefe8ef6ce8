"""Keeps what the canvas shows and how the document looks at the map the same."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.document import Document
from explorer.document.look import LABEL_STEPS, Seen
from explorer.views.map.canvas import Canvas


class Looking(QObject):
    """Notes where the person has moved and turned the map to, and goes where the document says.

    A part of the map is noted as its move begins and once it rests: moving costs nothing for it.

    Signals
    -------
    fit_wanted : all rows are to be seen again.
    changed : labels, crowds or pictures are to be shown another way.
    """

    fit_wanted = Signal()
    changed = Signal()

    def __init__(self, document: Document, canvas: Canvas, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._canvas = canvas
        self._look = document.look
        document.look_changed.connect(self._look_changed)
        canvas.view_changed.connect(self._moved)
        canvas.moved_by_hand.connect(self._taken_over)
        canvas.turned.connect(self._turn)

    @property
    def follows(self) -> bool:
        """Whether all rows are to be seen, wherever they go."""
        return self._document.look.seen is None

    def look_so(self, **changes: Any) -> None:
        """Change some of how the map is looked at."""
        self._document.set_look(replace(self._document.look, **changes))

    def step_labels(self) -> None:
        """Show more labels or, after the most, none."""
        place = LABEL_STEPS.index(self._document.look.labels) + 1
        self.look_so(labels=LABEL_STEPS[place % len(LABEL_STEPS)])

    def _turn(self, right: float, down: float) -> None:
        """Turn three dimensions, as dragged by so many points: across the map is half a turn."""
        radians = math.pi / max(min(self._canvas.width(), self._canvas.height()), 1)
        self.look_so(camera=self._document.look.camera.turned(right * radians, down * radians))

    def _moved(self, moving: bool) -> None:
        if not moving and not self.follows:
            self.look_so(seen=self._seen_now())

    def _taken_over(self) -> None:
        if self.follows:
            self.look_so(seen=self._seen_now())

    def _seen_now(self) -> Seen:
        now = self._canvas.viewport_now
        return Seen(now.x, now.y, now.scale)

    def _look_changed(self) -> None:
        before, self._look = self._look, self._document.look
        seen = self._look.seen
        if seen is None and before.seen is not None:
            self.fit_wanted.emit()
        elif seen is not None and seen not in (before.seen, self._seen_now()):
            now = self._canvas.viewport_now
            self._canvas.show_viewport(replace(now, x=seen.x, y=seen.y, scale=seen.scale))
        if self._look.camera != before.camera:
            self._canvas.nudge()
        if replace(self._look, seen=before.seen, camera=before.camera) != before:
            self.changed.emit()
