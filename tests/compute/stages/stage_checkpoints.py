"""State dicts with the names and shapes of the models that are run stage by stage, with random weights."""

from __future__ import annotations

import math
from pathlib import Path

import torch

State = dict[str, torch.Tensor]


class Maker:
    """Makes tensors, and keeps them by name."""

    def __init__(self, seed: int) -> None:
        self.state: State = {}
        self._random = torch.Generator().manual_seed(seed)

    def normal(self, name: str, *shape: int, scale: float = 1.0) -> None:
        self.state[name] = torch.randn(shape, generator=self._random) * scale

    def linear(self, name: str, outputs: int, inputs: int) -> None:
        self.normal(f"{name}.weight", outputs, inputs, scale=1 / math.sqrt(inputs))
        self.normal(f"{name}.bias", outputs, scale=0.1)

    def norm(self, name: str, dim: int, weight: str = "weight", bias: str = "bias") -> None:
        self.normal(f"{name}.{weight}", dim, scale=0.2)
        self.state[f"{name}.{weight}"] += 1
        self.normal(f"{name}.{bias}", dim, scale=0.1)


def word_lstm(rows: int = 12778, dim: int = 128, layers: int = 3) -> State:
    made = Maker(1)
    made.normal("embedding.weight", rows, dim)
    for layer in range(layers):
        for kind in ("ih", "hh"):
            made.normal(f"lstm.weight_{kind}_l{layer}", 4 * dim, dim, scale=1.5 / math.sqrt(dim))
            made.normal(f"lstm.bias_{kind}_l{layer}", 4 * dim, scale=0.1)
    made.linear("fc", rows, dim)
    return made.state


def translator(source: int, target: int, dim: int = 256, inner: int = 1024, layers: int = 6) -> State:
    made = Maker(2)
    for side in ("encoder", "decoder"):
        attentions = ("self_attn",) if side == "encoder" else ("self_attn", "src_attn")
        for layer in range(layers):
            name = f"{side}.layers.{layer}"
            for attention in attentions:
                for part in range(4):
                    made.linear(f"{name}.{attention}.linears.{part}", dim, dim)
            made.linear(f"{name}.feed_forward.w_1", inner, dim)
            made.linear(f"{name}.feed_forward.w_2", dim, inner)
            for part in range(len(attentions) + 1):
                made.norm(f"{name}.sublayer.{part}.norm", dim, "a_2", "b_2")
        made.norm(f"{side}.norm", dim, "a_2", "b_2")
    for side, rows in (("src", source), ("tgt", target)):
        made.normal(f"{side}_embed.0.lut.weight", rows, dim, scale=1 / math.sqrt(dim))
        made.state[f"{side}_embed.1.pe"] = sinusoids(5000, dim)[None]
    made.linear("generator.proj", target, dim)
    return made.state


def sinusoids(places: int, dim: int) -> torch.Tensor:
    """Sine and cosine in turn, one number at a time from the paper's formula."""
    table = torch.zeros(places, dim)
    place = torch.arange(places).float()
    for pair in range(dim // 2):
        angle = place / 10000 ** (2 * pair / dim)
        table[:, 2 * pair], table[:, 2 * pair + 1] = angle.sin(), angle.cos()
    return table


def decoder_only(rows: int, places: int, dim: int, layers: int) -> State:
    made = Maker(3)
    made.normal("transformer.wte.weight", rows, dim, scale=0.5)
    made.normal("transformer.wpe.weight", places, dim, scale=0.2)
    # The masks are most of such a file; one number that repeats takes their place without their bytes.
    mask = torch.ones(1, 1, 1, 1).expand(1, 1, places, places)
    for layer in range(layers):
        name = f"transformer.h.{layer}"
        made.norm(f"{name}.ln_1", dim)
        made.linear(f"{name}.attn.c_attn", 3 * dim, dim)
        made.linear(f"{name}.attn.c_proj", dim, dim)
        made.state[f"{name}.attn.bias"] = mask
        made.norm(f"{name}.ln_2", dim)
        made.linear(f"{name}.mlp.c_fc", 4 * dim, dim)
        made.linear(f"{name}.mlp.c_proj", dim, 4 * dim)
    made.norm("transformer.ln_f", dim)
    made.normal("lm_head.weight", rows, dim)
    return made.state


def gpt() -> State:
    return decoder_only(10600, 128, 256, 3)


def music() -> State:
    return decoder_only(390, 2048, 512, 6)


def save(state: object, path: Path) -> Path:
    torch.save(state, path)
    return path
