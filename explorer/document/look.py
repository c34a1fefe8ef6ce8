"""How the map is looked at: nothing of it changes what is there, and a session would miss it."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.core.camera import Camera
from explorer.document.colouring import BY_ITSELF

LABEL_STEPS = ("none", "few", "fit", "many")
"""How many labels the map shows."""


@dataclass(frozen=True)
class Seen:
    """A part of the plane, whatever the window's size.

    Attributes
    ----------
    x, y : float
        The data point in the middle.
    scale : float
        The window's points per data unit.
    """

    x: float
    y: float
    scale: float


@dataclass(frozen=True)
class Look:
    """How the map is looked at.

    Attributes
    ----------
    labels : str
        How many the map shows: one of ``LABEL_STEPS``.
    crowds : str
        When it shows crowds instead of dots: one of ``CROWDS``.
    pictures : bool
        Rows' pictures stand in place of their dots, where rows carry some.
    seen : Seen or None
        The part that is seen; None for all rows, wherever they move.
    camera : Camera
        How three dimensions are turned.
    """

    labels: str = "fit"
    crowds: str = BY_ITSELF
    pictures: bool = False
    seen: Seen | None = None
    camera: Camera = field(default_factory=Camera)
