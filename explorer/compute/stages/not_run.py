"""Models that are known by their tensors' names, but whose layers are not run: what they are, in words."""

from __future__ import annotations

import re

from explorer.compute.encoders.weights import Weights

_QUANTISED = r"\.(qweight|qzeros|scales|weight_packed|weight_scale(_inv)?|weight\.absmax|SCB)$"
# The most telling first.
_KNOWN = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (_QUANTISED, "model with quantised layers"),
        (r"layers\.\d+\.attention\.wq\.", "Llama under Meta's own names"),
        (r"layers\.\d+\.(block_sparse_moe|mlp\.experts)\.", "mixture of experts, as Mixtral is"),
        (r"layers\.\d+\.self_attn\.kv_a_proj", "model with latent attention, as DeepSeek is"),
        (r"layers\.\d+\.self_attn\.qkv_proj\.", "Phi-3"),
        (r"h\.\d+\.self_attention\.query_key_value\.", "BLOOM or Falcon"),
        (r"h\.\d+\.attn\.q_proj\.", "GPT-J"),
        (r"layers\.\d+\.mixer\.", "Mamba"),
        (r"blocks\.\d+\.att\.time_", "RWKV"),
        (r"encoder\.albert_layer_groups\.", "ALBERT"),
        (r"encoder\.rel_embeddings\.", "DeBERTa"),
        (r"attentions\.\d+\.q_lin\.", "XLM"),
        (r"layer\.\d+\.rel_attn\.", "XLNet"),
        (r"encoder\.conv1\.", "speech recogniser, as Whisper is"),
    )
)


def known_as(weights: Weights) -> str | None:
    """What a model is that is not run here; None where nothing is known of it."""
    return next((name for pattern, name in _KNOWN if any(map(pattern.search, weights))), None)


def is_quantised(weights: Weights) -> bool:
    """Whether a model's layers are stored as other numbers than they are computed with."""
    return any(re.search(_QUANTISED, name) for name in weights)
