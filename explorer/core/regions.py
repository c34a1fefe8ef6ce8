"""Dense parts of the map, each with a name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """A dense part of the map.

    Attributes
    ----------
    name : str
        Typical labels of the rows in it, or what the person called it.
    x, y, z : float
        Where it is densest, in the positions' units; z is 0 on a map of two dimensions.
    rows : int
        How many rows lie in it.
    size : float
        The radius of a circle of its area, or of a ball of its volume, in the positions' units.
    found : str
        Its typical labels, whatever it is called.
    """

    name: str
    x: float
    y: float
    rows: int
    size: float
    found: str = ""
    z: float = 0.0
