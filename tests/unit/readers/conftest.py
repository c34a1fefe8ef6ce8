"""Shared by all readers' tests."""

from __future__ import annotations

from hypothesis import settings

# No deadline: a shared machine may stall at any time. Examples are drawn anew each run.
settings.register_profile("readers", deadline=None)
settings.load_profile("readers")
