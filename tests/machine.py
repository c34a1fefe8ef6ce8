"""How quick this machine is: what tests that hold work to a time hold it by."""

from __future__ import annotations

import time

import numpy as np

_REFERENCE_SECONDS = 0.016
"""What `slowness` works on takes this long where the figures in these tests were measured."""


def slowness() -> float:
    """How many times as long computing takes here as where the tests' figures were measured; at least 1.

    It is measured anew at each call, in this process's own time: what else the machine does counts only as
    far as it makes this process slower.
    """
    numbers = np.random.default_rng(0).random(500_000)
    times = []
    for _ in range(3):
        began = time.process_time()
        np.sort(numbers)
        sum(number * number for number in range(500_000))
        times.append(time.process_time() - began)
    return max(1.0, min(times) / _REFERENCE_SECONDS)
