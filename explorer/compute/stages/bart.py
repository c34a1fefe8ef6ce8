"""BART, mBART, Marian, Pegasus and M2M-100 (NLLB): an encoder, and a decoder beside a source, by their names.

They differ in whether a step is normed before or after, whether rows are scaled by √dim, and in their
positions: learned, from the third row on, in BART and mBART; else a half of sines, then one of cosines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.bart_layers import BartDecoderLayer, bart_decoder_layer, bart_layer
from explorer.compute.stages.base import Computed, Input, NotRun, Opening, StageModel, stage
from explorer.compute.stages.decoding import ADD_SOURCE, decode
from explorer.compute.stages.linear import Norm, read_norm, read_shaped, table_shape
from explorer.compute.stages.positions import halves, interleaved
from explorer.compute.stages.prenorm import run_layers
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, lookup_table
from explorer.compute.stages.text_side import LONGEST, TextSide
from explorer.compute.stages.tokenizers import text_side
from explorer.core.stages import Needs, Stage
from explorer.readers.hf_config import read_json

POSITION_OFFSET = 2
"""Rows of a learned position table before that of the first place."""
_PREFIXES = ("model.", "")
_HEAD = 64  # usual width of a head
_PEGASUS_ROWS = 96_103


@dataclass(frozen=True)
class _Kind:
    """A relative: what it is called, and how it is computed where its configuration does not say."""

    name: str
    norms_first: bool
    learned: bool
    scales: bool
    activation: str


_KINDS = {
    "bart": _Kind("BART", False, True, False, "gelu"),
    "mbart": _Kind("mBART", True, True, True, "gelu"),
    "marian": _Kind("Marian", False, False, True, "swish"),
    "pegasus": _Kind("Pegasus", True, False, True, "relu"),
    "m2m_100": _Kind("M2M-100", True, False, True, "relu"),
}


@dataclass(frozen=True, eq=False)
class _Half:
    """An encoder's or decoder's way in, and the norm after its layers.

    Attributes
    ----------
    name : str
        The table's.
    table : callable
    rows : int
    scale : float
    places : tensor, shape (places, dim)
    how : str
        What is added for a place.
    first, last : Norm or None
        Before the first layer, after the last.
    """

    name: str
    table: Map
    rows: int
    scale: float
    places: torch.Tensor
    how: str
    first: Norm | None
    last: Norm | None

    def look_up(self, ids: torch.Tensor) -> tuple[torch.Tensor, list[Stage]]:
        """Rows as the first layer gets them, shape (n, dim), and the stages up to there."""
        x = self.table(ids)
        stages = [stage("looked up", x, f"rows of {self.name}")]
        if self.scale != 1:
            x = x * self.scale
            stages.append(stage("scaled", x, f"× √{x.shape[1]} = {self.scale:g}"))
        x = x + self.places[: len(x)]
        stages.append(stage("with position", x, self.how))
        if self.first is not None:
            x = self.first(x)
            stages.append(stage("embedding norm", x, "LayerNorm before the first layer"))
        return x, stages


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
    kind, kept = _KINDS[called], can_be_kept(weights)
    source = _half(weights, "encoder", kind, called, config, kept)
    dim = source.places.shape[1]
    heads = heads_of(dim, opening.heads, max(1, dim // _HEAD), config.get("encoder_attention_heads"))
    activation = activation_of(config.get("activation_function", kind.activation))
    layers = [
        bart_layer(each, dim, heads.count, activation, norms_first=kind.norms_first, kept=kept)
        for each in _numbered(weights.under("encoder."))
    ]
    target = (
        _half(weights, "decoder", kind, called, config, kept)
        if weights.has("decoder.layers.0.encoder_attn.")
        else None
    )

    @cache  # read once it is wanted: many look at sources alone
    def decoder() -> Sequence[BartDecoderLayer]:
        told = config.get("decoder_attention_heads")
        count = heads_of(dim, opening.heads, heads.count, told).count
        return [
            bart_decoder_layer(each, dim, count, activation, norms_first=kind.norms_first, kept=kept)
            for each in _numbered(weights.under("decoder."))
        ]

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        if given.side == "target" and target is not None:
            placed, stages = target.look_up(given.ids)
            if given.source is None:
                return Computed(tuple(stages), notes=(ADD_SOURCE,))
            x, _, _ = run_layers(source.look_up(given.source)[0], layers, tell=given.tell)
            encoded = x if source.last is None else source.last(x)
            return decode(placed, stages, decoder(), target.last, encoded, given.tell)
        x, stages = source.look_up(given.ids)
        x, layered, looked = run_layers(x, layers, tell=given.tell)
        stages += layered
        if source.last is not None:
            x = source.last(x)
            stages.append(stage("final norm", x, "encoder.layer_norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    name = f"{kind.name} encoder" if target is None else kind.name
    assumed = f"No config.json lies beside it: it is taken for a {kind.name} of the usual numbers."
    halves_of = {"": source} if target is None else {"source": source, "target": target}
    texts = {side: _text(opening, prefix, half, name, kept) for side, half in halves_of.items()}
    return StageModel(
        name,
        opening.path,
        Needs.TEXT,
        compute,
        texts,
        () if config else (assumed,),
        heads=heads,
        source_of={} if target is None else {"target": "source"},
    )


def _text(opening: Opening, prefix: str, half: _Half, name: str, kept: bool) -> TextSide:
    limit = min(LONGEST if kept else MOST_STORED, len(half.places))
    return text_side(opening, opening.labels(prefix + half.name), half.rows, limit, name, special=True)


def _half(
    weights: Weights, side: str, kind: _Kind, called: str, config: Mapping[str, Any], kept: bool
) -> _Half:
    """The encoder's or the decoder's way in; ``side`` is its name among the tensors."""
    name = next(name for name in _tables(side) if name in weights)
    rows, dim = table_shape(weights, name)
    return _Half(
        name,
        lookup_table(weights, name, kept=kept),
        rows,
        math.sqrt(dim) if config.get("scale_embedding", kind.scales) else 1.0,
        _places(weights, f"{side}.embed_positions.weight", kind, called, dim, config),
        "+ rows of embed_positions" if kind.learned else "+ sines, then cosines, of the place",
        _norm(weights, f"{side}.layernorm_embedding", dim),
        _norm(weights, f"{side}.layer_norm", dim),
    )


def _tables(side: str) -> tuple[str, ...]:
    """Under which names the table of a side may stand, the likeliest first."""
    return (f"{side}.embed_tokens.weight", "shared.weight", "encoder.embed_tokens.weight")


def _numbered(weights: Weights) -> list[Weights]:
    """Each layer's tensors."""
    count = min(weights.count(r"layers\.(\d+)\."), len(weights.tensors))
    return [weights.under(f"layers.{number}.") for number in range(count)]


def _prefix(weights: Weights) -> str | None:
    for prefix in _PREFIXES:
        own = weights.under(prefix)
        marks = ("self_attn.q_proj.weight", "self_attn_layer_norm.weight", "fc1.weight")
        if all(f"encoder.layers.0.{mark}" in own for mark in marks) and any(
            name in own for name in _tables("encoder")
        ):
            return prefix
    return None


def _kind_of(weights: Weights) -> str:
    """Which of the relatives it is, where no configuration says so: names first, then shapes."""
    ends_normed = weights.has("encoder.layer_norm.")
    if weights.has("encoder.layernorm_embedding."):
        return "mbart" if ends_normed else "bart"
    if not ends_normed:
        return "marian"
    rows = next(table_shape(weights, name)[0] for name in _tables("encoder") if name in weights)
    return "pegasus" if rows == _PEGASUS_ROWS else "m2m_100"


def _places(
    weights: Weights, name: str, kind: _Kind, called: str, dim: int, config: Mapping[str, Any]
) -> torch.Tensor:
    """What is added for each place, shape (places, dim)."""
    if kind.learned:
        return read_shaped(weights, name, (table_shape(weights, name)[0], dim))[POSITION_OFFSET:]
    if name in weights:
        return read_shaped(weights, name, (table_shape(weights, name)[0], dim))
    count = min(LONGEST, int(config.get("max_position_embeddings", LONGEST)))
    if called == "m2m_100":
        return torch.from_numpy(halves(count + POSITION_OFFSET, dim)[POSITION_OFFSET:])
    turns = interleaved(count, dim)
    return torch.from_numpy(np.concatenate([turns[:, 0::2], turns[:, 1::2]], axis=1))


def _norm(weights: Weights, name: str, dim: int) -> Norm | None:
    return read_norm(weights, name, dim) if weights.has(f"{name}.") else None
