"""A job as steps: one request after the other, each made from what came back before."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from explorer.compute.protocol import Request


@dataclass(frozen=True)
class Step:
    """One request of a job, and which part of the job's progress is its.

    Attributes
    ----------
    request : Request
    start, end : float
        From 0 to 1.
    undone_by : Request or None
        What to ask for where the job is cancelled meanwhile.
    """

    request: Request
    start: float = 0.0
    end: float = 1.0
    undone_by: Request | None = None


Steps = Generator[Step, Any, Any]
"""Yields a job's steps, is sent the result of each, and returns the job's."""


def one(request: Request) -> Steps:
    """A job that is one request."""
    return (yield Step(request))
