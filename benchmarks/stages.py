"""A sentence through a model's stages, beside the same model in torch or transformers, which keep all layers.

Run as ``python -m benchmarks.stages``. Both compute on one thread, in turn, on 20 tokens.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.compute.encoders.transformer import library
from explorer.compute.stages import open_stage_model

TOKENS = 20
TIMES = 40
GOAL = 100  # ms from a pause in typing to the screen


def word_lstm() -> tuple[dict[str, torch.Tensor], Callable[[torch.Tensor], Any]]:
    """The book's: 12,778 × 128, three layers."""
    table, lstm = nn.Embedding(12_778, 128), nn.LSTM(128, 128, 3, batch_first=True)
    state = {f"lstm.{name}": tensor for name, tensor in lstm.state_dict().items()}
    return {"embedding.weight": table.weight.data, **state}, lambda ids: lstm(table(ids))


def gpt(rows: int, places: int, dim: int, layers: int) -> Callable[[], Any]:
    """GPT-2's code at the size of a small GPT or a music model."""

    def make() -> tuple[dict[str, torch.Tensor], Callable[[torch.Tensor], Any]]:
        transformers = library()
        config = transformers.GPT2Config(
            vocab_size=rows, n_positions=places, n_embd=dim, n_layer=layers, n_head=dim // 64
        )
        model = transformers.GPT2Model(config).eval()
        return model.state_dict(), lambda ids: model(ids, output_hidden_states=True)

    return make


def distilbert() -> tuple[dict[str, torch.Tensor], Callable[[torch.Tensor], Any]]:
    """The text tower of a CLIP trained from scratch."""
    transformers = library()
    model = transformers.DistilBertModel(transformers.DistilBertConfig()).eval()
    return model.state_dict(), lambda ids: model(ids, output_hidden_states=True)


MODELS: dict[str, Callable[[], tuple[dict[str, torch.Tensor], Callable[[torch.Tensor], Any]]]] = {
    "word LSTM, 3 × 128": word_lstm,
    "GPT, 3 × 256": gpt(10_600, 128, 256, 3),
    "music model's size, 6 × 512": gpt(390, 2048, 512, 6),
    "DistilBERT, 6 × 768": distilbert,
}


def measure(name: str, folder: Path) -> tuple[float, float, float]:
    """Seconds to open a model, milliseconds of a run of ours and of the peer's: medians, in turn."""
    torch.manual_seed(0)
    state, peer = MODELS[name]()
    path = folder / "model.pth"
    torch.save(state, path)
    started = time.perf_counter()
    model = open_stage_model(path)
    opened = time.perf_counter() - started
    ids = list(range(1, TOKENS + 1))
    taken: dict[str, list[float]] = {"ours": [], "peer": []}
    calls = {"ours": lambda: model.run(ids=ids), "peer": lambda: peer(torch.tensor([ids]))}
    with torch.inference_mode():
        for turn in range(TIMES + 3):
            for who, call in calls.items():
                started = time.perf_counter()
                call()
                if turn >= 3:
                    taken[who].append(1e3 * (time.perf_counter() - started))
    return opened, statistics.median(taken["ours"]), statistics.median(taken["peer"])


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(f"{TOKENS} tokens, all stages kept; goal: {GOAL} ms onto the screen.\n")
    print("| model | opened, s | ours, ms | torch or transformers, ms | ratio |")
    print("|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            opened, ours, peer = measure(name, Path(folder))
            print(f"| {name} | {opened:.2f} | {ours:.1f} | {peer:.1f} | {ours / peer:.2f} |")


if __name__ == "__main__":
    main()
