"""Points inside of a shape, points turned in space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled
from explorer.render.kernels.steps import step_of


@compiled("float32[,] float64[,] boolean[]!")
def inside_polygon(xy: NDArray[np.float32], corners: NDArray[np.float64], inside: NDArray[np.bool_]) -> None:
    """Even-odd rule: a ray to the right crosses the outline an odd number of times.

    An edge counts for the heights from its lower end up to, not with, its upper end, so that a
    ray through a corner counts once. Edges are sorted into bands of height, so that a row meets
    only the few near its own.
    """
    low_x, high_x = corners[:, 0].min(), corners[:, 0].max()
    low_y, high_y = corners[:, 1].min(), corners[:, 1].max()
    edges = len(corners)
    bands = max(edges // 2, 1)
    per_height = bands / (high_y - low_y) if high_y > low_y else 0.0
    starts = np.zeros(bands + 2, np.int64)
    for fill in range(2):
        if fill == 1:
            for band in range(bands + 1):
                starts[band + 1] += starts[band]
            held = np.empty(starts[bands + 1], np.int64)
            at = starts.copy()
        for edge in range(edges):
            y0, y1 = corners[edge, 1], corners[(edge + 1) % edges, 1]
            first = step_of((min(y0, y1) - low_y) * per_height, bands)
            last = step_of((max(y0, y1) - low_y) * per_height, bands)
            for band in range(first, last + 1):
                if fill == 0:
                    starts[band + 1] += 1
                else:
                    held[at[band]] = edge
                    at[band] += 1
    for row in range(len(xy)):
        x, y = xy[row, 0], xy[row, 1]
        if not (x >= low_x and x <= high_x and y >= low_y and y <= high_y):
            continue
        band = step_of((y - low_y) * per_height, bands)
        odd = False
        for place in range(starts[band], starts[band + 1]):
            edge = held[place]
            x0, y0 = corners[edge, 0], corners[edge, 1]
            x1, y1 = corners[(edge + 1) % edges, 0], corners[(edge + 1) % edges, 1]
            if (y0 <= y) != (y1 <= y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
                odd = not odd
        inside[row] = odd


@compiled("float32[,] int64[] float64[,] float64[] float32[,]! float32[]!")
def turn(
    xyz: NDArray[np.float32],
    rows: NDArray[np.int64],
    axes: NDArray[np.float64],
    centre: NDArray[np.float64],
    xy: NDArray[np.float32],
    depth: NDArray[np.float32],
) -> None:
    """Rotate some rows, or all where none is named, about a centre, which keeps its place."""
    a, b, c = axes[0, 0], axes[0, 1], axes[0, 2]
    d, e, f = axes[1, 0], axes[1, 1], axes[1, 2]
    g, h, i = axes[2, 0], axes[2, 1], axes[2, 2]
    x0, y0, z0 = centre[0], centre[1], centre[2]
    some = len(rows) > 0
    for at in range(len(rows) if some else len(xyz)):
        row = rows[at] if some else at
        x, y, z = xyz[row, 0] - x0, xyz[row, 1] - y0, xyz[row, 2] - z0
        xy[row, 0] = a * x + b * y + c * z + x0
        xy[row, 1] = d * x + e * y + f * z + y0
        depth[row] = g * x + h * y + i * z
