"""Each modality's mean taken away for the picture; rows with faults keep their place."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.compute.centring import centred, modality_gap
from explorer.compute.vectors import Vectors
from explorer.core.health_scan import examine, row_blocks


def made(rows: np.ndarray) -> Vectors:
    return Vectors(rows, examine(row_blocks(rows), len(rows)))


def test_that_two_cones_become_one_cloud_and_faults_count_for_nothing(random):
    groups = np.repeat([0, 1], (300, 200)).astype(np.int16)
    rows = random.normal(size=(500, 8)).astype(np.float32)
    rows[:300, 0] += 9
    rows[300:, 1] += 7
    rows[5] = np.nan
    rows[400] = 0
    vectors = made(rows)
    found = centred(vectors, groups)
    healthy = vectors.health.healthy
    expected = rows.copy()
    for group in (0, 1):
        expected[groups == group] -= rows[healthy & (groups == group)].mean(axis=0)
    np.testing.assert_allclose(found.fetch(np.flatnonzero(healthy)), expected[healthy], atol=1e-5)
    assert found.health.healthy.tolist() == healthy.tolist()
    np.testing.assert_allclose(found.norms[healthy], np.linalg.norm(expected[healthy], axis=1), rtol=1e-5)
    # The table itself is as it was.
    np.testing.assert_array_equal(vectors.fetch(np.arange(500)), rows)


def test_that_a_lone_row_of_its_kind_stays_where_it_is(random):
    rows = random.normal(size=(40, 4)).astype(np.float32)
    groups = np.zeros(40, np.int16)
    groups[7] = 1
    found = centred(made(rows), groups)
    np.testing.assert_array_equal(found.fetch(np.array([7])), rows[[7]])
    assert found.health.healthy.all()


def test_that_a_row_at_the_mean_has_no_place():
    rows = np.array([[1, 0], [3, 0], [2, 0]], np.float32)
    assert centred(made(rows)).health.healthy.tolist() == [True, True, False]


def test_that_the_gap_between_modalities_is_that_of_their_means_at_unit_length(random):
    groups = np.repeat([0, 1], (300, 200)).astype(np.int16)
    rows = random.normal(size=(500, 8)).astype(np.float32)
    rows[:300, 0] += 9
    rows[300:, 1] += 7
    rows[5], rows[400] = np.nan, 0
    healthy = made(rows).health.healthy
    kinds = [rows[healthy & (groups == group)] for group in (0, 1)]
    means = [(kind / np.linalg.norm(kind, axis=1, keepdims=True)).mean(axis=0) for kind in kinds]
    expected = np.linalg.norm(means[0] - means[1])
    assert modality_gap(made(rows), groups) == pytest.approx(expected, rel=1e-5)
    assert modality_gap(made(rows * 3), groups) == pytest.approx(expected, rel=1e-5)
    assert modality_gap(made(rows), np.zeros(500, np.int16)) is None
