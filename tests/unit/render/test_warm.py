"""A first start compiles in a child, once; what was compiled stays within its arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import explorer.render


def python(*arguments: str, **variables: str) -> None:
    subprocess.run([sys.executable, *arguments], env={**os.environ, **variables}, check=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What a first start compiles, with every access checked."""
    folder = tmp_path_factory.mktemp("cache")
    python("-m", "explorer.render.warm", NUMBA_CACHE_DIR=str(folder), NUMBA_BOUNDSCHECK="1")
    return folder


def test_that_a_second_process_finds_what_the_first_compiled(cache):
    compiled = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}
    kernels = Path(explorer.render.__file__).with_name("kernels").glob("*.py")
    count = sum(source.read_text("utf-8").count("\n@compiled(") for source in kernels)
    assert len(compiled) == count >= 15, "one for each kernel"
    python("-m", "explorer.render.warm", NUMBA_CACHE_DIR=str(cache), NUMBA_BOUNDSCHECK="1")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")} == compiled


def test_that_kernels_compile_where_nothing_can_be_cached():
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
from explorer.render._compile import compiled
assert compiled("int64 -> int64")(lambda number: number + 1)(2) == 3
"""
    python("-c", code)


def test_that_no_kernel_reaches_outside_its_arrays(cache):
    child = Path(__file__).with_name("every_kernel.py")
    root = Path(__file__).parents[3]
    python(str(child), NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(cache), PYTHONPATH=str(root))
