"""A translator as *The Annotated Transformer* builds it: its encoder, and its decoder beside a source.

Its arithmetic differs from torch's layers: rows are multiplied by √dim, the norm divides by the root of the
unbiased variance, and nothing stands between the two linear layers of a feed-forward block. The state dict
does not say how many heads there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.decoding import ADD_SOURCE, ALONE, decode
from explorer.compute.stages.linear import Lookup, read_lookup, read_shaped
from explorer.compute.stages.positions import interleaved
from explorer.compute.stages.prenorm import run_layers
from explorer.compute.stages.text_side import LONGEST, TextSide
from explorer.compute.stages.tokenizers import text_side
from explorer.compute.stages.translator_layers import (
    DecoderLayer,
    UnbiasedNorm,
    decoder_layer,
    encoder_layer,
    read_norm,
)
from explorer.core.stages import Needs, Stage

_TABLES = {"source": "src_embed.0.lut.weight", "target": "tgt_embed.0.lut.weight"}
_POSITIONS = {"source": "src_embed.1.pe", "target": "tgt_embed.1.pe"}
_USUAL_HEADS = 8


@dataclass(frozen=True, eq=False)
class _Side:
    """One language's table, and what is added for each place: shape (places, dim)."""

    table: Lookup
    places: torch.Tensor

    def look_up(self, ids: torch.Tensor) -> tuple[torch.Tensor, list[Stage]]:
        """Rows as the first layer gets them, shape (n, dim), and the stages up to there."""
        x = self.table(ids)
        dim = x.shape[1]
        scaled = x * math.sqrt(dim)
        placed = scaled + self.places[: len(ids)]
        return placed, [
            stage("looked up", x, f"rows of {self.table.name}"),
            stage("scaled", scaled, f"× √{dim} = {math.sqrt(dim):g}"),
            stage("with position", placed, "+ sine and cosine of the place"),
        ]


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return {*_TABLES.values(), "encoder.layers.0.self_attn.linears.0.weight"} <= set(weights)


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = opening.weights
    sides = {side: _side(weights, side) for side in _TABLES}
    dim = sides["source"].places.shape[1]
    heads = heads_of(dim, opening.heads, _USUAL_HEADS)
    layers = [encoder_layer(each, dim, heads.count) for each in _numbered(weights.under("encoder."))]
    last = read_norm(weights, "encoder.norm", dim)
    has_decoder = weights.has("decoder.layers.0.")

    @cache  # read once it is wanted: many look at sources alone
    def decoder() -> tuple[Sequence[DecoderLayer], UnbiasedNorm]:
        own = weights.under("decoder.")
        return [decoder_layer(each, dim, heads.count) for each in _numbered(own)], read_norm(own, "norm", dim)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        if given.side == "target":
            if given.source is None or not has_decoder:
                _, stages = sides["target"].look_up(given.ids)
                return Computed(tuple(stages), notes=(ADD_SOURCE if has_decoder else f"{ALONE}.",))
            x, _ = sides["source"].look_up(given.source)
            encoded = last(run_layers(x, layers)[0])
            return decode(*sides["target"].look_up(given.ids), *decoder(), encoded, given.tell)
        x, stages = sides["source"].look_up(given.ids)
        x, layered, looked = run_layers(x, layers)
        stages += layered
        x = last(x)
        stages.append(stage("final norm", x, "encoder.norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    texts = {name: _text(opening, name, side) for name, side in sides.items()}
    return StageModel(
        "translator",
        opening.path,
        Needs.TEXT,
        compute,
        texts,
        heads=heads,
        source_of={"target": "source"} if has_decoder else {},
    )


def _text(opening: Opening, name: str, side: _Side) -> TextSide:
    labels = opening.labels(side.table.name)
    return text_side(opening, labels, len(side.table.stored), len(side.places), f"translator's {name} side")


def _side(weights: Weights, name: str) -> _Side:
    table, positions = read_lookup(weights, _TABLES[name]), _POSITIONS[name]
    dim = table.stored.shape[1]
    if positions not in weights:
        return _Side(table, torch.from_numpy(interleaved(LONGEST, dim)))
    places = (*weights.shape(positions), 0, 0)[1]
    return _Side(table, read_shaped(weights, positions, (1, places, dim))[0])


def _numbered(weights: Weights) -> list[Weights]:
    """Each layer's tensors."""
    count = min(weights.count(r"layers\.(\d+)\."), len(weights.tensors))
    return [weights.under(f"layers.{number}.") for number in range(count)]
