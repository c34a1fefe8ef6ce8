"""Chance levels, against orders that were really drawn."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.core.chance import chance_at, chance_median


def test_that_one_own_candidate_is_found_by_chance_k_times_in_n() -> None:
    assert [chance_at(k, 1, 60) for k in (1, 5, 10, 60)] == pytest.approx([1 / 60, 5 / 60, 10 / 60, 1])
    assert chance_median(1, 60) == 30
    assert chance_median(1, 61) == 31


def test_that_chance_agrees_with_random_orders() -> None:
    random = np.random.default_rng(3)
    best = np.array([1 + random.permutation(300)[:5].min() for _ in range(20_000)])
    for k in (1, 5, 10):
        assert chance_at(k, 5, 300) == pytest.approx(np.mean(best <= k), abs=0.01)
    assert chance_median(5, 300) == pytest.approx(np.median(best), abs=1.5)


def test_that_more_places_than_candidates_find_all() -> None:
    assert chance_at(10, 1, 4) == 1
    assert chance_at(10, 4, 4) == 1
    assert chance_median(4, 4) == 1
