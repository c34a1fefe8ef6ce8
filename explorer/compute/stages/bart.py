"""Encoders of BART, mBART, Marian, Pegasus and M2M-100 (NLLB), by their tensors' names.

They differ in whether a step is normed before or after, whether rows are scaled by √dim, and in their
positions: learned, from the third row on, in BART and mBART; else a half of sines, then one of cosines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, NotRun, Opening, StageModel, stage
from explorer.compute.stages.linear import Norm, read_norm, read_shaped, table_shape
from explorer.compute.stages.positions import halves, interleaved
from explorer.compute.stages.postnorm import PostNormLayer
from explorer.compute.stages.prenorm import PreNormLayer, run_layers
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, linear_layer, lookup_table
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.stages import Needs
from explorer.readers.hf_config import read_json

POSITION_OFFSET = 2
"""Rows of a learned position table before that of the first place."""
_PREFIXES = ("model.", "")
_TABLES = ("encoder.embed_tokens.weight", "shared.weight")
_PLACES = "encoder.embed_positions.weight"
_HEAD = 64  # usual width of a head
_PEGASUS_ROWS = 96_103
_ENCODER_ALONE = "Its encoder is run; its decoder, which writes the answer, is not."


@dataclass(frozen=True)
class _Kind:
    """A relative: what it is called, and how it is computed where its configuration does not say."""

    name: str
    norms_first: bool
    learned: bool
    scales: bool
    activation: str


_KINDS = {
    "bart": _Kind("BART encoder", False, True, False, "gelu"),
    "mbart": _Kind("mBART encoder", True, True, True, "gelu"),
    "marian": _Kind("Marian encoder", False, False, True, "swish"),
    "pegasus": _Kind("Pegasus encoder", True, False, True, "relu"),
    "m2m_100": _Kind("M2M-100 encoder", True, False, True, "relu"),
}


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _prefix(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    NotRun
        It has these names, but is another model.
    ExplorerError
        Tensors are missing or of other shapes.
    """
    prefix = _prefix(opening.weights)
    assert prefix is not None
    weights = opening.weights.under(prefix)
    found = read_json(opening.folder / "config.json")
    config: Mapping[str, Any] = found if isinstance(found, dict) else {}
    called = str(config.get("model_type") or _kind_of(weights))
    if called not in _KINDS:
        raise NotRun(f"“{called}” model", "Its layers are computed in a way that is not known here.")
    kind, name = _KINDS[called], next(name for name in _TABLES if name in weights)
    rows, dim = table_shape(weights, name)
    kept = can_be_kept(weights)
    table = lookup_table(weights, name, kept=kept)
    heads = heads_of(dim, opening.heads, max(1, dim // _HEAD), config.get("encoder_attention_heads"))
    scale = math.sqrt(dim) if config.get("scale_embedding", kind.scales) else 1.0
    places = _places(weights, kind, called, dim, config)
    added = "+ rows of embed_positions" if kind.learned else "+ sines, then cosines, of the place"
    activation = activation_of(config.get("activation_function", kind.activation))
    layers = [
        bart_layer(
            weights.under(f"encoder.layers.{n}."),
            dim,
            heads.count,
            activation,
            norms_first=kind.norms_first,
            kept=kept,
        )
        for n in range(weights.count(r"encoder\.layers\.(\d+)\."))
    ]
    first, last = (_norm(weights, f"encoder.{part}", dim) for part in ("layernorm_embedding", "layer_norm"))

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages = [stage("looked up", x, f"rows of {name}")]
        if scale != 1:
            x = x * scale
            stages.append(stage("scaled", x, f"× √{dim} = {scale:g}"))
        x = x + places[: len(x)]
        stages.append(stage("with position", x, added))
        if first is not None:
            x = first(x)
            stages.append(stage("embedding norm", x, "LayerNorm before the first layer"))
        x, layered, looked = run_layers(x, layers, tell=given.tell)
        stages += layered
        if last is not None:
            x = last(x)
            stages.append(stage("final norm", x, "encoder.layer_norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    label = opening.labels(prefix + name)
    text = text_side(
        opening, label, rows, min(LONGEST if kept else MOST_STORED, len(places)), kind.name, special=True
    )
    notes = (_ENCODER_ALONE,) if weights.has("decoder.layers.") else ()
    if not config:
        notes = (
            *notes,
            f"No config.json lies beside it: it is taken for a {kind.name} of the usual numbers.",
        )
    return StageModel(kind.name, opening.path, Needs.TEXT, compute, {"": text}, notes, heads=heads)


def _prefix(weights: Weights) -> str | None:
    for prefix in _PREFIXES:
        own = weights.under(prefix)
        marks = ("self_attn.q_proj.weight", "self_attn_layer_norm.weight", "fc1.weight")
        if all(f"encoder.layers.0.{mark}" in own for mark in marks) and any(name in own for name in _TABLES):
            return prefix
    return None


def _kind_of(weights: Weights) -> str:
    """Which of the relatives it is, where no configuration says so: names first, then shapes."""
    ends_normed = weights.has("encoder.layer_norm.")
    if weights.has("encoder.layernorm_embedding."):
        return "mbart" if ends_normed else "bart"
    if not ends_normed:
        return "marian"
    rows = next(table_shape(weights, name)[0] for name in _TABLES if name in weights)
    return "pegasus" if rows == _PEGASUS_ROWS else "m2m_100"


def _places(weights: Weights, kind: _Kind, called: str, dim: int, config: Mapping[str, Any]) -> torch.Tensor:
    """What is added for each place, shape (places, dim)."""
    if kind.learned:
        return read_shaped(weights, _PLACES, (table_shape(weights, _PLACES)[0], dim))[POSITION_OFFSET:]
    if _PLACES in weights:
        return read_shaped(weights, _PLACES, (table_shape(weights, _PLACES)[0], dim))
    count = min(LONGEST, int(config.get("max_position_embeddings", LONGEST)))
    if called == "m2m_100":
        return torch.from_numpy(halves(count + POSITION_OFFSET, dim)[POSITION_OFFSET:])
    turns = interleaved(count, dim)
    return torch.from_numpy(np.concatenate([turns[:, 0::2], turns[:, 1::2]], axis=1))


def _norm(weights: Weights, name: str, dim: int) -> Norm | None:
    return read_norm(weights, name, dim) if weights.has(f"{name}.") else None


def bart_layer(
    own: Weights, dim: int, heads: int, activation: Map, *, norms_first: bool, kept: bool
) -> PreNormLayer | PostNormLayer:
    """A layer from the tensors under its name.

    Parameters
    ----------
    own : Weights
    dim, heads : int
    activation : callable
    norms_first : bool
        Whether each step is normed before, not after.
    kept : bool
        As in ``linear_layer``.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """

    def linear(name: str, inputs: int, outputs: int) -> Map:
        return linear_layer(own, name, inputs, outputs, kept=kept)

    inner = table_shape(own, "fc1.weight")[0]
    query, key, value, output = (
        linear(f"self_attn.{part}_proj", dim, dim) for part in ("q", "k", "v", "out")
    )
    first, second = (read_norm(own, f"{part}_layer_norm", dim) for part in ("self_attn", "final"))
    fc1, fc2 = linear("fc1", dim, inner), linear("fc2", inner, dim)
    if norms_first:
        return PreNormLayer(heads, first, query, key, value, output, second, fc1, fc2, activation)
    return PostNormLayer(heads, query, key, value, output, first, fc1, fc2, second, activation)
