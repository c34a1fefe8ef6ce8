"""The numbers that Llama and its relatives are computed with: from ``config.json``, else the usual ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import heads_of
from explorer.compute.stages.base import NotRun, Opening
from explorer.compute.stages.linear import table_shape
from explorer.compute.stages.rotary import USUAL_BASE, rates
from explorer.compute.stages.text_side import LONGEST
from explorer.core.errors import ExplorerError
from explorer.core.stages import Heads
from explorer.readers.hf_config import read_json

_NAMES = {
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "gemma": "Gemma",
    "gemma2": "Gemma 2",
    "gemma3": "Gemma 3",
    "gemma3_text": "Gemma 3",
}
_GEMMA_ROWS = range(256_000, 256_129)
_LONG_BASE, _LLAMA_3_BASE, _LLAMA_3_ROWS = 1_000_000.0, 500_000.0, 128_256
_LOCAL = "sliding_attention"
_PATTERN = 6  # of Gemma 3's layers, every sixth sees all places
_WINDOWS = {"gemma2": 4096, "gemma3": 1024, "gemma3_text": 512}


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the tensors alone do not say.

    Attributes
    ----------
    name : str
        What the model is, in words.
    is_gemma : bool
        Whether rows are scaled by √dim, and norms store how much they differ from 1.
    heads : Heads
    keys : int
        Heads of keys and values: each is shared by as many heads in a row.
    eps : float
    activation : callable
    scale : float
        What products of queries and keys are multiplied by.
    cap : float or None
        As in ``Looked``.
    windows : tuple of int or None
        For each layer, how many places it sees, itself the last; None for all before it.
    rates : tuple of tensor
        For each layer, by how much positions turn.
    limit : int
        Most places.
    notes : tuple of str
    """

    name: str
    is_gemma: bool
    heads: Heads
    keys: int
    eps: float
    activation: Map
    scale: float
    cap: float | None
    windows: tuple[int | None, ...]
    rates: tuple[torch.Tensor, ...]
    limit: int
    notes: tuple[str, ...] = ()


def read_numbers(opening: Opening, weights: Weights) -> Numbers:
    """What such a model is computed with.

    Parameters
    ----------
    opening : Opening
    weights : Weights
        Without what stands before ``embed_tokens.``.

    Raises
    ------
    NotRun
        It has these names, but is another model, or is computed in a way that is not known here.
    ExplorerError
        Shapes and numbers do not fit.
    """
    config = _config_in(opening.folder)
    kind = str(config.get("model_type") or _kind_of(weights))
    if kind not in _NAMES:
        raise NotRun(f"“{kind}” model", "Its layers are computed in a way that is not known here.")
    if config.get("use_bidirectional_attention") or config.get("is_causal") is False:
        raise NotRun(_NAMES[kind], "Its places see what comes after them, which is not computed here.")
    # A damaged name may count a billion layers: there are no more of them than tensors.
    name, count = _NAMES[kind], min(weights.count(r"layers\.(\d+)\."), len(weights.tensors))
    heads, keys = _heads(opening, weights, kind, config.get("num_attention_heads"))
    width = heads.width // heads.count
    windows = _windows(config, kind, count)
    by_kind = {local: rates(width, *_turning(config, kind, local, weights), name) for local in (False, True)}
    cap = config.get("attn_logit_softcapping", 50.0 if kind == "gemma2" else None)
    return Numbers(
        name,
        kind.startswith("gemma"),
        heads,
        keys,
        float(config.get("rms_norm_eps", 1e-5 if kind in ("llama", "mistral") else 1e-6)),
        activation_of(_activation(config, kind)),
        1 / math.sqrt(float(config.get("query_pre_attn_scalar") or width)),
        None if cap is None else float(cap),
        windows,
        tuple(by_kind[window is not None and kind.startswith("gemma3")] for window in windows),
        min(LONGEST, int(config.get("max_position_embeddings") or LONGEST)),
        () if config else (_assumed(name, kind, weights),),
    )


def _config_in(folder: Path) -> Mapping[str, Any]:
    """The configuration of a folder's model, or of the language model within one that also sees."""
    found = read_json(folder / "config.json")
    config = found if isinstance(found, dict) else {}
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else config


def _kind_of(weights: Weights) -> str:
    """Which of the relatives it is, where no configuration says so: names first, then shapes."""
    own = weights.under("layers.0.")
    if own.has("pre_feedforward_layernorm."):
        return "gemma3_text" if own.has("self_attn.q_norm.") else "gemma2"
    if own.has("self_attn.q_norm."):
        return "qwen3"
    if own.has("self_attn.q_proj.bias"):
        return "qwen2"
    return "gemma" if table_shape(weights, "embed_tokens.weight")[0] in _GEMMA_ROWS else "llama"


def _heads(opening: Opening, weights: Weights, kind: str, told: object) -> tuple[Heads, int]:
    """Heads of queries, and how many of keys and values there are."""
    own = weights.under("layers.0.self_attn.")
    dim = table_shape(weights, "embed_tokens.weight")[1]
    queries, keys = (table_shape(own, f"{part}_proj.weight")[0] for part in "qk")
    if "q_norm.weight" in own:
        told = queries // max(1, own.shape("q_norm.weight")[-1])
    elif "rotary_emb.inv_freq" in own:
        told = queries // max(1, 2 * own.shape("rotary_emb.inv_freq")[-1])
    shared = math.gcd(queries, keys)
    width = math.gcd(_usual_width(kind, dim), shared)
    heads = replace(heads_of(queries, opening.heads, queries // width, told), keys=keys)
    if heads.count not in heads.choices:
        raise ExplorerError(
            f"Queries of width {queries} and keys of {keys} cannot be split into {heads.count} heads.",
            "Say with --heads how many there are.",
        )
    return heads, keys // (heads.width // heads.count)


def _usual_width(kind: str, dim: int) -> int:
    """Of a head, in the published models."""
    if kind.startswith("gemma"):
        return 256
    return 128 if dim > 2048 or (kind == "qwen2" and dim >= 1536) else 64


def _activation(config: Mapping[str, Any], kind: str) -> object:
    # Gemma's first configurations say "gelu" and mean its tanh form.
    named = config.get("hidden_activation") or config.get("hidden_act")
    if kind.startswith("gemma"):
        return "gelu_pytorch_tanh" if named in (None, "gelu") else named
    return named or "silu"


def _turning(
    config: Mapping[str, Any], kind: str, local: bool, weights: Weights
) -> tuple[float, Mapping[str, Any]]:
    """The base of a layer's rates and how they are scaled; of a layer with a window where ``local``."""
    told = config.get("rope_parameters")
    if isinstance(told, dict):
        inner = told.get(_LOCAL if local else "full_attention")
        found = inner if isinstance(inner, dict) else told
        return float(found.get("rope_theta", _base(kind, local, weights))), found
    if local:
        return float(config.get("rope_local_base_freq", _base(kind, local, weights))), {}
    scaling = config.get("rope_scaling")
    base = float(config.get("rope_theta", USUAL_BASE if config else _base(kind, local, weights)))
    return base, scaling if isinstance(scaling, dict) else {}


def _base(kind: str, local: bool, weights: Weights) -> float:
    """θ of the published models."""
    if kind in ("qwen2", "qwen3") or (kind.startswith("gemma3") and not local):
        return _LONG_BASE
    rows = table_shape(weights, "embed_tokens.weight")[0]
    return _LLAMA_3_BASE if kind == "llama" and rows == _LLAMA_3_ROWS else USUAL_BASE


def _windows(config: Mapping[str, Any], kind: str, layers: int) -> tuple[int | None, ...]:
    """For each layer, how many places it sees."""
    window = config.get("sliding_window", _WINDOWS.get(kind))
    if not isinstance(window, int) or window < 1 or kind in ("llama", "gemma"):
        return (None,) * layers
    types = config.get("layer_types")
    if isinstance(types, list) and len(types) >= layers:
        return tuple(window if each == _LOCAL else None for each in types[:layers])
    if kind in ("qwen2", "qwen3"):
        first = int(config.get("max_window_layers", layers)) if config.get("use_sliding_window") else layers
        return tuple(window if number >= first else None for number in range(layers))
    if kind == "mistral":
        return (window,) * layers
    pattern = 2 if kind == "gemma2" else int(config.get("sliding_window_pattern", _PATTERN))
    return tuple(window if number % pattern else None for number in range(1, layers + 1))


def _assumed(name: str, kind: str, weights: Weights) -> str:
    base = _base(kind, False, weights)
    return (
        f"No config.json lies beside it: it is taken for a {name} of the usual numbers, "
        f"whose positions turn with θ = {base:,.0f}."
    )
