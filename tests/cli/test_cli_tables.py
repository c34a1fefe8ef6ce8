"""``tables``: what a file holds, in columns and in JSON."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

HEALTHY = {"nan": 0, "inf": 0, "zero": 0, "duplicates": 0, "padding": 0}


def test_that_json_has_the_promised_keys_in_their_order(call, folder):
    said = call("tables", folder / "glove.txt", "--json")
    assert said.status == 0
    assert list(said.answer) == ["file", "format", "tables", "notes"]
    assert said.answer["file"] == str(folder / "glove.txt")
    (table,) = said.answer["tables"]
    assert list(table) == ["name", "rows", "dim", "dtype", "role", "labels", "health"]
    assert list(table["health"]) == ["nan", "inf", "zero", "duplicates", "padding"]
    assert (table["rows"], table["dim"], table["dtype"], table["role"]) == (12, 8, "float32", "token")
    assert table["labels"]["count"] == 12
    assert table["health"] == HEALTHY


def test_that_faulty_rows_are_counted_once_each(call, folder):
    (table,) = call("tables", folder / "faulty.npy", "--json").answer["tables"]
    assert table["labels"] is None
    assert table["health"] == {"nan": 1, "inf": 1, "zero": 1, "duplicates": 1, "padding": 0}


def test_that_both_sides_of_a_translator_take_their_own_labels(call, folder):
    said = call(
        "tables",
        folder / "de2en.pth",
        "--json",
        "--labels",
        folder / "german.txt",
        "--target-labels",
        folder / "english.txt",
    )
    labels = {table["name"]: table["labels"] for table in said.answer["tables"]}
    assert labels["src_embed.0.lut.weight"] == {"source": "german.txt", "count": 9}
    assert labels["tgt_embed.0.lut.weight"] == {"source": "english.txt", "count": 7}
    roles = {table["name"]: table["role"] for table in said.answer["tables"]}
    assert roles["generator.proj.weight"] == "output layer"


def test_that_one_table_is_listed_where_one_is_asked_for(call, folder):
    said = call("tables", folder / "de2en.pth", "--json", "--table", "tgt_embed.0.lut.weight")
    assert [table["name"] for table in said.answer["tables"]] == ["tgt_embed.0.lut.weight"]


def test_that_columns_are_aligned_for_people(call, folder):
    lines = call("tables", folder / "de2en.pth").out.splitlines()
    assert lines[0].startswith("de2en.pth: ")
    header = next(line for line in lines if line.startswith("TABLE"))
    rows = lines[lines.index(header) + 1 :][:2]
    role = header.index("ROLE")
    assert [row[role:].split("  ")[0] for row in rows] == ["token", "token"]
    assert [row[: header.index("ROWS") + 4].split()[-1] for row in rows] == ["9", "7"]


def test_that_listing_a_checkpoint_neither_runs_it_nor_imports_torch(folder):
    script = (
        "import sys; from explorer.cli.run import main; "
        f"status = main(['tables', {str(folder / 'de2en.pth')!r}]); "
        "heavy = {'torch', 'umap', 'numba', 'PySide6', 'transformers'} & set(sys.modules); "
        "sys.exit(status or ', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("name", ["table.npy", "table.pth", "table.safetensors"])
def test_that_health_is_counted_without_holding_the_table(tmp_path, name):
    path = tmp_path / name
    peaks = []
    for rows in (10, 20_000):
        table = torch.arange(rows * 1_000, dtype=torch.float32).reshape(rows, 1_000)
        if name.endswith(".npy"):
            np.save(path, table.numpy())
        elif name.endswith(".pth"):
            torch.save({"wte.weight": table}, path)
        else:
            save_file({"wte.weight": table}, path)
        script = (
            "import re; from explorer.cli.run import main; "
            f"assert main(['tables', {str(path)!r}, '--json']) == 0; "
            "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.splitlines()[-1]) * 1024)
    assert peaks[1] - peaks[0] < 45e6, "the table is 80 MB"
