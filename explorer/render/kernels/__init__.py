"""The compiled inner loops. Importing this package compiles them, or loads them from numba's cache."""

from explorer.render.kernels.boxes import place_boxes, place_pictures
from explorer.render.kernels.cells import best_in_cells, first_in_cells, sort_by_depth, sort_into_cells
from explorer.render.kernels.counts import (
    colour_counts,
    colours_of_cells,
    count_colours,
    count_rows,
    magnify,
    shade,
    spread,
    spread_colours,
    tint,
)
from explorer.render.kernels.neighbours import give_colours
from explorer.render.kernels.pixels import fade, splat
from explorer.render.kernels.shapes import inside_polygon, turn

__all__ = [
    "best_in_cells",
    "colour_counts",
    "colours_of_cells",
    "count_colours",
    "count_rows",
    "fade",
    "first_in_cells",
    "give_colours",
    "inside_polygon",
    "magnify",
    "place_boxes",
    "place_pictures",
    "shade",
    "sort_by_depth",
    "sort_into_cells",
    "splat",
    "spread",
    "spread_colours",
    "tint",
    "turn",
]
