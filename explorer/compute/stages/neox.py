"""GPT-NeoX (Pythia) and Phi: decoders that turn a part of each head by its place.

Attention and MLP of a layer mostly look at the same input and are added to it together (Phi has one norm for
both). GPT-NeoX keeps query, key and value of each head side by side in one linear layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import Looked, attention, heads_of, mix, split
from explorer.compute.stages.base import Computed, Input, NotRun, Opening, StageModel, stage
from explorer.compute.stages.linear import Norm, read_norm, table_shape
from explorer.compute.stages.rotary import USUAL_BASE, rates, turned
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, linear_layer, lookup_table
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs
from explorer.readers.hf_config import read_json

_PREFIXES = ("gpt_neox.", "model.", "")
_HEAD = 64  # usual width of a head
_HOW = "attention to what came before, by turned positions, and an MLP"

Three = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class _Names:
    """What a relative is called, what it calls its parts, and how much of a head it turns."""

    model: str
    kind: str
    table: str
    last: str
    output: str
    inner: str
    outer: str
    turns: float
    activation: str


_NEOX = _Names(
    "GPT-NeoX",
    "gpt_neox",
    "embed_in.weight",
    "final_layer_norm",
    "attention.dense",
    "mlp.dense_h_to_4h",
    "mlp.dense_4h_to_h",
    0.25,
    "gelu",
)
_PHI = _Names(
    "Phi",
    "phi",
    "embed_tokens.weight",
    "final_layernorm",
    "self_attn.dense",
    "mlp.fc1",
    "mlp.fc2",
    0.5,
    "gelu_new",
)


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer; ``norm_2`` is None where attention and MLP share a norm."""

    norm_1: Norm
    project: Callable[[torch.Tensor], Three]
    output: Map
    norm_2: Norm | None
    inner: Map
    outer: Map
    activation: Map
    parallel: bool
    rates: torch.Tensor

    def __call__(self, x: torch.Tensor) -> tuple[torch.Tensor, Looked]:
        """Shape (n, dim) kept."""
        normed = self.norm_1(x)
        queries, keys, values = self.project(normed)
        mixed, looked = mix(Looked(self._turned(queries), self._turned(keys), causal=True), values)
        attended = x + self.output(mixed)
        if self.norm_2 is not None:
            normed = self.norm_2(x if self.parallel else attended)
        return attended + self.outer(self.activation(self.inner(normed))), looked

    def _turned(self, x: torch.Tensor) -> torch.Tensor:
        width = 2 * len(self.rates)
        return torch.cat([turned(x[..., :width], self.rates), x[..., width:]], -1)


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _found(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    NotRun
        It has these names, but is another model, or is computed in a way that is not known here.
    ExplorerError
        Tensors are missing or of other shapes.
    """
    found = _found(opening.weights)
    assert found is not None
    prefix, names = found
    weights = opening.weights.under(prefix)
    told = read_json(opening.folder / "config.json")
    config: Mapping[str, Any] = told if isinstance(told, dict) else {}
    kind = str(config.get("model_type", names.kind))
    if kind != names.kind or weights.has("layers.0.self_attn.q_layernorm."):
        raise NotRun(f"“{kind}” model", "Its layers are computed in a way that is not known here.")
    rows, dim = table_shape(weights, names.table)
    heads = heads_of(dim, opening.heads, max(1, dim // _HEAD), config.get("num_attention_heads"))
    turns = _rates(config, names, dim // heads.count)
    eps = float(config.get("layer_norm_eps", 1e-5))
    activation = activation_of(config.get("hidden_act", names.activation))
    kept = can_be_kept(weights)
    table = lookup_table(weights, names.table, kept=kept)

    def layer(number: int) -> _Layer:
        own = weights.under(f"layers.{number}.")
        inner = table_shape(own, f"{names.inner}.weight")[0]
        both = own.has("post_attention_layernorm.")
        return _Layer(
            norm_1=read_norm(own, "input_layernorm", dim, eps),
            project=_projection(own, dim, heads.count, kept),
            output=linear_layer(own, names.output, dim, dim, kept=kept),
            norm_2=read_norm(own, "post_attention_layernorm", dim, eps) if both else None,
            inner=linear_layer(own, names.inner, dim, inner, kept=kept),
            outer=linear_layer(own, names.outer, inner, dim, kept=kept),
            activation=activation,
            parallel=bool(config.get("use_parallel_residual", True)),
            rates=turns,
        )

    layers = [layer(number) for number in range(weights.count(r"layers\.(\d+)\."))]
    last = read_norm(weights, names.last, dim, eps)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages, looked = [stage("looked up", x, f"rows of {names.table}")], []
        for number, each in enumerate(layers):
            given.tell(number / len(layers))
            x, seen = each(x)
            looked.append(seen)
            stages.append(stage(f"after layer {number + 1}", x, _HOW))
        x = last(x)
        stages.append(stage("final norm", x, names.last))
        stages.append(stage("pooled", x[-1], "the last token, which has seen all others"))
        return Computed(tuple(stages), (attention(looked),))

    most = min(LONGEST if kept else MOST_STORED, int(config.get("max_position_embeddings", LONGEST)))
    text = text_side(opening, opening.labels(prefix + names.table), rows, most, names.model)
    share = f"{names.turns:.0%}"
    notes = (
        ()
        if config
        else (
            f"No config.json lies beside it: positions are taken to turn {share} of each head, as is usual.",
        )
    )
    return StageModel(names.model, opening.path, Needs.TEXT, compute, {"": text}, notes, heads=heads)


def _found(weights: Weights) -> tuple[str, _Names] | None:
    """Before which names the model lies, and which of the two it is."""
    for prefix in _PREFIXES:
        for names, query in ((_NEOX, "attention.query_key_value"), (_PHI, "self_attn.q_proj")):
            marks = (names.table, f"layers.0.{query}.weight", f"layers.0.{names.inner}.weight")
            if all(prefix + mark in weights for mark in (*marks, f"layers.0.{names.output}.weight")):
                return prefix, names
    return None


def _rates(config: Mapping[str, Any], names: _Names, width: int) -> torch.Tensor:
    """How far each pair of a head's turned columns turns from place to place."""
    told = config.get("rope_parameters")
    scaling = told if isinstance(told, dict) else config.get("rope_scaling")
    scaling = scaling if isinstance(scaling, dict) else {}
    base = scaling.get("rope_theta", config.get("rope_theta", config.get("rotary_emb_base", USUAL_BASE)))
    share = config.get("partial_rotary_factor", config.get("rotary_pct", names.turns))
    part = int(width * float(scaling.get("partial_rotary_factor", share)))
    if not 0 < part <= width or part % 2:
        raise ExplorerError(
            f"Of heads of width {width}, {part} columns cannot be turned in pairs.",
            "Say with --heads how many heads there are.",
        )
    return rates(part, float(base), scaling, names.model)


def _projection(own: Weights, dim: int, heads: int, kept: bool) -> Callable[[torch.Tensor], Three]:
    """From normed places to queries, keys and values, each of shape (heads, n, width)."""
    if own.has("attention.query_key_value."):
        joined = linear_layer(own, "attention.query_key_value", dim, 3 * dim, kept=kept)

        def three(x: torch.Tensor) -> Three:
            query, key, value = split(joined(x), heads).chunk(3, -1)
            return query, key, value

        return three
    width = dim // heads
    parts = [linear_layer(own, f"self_attn.{part}_proj", dim, kept=kept) for part in "qkv"]
    counts = [table_shape(own, f"self_attn.{part}_proj.weight")[0] // width for part in "qkv"]
    if counts[0] != heads or not counts[1] or counts[1] != counts[2] or heads % counts[1]:
        raise ExplorerError(f"Heads of width {width} do not fit its queries, keys and values.")

    def each(x: torch.Tensor) -> Three:
        query, key, value = (split(part(x), count) for part, count in zip(parts, counts, strict=True))
        return query, key, value

    return each
