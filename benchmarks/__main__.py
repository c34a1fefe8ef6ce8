"""Run every benchmark in turn, each in a process of its own: ``python -m benchmarks [NAME…]``."""

from __future__ import annotations

import subprocess
import sys

NAMES = (
    "window",
    "search",
    "layout",
    "word_vectors",
    "raster",
    "map_view",
    "indexing",
    "retrieval",
    "stages",
    "stages_window",
    "gallery",
)


def main() -> int:
    """Run the named benchmarks, or all; the status is that of the last one that failed."""
    status = 0
    for name in sys.argv[1:] or NAMES:
        print(f"\n## {name}\n", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
        status = done.returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main())
