"""T5 and its relatives (Flan-T5, mT5, UMT5): an encoder, and a decoder beside a source, by their names.

Rows are taken as they are; no position is added, but scores get what each head has learned for a distance.
Each step is normed before by the root of the mean square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.attention import attention
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.decoding import ADD_SOURCE, decode
from explorer.compute.stages.linear import RootNorm, read_root_norm, table_shape
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, lookup_table
from explorer.compute.stages.t5_layers import DISTANCES, T5Layer, norm_eps, read_layers
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Heads, Needs
from explorer.readers.hf_config import read_json

_TABLES = ("shared.weight", "encoder.embed_tokens.weight")
_HOW = "self-attention with learned distances, then an MLP"


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _table(weights) is not None and f"encoder.block.0.{DISTANCES}" in weights


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
    layers = read_layers(weights.under("encoder."), dim, config, kept=kept)
    count = layers[0].own.heads
    if opening.heads not in (None, count):
        raise ExplorerError(f"Its distances are those of {count} heads, not of {opening.heads}.")
    last = read_root_norm(weights, "encoder.final_layer_norm", dim, norm_eps(config))
    has_decoder = f"decoder.block.0.{DISTANCES}" in weights

    @cache  # read once it is wanted: many look at sources alone
    def decoder() -> tuple[Sequence[T5Layer], RootNorm]:
        own = weights.under("decoder.")
        end = read_root_norm(own, "final_layer_norm", dim, norm_eps(config))
        return read_layers(own, dim, config, kept=kept), end

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages, looked = [stage("looked up", x, f"rows of {name}")], []
        if given.side == "target":
            if given.source is None:
                return Computed(tuple(stages), notes=(ADD_SOURCE,))
            encoded = table(given.source)
            for layer in layers:
                encoded, _ = layer.encode(encoded)
            return decode(x, stages, *decoder(), last(encoded), given.tell)
        for number, layer in enumerate(layers):
            given.tell(number / len(layers))
            x, seen = layer.encode(x)
            looked.append(seen)
            stages.append(stage(f"after layer {number + 1}", x, _HOW))
        x = last(x)
        stages.append(stage("final norm", x, "encoder.final_layer_norm"))
        stages.append(stage("encoder output", x, "what the decoder looks at"))
        stages.append(stage("pooled", x.mean(0), "the mean over all tokens"))
        return Computed(tuple(stages), (attention(looked),))

    text = text_side(
        opening, opening.labels(name), rows, LONGEST if kept else MOST_STORED, "T5", special=True
    )
    return StageModel(
        "T5" if has_decoder else "T5 encoder",
        opening.path,
        Needs.TEXT,
        compute,
        {"source": text, "target": text} if has_decoder else {"": text},
        heads=Heads(count, count, is_told=True),
        source_of={"target": "source"} if has_decoder else {},
    )


def _table(weights: Weights) -> str | None:
    return next((name for name in _TABLES if name in weights), None)
