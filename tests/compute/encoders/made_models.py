"""Small models with random weights, made and saved by ``transformers`` itself in their real layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders.clip_vocabulary import published
from explorer.compute.encoders.transformer import library

transformers = library()
MERGES = 1500


def clip_tokenizer() -> Any:
    """CLIP's tokenizer as transformers builds it, from the published table's beginning."""
    full = published()
    tokens = sorted(full.get_vocab(), key=full.get_vocab().__getitem__)
    merges = [line.split() for line in merges_text().split("\n")[1 : MERGES + 1]]
    kept = [*tokens[: 512 + MERGES], "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: i for i, token in enumerate(kept)}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[tuple(pair) for pair in merges])


def merges_text() -> str:
    from explorer.core.resources import resource_path

    return resource_path("clip", "merges.txt").read_text("utf-8")


def clip(**text: Any) -> Any:
    """A ``CLIPModel`` of two layers a tower."""
    torch.manual_seed(2)
    size = 512 + MERGES + 2
    towers = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64, "intermediate_size": 96}
    towers["projection_dim"] = 40
    words = {"vocab_size": size, "bos_token_id": size - 2, "eos_token_id": size - 1, **towers, **text}
    config = transformers.CLIPConfig(
        text_config=words,
        vision_config={"image_size": 48, "patch_size": 12, "initializer_factor": 4.0, **towers},
        projection_dim=40,
        initializer_factor=4.0,
    )
    return transformers.CLIPModel(config).eval()


def save_clip(folder: Path, **text: Any) -> Any:
    """A whole folder: model, tokenizer, preprocessing."""
    model = clip(**text)
    model.save_pretrained(folder)
    clip_tokenizer().save_pretrained(folder)
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 48}, crop_size={"height": 48, "width": 48}
    )
    processor.save_pretrained(folder)
    return model


def siglip() -> Any:
    """A ``SiglipModel`` of two layers a tower."""
    torch.manual_seed(4)
    towers = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64, "intermediate_size": 96}
    config = transformers.SiglipConfig(
        text_config={"vocab_size": 300, "max_position_embeddings": 16, "pad_token_id": 1, **towers},
        vision_config={"image_size": 32, "patch_size": 8, **towers},
    )
    model = transformers.SiglipModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return model
