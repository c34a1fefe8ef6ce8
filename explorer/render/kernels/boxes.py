"""Boxes that never overlap: labels beside their points, pictures around them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled
from explorer.render.kernels.steps import step_of


@compiled(
    "float64[,] float64[,] float64[] float64[,] int8[] float64[,] float64 float64 "
    "boolean[]! int8[]! float64[,]!"
)
def place_boxes(
    anchors: NDArray[np.float64],
    sizes: NDArray[np.float64],
    gaps: NDArray[np.float64],
    spacing: NDArray[np.float64],
    wanted: NDArray[np.int8],
    obstacles: NDArray[np.float64],
    width: float,
    height: float,
    placed: NDArray[np.bool_],
    sides: NDArray[np.int8],
    boxes: NDArray[np.float64],
) -> None:
    """Give each box in turn the first side of its anchor where it is free for good.

    A box with a wanted side (0 to 3, else -1) has that one or waits until all others had theirs.
    Two boxes are apart for good where they are apart in a direction in which their anchors are
    not the other way round: magnifying the picture then only moves them further apart.
    """
    taken = np.empty(len(anchors), np.int64)
    count = 0
    for late in range(2):
        for i in range(len(anchors)):
            if placed[i] or (late == 1 and wanted[i] < 0):
                continue
            x, y, wide, high = anchors[i, 0], anchors[i, 1], sizes[i, 0], sizes[i, 1]
            first = max(wanted[i], 0)
            for side in range(first, first + (4 if late == 1 or wanted[i] < 0 else 1)):
                side %= 4
                if side == 0:
                    left, top = x + gaps[i], y - high / 2
                elif side == 1:
                    left, top = x - gaps[i] - wide, y - high / 2
                elif side == 2:
                    left, top = x - wide / 2, y - gaps[i] - high
                else:
                    left, top = x - wide / 2, y + gaps[i]
                right, bottom = left + wide, top + high
                free = left >= 1 and top >= 1 and right <= width - 1 and bottom <= height - 1
                for j in range(len(obstacles)):
                    if not free:
                        break
                    free = (
                        right <= obstacles[j, 0]
                        or left >= obstacles[j, 0] + obstacles[j, 2]
                        or bottom <= obstacles[j, 1]
                        or top >= obstacles[j, 1] + obstacles[j, 3]
                    )
                for k in range(count):
                    if not free:
                        break
                    j = taken[k]
                    free = (
                        (right + spacing[i, 0] <= boxes[j, 0] and x <= anchors[j, 0])
                        or (left >= boxes[j, 0] + boxes[j, 2] + spacing[i, 0] and x >= anchors[j, 0])
                        or (bottom + spacing[i, 1] <= boxes[j, 1] and y <= anchors[j, 1])
                        or (top >= boxes[j, 1] + boxes[j, 3] + spacing[i, 1] and y >= anchors[j, 1])
                    )
                if free:
                    boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3] = left, top, wide, high
                    sides[i] = side
                    placed[i] = True
                    taken[count] = i
                    count += 1
                    break


@compiled(
    "float32[,] int64[] float32[] float64 float64 float64 float64 float64 float64 float64 float64 "
    "float64[,] int64[]! float64[,]! -> int64"
)
def place_pictures(
    xy: NDArray[np.float32],
    order: NDArray[np.int64],
    aspects: NDArray[np.float32],
    scale: float,
    left: float,
    top: float,
    width: float,
    height: float,
    side: float,
    longest: float,
    spacing: float,
    obstacles: NDArray[np.float64],
    found: NDArray[np.int64],
    boxes: NDArray[np.float64],
) -> int:
    """Place boxes of equal area around their rows, in order, where none is yet; their number.

    Boxes are held in cells as large as the largest of them, so that only those of nine cells can be
    in the way.
    """
    cell = side * np.sqrt(longest) + spacing
    columns, lines = int(width / cell) + 4, int(height / cell) + 4
    newest = np.full(columns * lines, -1, np.int64)
    older = np.full(len(found), -1, np.int64)
    count = 0
    for row in order:
        if count == len(found):
            break
        aspect = aspects[row]
        if not (aspect > 0 and aspect < np.inf):
            continue
        stretch = np.sqrt(min(max(aspect, 1 / longest), longest))
        wide, high = side * stretch, side / stretch
        x, y = xy[row, 0] * scale + left, top - xy[row, 1] * scale
        if not (x > -wide / 2 and x < width + wide / 2 and y > -high / 2 and y < height + high / 2):
            continue
        column, line = step_of(x / cell + 1, columns - 2) + 1, step_of(y / cell + 1, lines - 2) + 1
        free = True
        for near in range(9):
            # The row's own cell first: that is where most are refused.
            place = (near + 4) % 9
            other = newest[(line + place // 3 - 1) * columns + column + place % 3 - 1]
            while free and other >= 0:
                apart_x = abs(boxes[other, 0] + boxes[other, 2] / 2 - x) - (boxes[other, 2] + wide) / 2
                apart_y = abs(boxes[other, 1] + boxes[other, 3] / 2 - y) - (boxes[other, 3] + high) / 2
                free = apart_x >= spacing or apart_y >= spacing
                other = older[other]
            if not free:
                break
        for j in range(len(obstacles)):
            if not free:
                break
            free = (
                x + wide / 2 <= obstacles[j, 0]
                or x - wide / 2 >= obstacles[j, 0] + obstacles[j, 2]
                or y + high / 2 <= obstacles[j, 1]
                or y - high / 2 >= obstacles[j, 1] + obstacles[j, 3]
            )
        if free:
            boxes[count, 0], boxes[count, 1] = x - wide / 2, y - high / 2
            boxes[count, 2], boxes[count, 3] = wide, high
            found[count] = row
            older[count] = newest[line * columns + column]
            newest[line * columns + column] = count
            count += 1
    return count
