"""A first start compiles in a child, once."""

import os
import subprocess
import sys
from pathlib import Path


def warm(cache: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-m", "explorer.render.warm"], env=environment, check=True)


def test_that_a_second_process_finds_what_the_first_compiled(tmp_path):
    warm(tmp_path)
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert len(compiled) >= 8, "one for each kernel"
    warm(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == compiled


def test_that_kernels_compile_where_nothing_can_be_cached(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    warm(blocked / "below")
