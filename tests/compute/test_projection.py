"""The first picture."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import grouped, vectors_of

from explorer.compute import projection
from explorer.compute.projection import positions_of, principal_components


@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_that_principal_components_are_those_of_a_singular_value_decomposition(offset: float) -> None:
    rows = grouped(800, 30) + np.float32(offset)
    found = principal_components(vectors_of(rows), np.arange(800), 3)
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    for place in range(3):
        direction = directions[place]
        direction *= np.sign(direction[np.abs(direction).argmax()])
        expected = centred @ direction
        np.testing.assert_allclose(found[:, place], expected, atol=2e-3 * np.abs(expected).max())


def test_that_a_table_too_large_for_its_covariance_gets_nearly_the_same_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = vectors_of(grouped(3000, 60))
    exact = positions_of(vectors)
    monkeypatch.setattr(projection, "_MOST_EXACT_WORK", 0)
    np.testing.assert_allclose(positions_of(vectors), exact, atol=1e-2 * np.abs(exact).max())


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("dim", [1, 2, 3, 2100])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_that_the_smallest_tables_have_a_picture(
    rows: int, dim: int, dimensions: int, random: np.random.Generator
) -> None:
    table = random.normal(size=(rows, dim)).astype(np.float32)
    xy = positions_of(vectors_of(table), dimensions)
    assert xy.shape == (rows, dimensions)
    assert xy.dtype == np.float32
    assert np.isfinite(xy).all()
    if dim <= dimensions:
        assert (xy[:, :dim] == table).all()
        assert (xy[:, dim:] == 0).all()
    elif rows == 2:
        assert np.linalg.norm(xy[0] - xy[1]) == pytest.approx(np.linalg.norm(table[0] - table[1]), rel=1e-4)


def test_that_the_first_two_numbers_are_the_same_on_the_plane_and_in_space() -> None:
    vectors = vectors_of(grouped(500, 12))
    plane, space = positions_of(vectors), positions_of(vectors, 3)
    np.testing.assert_allclose(space[:, :2], plane, atol=1e-5)
    assert 0 < space[:, 2].std() <= plane[:, 1].std()


def test_that_identical_rows_are_one_point_and_copies_lie_on_each_other(random: np.random.Generator) -> None:
    assert (positions_of(vectors_of(np.full((50, 7), 3.3, np.float32))) == 0).all()
    copies = positions_of(vectors_of(np.repeat(random.normal(size=(7, 16)).astype(np.float32), 50, axis=0)))
    assert len(np.unique(copies, axis=0)) == 7


def test_that_quarantined_rows_have_no_place_and_move_no_other(random: np.random.Generator) -> None:
    rows = random.normal(size=(60, 9)).astype(np.float32)
    good = positions_of(vectors_of(rows))
    faulty = np.vstack([rows, [[np.nan] * 9], [[0] * 9], [[np.inf] * 9], np.ones((2, 9))]).astype(np.float32)
    xy = positions_of(vectors_of(faulty, padding=2))
    assert np.isnan(xy[60:]).all()
    np.testing.assert_allclose(xy[:60], good, atol=1e-5)


def test_that_a_table_without_a_healthy_row_has_an_empty_picture() -> None:
    assert np.isnan(positions_of(vectors_of(np.zeros((4, 5), np.float32)))).all()


def test_that_the_largest_numbers_have_a_picture(random: np.random.Generator) -> None:
    rows = random.normal(size=(100, 6)).astype(np.float32)
    xy = positions_of(vectors_of(rows * np.float32(1e30)))
    np.testing.assert_allclose(xy / np.float32(1e30), positions_of(vectors_of(rows)), atol=1e-4)
