"""T5's encoder and those of its relatives (T5 1.1, Flan-T5, mT5, UMT5), by their tensors' names.

Rows are taken as they are; no position is added, but scores get what each head has learned for a distance.
Each step is normed before by the root of the mean square; scores are not scaled down; newer ones gate the
MLP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import Looked, attention, mix, split
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import (
    RootNorm,
    read_root_norm,
    read_shaped,
    table_shape,
)
from explorer.compute.stages.relative import USUAL_REACH, distance_bias
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, linear_layer, lookup_table
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Heads, Needs
from explorer.readers.hf_config import read_json

_TABLES = ("shared.weight", "encoder.embed_tokens.weight")
_ATTENTION = "layer.0.SelfAttention"
_MLP = "layer.1.DenseReluDense"
_DISTANCES = f"{_ATTENTION}.relative_attention_bias.weight"
_HOW = "self-attention with learned distances, then an MLP"
_ENCODER_ALONE = "Its encoder is run; its decoder, which writes the answer, is not."


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer; ``gate`` is None where the MLP has none, ``distances`` where it takes those of the first."""

    heads: int
    norm_1: RootNorm
    query: Map
    key: Map
    value: Map
    output: Map
    distances: torch.Tensor | None
    norm_2: RootNorm
    gate: Map | None
    inner: Map
    outer: Map
    activation: Map

    def __call__(self, x: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, Looked]:
        """Shape (n, dim) kept; ``bias`` has the shape (heads, n, n)."""
        normed = self.norm_1(x)
        queries, keys, values = (
            split(part(normed), self.heads) for part in (self.query, self.key, self.value)
        )
        mixed, looked = mix(Looked(queries, keys, causal=False, scale=1.0, bias=bias), values)
        x = x + self.output(mixed)
        normed = self.norm_2(x)
        inner = self.inner(normed)
        if self.gate is None:
            return x + self.outer(self.activation(inner)), looked
        return x + self.outer(self.activation(self.gate(normed)) * inner), looked


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _table(weights) is not None and f"encoder.block.0.{_DISTANCES}" in weights


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights, name = opening.weights, _table(opening.weights)
    assert name is not None
    found = read_json(opening.folder / "config.json")
    config: Mapping[str, Any] = found if isinstance(found, dict) else {}
    rows, dim = table_shape(weights, name)
    kept = can_be_kept(weights)
    table = lookup_table(weights, name, kept=kept)
    reach = int(config.get("relative_attention_max_distance", USUAL_REACH))
    eps = float(config.get("layer_norm_epsilon", 1e-6))
    heads = table_shape(weights, f"encoder.block.0.{_DISTANCES}")[1]
    layers = [
        _layer(weights.under(f"encoder.block.{number}."), dim, heads, eps, config, kept)
        for number in range(weights.count(r"encoder\.block\.(\d+)\."))
    ]
    last = read_root_norm(weights, "encoder.final_layer_norm", dim, eps)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages, looked = [stage("looked up", x, f"rows of {name}")], []
        bias = x.new_zeros(())
        for number, layer in enumerate(layers):
            given.tell(number / len(layers))
            if layer.distances is not None:
                bias = distance_bias(layer.distances, len(x), reach)
            x, seen = layer(x, bias)
            looked.append(seen)
            stages.append(stage(f"after layer {number + 1}", x, _HOW))
        x = last(x)
        stages.append(stage("final norm", x, "encoder.final_layer_norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    limit = LONGEST if kept else MOST_STORED
    text = text_side(opening, opening.labels(name), rows, limit, "T5", special=True)
    notes = (_ENCODER_ALONE,) if weights.has("decoder.block.") else ()
    told = Heads(heads, heads, is_told=True)
    return StageModel("T5 encoder", opening.path, Needs.TEXT, compute, {"": text}, notes, heads=told)


def _table(weights: Weights) -> str | None:
    return next((name for name in _TABLES if name in weights), None)


def _layer(own: Weights, dim: int, heads: int, eps: float, config: Mapping[str, Any], kept: bool) -> _Layer:
    distances = None
    if _DISTANCES in own:
        distances = read_shaped(own, _DISTANCES, (table_shape(own, _DISTANCES)[0], heads))
    width = table_shape(own, f"{_ATTENTION}.q.weight")[0]
    if width % heads:
        raise ExplorerError(f"A width of {width} cannot be split into the {heads} heads that have distances.")
    gated = f"{_MLP}.wi_0.weight" in own
    first = f"{_MLP}.wi_1" if gated else f"{_MLP}.wi"
    inner = table_shape(own, f"{first}.weight")[0]
    told = str(config.get("feed_forward_proj", "gated-gelu" if gated else "relu"))

    def linear(name: str, inputs: int, outputs: int) -> Map:
        return linear_layer(own, name, inputs, outputs, kept=kept)

    return _Layer(
        heads=heads,
        norm_1=read_root_norm(own, "layer.0.layer_norm", dim, eps),
        query=linear(f"{_ATTENTION}.q", dim, width),
        key=linear(f"{_ATTENTION}.k", dim, width),
        value=linear(f"{_ATTENTION}.v", dim, width),
        output=linear(f"{_ATTENTION}.o", width, dim),
        distances=distances,
        norm_2=read_root_norm(own, "layer.1.layer_norm", dim, eps),
        gate=linear(f"{_MLP}.wi_0", dim, inner) if gated else None,
        inner=linear(first, dim, inner),
        outer=linear(f"{_MLP}.wo", inner, dim),
        # A gate of GELU means its tanh form.
        activation=activation_of("gelu_new" if told == "gated-gelu" else told.removeprefix("gated-")),
    )
