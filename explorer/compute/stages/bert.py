"""BERT and its relatives DistilBERT, RoBERTa and MPNet, by their tensors' names.

All norm after each step and use the exact GELU, unless a configuration beside them says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders.sentences import pool, pooling_of
from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import Looked, attention, heads_of
from explorer.compute.stages.base import (
    Computed,
    Input,
    Opening,
    StageModel,
    stage,
)
from explorer.compute.stages.linear import (
    Linear,
    Lookup,
    Norm,
    read_linear,
    read_lookup,
    read_norm,
    read_shaped,
    table_shape,
)
from explorer.compute.stages.postnorm import PostNormLayer
from explorer.compute.stages.prenorm import run_layers
from explorer.compute.stages.relative import distance_bias
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Heads, Needs, Stage
from explorer.readers.hf_config import read_json

_PREFIXES = ("bert.", "distilbert.", "roberta.", "electra.", "camembert.", "xlm_roberta.", "mpnet.", "")
_WORDS = "embeddings.word_embeddings.weight"
_PLACES = "embeddings.position_embeddings.weight"
_KINDS = "embeddings.token_type_embeddings.weight"
_HEAD = 64  # usual width of a head
_OFFSET = 2  # RoBERTa's first places are kept for padding
_ROBERTA_PLACES = 514


@dataclass(frozen=True)
class _Names:
    """What a family calls the parts of a layer."""

    layer: str
    query: str
    key: str
    value: str
    output: str
    attention_norm: str
    inner: str
    outer: str
    output_norm: str


_BERT = _Names(
    "encoder.layer",
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
_DISTILBERT = _Names(
    "transformer.layer",
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
)
_MPNET = _Names(
    "encoder.layer",
    "attention.attn.q",
    "attention.attn.k",
    "attention.attn.v",
    "attention.attn.o",
    "attention.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
_DISTANCES = "encoder.relative_attention_bias.weight"  # MPNet's


@dataclass(frozen=True, eq=False)
class Bert:
    """The part of a model that such a text tower is.

    Attributes
    ----------
    table : Lookup
    heads : int
    places : tensor, shape (places, dim)
        From the first that is given to a token.
    kind : tensor, shape (dim,), or None
        The row that is added for the first of two sentences.
    norm : Norm
    layers : tuple of PostNormLayer
    pooler : Linear or None
    distances : tensor, shape (rows, heads), or None
        What is added to scores by how far apart two places are, as in ``relative``.
    """

    table: Lookup
    heads: int
    places: torch.Tensor
    kind: torch.Tensor | None
    norm: Norm
    layers: tuple[PostNormLayer, ...]
    pooler: Linear | None
    distances: torch.Tensor | None = None

    def run(self, ids: torch.Tensor) -> tuple[torch.Tensor, list[Stage], list[Looked]]:
        """The last hidden state, shape (n, dim), all stages before it, and each layer's attention."""
        x = self.table(ids)
        stages = [stage("looked up", x, "rows of word_embeddings")]
        x = x + self.places[: len(ids)]
        how = "+ rows of position_embeddings"
        if self.kind is not None:
            x, how = x + self.kind, f"{how} and of token_type_embeddings"
        stages.append(stage("with position", x, how))
        x = self.norm(x)
        stages.append(stage("embedding norm", x, "LayerNorm before the first layer"))
        bias = None if self.distances is None else distance_bias(self.distances, len(x))
        x, layered, looked = run_layers(x, self.layers, bias=bias)
        return x, [*stages, *layered], looked


def read_bert(weights: Weights, heads: int | None, config: Mapping[str, Any]) -> tuple[Bert, Heads]:
    """A text tower from its tensors, and its heads.

    Parameters
    ----------
    weights : Weights
        Without what stands before ``embeddings.``.
    heads : int or None
        Where a person has said.
    config : mapping
        Of ``config.json``; empty where there is none.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes, or it is another relative.
    """
    if weights.has("embeddings_project."):
        raise ExplorerError("An ELECTRA with embeddings of another width than its layers is not run here.")
    table = read_lookup(weights, _WORDS)
    dim = table.stored.shape[1]
    is_roberta, is_mpnet = _is_roberta(weights, config), _DISTANCES in weights
    eps = _number(config.get("layer_norm_eps"), 1e-5 if is_roberta or is_mpnet else 1e-12)
    told = config.get("num_attention_heads", config.get("n_heads"))
    split = heads_of(dim, heads, max(1, dim // _HEAD), told)
    activation = activation_of(config.get("hidden_act", config.get("activation", "gelu")))
    names = _DISTILBERT if weights.has("transformer.layer.") else _MPNET if is_mpnet else _BERT
    layers = tuple(
        _layer(weights, names, number, dim, split.count, eps, activation)
        for number in range(weights.count(re.escape(names.layer) + r"\.(\d+)\."))
    )
    places, kinds = _table(weights, _PLACES, dim), _table(weights, _KINDS, dim) if _KINDS in weights else None
    bert = Bert(
        table,
        split.count,
        places[_OFFSET if is_roberta or is_mpnet else 0 :],
        None if kinds is None else kinds[0],
        read_norm(weights, "embeddings.LayerNorm", dim, eps),
        layers,
        read_linear(weights, "pooler.dense", dim, dim) if weights.has("pooler.dense.") else None,
        _table(weights, _DISTANCES, split.count) if is_mpnet else None,
    )
    return bert, split


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    return _prefix(weights) is not None


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    prefix = _prefix(opening.weights)
    assert prefix is not None
    weights = _renamed(opening.weights.under(prefix))
    config = read_json(opening.folder / "config.json")
    bert, heads = read_bert(weights, opening.heads, config if isinstance(config, dict) else {})

    modes = pooling_of(opening.folder)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x, stages, looked = bert.run(given.ids)
        stages.append(stage("hidden states", x, "the last layer's"))
        stages.append(_pooled(x, bert, modes))
        return Computed(tuple(stages), (attention(looked),))

    labels = opening.labels(prefix + _WORDS)
    name = (
        "DistilBERT"
        if weights.has("transformer.layer.")
        else "MPNet"
        if _DISTANCES in weights
        else "RoBERTa"
        if _is_roberta(weights, config)
        else "BERT"
    )
    text = text_side(opening, labels, len(bert.table.stored), len(bert.places), name, special=True)
    return StageModel(name, opening.path, Needs.TEXT, compute, {"": text}, heads=heads)


def _pooled(x: torch.Tensor, bert: Bert, modes: tuple[str, ...] | None) -> Stage:
    """One vector for all tokens: as a sentence encoder's folder says, else by the model's own pooler."""
    if modes is not None:
        every = torch.ones(1, len(x), dtype=torch.bool)
        return stage(
            "pooled", pool(x[None], every, modes)[0], f"pooled by {' and '.join(modes)}, as its folder says"
        )
    if bert.pooler is None:
        return stage("pooled", x[0], "the first token's hidden state")
    return stage("pooled", torch.tanh(bert.pooler(x[0])), "tanh of a linear layer on the first token")


def _prefix(weights: Weights) -> str | None:
    for prefix in _PREFIXES:
        own = weights.under(prefix)
        if _WORDS in own and (
            own.has("encoder.layer.0.attention.self.query.")
            or own.has("transformer.layer.0.attention.q_lin.")
            or _DISTANCES in own
        ):
            return prefix
    return None


def _renamed(weights: Weights) -> Weights:
    """TensorFlow's names of a norm's tensors, gamma and beta, as torch's."""

    def new(name: str) -> str:
        return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")

    return Weights(weights.path, {new(name): t for name, t in weights.tensors.items()}, weights.unreadable)


def _is_roberta(weights: Weights, config: object) -> bool:
    """Whether places are counted from 2 on: by the configuration, else by the tables' sizes."""
    told = config.get("model_type") if isinstance(config, Mapping) else None
    if isinstance(told, str):
        return "roberta" in told or told == "camembert"
    one_kind = _KINDS in weights and table_shape(weights, _KINDS)[0] == 1
    return one_kind or table_shape(weights, _PLACES)[0] == _ROBERTA_PLACES


def _table(weights: Weights, name: str, dim: int) -> torch.Tensor:
    return read_shaped(weights, name, (table_shape(weights, name)[0], dim))


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) else default


def _layer(
    weights: Weights,
    names: _Names,
    number: int,
    dim: int,
    heads: int,
    eps: float,
    activation: Map,
) -> PostNormLayer:
    own = weights.under(f"{names.layer}.{number}.")
    inner = read_linear(own, names.inner, dim)
    return PostNormLayer(
        heads,
        read_linear(own, names.query, dim, dim),
        read_linear(own, names.key, dim, dim),
        read_linear(own, names.value, dim, dim),
        read_linear(own, names.output, dim, dim),
        read_norm(own, names.attention_norm, dim, eps),
        inner,
        read_linear(own, names.outer, len(inner.weight), dim),
        read_norm(own, names.output_norm, dim, eps),
        activation,
    )
