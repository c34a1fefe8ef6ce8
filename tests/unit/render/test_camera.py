"""A turned view keeps lengths, its middle, and says what is near."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.render.camera import Camera, middle, project
from explorer.render.points import by_depth, sample_by_depth
from explorer.render.sample import Sample, spread_out

angle = st.floats(-10, 10)


def cloud(rows: int = 200) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)


def test_that_an_unturned_camera_sees_the_first_two_components():
    xyz = cloud()
    xy, depth = project(xyz, Camera())
    assert np.allclose(xy, xyz[:, :2], atol=1e-6)
    assert np.array_equal(np.argsort(depth), np.argsort(xyz[:, 2]))


@given(angle, angle, angle, angle)
def test_that_turning_keeps_all_distances_and_what_is_up(right, down, more_right, more_down):
    camera = Camera().turned(right, down).turned(more_right, more_down)
    axes = camera.axes
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1)
    assert axes[1, 1] >= -1e-12, "up is never upside down"


def test_that_what_is_in_front_follows_the_mouse():
    near = np.array([[0.0, 0.0, 1.0]], np.float32)
    for right, down, moved in ((0.1, 0, (0.1, 0)), (0, 0.1, (0, -0.1))):
        xy, _ = project(near, Camera().turned(right, down), centre=(0, 0, 0))
        assert xy[0] == pytest.approx(moved, abs=0.01)


def test_that_the_middle_keeps_its_place():
    xyz = cloud() + np.float32([5, -7, 100])
    at = np.array([middle(xyz)], np.float32)
    for camera in (Camera(1, 0.3), Camera(-2, -1)):
        xy, depth = project(at, camera, centre=middle(xyz))
        assert xy[0] == pytest.approx(at[0, :2], abs=1e-4)
        assert depth[0] == pytest.approx(0, abs=1e-4)


def test_that_positions_are_written_where_asked():
    xyz = cloud(50)
    out = np.zeros((50, 2), np.float32), np.zeros(50, np.float32)
    xy, depth = project(xyz, Camera(0.3, 0.2), out)
    assert xy is out[0]
    assert depth is out[1]
    assert np.array_equal(xy, project(xyz, Camera(0.3, 0.2))[0])


def test_that_rows_without_a_place_have_none_and_trouble_no_other():
    xyz = cloud(50)
    expected = project(xyz, Camera(0.3, 0.2), centre=(0, 0, 0))[0]
    xyz[3], xyz[5, 2] = np.nan, np.inf
    xy, _ = project(xyz, Camera(0.3, 0.2), centre=(0, 0, 0))
    others = np.delete(np.arange(50), [3, 5])
    assert not np.isfinite(xy[[3, 5]]).any()
    assert np.array_equal(xy[others], expected[others])
    assert middle(np.full((4, 3), np.nan)) == (0, 0, 0)
    assert np.isfinite(middle(xyz)).all()


def test_that_other_shapes_are_refused():
    with pytest.raises(ValueError, match="not of three dimensions"):
        project(np.zeros((4, 2)), Camera())


def test_that_bands_run_from_far_to_near_and_hold_every_row_once():
    xyz = cloud(3000)
    xyz[7] = np.nan
    xy, depth = project(xyz, Camera(0.5, math.pi / 8))
    codes = (np.arange(3000) % 5).astype(np.uint8)
    bands = by_depth(xy, codes, depth, 6)
    rows = [band.rows[slice(*band.spans[0])] for band in bands]
    assert sorted(np.concatenate(rows).tolist()) == [row for row in range(3000) if row != 7]
    for far, near in itertools.pairwise(rows):
        assert depth[far].max() <= depth[near].min() + 1e-5
    for band in bands:
        assert np.array_equal(band.xy, xy[band.rows])
        assert np.array_equal(band.codes, codes[band.rows])


def test_that_a_sample_by_depth_says_what_share_it_is():
    xyz = cloud(1000)
    xy, depth = project(xyz, Camera())
    bands = by_depth(xy, np.zeros(1000, np.uint8), depth, 4, step=5)
    assert sum(map(len, bands)) == 200
    assert bands[0].share == pytest.approx(0.2)
    with pytest.raises(ValueError, match="999 depths for 1000 rows"):
        by_depth(xy, np.zeros(1000, np.uint8), depth[1:], 4)


def test_that_only_the_rows_named_are_looked_for():
    xyz, camera = cloud(50), Camera(0.3, 0.2)
    out = np.full((50, 2), 9, np.float32), np.full(50, 9, np.float32)
    rows = np.array([3, 40, 3])
    project(xyz, camera, out, (0, 0, 0), rows)
    whole = project(xyz, camera, centre=(0, 0, 0))
    for found, expected in zip(out, whole, strict=True):
        assert np.array_equal(found[rows], expected[rows])
        assert (np.delete(found, rows, axis=0) == 9).all()
    project(xyz, Camera(), out, (0, 0, 0), rows[:0])
    assert np.array_equal(out[0][3], whole[0][3]), "none is named, none is looked for"


@pytest.mark.parametrize(("count", "most"), [(10, 10), (10, 40), (1000, 7), (10_000_000, 300), (0, 5)])
def test_that_a_sample_is_spread_over_all_rows(count, most):
    rows = spread_out(count, most)
    assert len(rows) == min(count, most)
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows * len(rows) // max(count, 1), np.arange(len(rows))), "one of each run"


def test_that_a_sample_is_sorted_by_depth_under_its_rows_own_numbers():
    xyz, rows = cloud(1000), spread_out(1000, 200)
    codes = (np.arange(1000) % 7).astype(np.uint8)
    sample = Sample(rows, *project(xyz[rows], Camera(0.5, 0.2), centre=(0, 0, 0)), 0.2)
    for most, count in ((None, 200), (50, 50)):
        bands = sample_by_depth(sample, codes, 6, most)
        drawn = [band.rows[slice(*band.spans[0])] for band in bands]
        assert len(np.concatenate(drawn)) == count
        assert bands[0].share == pytest.approx(count / 1000)
        near = project(xyz, Camera(0.5, 0.2), centre=(0, 0, 0))[1]
        for far_rows, near_rows in itertools.pairwise(drawn):
            assert near[far_rows].max() <= near[near_rows].min()
        for band in bands:
            assert np.array_equal(band.codes, codes[band.rows])
            assert np.isin(band.rows, rows).all()
