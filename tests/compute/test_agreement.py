"""How many of a row's true neighbours the map has kept."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.compute.agreement import share_kept
from explorer.core.errors import Cancelled


def nearest(points: np.ndarray, k: int) -> np.ndarray:
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1)[:, :k].astype(np.int32)


def test_that_the_share_is_that_of_a_plain_count() -> None:
    random = np.random.default_rng(1)
    points = random.normal(size=(300, 8))
    xy = points[:, :2].astype(np.float32)
    true, on_map = nearest(points, 10), nearest(xy.astype(np.float64), 10)
    expected = [len(set(a) & set(b)) / 10 for a, b in zip(true.tolist(), on_map.tolist(), strict=True)]
    np.testing.assert_allclose(share_kept(true, xy, np.arange(300)), expected, rtol=1e-6)


def test_that_a_true_map_keeps_all_and_rows_off_the_map_have_no_share() -> None:
    xy = np.random.default_rng(2).normal(size=(200, 3)).astype(np.float32)
    graph = nearest(xy.astype(np.float64), 7)
    assert (share_kept(graph, xy, np.arange(200)) == 1).all()
    xy[13] = np.nan
    found = share_kept(graph, xy, np.arange(200))
    assert np.isnan(found[13])
    assert np.isfinite(np.delete(found, 13)).all()


def test_that_rows_that_repeat_another_share_its_answer() -> None:
    xy = np.random.default_rng(3).normal(size=(100, 2)).astype(np.float32)
    xy[50] = xy[4]
    twins = np.arange(100)
    twins[50] = 4
    graph = np.full((100, 5), -1, np.int32)
    own = np.flatnonzero(twins == np.arange(100))
    graph[own] = own[nearest(xy[own].astype(np.float64), 5)]
    found = share_kept(graph, xy, twins)
    assert found[50] == found[4] == 1


def test_that_odd_maps_are_met_and_work_can_be_stopped() -> None:
    none = np.empty((0, 2), np.float32)
    assert share_kept(np.empty((0, 3), np.int32), none, np.arange(0)).shape == (0,)
    one = np.zeros((1, 2), np.float32)
    assert np.isnan(share_kept(np.full((1, 3), -1, np.int32), one, np.arange(1))).all()

    def cancel(_fraction: float, _stage: str = "") -> None:
        raise Cancelled

    xy = np.random.default_rng(4).normal(size=(50, 2)).astype(np.float32)
    with pytest.raises(Cancelled):
        share_kept(nearest(xy.astype(np.float64), 3), xy, np.arange(50), checkpoint=cancel)
