"""What recall would be if results came in any order: the level to read a measured one against."""

from __future__ import annotations


def chance_at(k: int, own: float, candidates: int) -> float:
    """Probability that one of a query's own is among the first k of a random order.

    Hypergeometric: one minus the probability that all k places go to the others.

    Parameters
    ----------
    k : int
    own : float
        Candidates that belong to the query; their mean where it differs from query to query.
    candidates : int
        All there are.
    """
    missed = 1.0
    for place in range(min(k, candidates)):
        missed *= max(0.0, candidates - own - place) / (candidates - place)
    return 1.0 - missed


def chance_median(own: float, candidates: int) -> int:
    """The smallest k for which a random order finds one of a query's own at least every other time."""
    low, high = 1, candidates
    while low < high:
        middle = (low + high) // 2
        if chance_at(middle, own, candidates) >= 0.5:
            high = middle
        else:
            low = middle + 1
    return low
