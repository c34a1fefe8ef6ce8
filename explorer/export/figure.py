"""Everything the map shows, as one value. All sizes are in points: screen, PNG, SVG and PDF share it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.render.density import density_colours, draw_density
from explorer.render.palette import LIGHT, RGB, Theme
from explorer.render.raster import Dots, Layer, Raster, ground_of
from explorer.render.viewport import Viewport

RESULT_RADIUS = 4.5
FOCUS_RADIUS = 6.0
HOVER_GROWTH = 2.0
STAR_RADIUS = 8.0
DIMMED = 0.25
"""What is left of the opacity of rows that are not selected, while others are."""

_NO_ROWS = np.empty(0, np.int64)


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
class LegendEntry:
    """One colour and what it means."""

    colour: RGB
    text: str
    hidden: bool = False


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
class Figure:
    """The map as a value.

    Attributes
    ----------
    xy : float32 array, shape (rows, 2)
        NaN for rows without a place.
    codes : uint8 array, shape (rows,)
    palette : uint8 array, shape (codes, 4)
        As in ``explorer.render.palette``.
    viewport : Viewport
        In points; its size is the figure's.
    dots : Dots
        In points.
    theme : Theme
    order : integer array, optional
        Rows to draw, in this order; all in their own order without it.
    selected : int64 array
        Rows that stand out while the others are dimmed; empty for no selection.
    results : int64 array
        The neighbours shown, best first: ringed, above the others.
    focus, hover : int, optional
        A row, larger and ringed; the row under the cursor.
    stars : tuple of (float, float)
        Data positions of queries.
    links : tuple of Link
    labels : tuple of MapLabel
        See ``explorer.export.labelling``.
    legend : Legend, optional
    title, subtitle : str
        At the top left, of pictures that leave the window.
    density : bool
        Show how many rows lie where, on a logarithmic scale, instead of each as a dot.
    """

    xy: NDArray[np.float32]
    codes: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    viewport: Viewport
    dots: Dots
    theme: Theme = LIGHT
    order: NDArray[np.int64] | None = None
    selected: NDArray[np.int64] = field(default_factory=lambda: _NO_ROWS)
    results: NDArray[np.int64] = field(default_factory=lambda: _NO_ROWS)
    focus: int | None = None
    hover: int | None = None
    stars: tuple[tuple[float, float], ...] = ()
    links: tuple[Link, ...] = ()
    labels: tuple[MapLabel, ...] = ()
    legend: Legend | None = None
    title: str = ""
    subtitle: str = ""
    density: bool = False

    def colour_of(self, row: int) -> RGB:
        """The row's colour, whatever its opacity."""
        red, green, blue = self.palette[self.codes[row], :3]
        return int(red), int(green), int(blue)


def draw_points(
    figure: Figure, raster: Raster, ratio: float = 1.0, *, step: int = 1, hits: bool = True
) -> None:
    """Draw the figure's points into a raster of ``ratio`` times its size.

    The ringed rows (results, focus) are the painter's; here they only claim their pixels, so that
    the cursor finds them.

    Parameters
    ----------
    figure : Figure
    raster : Raster
        Of the size of ``figure.viewport.magnified(ratio)``.
    ratio : float
    step, hits
        As in ``Raster.draw``.
    """
    view, ground = figure.viewport.magnified(ratio), ground_of(figure.theme)
    dots, layers = figure.dots.magnified(ratio), []
    if len(figure.selected):
        layers.append(Layer(figure.selected, Dots(dots.radius, min(dots.opacity * 1.6, 1.0))))
        dots = Dots(dots.radius, dots.opacity * DIMMED)
    ringed = Dots((RESULT_RADIUS + 0.5) * ratio, 1.0)
    layers.append(Layer(figure.results[::-1], ringed, painted=False))
    if figure.focus is not None:
        focus = Dots((FOCUS_RADIUS + 0.5) * ratio, 1.0)
        layers.append(Layer(np.array([figure.focus], np.int64), focus, painted=False))
    points = figure.xy, figure.codes, figure.palette, view
    if figure.density:
        colours = density_colours(figure.theme)
        draw_density(raster, *points, colours, ground=ground, softness=ratio)
        raster.add(*points, layers, hits=hits)
    else:
        raster.draw(*points, dots, ground=ground, rows=figure.order, layers=layers, step=step, hits=hits)
