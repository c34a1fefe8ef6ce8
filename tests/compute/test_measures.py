"""Trust, clusters and pairs."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import grouped, vectors_of
from sklearn.manifold import trustworthiness

from explorer.compute import trust as trust_module
from explorer.compute.clusters import find_clusters
from explorer.compute.histogram import histogram
from explorer.compute.pairs import pair_histogram
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.results import Metric


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.EUCLIDEAN])
def test_that_trust_is_that_of_scikit_learn(metric: Metric) -> None:
    rows = grouped(400, 10)
    vectors = vectors_of(rows)
    xy = positions_of(vectors)
    found = measure_trust(vectors, xy, 9, metric=metric)
    assert found.trustworthiness == pytest.approx(
        trustworthiness(rows, xy, n_neighbors=9, metric=str(metric)), abs=1e-6
    )
    if metric is Metric.EUCLIDEAN:
        assert found.continuity == pytest.approx(trustworthiness(xy, rows, n_neighbors=9), abs=1e-6)
    assert (found.sample, found.k) == (400, 9)


def test_that_a_faithful_map_is_trusted_and_a_shuffled_one_is_not(random: np.random.Generator) -> None:
    plane = random.normal(size=(500, 2)).astype(np.float32)
    vectors = vectors_of(np.hstack([plane, np.zeros((500, 3), np.float32)]))
    faithful = measure_trust(vectors, plane, metric=Metric.EUCLIDEAN)
    assert faithful.trustworthiness == faithful.continuity == 1.0
    assert (faithful.per_row == 1.0).all()
    shuffled = measure_trust(vectors, random.permutation(plane), metric=Metric.EUCLIDEAN)
    assert 0.4 < shuffled.trustworthiness < 0.6
    assert shuffled.per_row.mean() < 0.1


def test_that_a_map_in_space_is_measured_as_one_on_the_plane_is(random: np.random.Generator) -> None:
    space = random.normal(size=(500, 3)).astype(np.float32)
    vectors = vectors_of(np.hstack([space, np.zeros((500, 3), np.float32)]))
    assert measure_trust(vectors, space, metric=Metric.EUCLIDEAN).trustworthiness == 1.0
    found = measure_trust(vectors, space[:, :2], 9, metric=Metric.EUCLIDEAN)
    assert found.trustworthiness == pytest.approx(
        trustworthiness(space, space[:, :2], n_neighbors=9), abs=1e-6
    )


def test_that_a_sample_of_rows_tells_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = vectors_of(grouped(1500, 12))
    xy = positions_of(vectors)
    everything = measure_trust(vectors, xy)
    monkeypatch.setattr(trust_module, "_MOST_RANKED", 500_000)
    monkeypatch.setattr(trust_module, "_LEAST_SAMPLE", 100)
    some = measure_trust(vectors, xy)
    assert some.sample == 333
    assert some.trustworthiness == pytest.approx(everything.trustworthiness, abs=0.01)
    assert np.isfinite(some.per_row).sum() == 333
    monkeypatch.setattr(trust_module, "_MOST_AMONG", 750)
    fewer = measure_trust(vectors, xy)
    assert fewer.sample == 666
    assert fewer.trustworthiness == pytest.approx(everything.trustworthiness, abs=0.02)
    assert np.isfinite(fewer.per_row).sum() == 666


def test_that_trust_leaves_out_rows_without_a_place() -> None:
    rows = grouped(200, 6)
    xy = positions_of(vectors_of(rows))
    expected = measure_trust(vectors_of(rows), xy)
    worse = np.vstack([rows, np.full((1, 6), np.nan, np.float32)])
    found = measure_trust(vectors_of(worse), np.vstack([xy, [[np.nan, np.nan]]]).astype(np.float32))
    assert found.trustworthiness == expected.trustworthiness
    assert np.isnan(found.per_row[-1])


def test_that_a_map_of_another_table_or_of_too_few_rows_is_refused() -> None:
    vectors = vectors_of(np.eye(3, dtype=np.float32))
    with pytest.raises(ExplorerError, match="another table"):
        measure_trust(vectors, np.zeros((4, 2), np.float32))
    with pytest.raises(ExplorerError, match="fewer than 3 rows"):
        measure_trust(vectors, np.array([[0, 0], [1, 1], [np.nan, 0]], np.float32))


def test_that_clusters_are_the_groups_of_the_table(random: np.random.Generator) -> None:
    groups = np.sort(random.choice(4, size=600, p=[0.1, 0.2, 0.3, 0.4]))
    rows = (10 * np.eye(4, 12)[groups] + random.normal(size=(600, 12))).astype(np.float32)
    rows[3] = np.nan
    names = [f"{'abcd'[group]}{'x' * (row % 9 + 2)}" for row, group in enumerate(groups)]
    labels = Labels.from_texts(["<pad>", ",", *names[2:]], "made", special=[0])
    found = find_clusters(vectors_of(rows), 4, labels=labels)
    assert found.codes.dtype == np.int16
    assert found.codes[3] == -1
    sizes = np.bincount(found.codes[found.codes >= 0])
    assert (np.diff(sizes) <= 0).all()
    for group in range(4):
        assert len(set(found.codes[groups == group].tolist()) - {-1}) == 1
    for code, name in enumerate(found.names):
        letter = "abcd"[groups[np.flatnonzero(found.codes == code)[0]]]
        assert len(words := name.split(", ")) == 3
        assert all(word.startswith(letter) for word in words)
    assert (find_clusters(vectors_of(rows), 4, labels=labels).codes == found.codes).all()


def test_that_small_and_nameless_tables_have_fewer_numbered_clusters() -> None:
    assert find_clusters(vectors_of(np.eye(3, dtype=np.float32))).names == ("Cluster 1",)
    found = find_clusters(vectors_of(grouped(50, 4)))
    assert found.names == tuple(f"Cluster {place + 1}" for place in range(5))
    assert find_clusters(vectors_of(np.zeros((5, 2), np.float32))).codes.tolist() == [-1] * 5
    assert set(find_clusters(vectors_of(np.ones((90, 4), np.float32))).codes.tolist()) == {0}


def test_that_every_pair_of_a_small_table_is_counted() -> None:
    rows = grouped(120, 7)
    for metric in Metric:
        found = pair_histogram(vectors_of(rows), metric)
        unit = rows.astype(np.float64)
        if metric is Metric.COSINE:
            unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        values = unit @ unit.T
        if metric is Metric.EUCLIDEAN:
            values = np.linalg.norm(unit[:, None] - unit, axis=2)
        values = values[np.triu_indices(120, 1)]
        assert found.pairs == found.counts.sum() == len(values) == 7140
        assert found.mean == pytest.approx(values.mean(), abs=1e-6)
        assert found.std == pytest.approx(values.std(), rel=1e-6)
        # Rounding may put a pair across an edge.
        assert np.abs(found.counts - np.histogram(values, found.edges)[0]).sum() <= 4


def test_that_rows_of_a_one_hot_table_are_all_equally_far() -> None:
    found = pair_histogram(vectors_of(np.eye(50, dtype=np.float32)), Metric.COSINE)
    assert (found.mean, found.std) == (0.0, 0.0)
    assert found.edges[np.flatnonzero(found.counts)[0]] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 1e-30, -1.0, 1.0, 3.4e38])
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_that_values_which_all_but_coincide_are_counted(dtype: type, value: float, steps: int) -> None:
    values = np.full(9, value, dtype)
    for _ in range(steps):
        values[4:] = np.nextafter(values[4:], dtype(0.5))
    counts, edges = histogram(values, 100)
    assert counts.sum() == 9
    assert np.all(np.diff(edges) > 0)
    assert edges[0] <= values.min() <= values.max() <= edges[-1]


def test_that_a_large_tables_pairs_are_sampled_alike_each_time(random: np.random.Generator) -> None:
    vectors = vectors_of(random.normal(size=(9000, 6)).astype(np.float32))
    found = pair_histogram(vectors, Metric.COSINE)
    assert found.pairs == 2000 * 1999 // 2
    assert found.mean == pytest.approx(0.0, abs=0.02)
    assert (pair_histogram(vectors, Metric.COSINE).counts == found.counts).all()


def test_that_fewer_than_two_rows_have_no_pairs() -> None:
    with pytest.raises(ExplorerError, match="no pairs"):
        pair_histogram(vectors_of(np.ones((1, 3), np.float32)), Metric.COSINE)
