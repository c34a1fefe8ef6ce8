"""Feeds every kernel with wild numbers; run with ``NUMBA_BOUNDSCHECK=1``, so that a reach outside raises."""

import numpy as np

from explorer.render import point_index
from explorer.render.camera import Camera, project
from explorer.render.density import Counts, density_colours, draw_grid
from explorer.render.kernels import colour_counts
from explorer.render.labels import LabelDensity, candidates, place
from explorer.render.palette import LIGHT, colours_on_map
from explorer.render.point_index import PointIndex
from explorer.render.points import Points, by_depth, sample_by_depth
from explorer.render.raster import Dots, Raster
from explorer.render.sample import Sample, spread_out
from explorer.render.selection import rows_in_polygon
from explorer.render.thumbnails import place_thumbnails
from explorer.render.viewport import Viewport

PALETTE = np.array([[1, 2, 3, 255], [1, 2, 3, 0], [9, 2, 3, 255]], np.uint8)
EDGES = np.float32([0, 1, 7, 40, 30, 39])
SPECIAL = np.concatenate(
    [
        EDGES,
        np.nextafter(EDGES, np.float32(-np.inf)),
        np.nextafter(EDGES, np.float32(np.inf)),
        np.float32([-1e-38, -1e-20, -1e-17, 1e-45, np.nan, np.inf, -np.inf, 1e30, -1e30, 3.4e38, -3.4e38]),
    ]
)
SCALES = (1e-36, 1e-9, 1.0, 3.7, 1e4, 1e9, 1e18, 1e27, 1e36)
CENTRES = ((20.0, -15.0), (0.0, 0.0), (1e-30, 1e9), (-1e18, 1e30), (3e38, -3e38))


def check_that_accesses_are_checked() -> None:
    empty, one = np.zeros(0, np.uint32), np.zeros((1, 1), np.uint32)
    try:
        colour_counts(one, empty, np.uint32(0), one.copy())
    except IndexError:
        return
    raise AssertionError("run this with NUMBA_BOUNDSCHECK=1")


def run() -> None:
    rng = np.random.default_rng(0)
    x, y = np.meshgrid(SPECIAL, SPECIAL)
    wild = np.column_stack([x.ravel(), -y.ravel()])
    near = rng.normal(0, 30, (500, 2)).astype(np.float32)
    xy = np.concatenate([wild, near])
    codes = rng.integers(0, 256, len(xy)).astype(np.uint8)
    codes[::2] = 0
    point_index.SAMPLE_FROM = 100
    indexes = [PointIndex.of(xy), PointIndex.of(wild), PointIndex.of(near)]
    order = rng.permutation(len(xy))[:700]
    aspects = rng.choice(np.array([1.0, 0.01, 99.0, np.nan, np.inf, 0.0, -1.0]), len(xy))
    for scale in SCALES:
        for centre in CENTRES:
            view = Viewport(40, 30, *centre, scale)
            raster = Raster(40, 30)
            for radius in (0.1, 1.0, 7.3, 50.0):
                raster.draw(xy, codes, PALETTE, view, Dots(radius, 0.5))
            for palette in (PALETTE, PALETTE[:2]):
                counts = Counts(raster, palette, view)
                counts.add(Points.all(xy, codes))
                counts.colour(density_colours(LIGHT), 0, 1.0)
            for index in indexes[1:]:
                some = codes[: index.table_rows]
                points = Points.seen(index, some, view, 9.0, 50)
                raster.splat(points, PALETTE, view, Dots(3.0, 0.5))
                counts = Counts(raster, PALETTE, view)
                counts.add(points)
                counts.colour(density_colours(LIGHT), 0, 1.0, 3.0)
                draw_grid(raster, index, some, PALETTE, view, density_colours(LIGHT), 0)
            candidates(xy, codes, PALETTE, view, LabelDensity.FIT, order, indexes[0])
            candidates(xy, codes, PALETTE, view, LabelDensity.FIT, None, indexes[0])
            for side in (1.0, 30.0, 500.0):
                place_thumbnails(xy, view, aspects, side=side)
            for density in (LabelDensity.FIT, LabelDensity.MANY):
                rows = candidates(xy, codes, PALETTE, view, density)
                sizes = np.tile([12.0, 5.0], (len(rows), 1))
                place(rows, xy, sizes, np.ones(len(rows)), np.ones((len(rows), 2)), view)
    solid = np.column_stack([xy, rng.permutation(xy[:, 0])])
    for camera in (Camera(), Camera(1.0, -0.5)):
        turned, depth = project(solid, camera)
        by_depth(turned, codes, depth, 6)
        by_depth(xy, codes, xy[:, 0], 6, 3)
        rows = spread_out(len(xy), 90)
        project(solid, camera, (turned, depth), rows=rows)
        sample_by_depth(Sample(rows, turned[rows], depth[rows], 0.1), codes, 6, 40)
    for count in (1, 3, 250):
        colours_on_map(xy, rng.integers(-1, count, len(xy)), count, LIGHT)
    finite = wild[np.isfinite(wild).all(axis=1)].astype(float)
    for corners in (
        finite,
        finite[:3],
        finite * 1e-300,
        rng.permutation(finite),
        np.tile(finite[:1], (5, 1)),
    ):
        rows_in_polygon(xy, corners)


if __name__ == "__main__":
    check_that_accesses_are_checked()
    run()
