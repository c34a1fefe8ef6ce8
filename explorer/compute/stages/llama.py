"""Llama and its relatives Mistral, Qwen2, Qwen3 and Gemma: decoders with rotary positions and gated MLPs.

Rows are taken as they are (Gemma multiplies them by √dim); no position is added, queries and keys are turned
instead; each step is normed before by the root of the mean square (Gemma 2 and 3 norm after it as well), and
several heads may share one of keys and values. A model that is too large for memory is read layer by layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attention, mix, split
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import read_root_norm, table_shape
from explorer.compute.stages.llama_numbers import Numbers, read_numbers
from explorer.compute.stages.rotary import turned
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, linear_layer, lookup_table
from explorer.compute.stages.text_side import TextSide
from explorer.compute.stages.tokenizers import FileTokenizer, text_side
from explorer.core.stages import Needs

_PREFIXES = ("model.", "", "language_model.model.", "model.language_model.", "language_model.")
_TABLE = "embed_tokens.weight"
_MARKS = (
    _TABLE,
    "norm.weight",
    "layers.0.input_layernorm.weight",
    "layers.0.post_attention_layernorm.weight",
    "layers.0.self_attn.q_proj.weight",
    "layers.0.mlp.gate_proj.weight",
)
_HOW = "attention to what came before, by turned positions, then a gated MLP"


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer; ``after_attention`` and ``after_mlp`` norm what is added, where the model does so."""

    norm_1: Map
    query: Map
    key: Map
    value: Map
    output: Map
    query_norm: Map | None
    key_norm: Map | None
    after_attention: Map | None
    norm_2: Map
    gate: Map
    up: Map
    down: Map
    after_mlp: Map | None

    def __call__(self, x: torch.Tensor, number: int, numbers: Numbers) -> tuple[torch.Tensor, Looked]:
        """Shape (n, dim) kept."""
        normed = self.norm_1(x)
        queries = split(self.query(normed), numbers.heads.count)
        keys, values = (split(part(normed), numbers.keys) for part in (self.key, self.value))
        if self.query_norm is not None and self.key_norm is not None:
            queries, keys = self.query_norm(queries), self.key_norm(keys)
        bias = _window(len(x), numbers.windows[number])
        looked = Looked(
            turned(queries, numbers.rates[number]),
            turned(keys, numbers.rates[number]),
            causal=bias is None,
            scale=numbers.scale,
            bias=bias,
            cap=numbers.cap,
        )
        mixed, looked = mix(looked, values)
        added = self.output(mixed)
        x = x + (added if self.after_attention is None else self.after_attention(added))
        normed = self.norm_2(x)
        added = self.down(numbers.activation(self.gate(normed)) * self.up(normed))
        return x + (added if self.after_mlp is None else self.after_mlp(added)), looked


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _prefix(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    NotRun
        It has these names, but is another model, or is computed in a way that is not known here.
    ExplorerError
        Tensors are missing or of other shapes.
    """
    prefix = _prefix(opening.weights)
    assert prefix is not None
    weights = opening.weights.under(prefix)
    numbers = read_numbers(opening, weights)
    rows, dim = table_shape(weights, _TABLE)
    kept = can_be_kept(weights)
    table = lookup_table(weights, _TABLE, kept=kept)
    layers = [_layer(weights, number, dim, numbers, kept) for number in range(len(numbers.windows))]
    last = read_root_norm(weights, "norm", dim, numbers.eps, float(numbers.is_gemma))

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages, looked = [stage("looked up", x, "rows of embed_tokens")], []
        if numbers.is_gemma:
            x = x * math.sqrt(dim)
            stages.append(stage("scaled", x, f"× √{dim} = {math.sqrt(dim):g}"))
        for number, layer in enumerate(layers):
            given.tell(number / len(layers))
            x, seen = layer(x, number, numbers)
            looked.append(seen)
            stages.append(stage(f"after layer {number + 1}", x, _HOW))
        x = last(x)
        stages.append(stage("final norm", x, "norm"))
        stages.append(stage("pooled", x[-1], "the last token, which has seen all others"))
        return Computed(tuple(stages), (attention(looked),))

    text = _text(opening, prefix + _TABLE, rows, numbers, kept)
    return StageModel(
        numbers.name, opening.path, Needs.TEXT, compute, {"": text}, numbers.notes, heads=numbers.heads
    )


def _prefix(weights: Weights) -> str | None:
    found = (prefix for prefix in _PREFIXES if all(prefix + mark in weights for mark in _MARKS))
    return next(found, None)


def _text(opening: Opening, name: str, rows: int, numbers: Numbers, kept: bool) -> TextSide:
    limit = numbers.limit if kept else min(numbers.limit, MOST_STORED)
    text = text_side(opening, opening.labels(name), rows, limit, numbers.name)
    # Its own tokenizer knows whether a text begins with a token of its own; other vocabularies do not say.
    return replace(text, special=isinstance(text.tokenizer, FileTokenizer))


def _window(places: int, window: int | None) -> torch.Tensor | None:
    """What is added to scores so that a place sees itself and the few before it; None where it sees all."""
    if window is None or window >= places:
        return None
    back = torch.arange(places)[:, None] - torch.arange(places)
    return torch.zeros(places, places).masked_fill((back < 0) | (back >= window), -torch.inf)[None]


def _layer(weights: Weights, number: int, dim: int, numbers: Numbers, kept: bool) -> _Layer:
    own = weights.under(f"layers.{number}.")
    queries, keys = numbers.heads.width, numbers.heads.keys
    inner = table_shape(own, "mlp.gate_proj.weight")[0]

    def norm(name: str, width: int = dim) -> Map:
        return read_root_norm(own, name, width, numbers.eps, float(numbers.is_gemma))

    def linear(name: str, inputs: int, outputs: int) -> Map:
        return linear_layer(own, name, inputs, outputs, kept=kept)

    norms_after = own.has("pre_feedforward_layernorm.")
    norms_heads, width = own.has("self_attn.q_norm."), queries // numbers.heads.count
    return _Layer(
        norm_1=norm("input_layernorm"),
        query=linear("self_attn.q_proj", dim, queries),
        key=linear("self_attn.k_proj", dim, keys),
        value=linear("self_attn.v_proj", dim, keys),
        output=linear("self_attn.o_proj", queries, dim),
        query_norm=norm("self_attn.q_norm", width) if norms_heads else None,
        key_norm=norm("self_attn.k_norm", width) if norms_heads else None,
        after_attention=norm("post_attention_layernorm") if norms_after else None,
        norm_2=norm("pre_feedforward_layernorm" if norms_after else "post_attention_layernorm"),
        gate=linear("mlp.gate_proj", dim, inner),
        up=linear("mlp.up_proj", dim, inner),
        down=linear("mlp.down_proj", inner, dim),
        after_mlp=norm("post_feedforward_layernorm") if norms_after else None,
    )
