"""Sentence encoders: BERT's family, with the pooling that sentence-transformers notes beside the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.compute.encoders import transformer
from explorer.compute.encoders.base import Encoder, TextTower
from explorer.compute.encoders.cleaning import Cleaned, as_typed, lowered
from explorer.compute.encoders.hugging_face import check_size
from explorer.compute.encoders.loading import load_into
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.tokenizer_files import find_tokenizer
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.compute.encoders.weights import read_weights, weights_in
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json

# Model types and their classes; the number is how many positions are lost to padding.
FAMILIES = {
    "bert": ("Bert", 0),
    "distilbert": ("DistilBert", 0),
    "roberta": ("Roberta", 2),
    "xlm-roberta": ("XLMRoberta", 2),
    "camembert": ("Camembert", 2),
    "mpnet": ("MPNet", 2),
    "electra": ("Electra", 0),
    "albert": ("Albert", 0),
}
_ACTIVATIONS = {
    "Tanh": nn.Tanh,
    "Identity": nn.Identity,
    "ReLU": nn.ReLU,
    "GELU": nn.GELU,
    "Sigmoid": nn.Sigmoid,
}
_MODES = (
    ("pooling_mode_cls_token", "cls"),
    ("pooling_mode_max_tokens", "max"),
    ("pooling_mode_mean_tokens", "mean"),
    ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len"),
)


def pool(hidden: torch.Tensor, mask: torch.Tensor, modes: Sequence[str]) -> torch.Tensor:
    """One vector a sentence.

    Parameters
    ----------
    hidden : tensor, shape (n, length, dim)
    mask : bool tensor, shape (n, length)
    modes : sequence of {"cls", "max", "mean", "mean_sqrt_len"}
        Their vectors are put one after the other, in this order.
    """
    there = mask.unsqueeze(-1).to(hidden.dtype)
    total, count = (hidden * there).sum(1), there.sum(1).clamp(min=1e-9)
    ways = {
        "cls": lambda: hidden[:, 0],
        "max": lambda: hidden.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1),
        "mean": lambda: total / count,
        "mean_sqrt_len": lambda: total / count.sqrt(),
    }
    return torch.cat([ways[mode]() for mode in modes], 1)


def open_sentences(folder: Path, place: Place) -> Encoder:
    """A sentence encoder's folder, or one of a plain language model.

    Raises
    ------
    ExplorerError
        Something in it is missing, or of a kind that is not built here.
    """
    modules = _modules(folder)
    body = next((path for kind, path in modules if kind == "Transformer"), folder)
    values = read_json(body / "config.json")
    family, lost = FAMILIES[str(values.get("model_type"))]
    weights = read_weights(body)
    config = transformer.configuration(f"{family}Config", values)
    model = place.put(
        transformer.build(f"{family}Model", config, weights.read_all(), weights, optional=("pooler.",))
    )
    tokenizer = _tokenizer(folder, body, config, lost)
    modes, notes = _pooling(modules)
    dense = [place.put(_dense(path)) for kind, path in modules if kind == "Dense"]

    def text(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        vectors = pool(hidden, mask, modes)
        for layer in dense:
            vectors = layer(vectors)
        return vectors

    return place.encoder(
        kind="sentence encoder",
        path=folder,
        dim=_dim(config.hidden_size * len(modes), dense),
        fingerprint=weights.fingerprint(
            kind="sentence encoder", config=transformer.telling(values), pooling=modes, dense=len(dense)
        ),
        text=TextTower(tokenizer, text, _prefix(folder)),
        notes=notes,
    )


def pooling_of(folder: Path) -> tuple[str, ...] | None:
    """How a folder's sentence encoder makes one vector of a sentence, for ``pool``; None where it is none.

    Raises
    ------
    ExplorerError
        It has a part of a kind that is not known here.
    """
    return _pooling(_modules(folder))[0] if (folder / "modules.json").is_file() else None


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """The kinds of a model's modules in their order, and their folders."""
    listed = read_json(folder / "modules.json")
    modules = []
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
            name = str(entry.get("path") or "")
            if Path(name).name != name:
                raise ExplorerError(f"modules.json in {folder.name} names a folder outside of it: {name!r}.")
            modules.append((entry["type"].split(".")[-1], folder / name if name else folder))
    known = {"Transformer", "Pooling", "Normalize", "Dense"}
    if unknown := [kind for kind, _ in modules if kind not in known]:
        raise ExplorerError(
            f"The sentence encoder {folder.name} has a part of a kind that is not built here: {unknown[0]}.",
            "Known are transformers of BERT's family, pooling and dense layers.",
        )
    return modules


def _pooling(modules: Sequence[tuple[str, Path]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How token vectors become one, and what was assumed."""
    folder = next((path for kind, path in modules if kind == "Pooling"), None)
    config = None if folder is None else read_json(folder / "config.json")
    if not isinstance(config, Mapping):
        return ("mean",), ("No pooling is configured: the mean over all tokens is taken, as is usual.",)
    if isinstance(named := config.get("pooling_mode"), str | list):
        wished = [named] if isinstance(named, str) else named
        modes = tuple(mode for _, mode in _MODES if mode in wished)
    else:
        wished = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
        modes = tuple(mode for key, mode in _MODES if key in wished)
    if not modes or len(modes) < len(wished):
        raise ExplorerError(
            "This sentence encoder pools its tokens in a way that is not known here.", str(wished)
        )
    return modes, ()


def _dense(folder: Path) -> nn.Sequential:
    config = read_json(folder / "config.json")
    name = str(config.get("activation_function", "")).split(".")[-1] if isinstance(config, Mapping) else ""
    if name not in _ACTIVATIONS or weights_in(folder) is None:
        raise ExplorerError(
            f"The dense layer in {folder.name} is of a kind that is not built here.", detail=name
        )
    weights = read_weights(folder).under("linear.")
    outputs, inputs = weights.shape("weight")
    with torch.device("meta"):
        linear = nn.Linear(inputs, outputs, bias="bias" in weights)
    return nn.Sequential(load_into(linear, weights), _ACTIVATIONS[name]())


def _dim(dim: int, dense: Sequence[nn.Sequential]) -> int:
    for layer in dense:
        linear = layer[0]
        assert isinstance(linear, nn.Linear)
        if linear.in_features != dim:
            raise ExplorerError(
                f"A dense layer of this sentence encoder takes {linear.in_features} numbers, but gets {dim}."
            )
        dim = linear.out_features
    return dim


def _tokenizer(folder: Path, body: Path, config: Any, lost: int) -> TextTokenizer:
    found = find_tokenizer([body, folder])
    if found is None:
        raise ExplorerError(
            f"The sentence encoder {folder.name} has no tokenizer.", "Put its tokenizer.json into the folder."
        )
    check_size(found, config.vocab_size)
    limit = config.max_position_embeddings - lost
    settings = _settings(folder, body)
    wished = settings.get("max_seq_length")
    if not isinstance(wished, int):
        wished = found.config.get("model_max_length")
    if isinstance(wished, int) and 2 < wished < limit:
        limit = wished
    pad = found.id_of("pad_token", "[PAD]", "<pad>")
    clean = _lower if settings.get("do_lower_case") is True else as_typed
    return TextTokenizer(found.tokenizer, limit, pad or 0, clean=clean, source=found.source)


def _settings(folder: Path, body: Path) -> Mapping[str, Any]:
    for place in (body, folder):
        if isinstance(found := read_json(place / "sentence_bert_config.json"), Mapping):
            return found
    return {}


def _prefix(folder: Path) -> str:
    """The prompt that is put before every text, where the folder names a usual one."""
    config = read_json(folder / "config_sentence_transformers.json")
    if not isinstance(config, Mapping):
        return ""
    prompts, name = config.get("prompts"), config.get("default_prompt_name")
    prompt = prompts.get(name) if isinstance(prompts, Mapping) and isinstance(name, str) else None
    return prompt if isinstance(prompt, str) else ""


def _lower(text: str) -> Cleaned:
    return lowered(as_typed(text))
