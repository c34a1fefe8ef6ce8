"""A number's step on a scale of so many."""

from __future__ import annotations

from explorer.render._compile import compiled


@compiled("float64 int64 -> int64")
def step_of(value: float, steps: int) -> int:
    """A value's whole part, kept within ``steps`` whatever the value is: it indexes an array."""
    return max(0, int(min(value, steps - 1.0)))
