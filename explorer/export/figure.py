"""Everything the map shows, as one value. All sizes are in points: screen, PNG, SVG and PDF share it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.export.marks import (
    Legend,
    LegendEntry,
    LegendScale,
    Link,
    MapLabel,
    MapPath,
    RegionLabel,
    Thumbnail,
)
from explorer.render.palette import LIGHT, RGB, Theme
from explorer.render.point_index import PointIndex
from explorer.render.raster import Dots
from explorer.render.sample import Sample
from explorer.render.viewport import Viewport

__all__ = [
    "Figure",
    "Legend",
    "LegendEntry",
    "LegendScale",
    "Link",
    "MapLabel",
    "MapPath",
    "RegionLabel",
    "Thumbnail",
]

RESULT_RADIUS = 4.5
FOCUS_RADIUS = 6.0
HOVER_GROWTH = 2.0
STAR_RADIUS = 8.0
DIMMED = 0.25
"""What is left of the opacity of rows that are not selected, while others are."""

_NO_ROWS = np.empty(0, np.int64)


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
    dims_all : bool
        All rows are dimmed, and none stands out: a filter fits nothing.
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
    index : PointIndex, optional
        Of ``xy``: pictures and labels then cost what is seen, not what there is.
    depth : float32 array, shape (rows,), optional
        How near each row is, where ``xy`` is a view of three dimensions (``explorer.render.camera``):
        near rows lie above far ones, which are smaller and fainter.
    sample : Sample, optional
        While many rows are turned: those that are drawn. ``xy`` and ``depth`` of others are not up to
        date, but for rows with a mark or a name.
    paths : tuple of MapPath
        Ways over the map, above the points; the first on top.
    thumbnails : tuple of Thumbnail
        Pictures in place of dots; the first lies on top.
    regions : tuple of RegionLabel
        The most important first.
    """

    xy: NDArray[np.float32]
    codes: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    viewport: Viewport
    dots: Dots
    theme: Theme = LIGHT
    order: NDArray[np.int64] | None = None
    selected: NDArray[np.int64] = field(default_factory=lambda: _NO_ROWS)
    dims_all: bool = False
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
    index: PointIndex | None = None
    depth: NDArray[np.float32] | None = None
    sample: Sample | None = None
    paths: tuple[MapPath, ...] = ()
    thumbnails: tuple[Thumbnail, ...] = ()
    regions: tuple[RegionLabel, ...] = ()

    def colour_of(self, row: int) -> RGB:
        """The row's colour, whatever its opacity."""
        red, green, blue = self.palette[self.codes[row], :3]
        return int(red), int(green), int(blue)

    def to_points(self, x: float, y: float) -> tuple[float, float] | None:
        """A data position in points, up to far outside the picture; None where it is not finite."""
        view = self.viewport
        px = (x - view.x) * view.scale + view.width / 2
        py = (view.y - y) * view.scale + view.height / 2
        return (px, py) if abs(px) < 1e9 and abs(py) < 1e9 else None
