"""Small real files, and the command run on them in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from said import Said
from words import WORDS, word_vectors

from explorer.cli.run import main

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs the command in this process."""

    def run(*arguments: object) -> Said:
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Said(status, out, err)

    return run


@pytest.fixture
def start() -> Callable[..., Said]:
    """Runs the command as a process of its own."""

    def run(*arguments: object, **environment: str) -> Said:
        known = {
            name: value for name, value in os.environ.items() if name not in ("DISPLAY", "QT_QPA_PLATFORM")
        }
        done = subprocess.run(
            [sys.executable, "-m", "explorer", *map(str, arguments)],
            capture_output=True,
            env={**known, **environment},
            encoding="utf-8",
            timeout=600,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the tests read and none writes."""
    folder = tmp_path_factory.mktemp("files")
    vectors = word_vectors()
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(WORDS, vectors, strict=True)]
    (folder / "glove.txt").write_text("\n".join(lines) + "\n", "utf-8")

    faulty = np.random.default_rng(1).normal(size=(12, 4)).astype(np.float32)
    faulty[1, 2] = np.nan
    faulty[2, 0] = np.inf
    faulty[3] = 0
    faulty[7] = faulty[5]
    np.save(folder / "faulty.npy", faulty)
    np.save(folder / "plane.npy", np.array([[0, 0], [1, 2], [3, 1], [np.nan, 1]], np.float32))

    def rows(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=torch.Generator().manual_seed(2))

    state = {"src_embed.0.lut.weight": rows(9, 4), "tgt_embed.0.lut.weight": rows(7, 4)}
    state |= {"generator.proj.weight": rows(7, 4), "src_embed.1.pe": rows(1, 50, 4)}
    torch.save(state, folder / "de2en.pth")
    (folder / "german.txt").write_text("".join(f"wort{row}\n" for row in range(9)), "utf-8")
    (folder / "english.txt").write_text("".join(f"word{row}\n" for row in range(7)), "utf-8")
    return folder
