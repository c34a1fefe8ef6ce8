"""A worker that ends as soon as it begins."""

from __future__ import annotations

import os


def run_worker(*arguments: object) -> None:
    os._exit(3)
