"""How far a map's layout has come."""

from __future__ import annotations

from enum import Enum


class LayoutStage(Enum):
    """How far the map's layout has come."""

    EMPTY = "no layout"
    WAITING = "first picture on its way"
    FIRST = "first picture"
    MOVING = "moving"
    DONE = "done"
    STOPPED = "stopped"
