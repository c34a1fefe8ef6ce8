"""What is read is what is shown: the token table of a checkpoint of gigabytes takes that table's memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sparse_files import sparse_safetensors, sparse_torch_zip

SHAPES = {
    "transformer.wte.weight": (32_000, 512),
    "transformer.wpe.weight": (2048, 512),
    **{f"transformer.h.{i}.attn.bias": (1, 1, 8192, 8192) for i in range(16)},
    "lm_head.weight": (32_000, 512),
}
TABLE = 4 * 32_000 * 512

CHILD = """
import json, sys, time
import numpy as np
sys.path.insert(0, {root!r})
from explorer.readers import open_file
def memory():
    with open("/proc/self/status") as status:
        return max(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
def reset():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
reset()
before = memory()
opened = open_file(sys.argv[1])
listed = memory()
copy = np.array(opened.tables[0].read())
print(json.dumps([opened.tables[0].name, copy.shape, listed - before, memory() - before]))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("write", [sparse_safetensors, sparse_torch_zip])
def test_that_the_token_table_of_a_large_checkpoint_takes_its_own_memory_twice(
    tmp_path: Path, write: Callable[[Path, dict], None]
) -> None:
    path = tmp_path / "large"
    write(path, SHAPES)
    assert path.stat().st_size > 4 << 30
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(root=root), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    name, shape, listed, peak = json.loads(done.stdout)
    assert name == "transformer.wte.weight"
    assert shape == [32_000, 512]
    assert listed < 8 << 20
    assert peak < 2 * TABLE + (8 << 20)
