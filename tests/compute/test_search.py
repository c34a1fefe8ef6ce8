"""Nearest neighbours of a query, held to float64 brute force."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_vectors import vectors_of
from numpy.typing import NDArray

from explorer.compute.search import candidate_rows, find_neighbours, query_vector, search
from explorer.core.errors import ExplorerError
from explorer.core.query import RowTerm
from explorer.core.results import Metric

METRICS = list(Metric)


def brute_force(rows: NDArray, query: NDArray, metric: Metric) -> NDArray[np.float32]:
    """Every row's score, in float64 from the definition."""
    rows, query = rows.astype(np.float64), query.astype(np.float64)
    if metric is Metric.EUCLIDEAN:
        return np.sqrt(((rows - query) ** 2).sum(axis=1)).astype(np.float32)
    products = (rows * query).sum(axis=1)
    if metric is Metric.COSINE:
        with np.errstate(all="ignore"):
            products /= np.sqrt((rows**2).sum(axis=1)) * np.sqrt((query**2).sum())
        products = np.clip(products, -1, 1)
    return products.astype(np.float32)


def best(scores: NDArray[np.float32], metric: Metric, among: NDArray, k: int) -> NDArray:
    """The k best of some rows, ties to the smaller row."""
    order = np.lexsort((among, scores[among] if metric.ascending else -scores[among]))
    return among[order[:k]]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
def test_that_the_nearest_rows_are_those_of_brute_force(
    metric: Metric, dtype: type, random: np.random.Generator
) -> None:
    rows = random.normal(size=(3000, 48)).astype(dtype)
    seen = rows.astype(np.float32)
    found = find_neighbours(vectors_of(rows), metric, 20, terms=[RowTerm(1.0, 7)])
    scores = brute_force(seen, seen[7], metric)
    expected = best(scores, metric, np.delete(np.arange(3000), 7), 20)
    assert found.rows.tolist() == expected.tolist()
    np.testing.assert_allclose(found.scores, scores[expected], rtol=3e-7, atol=1e-9)
    assert found.scores.dtype == np.float32


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_that_any_table_is_answered_as_brute_force_does(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 40))
    dim = data.draw(st.integers(1, 6))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    # Few different values: ties, twins and zero rows abound.
    table = random.integers(-2, 3, size=(rows, dim)).astype(np.float32)
    table *= np.float32(10.0) ** data.draw(st.integers(-12, 12))
    for fault in (np.nan, np.inf):
        if data.draw(st.booleans()):
            table[random.integers(rows), random.integers(dim)] = fault
    metric = data.draw(st.sampled_from(METRICS))
    k = data.draw(st.integers(1, rows + 3))
    query = random.normal(size=dim)
    fit = np.isfinite(table).all(axis=1) & table.any(axis=1)

    vectors = vectors_of(table)
    found = search(vectors, query, metric, k, candidate_rows(vectors, metric))

    scores = brute_force(table, query, metric)
    expected = best(scores, metric, np.flatnonzero(fit), k)
    assert found.rows.tolist() == expected.tolist()
    np.testing.assert_allclose(found.scores, scores[expected], rtol=1e-6)
    assert found.background.counts.sum() == fit.sum()


@pytest.mark.parametrize("metric", METRICS)
def test_that_equal_rows_score_equal_and_the_smaller_row_comes_first(
    metric: Metric, random: np.random.Generator
) -> None:
    rows = random.normal(size=(1003, 33)).astype(np.float32)
    twins = [5, 400, 401, 998, 1002]
    rows[twins] = rows[5]
    found = find_neighbours(vectors_of(rows), metric, 1002, terms=[RowTerm(1.0, 6)])
    places = [found.rows.tolist().index(twin) for twin in twins]
    assert places == list(range(places[0], places[0] + 5))
    assert len(set(found.scores[places].tolist())) == 1


def test_that_near_identical_rows_far_from_the_origin_keep_their_distance() -> None:
    rows = np.full((2000, 64), 1000.0, np.float32)
    steps = np.random.default_rng(0).permutation(2000)
    rows[:, 0] += (steps * 2.0**-12).astype(np.float32)
    found = find_neighbours(
        vectors_of(rows), Metric.EUCLIDEAN, 3, terms=[RowTerm(1.0, int(np.argmin(steps)))]
    )
    assert steps[found.rows].tolist() == [1, 2, 3]
    np.testing.assert_allclose(found.scores, [2.0**-12, 2.0**-11, 3 * 2.0**-12])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e18, 1e30])
def test_that_very_large_and_very_small_rows_are_compared(
    metric: Metric, size: float, random: np.random.Generator
) -> None:
    rows = random.normal(size=(500, 16)).astype(np.float32)
    expected = find_neighbours(vectors_of(rows), metric, 10, terms=[RowTerm(1.0, 3)]).rows
    found = find_neighbours(vectors_of(rows * np.float32(size)), metric, 10, terms=[RowTerm(1.0, 3)])
    assert found.rows.tolist() == expected.tolist()
    assert np.isfinite(found.scores).all()
    assert np.isfinite([found.background.mean, found.background.std]).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("noise", [0.0, 1e-7, 3e-7, 1e-4, 1e-3])
def test_that_rows_which_all_but_coincide_are_compared(
    metric: Metric, noise: float, random: np.random.Generator
) -> None:
    rows = (1 + noise * random.normal(size=(300, 16))).astype(np.float32)
    found = find_neighbours(vectors_of(rows), metric, 5, terms=[RowTerm(1.0, 0)])
    scores = brute_force(rows, rows[0], metric)
    np.testing.assert_allclose(found.scores, scores[best(scores, metric, np.arange(1, 300), 5)], atol=1e-6)
    assert found.background.counts.sum() == 299
    assert np.all(np.diff(found.background.edges) > 0)


def test_that_rows_which_cannot_be_compared_are_never_neighbours(random: np.random.Generator) -> None:
    rows = random.normal(size=(100, 8)).astype(np.float32)
    rows[10], rows[20, 3], rows[30, 0] = 0.0, np.nan, -np.inf
    vectors = vectors_of(rows, padding=5)
    for metric in METRICS:
        plain = find_neighbours(vectors, metric, 100, terms=[RowTerm(1.0, 0)]).rows
        assert not {0, 10, 20, 30, *range(95, 100)} & set(plain.tolist())
        assert len(plain) == 91
        everything = find_neighbours(vectors, metric, 100, terms=[RowTerm(1.0, 0)], all_rows=True).rows
        zero_row = set() if metric is Metric.COSINE else {10}
        assert set(everything.tolist()) == set(range(1, 100)) - {10, 20, 30} | zero_row


def test_that_special_rows_and_the_query_come_back_when_asked_for(random: np.random.Generator) -> None:
    vectors = vectors_of(random.normal(size=(50, 8)).astype(np.float32))
    terms, special = [RowTerm(1.0, 0), RowTerm(-0.5, 9)], np.array([0, 1, 2])

    def rows(**options: bool) -> set[int]:
        found = find_neighbours(vectors, Metric.COSINE, 50, terms=terms, special=special, **options)
        return set(found.rows.tolist())

    everything = set(range(50))
    assert rows() == everything - {0, 1, 2, 9}
    assert rows(include_query=True) == everything - {1, 2}
    assert rows(all_rows=True) == everything - {0, 9}
    assert rows(all_rows=True, include_query=True) == everything


def test_that_terms_are_scaled_to_unit_length_under_cosine_alone() -> None:
    vectors = vectors_of(np.array([[10, 0], [0, 1], [1, 1]], np.float32))
    terms = [RowTerm(1.0, 0), RowTerm(-2.0, 1)]
    np.testing.assert_allclose(query_vector(vectors, terms, Metric.COSINE), [1, -2])
    np.testing.assert_allclose(query_vector(vectors, terms, Metric.DOT), [10, -2])
    np.testing.assert_allclose(query_vector(vectors, terms, Metric.EUCLIDEAN), [10, -2])


def test_that_scaled_rows_are_searched_as_scaled(random: np.random.Generator) -> None:
    rows = random.normal(size=(300, 9)).astype(np.float32)
    for metric in METRICS:
        scaled = find_neighbours(vectors_of(rows, scale=3.0), metric, 9, terms=[RowTerm(1.0, 4)])
        plain = find_neighbours(vectors_of(rows * np.float32(3.0)), metric, 9, terms=[RowTerm(1.0, 4)])
        assert scaled.rows.tolist() == plain.rows.tolist()
        np.testing.assert_allclose(scaled.scores, plain.scores, rtol=1e-6)


def test_that_the_background_is_that_of_all_candidates(random: np.random.Generator) -> None:
    rows = random.normal(size=(2000, 24)).astype(np.float32)
    found = find_neighbours(vectors_of(rows), Metric.COSINE, 5, terms=[RowTerm(1.0, 0)])
    scores = np.delete(brute_force(rows, rows[0], Metric.COSINE), 0)
    assert found.background.mean == pytest.approx(scores.mean(), abs=1e-6)
    assert found.background.std == pytest.approx(scores.std(), rel=1e-5)
    assert found.background.counts.sum() == 1999
    assert len(found.background.edges) == len(found.background.counts) + 1


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ([RowTerm(1.0, 0), RowTerm(-1.0, 1)], "cancel out"),
        ([RowTerm(1.0, 4)], "not a number"),
        ([RowTerm(1.0, 2)], "all zeros"),
        ([RowTerm(1.0, 99)], "no row #99"),
    ],
)
def test_that_a_query_without_a_direction_is_refused(terms: list[RowTerm], said: str) -> None:
    rows = np.array([[3, 0], [5, 0], [0, 0], [0, 1], [np.nan, 1]], np.float32)
    with pytest.raises(ExplorerError, match=said):
        find_neighbours(vectors_of(rows), Metric.COSINE, 1, terms=terms)


def test_that_a_vector_of_another_dimension_is_refused() -> None:
    with pytest.raises(ExplorerError, match="3 dimensions, the table has 2"):
        find_neighbours(vectors_of(np.eye(2, dtype=np.float32)), Metric.DOT, 1, vector=np.ones(3))


def test_that_a_table_without_candidates_gives_no_neighbours() -> None:
    found = find_neighbours(
        vectors_of(np.ones((1, 4), np.float32)), Metric.COSINE, 5, terms=[RowTerm(1.0, 0)]
    )
    assert len(found.rows) == len(found.scores) == 0
    assert found.background.counts.sum() == 0


def test_that_repeats_of_a_picture_are_counted_once(random) -> None:
    rows = random.normal(size=(30, 8)).astype(np.float32)
    rows[[4, 9]] = rows[2]
    vectors = vectors_of(rows)
    twins = np.arange(30)
    twins[[4, 9]] = 2
    found = find_neighbours(vectors, Metric.COSINE, 30, terms=(RowTerm(1.0, 5),), first_twin=twins)
    assert set(found.rows.tolist()) == set(range(30)) - {4, 5, 9}
    # Of a repeat that is asked for, the first one is not an answer either.
    own = find_neighbours(vectors, Metric.COSINE, 30, terms=(RowTerm(1.0, 9),), first_twin=twins)
    assert set(own.rows.tolist()) == set(range(30)) - {2, 4, 9}
    every = find_neighbours(
        vectors, Metric.COSINE, 30, terms=(RowTerm(1.0, 9),), first_twin=twins, all_rows=True
    )
    assert every.rows[:2].tolist() == [2, 4]


def test_that_rows_and_a_vector_are_summed_as_unit_vectors(random) -> None:
    rows = 5 * random.normal(size=(20, 8)).astype(np.float32)
    vectors = vectors_of(rows)
    text = random.normal(size=8)
    text /= np.linalg.norm(text)
    for metric in Metric:
        found = find_neighbours(vectors, metric, 5, terms=(RowTerm(-0.5, 3),), vector=text)
        np.testing.assert_allclose(found.query, text - 0.5 * rows[3] / np.linalg.norm(rows[3]), atol=1e-6)
        assert 3 not in found.rows
    unit = (rows[3] / np.linalg.norm(rows[3])).astype(np.float64)
    with pytest.raises(ExplorerError, match="cancel out"):
        find_neighbours(vectors, Metric.COSINE, 5, terms=(RowTerm(-1.0, 3),), vector=unit)
