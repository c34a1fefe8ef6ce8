"""Word-vector text: speed beside ``gensim.KeyedVectors.load_word2vec_format``, and the memory it takes.

Run as ``python -m benchmarks.word_vectors``. Both load the same 300,000 × 100 file, each in processes of
its own that have imported their libraries before the clock starts; the two take turns, so that both meet
the same machine, and the quickest turn of each counts: other programs only ever slow one down.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROWS, DIM, TURNS = 300_000, 100, 3

_OURS = """
from explorer.readers import open_file
def load(path):
    table = open_file(path).tables[0]
    return table.read(), table.labels
"""
_GENSIM = """
from gensim.models import KeyedVectors
def load(path):
    loaded = KeyedVectors.load_word2vec_format(path)
    return loaded.vectors, loaded.index_to_key
"""
# The peak is the kernel's own high-water mark of this process, where there is one; else no memory is told.
_MEASURE = """
import json, sys, time
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except OSError:
        return float("nan")
before, start, busy = peak(), time.perf_counter(), time.process_time()
vectors, labels = load(sys.argv[1])
seconds, busy, growth = time.perf_counter() - start, time.process_time() - busy, peak() - before
total = float(vectors.sum(dtype="f8"))
check = [total, float(vectors[-1, -1]), labels[0], labels[len(labels) - 1]]
found = {"seconds": seconds, "busy": busy, "growth": growth, "bytes": int(vectors.nbytes), "check": check}
print(json.dumps(found))
"""


def write_vectors(path: Path, rows: int, dim: int) -> None:
    """A file as word2vec writes one: a header, then six decimals a number."""
    random = np.random.default_rng(0)
    line = " ".join(["%.6f"] * dim)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{rows} {dim}\n")
        for row in range(rows):
            file.write(f"word{row} " + line % tuple(random.normal(0, 0.4, dim)) + "\n")


def _run(code: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", code + _MEASURE, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure() -> dict[str, float]:
    """Seconds of both, as times and as processor time, their ratios, and memory per byte of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        write_vectors(path, ROWS, DIM)
        runs = [(_run(_OURS, path), _run(_GENSIM, path)) for _ in range(TURNS)]
    for ours, theirs in runs:
        assert ours["check"] == theirs["check"], "the two readers differ"
    ours_s, theirs_s = (min(run[i]["seconds"] for run in runs) for i in (0, 1))
    ours_busy, theirs_busy = (min(run[i]["busy"] for run in runs) for i in (0, 1))
    return {
        "ours_s": ours_s,
        "gensim_s": theirs_s,
        "times_as_fast": theirs_s / ours_s,
        "times_less_work": theirs_busy / ours_busy,
        "memory_per_table_byte": max(ours["growth"] / ours["bytes"] for ours, _ in runs),
    }


def main() -> None:
    """Print the figures."""
    found = measure()
    print(f"word-vector text, {ROWS:,} × {DIM}: {found['ours_s']:.2f} s, gensim {found['gensim_s']:.2f} s")
    print(f"  {found['times_as_fast']:.1f} times as fast (goal: at least 10)")
    print(f"  {found['times_less_work']:.1f} times less processor time")
    print(
        f"  {found['memory_per_table_byte']:.2f} bytes of memory for each of the table's (goal: at most 1.5)"
    )


if __name__ == "__main__":
    main()
