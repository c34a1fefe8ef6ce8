"""Neighbour graphs, held to float64 brute force."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_vectors import grouped, vectors_of
from numpy.typing import NDArray

from explorer.compute import descent
from explorer.compute import graph as graph_module
from explorer.compute.graph import neighbour_graph
from explorer.compute.parallel import map_blocks
from explorer.core.errors import Cancelled, ExplorerError
from explorer.core.results import Metric

DISTANCES = [Metric.COSINE, Metric.EUCLIDEAN]


def all_distances(rows: NDArray, metric: Metric) -> NDArray[np.float64]:
    """Every row's distance to every other, infinite to itself, in float64 from the definition."""
    rows = rows.astype(np.float64)
    if metric is Metric.COSINE:
        rows = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
    apart = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    if metric is Metric.COSINE:
        apart = apart**2 / 2
    np.fill_diagonal(apart, np.inf)
    return apart


@pytest.mark.parametrize("metric", DISTANCES)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_that_every_row_has_its_nearest_rows(
    metric: Metric, dtype: type, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_module, "_CPU_SCORES", 20_000)
    rows = random.normal(size=(700, 20)).astype(dtype)
    found = neighbour_graph(vectors_of(rows), 12, metric)
    apart = all_distances(rows.astype(np.float32), metric)
    assert (found.rows == np.argsort(apart, axis=1)[:, :12]).all()
    np.testing.assert_allclose(found.distances, np.sort(apart, axis=1)[:, :12], rtol=2e-5)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_that_any_table_has_a_sound_graph(data: st.DataObject) -> None:
    rows, dim = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 5))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    table = random.integers(-2, 3, size=(rows, dim)).astype(np.float32)
    table *= np.float32(10.0) ** data.draw(st.integers(-12, 12))
    if data.draw(st.booleans()):
        table[random.integers(rows), random.integers(dim)] = np.nan
    metric, k = data.draw(st.sampled_from(DISTANCES)), data.draw(st.integers(1, 8))
    fit = np.flatnonzero(np.isfinite(table).all(axis=1) & table.any(axis=1))

    found = neighbour_graph(vectors_of(table), k, metric)

    k = max(0, min(k, len(fit) - 1))
    assert found.rows.shape == found.distances.shape == (rows, k)
    unfit = np.setdiff1d(np.arange(rows), fit)
    assert (found.rows[unfit] == -1).all()
    assert np.isinf(found.distances[unfit]).all()
    if k:
        apart = all_distances(table[fit], metric)
        np.testing.assert_allclose(
            found.distances[fit],
            np.sort(apart, axis=1)[:, :k],
            rtol=1e-4,
            atol=1e-6 * np.nanmax(np.abs(table)),
        )
        for row in fit:
            assert len(set(found.rows[row].tolist()) - {row}) == k


@pytest.mark.parametrize("metric", DISTANCES)
def test_that_copies_are_neighbours_at_distance_zero_and_no_row_is_its_own(
    metric: Metric, random: np.random.Generator
) -> None:
    rows = np.repeat(random.normal(size=(7, 16)).astype(np.float32), 50, axis=0)
    found = neighbour_graph(vectors_of(rows), 14, metric)
    assert (found.distances == 0).all()
    assert (found.rows // 50 == np.arange(350)[:, None] // 50).all()
    assert (found.rows != np.arange(350)[:, None]).all()
    assert all(len(set(row)) == 14 for row in found.rows.tolist())


def test_that_a_graph_of_distinct_rows_leaves_out_repeats(random: np.random.Generator) -> None:
    rows = random.normal(size=(40, 8)).astype(np.float32)
    rows[[11, 25]] = rows[3]
    found = neighbour_graph(vectors_of(rows), 5, Metric.COSINE, distinct=True)
    assert (found.rows[[11, 25]] == -1).all()
    assert not np.isin(found.rows, [11, 25]).any()
    assert (found.rows[[0, 3]] >= 0).all()


def test_that_near_identical_rows_far_from_the_origin_keep_their_order() -> None:
    steps = np.random.default_rng(0).permutation(400)
    rows = np.full((400, 32), 500.0, np.float32)
    rows[:, 5] += (steps * 2.0**-13).astype(np.float32)
    found = neighbour_graph(vectors_of(rows), 2, Metric.EUCLIDEAN)
    assert (np.abs(steps[found.rows[:, 0]] - steps) == 1).all()
    np.testing.assert_allclose(found.distances[:, 0], 2.0**-13)


def test_that_the_dot_product_is_refused() -> None:
    with pytest.raises(ExplorerError, match="needs a distance"):
        neighbour_graph(vectors_of(np.eye(4, dtype=np.float32)), 2, Metric.DOT)


def test_that_a_graph_can_be_stopped_between_blocks(
    random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_module, "_CPU_SCORES", 20_000)
    heard: list[float] = []

    def stop_at_the_third(fraction: float, stage: str = "") -> None:
        heard.append(fraction)
        if len(heard) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        neighbour_graph(
            vectors_of(random.normal(size=(2000, 8)).astype(np.float32)),
            5,
            Metric.COSINE,
            checkpoint=stop_at_the_third,
        )
    assert heard == sorted(heard)
    assert 0 < heard[-1] < 0.1


@pytest.mark.parametrize("metric", DISTANCES)
def test_that_a_large_table_has_most_of_its_nearest_rows_the_same_on_any_number_of_cores(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = vectors_of(grouped(3000, 24))
    exact = neighbour_graph(vectors, 10, metric)
    monkeypatch.setattr(graph_module, "_MOST_EXACT_WORK", 0)
    found = neighbour_graph(vectors, 10, metric)
    assert exact.exact
    assert not found.exact
    hits = [
        len(set(near) & set(true))
        for near, true in zip(found.rows.tolist(), exact.rows.tolist(), strict=True)
    ]
    assert np.mean(hits) > 9.5
    assert (found.rows != np.arange(3000)[:, None]).all()
    assert all(len(set(near)) == 10 for near in found.rows.tolist())
    assert (np.diff(found.distances, axis=1) >= 0).all()
    same = found.rows == exact.rows
    np.testing.assert_allclose(found.distances[same], exact.distances[same], rtol=1e-4)
    monkeypatch.setattr(descent, "map_blocks", partial(map_blocks, threads=1))
    assert (neighbour_graph(vectors, 10, metric).rows == found.rows).all()


def test_that_a_large_table_may_hold_copies_and_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "_MOST_EXACT_WORK", 0)
    rows = np.repeat(grouped(7, 16), 50, axis=0)
    found = neighbour_graph(vectors_of(rows), 14, Metric.COSINE)
    assert (found.rows >= 0).all()
    assert (found.distances == 0).mean() > 0.95
    heard: list[float] = []

    def stop(fraction: float, stage: str = "") -> None:
        heard.append(fraction)
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        neighbour_graph(vectors_of(rows), 14, Metric.COSINE, checkpoint=stop)
    assert heard == sorted(heard)


@pytest.mark.parametrize("rows", [2, 3, 9, 40])
def test_that_small_tables_lose_nothing_by_descent(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = vectors_of(grouped(rows, 5))
    exact = neighbour_graph(vectors, 30, Metric.EUCLIDEAN)
    monkeypatch.setattr(graph_module, "_MOST_EXACT_WORK", 0)
    assert (neighbour_graph(vectors, 30, Metric.EUCLIDEAN).rows == exact.rows).all()


def test_that_rounds_to_come_are_foreseen_by_those_before() -> None:
    # What each round improved at 300,000 × 64 of many directions, beside what is few.
    improved = [100, 63, 20.7, 5.6, 1.7]
    foreseen = [descent._rounds_left(improved[: turn + 1], 1.0) for turn in range(len(improved))]
    assert foreseen == [3, 4, 3, 2, 1]
