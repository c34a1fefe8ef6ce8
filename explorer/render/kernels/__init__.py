"""The compiled inner loops. Importing this package compiles them, or loads them from numba's cache."""

from explorer.render.kernels.boxes import place_boxes, place_pictures
from explorer.render.kernels.cells import best_in_cells, first_in_cells, sort_by_depth, sort_into_cells
from explorer.render.kernels.pixels import colour_counts, count_rows, magnify, splat, spread
from explorer.render.kernels.shapes import inside_polygon, turn

__all__ = [
    "best_in_cells",
    "colour_counts",
    "count_rows",
    "first_in_cells",
    "inside_polygon",
    "magnify",
    "place_boxes",
    "place_pictures",
    "sort_by_depth",
    "sort_into_cells",
    "splat",
    "spread",
    "turn",
]
