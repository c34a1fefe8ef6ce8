"""A word-level LSTM: a token table, a stack of LSTM layers, an output layer of its own."""

from __future__ import annotations

import torch
from torch import nn

from explorer.compute.encoders.loading import load_into
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import read_lookup
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs

_TABLE = "embedding.weight"


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return {_TABLE, "lstm.weight_ih_l0", "lstm.weight_hh_l0"} <= set(weights)


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = opening.weights
    table = read_lookup(weights, _TABLE)
    rows, dim = table.stored.shape
    layers = _layers(weights, dim)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages = [stage("looked up", x, f"rows of {_TABLE}")]
        for number, layer in enumerate(layers, 1):
            x = layer(x)[0]
            stages.append(stage(f"after layer {number}", x, "LSTM, left to right"))
        stages.append(stage("hidden states", x, "the last layer's"))
        stages.append(stage("pooled", x[-1], "the hidden state after the last token"))
        return Computed(tuple(stages))

    labels = opening.labels(_TABLE)
    text = text_side(opening, labels, rows, LONGEST, "word LSTM")
    return StageModel("word LSTM", opening.path, Needs.TEXT, compute, {"": text})


def _layers(weights: Weights, dim: int) -> list[nn.LSTM]:
    """One module a layer: torch's gives the last layer's states only."""
    found = []
    for number in range(weights.count(r"lstm\.weight_ih_l(\d+)$")):
        width = weights.shape(f"lstm.weight_hh_l{number}")[-1]
        if f"lstm.weight_ih_l{number}_reverse" in weights:
            raise ExplorerError("An LSTM that also reads from right to left is not run here.")
        with torch.device("meta"):
            layer = nn.LSTM(dim, width, bias=f"lstm.bias_ih_l{number}" in weights)
        own = {
            name.replace(f"_l{number}", "_l0").removeprefix("lstm."): tensor
            for name, tensor in weights.tensors.items()
            if name.startswith("lstm.") and name.endswith(f"_l{number}")
        }
        found.append(load_into(layer, Weights(weights.path, own)))
        dim = width
    return found
