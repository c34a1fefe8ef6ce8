"""The same models a second time, out of torch's own layers filled from their state dicts."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from stage_checkpoints import State
from torch import nn
from torch.nn import functional

from explorer.core.stages import Stage


def assert_close(stage: Stage, reference: torch.Tensor) -> None:
    """Equal to 1e-4, on numbers that would show a fault: not all small, and no two rows alike."""
    expected = reference.detach().numpy()
    assert stage.values is not None
    assert stage.values.dtype == np.float32
    assert stage.shape == stage.values.shape == expected.shape
    assert np.abs(expected).max() > 0.05
    if expected.ndim == 2 and len(expected) > 1:
        assert np.abs(expected[0] - expected[1]).max() > 1e-2
    np.testing.assert_allclose(stage.values, expected, rtol=1e-4, atol=1e-4)


class UnbiasedNorm(nn.Module):
    def __init__(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias
        self.eps = 1e-6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)
        return self.weight * centred / (variance + self.eps).sqrt() + self.bias


def translator_outputs(state: State, ids: list[int], heads: int = 8) -> list[torch.Tensor]:
    """Looked up, scaled, with position, after each layer of the encoder, and its output."""
    table, positions = state["src_embed.0.lut.weight"], state["src_embed.1.pe"]
    dim = table.shape[1]
    looked = functional.embedding(torch.tensor(ids), table)
    scaled = looked * math.sqrt(dim)
    found = [looked, scaled, scaled + positions[0, : len(ids)]]
    layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("encoder.layers."))
    x = found[-1][None]
    for number in range(layers):
        name = f"encoder.layers.{number}"
        layer = nn.TransformerEncoderLayer(
            dim,
            heads,
            len(state[f"{name}.feed_forward.w_1.bias"]),
            dropout=0.0,
            activation=lambda x: x,
            batch_first=True,
            norm_first=True,
        )
        fill_attention(layer.self_attn, state, f"{name}.self_attn")
        fill(layer.linear1, state, f"{name}.feed_forward.w_1")
        fill(layer.linear2, state, f"{name}.feed_forward.w_2")
        layer.norm1 = unbiased_norm(state, f"{name}.sublayer.0.norm")
        layer.norm2 = unbiased_norm(state, f"{name}.sublayer.1.norm")
        x = layer(x)
        found.append(x[0])
    return [*found, unbiased_norm(state, "encoder.norm")(x[0])]


def translator_decoder_outputs(
    state: State, ids: list[int], source: list[int], heads: int = 8
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """After each layer of the decoder and its output; and each layer's cross-attention, head by head."""
    encoded = translator_outputs(state, source, heads)[-1][None]
    table, positions = state["tgt_embed.0.lut.weight"], state["tgt_embed.1.pe"]
    dim = table.shape[1]
    x = (functional.embedding(torch.tensor(ids), table) * math.sqrt(dim) + positions[0, : len(ids)])[None]
    mask = nn.Transformer.generate_square_subsequent_mask(len(ids))
    found, looks = [], []
    layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("decoder.layers."))
    for number in range(layers):
        name = f"decoder.layers.{number}"
        layer = nn.TransformerDecoderLayer(
            dim,
            heads,
            len(state[f"{name}.feed_forward.w_1.bias"]),
            dropout=0.0,
            activation=lambda x: x,
            batch_first=True,
            norm_first=True,
        )
        fill_attention(layer.self_attn, state, f"{name}.self_attn")
        fill_attention(layer.multihead_attn, state, f"{name}.src_attn")
        fill(layer.linear1, state, f"{name}.feed_forward.w_1")
        fill(layer.linear2, state, f"{name}.feed_forward.w_2")
        for part in range(3):
            setattr(layer, f"norm{part + 1}", unbiased_norm(state, f"{name}.sublayer.{part}.norm"))
        normed = layer.norm1(x)
        own, _ = layer.self_attn(normed, normed, normed, attn_mask=mask)
        _, look = layer.multihead_attn(layer.norm2(x + own), encoded, encoded, average_attn_weights=False)
        looks.append(look[0])
        x = layer(x, encoded, tgt_mask=mask, tgt_is_causal=True)
        found.append(x[0])
    return [*found, unbiased_norm(state, "decoder.norm")(x[0])], looks


def fill_attention(module: nn.MultiheadAttention, state: State, name: str) -> None:
    parts = [f"{name}.linears.{i}" for i in range(4)]
    module.load_state_dict(
        {
            "in_proj_weight": torch.cat([state[f"{part}.weight"] for part in parts[:3]]),
            "in_proj_bias": torch.cat([state[f"{part}.bias"] for part in parts[:3]]),
            "out_proj.weight": state[f"{parts[3]}.weight"],
            "out_proj.bias": state[f"{parts[3]}.bias"],
        }
    )


def unbiased_norm(state: State, name: str) -> UnbiasedNorm:
    return UnbiasedNorm(state[f"{name}.a_2"], state[f"{name}.b_2"])


def fill(module: nn.Module, state: State, name: str) -> None:
    module.load_state_dict({part: state[f"{name}.{part}"] for part in ("weight", "bias")})


def decoder_only_outputs(state: State, ids: list[int], heads: int) -> list[torch.Tensor]:
    """Looked up, with position, after each layer, and the last norm's output."""
    looked = functional.embedding(torch.tensor(ids), state["transformer.wte.weight"])
    dim = looked.shape[1]
    found = [looked, looked + state["transformer.wpe.weight"][: len(ids)]]
    layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("transformer.h."))
    mask = nn.Transformer.generate_square_subsequent_mask(len(ids))
    x = found[-1][None]
    for number in range(layers):
        name = f"transformer.h.{number}"
        layer = nn.TransformerEncoderLayer(
            dim,
            heads,
            4 * dim,
            dropout=0.0,
            activation=partial(functional.gelu, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        layer.self_attn.load_state_dict(
            {
                "in_proj_weight": state[f"{name}.attn.c_attn.weight"],
                "in_proj_bias": state[f"{name}.attn.c_attn.bias"],
                "out_proj.weight": state[f"{name}.attn.c_proj.weight"],
                "out_proj.bias": state[f"{name}.attn.c_proj.bias"],
            }
        )
        fill(layer.norm1, state, f"{name}.ln_1")
        fill(layer.norm2, state, f"{name}.ln_2")
        fill(layer.linear1, state, f"{name}.mlp.c_fc")
        fill(layer.linear2, state, f"{name}.mlp.c_proj")
        x = layer(x, src_mask=mask)
        found.append(x[0])
    last = nn.LayerNorm(dim)
    fill(last, state, "transformer.ln_f")
    return [*found, last(x[0])]
