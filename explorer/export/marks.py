"""What a figure shows besides its points: names, pictures, lines, and what colours mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.render.palette import RGB


@dataclass(frozen=True)
class MapLabel:
    """A row's name at its place.

    Attributes
    ----------
    x, y : float
        Left and top of its box, in points.
    bold : bool
        For the focus and the results of a query.
    count : int
        How many equal rows the point stands for; shown where it is more than one.
    """

    row: int
    text: str
    x: float
    y: float
    bold: bool = False
    count: int = 1


@dataclass(frozen=True)
class RegionLabel:
    """The name of a part of the map, large and quiet, around its middle.

    Attributes
    ----------
    text : str
        May have several lines.
    x, y : float
        The middle, in data coordinates.
    size : float
        Of the letters, in points.
    opacity : float
        Less than 1 for those farther away, on a map of three dimensions.
    place : int
        Which of the document's regions it names; -1 for none of them.
    """

    text: str
    x: float
    y: float
    size: float = 20.0
    opacity: float = 1.0
    place: int = -1


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """A row's picture in place of its dot.

    Attributes
    ----------
    x, y : float
        Left and top, in points.
    width, height : float
        In points; the picture fills them.
    image : object
        A ``QImage`` or a ``QPixmap``.
    """

    row: int
    x: float
    y: float
    width: float
    height: float
    image: object


@dataclass(frozen=True)
class LegendEntry:
    """One colour and what it means.

    Attributes
    ----------
    sums : bool
        It stands for all that have no entry of their own.
    mixed : tuple of RGB
        More colours that these have.
    """

    colour: RGB
    text: str
    hidden: bool = False
    sums: bool = False
    mixed: tuple[RGB, ...] = ()


@dataclass(frozen=True, eq=False)
class LegendScale:
    """A run of colours, shape (n, 3), from ``low`` to ``high``."""

    colours: NDArray[np.uint8]
    low: str
    high: str


@dataclass(frozen=True)
class Legend:
    """The card at the bottom left: a title over entries, or over a scale."""

    title: str
    entries: tuple[LegendEntry, ...] = ()
    scale: LegendScale | None = None


@dataclass(frozen=True)
class Link:
    """Lines from a data position to rows: a query's or the focused row's true neighbours."""

    x: float
    y: float
    rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MapPath:
    """A way over the map, stage by stage.

    Attributes
    ----------
    points : float array, shape (stages, 2)
        Data positions; a stage that is not finite is passed over.
    label : str
        Stands at its end.
    colour : tuple of int, optional
        Else one of the theme's categories.
    """

    points: NDArray[np.floating]
    label: str
    colour: RGB | None = None
