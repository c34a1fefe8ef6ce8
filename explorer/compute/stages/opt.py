"""OPT: a decoder with learned positions, from the third row on, in layers that are named as BART's are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import activation_of
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.bart import POSITION_OFFSET
from explorer.compute.stages.bart_layers import bart_layer
from explorer.compute.stages.base import Computed, Input, NotRun, Opening, StageModel, stage
from explorer.compute.stages.linear import read_norm, read_shaped, table_shape
from explorer.compute.stages.prenorm import run_layers
from explorer.compute.stages.stored import MOST_STORED, can_be_kept, lookup_table
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.stages import Needs
from explorer.readers.hf_config import read_json

_PREFIXES = ("model.decoder.", "decoder.")
_TABLE, _PLACES = "embed_tokens.weight", "embed_positions.weight"
_HEAD = 64  # usual width of a head


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _prefix(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    NotRun
        It has these names, but is another model, or one that norms after its steps.
    ExplorerError
        Tensors are missing or of other shapes.
    """
    prefix = _prefix(opening.weights)
    assert prefix is not None
    weights = opening.weights.under(prefix)
    told = read_json(opening.folder / "config.json")
    config: Mapping[str, Any] = told if isinstance(told, dict) else {}
    kind = str(config.get("model_type", "opt"))
    if kind != "opt" or not weights.has("final_layer_norm."):
        raise NotRun(f"“{kind}” model", "Its layers are computed in a way that is not known here.")
    rows, dim = table_shape(weights, _TABLE)
    heads = heads_of(dim, opening.heads, max(1, dim // _HEAD), config.get("num_attention_heads"))
    activation = activation_of(config.get("activation_function", "relu"))
    kept = can_be_kept(weights)
    table = lookup_table(weights, _TABLE, kept=kept)
    places = read_shaped(weights, _PLACES, (table_shape(weights, _PLACES)[0], dim))[POSITION_OFFSET:]
    layers = [
        bart_layer(weights.under(f"layers.{n}."), dim, heads.count, activation, norms_first=True, kept=kept)
        for n in range(weights.count(r"layers\.(\d+)\."))
    ]
    last = read_norm(weights, "final_layer_norm", dim)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages = [stage("looked up", x, "rows of embed_tokens")]
        x = x + places[: len(x)]
        stages.append(stage("with position", x, "+ rows of embed_positions"))
        x, layered, looked = run_layers(x, layers, causal=True, tell=given.tell)
        stages += layered
        x = last(x)
        stages.append(stage("final norm", x, "final_layer_norm"))
        stages.append(stage("pooled", x[-1], "the last token, which has seen all others"))
        return Computed(tuple(stages), (attention(looked),))

    most = min(len(places), LONGEST if kept else MOST_STORED)
    text = text_side(opening, opening.labels(prefix + _TABLE), rows, most, "OPT")
    return StageModel("OPT", opening.path, Needs.TEXT, compute, {"": text}, heads=heads)


def _prefix(weights: Weights) -> str | None:
    marks = (_TABLE, _PLACES, "layers.0.self_attn.q_proj.weight", "layers.0.fc1.weight")
    found = (prefix for prefix in _PREFIXES if all(prefix + mark in weights for mark in marks))
    prefix = next(found, None)
    # A decoder that looks at an encoder is another thing.
    alone = prefix is not None and not weights.has(f"{prefix}layers.0.encoder_attn.")
    return prefix if alone else None
