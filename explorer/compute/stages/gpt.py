"""Models that predict the next token: a small GPT, a music transformer of the same code, and GPT-2.

Rows and learned positions are added unscaled; each layer is normed before, GELU is its tanh form, and no
place sees what comes after it. The linear layers are torch's own, but GPT-2 stores them transposed: the
shapes tell which it is.
"""

from __future__ import annotations

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import attention, heads_of
from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import (
    Linear,
    read_linear,
    read_lookup,
    read_norm,
    read_shaped,
    table_shape,
    thirds_of,
)
from explorer.compute.stages.prenorm import PreNormLayer, run_layers
from explorer.compute.stages.text_side import LONGEST, TextSide
from explorer.compute.stages.tokenizers import text_side
from explorer.compute.stages.words import EventTokenizer
from explorer.core.labels import Labels
from explorer.core.stages import Heads, Needs
from explorer.readers.hf_config import read_json
from explorer.readers.vocabulary import music_events

_EVENTS = 390
_HEAD = 64  # usual width of a head
_SMALL_HEADS, _MUSIC_HEADS = 4, 8
_SMALL = 256  # width up to which a GPT is a small one


def matches(weights: Weights) -> bool:
    """Whether these are the weights of such a model."""
    own = _own(weights)
    return {"wte.weight", "wpe.weight", "h.0.attn.c_attn.weight"} <= set(own)


def open_model(opening: Opening) -> StageModel:
    """A model from its tensors.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    weights = _own(opening.weights)
    table = read_lookup(weights, "wte.weight")
    rows, dim = table.stored.shape
    places = read_shaped(weights, "wpe.weight", (table_shape(weights, "wpe.weight")[0], dim))
    transposed = weights.shape("h.0.attn.c_attn.weight") == (dim, 3 * dim)
    is_music = rows == _EVENTS and not transposed
    # Only the public GPT-2 comes with a configuration.
    found = read_json(opening.folder / "config.json") if transposed else None
    config = found if isinstance(found, dict) else {}
    heads = _heads(opening.heads, dim, transposed, is_music, config.get("n_head"))
    activation = activation_of(config.get("activation_function", "gelu_new"))
    layers = [
        _layer(weights, n, dim, heads.count, transposed, activation)
        for n in range(weights.count(r"h\.(\d+)\."))
    ]
    last = read_norm(weights, "ln_f", dim)

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        x = table(given.ids)
        stages = [stage("looked up", x, "rows of wte")]
        x = x + places[: len(x)]
        stages.append(stage("with position", x, "+ rows of wpe"))
        x, layered, looked = run_layers(x, layers, causal=True)
        stages += layered
        x = last(x)
        stages.append(stage("final norm", x, "ln_f"))
        stages.append(stage("pooled", x[-1], "the last token, which has seen all others"))
        return Computed(tuple(stages), (attention(looked),))

    text = _text(opening, rows, min(LONGEST, len(places)), is_music)
    name = "music transformer" if is_music else "GPT-2" if transposed else "GPT"
    needs = Needs.EVENTS if is_music else Needs.TEXT
    return StageModel(name, opening.path, needs, compute, {"": text}, heads=heads)


def _own(weights: Weights) -> Weights:
    return weights.under("transformer.") if weights.has("transformer.wte.") else weights


def _heads(asked: int | None, dim: int, transposed: bool, is_music: bool, told: object) -> Heads:
    if is_music:
        return heads_of(dim, asked, _MUSIC_HEADS)
    is_small = dim < _HEAD if transposed else dim <= _SMALL
    usual = _SMALL_HEADS if is_small else dim // _HEAD
    return heads_of(dim, asked, usual, told)


def _text(opening: Opening, rows: int, limit: int, is_music: bool) -> TextSide:
    name = next(name for name in ("transformer.wte.weight", "wte.weight") if name in opening.weights)
    labels = opening.labels(name)
    if is_music:
        labels = labels or Labels.from_texts(music_events(), "music events", special=(388, 389))
        return TextSide(rows, limit, labels, EventTokenizer(labels))
    return text_side(opening, labels, rows, limit, "GPT")


def _layer(
    weights: Weights, number: int, dim: int, heads: int, transposed: bool, activation: Map
) -> PreNormLayer:
    own = weights.under(f"h.{number}.")

    def linear(name: str, inputs: int, outputs: int) -> Linear:
        if not transposed:
            return read_linear(own, name, inputs, outputs)
        weight = read_shaped(own, f"{name}.weight", (inputs, outputs))
        return Linear(weight.T.contiguous(), read_shaped(own, f"{name}.bias", (outputs,)))

    inner = table_shape(own, "mlp.c_fc.weight")[transposed]
    query, key, value = thirds_of(linear("attn.c_attn", dim, 3 * dim))
    return PreNormLayer(
        heads=heads,
        norm_1=read_norm(own, "ln_1", dim),
        query=query,
        key=key,
        value=value,
        output=linear("attn.c_proj", dim, dim),
        norm_2=read_norm(own, "ln_2", dim),
        inner=linear("mlp.c_fc", dim, inner),
        outer=linear("mlp.c_proj", inner, dim),
        activation=activation,
    )
