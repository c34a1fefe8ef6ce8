"""A translator as *The Annotated Transformer* builds it: the source side whole, the target side's lookup.

Its arithmetic differs from torch's layers: rows are multiplied by √dim, the norm divides by the root of the
unbiased variance, and nothing stands between the two linear layers of a feed-forward block. The state dict
does not say how many heads there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import Lookup, read_linear, read_lookup, read_shaped
from explorer.compute.stages.positions import interleaved
from explorer.compute.stages.prenorm import PreNormLayer, run_layers
from explorer.compute.stages.text_side import LONGEST, TextSide
from explorer.compute.stages.tokenizers import text_side
from explorer.core.stages import Needs, Stage

_TABLES = {"source": "src_embed.0.lut.weight", "target": "tgt_embed.0.lut.weight"}
_POSITIONS = {"source": "src_embed.1.pe", "target": "tgt_embed.1.pe"}
_USUAL_HEADS = 8
_DECODER = "The decoder also looks at an encoded source sentence, so it is not run on the target side alone."


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


@dataclass(frozen=True, eq=False)
class _Norm:
    """``a_2 * (x - mean) / √(variance + 1e-6) + b_2`` with the unbiased variance."""

    a_2: torch.Tensor
    b_2: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        variance, mean = torch.var_mean(x, -1, correction=1, keepdim=True)
        return self.a_2 * (x - mean) / torch.sqrt(variance + 1e-6) + self.b_2


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
    layers = [
        _layer(weights, number, dim, heads.count)
        for number in range(weights.count(r"encoder\.layers\.(\d+)\."))
    ]
    last = _norm(weights, "encoder.norm", dim)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x, stages = sides[given.side or "source"].look_up(given.ids)
        if given.side == "target":
            return Computed(tuple(stages), notes=(_DECODER,))
        x, layered, looked = run_layers(x, layers)
        stages += layered
        x = last(x)
        stages.append(stage("final norm", x, "encoder.norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    texts = {name: _text(opening, name, side) for name, side in sides.items()}
    return StageModel("translator", opening.path, Needs.TEXT, compute, texts, heads=heads)


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


def _layer(weights: Weights, number: int, dim: int, heads: int) -> PreNormLayer:
    own = weights.under(f"encoder.layers.{number}.")
    query, key, value, output = (read_linear(own, f"self_attn.linears.{i}", dim, dim) for i in range(4))
    w_1 = read_linear(own, "feed_forward.w_1", dim)
    return PreNormLayer(
        heads=heads,
        norm_1=_norm(own, "sublayer.0.norm", dim),
        query=query,
        key=key,
        value=value,
        output=output,
        norm_2=_norm(own, "sublayer.1.norm", dim),
        inner=w_1,
        outer=read_linear(own, "feed_forward.w_2", len(w_1.weight), dim),
        activation=lambda x: x,
    )


def _norm(weights: Weights, name: str, dim: int) -> _Norm:
    return _Norm(*(read_shaped(weights, f"{name}.{part}", (dim,)) for part in ("a_2", "b_2")))
