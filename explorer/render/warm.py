"""Compile the kernels, or find them compiled: ``python -m explorer.render.warm``.

A first start runs this in a child process, so that the window never waits for a compiler.
"""

from __future__ import annotations

import importlib


def warm() -> None:
    """Have every kernel ready in this process; later processes load it from numba's cache."""
    importlib.import_module("explorer.render.kernels")


if __name__ == "__main__":
    warm()
