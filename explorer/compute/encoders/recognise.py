"""What kind of encoder a file or folder holds, by its content. Needs no torch and reads no weights."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json
from explorer.readers.local_models import LocalModel, local_models

SENTENCE_TYPES = frozenset(
    ["bert", "distilbert", "roberta", "xlm-roberta", "camembert", "mpnet", "electra", "albert"]
)
_CLIP_TYPES = frozenset(["clip", "clip_text_model", "clip_vision_model"])
_OPEN_CLIP_WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
_KNOWN = "Known are CLIP, OpenCLIP, SigLIP, Stable Diffusion's text encoders and BERT's family."
_TEXT_MARKS = ("token_embedding", "text_encoder")
_DIM_KEYS = ("projection_dim", "hidden_size", "dim")
_FILES = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")


class Family(Enum):
    """Kinds of encoders."""

    CLIP = "CLIP"
    SIGLIP = "SigLIP"
    OPEN_CLIP = "OpenCLIP"
    SENTENCES = "sentence encoder"
    DIFFUSERS = "Stable Diffusion folder"
    FILE = "a file of weights"


@dataclass(frozen=True)
class Recognised:
    """A kind, and what there is to open.

    Attributes
    ----------
    family : Family
    path : Path
        The folder of the model itself, or the file.
    """

    family: Family
    path: Path


def recognise(path: Path) -> Recognised:
    """Which kind a file or folder is, as far as names and configurations tell; a file's tensors say the rest.

    Raises
    ------
    ExplorerError
        There is nothing, or no encoder that is known here.
    """
    if path.is_dir():
        return _folder(snapshot_of(path))
    if not path.is_file():
        raise ExplorerError(f"There is no file or folder {path}.")
    beside = path.parent
    if path.name in _OPEN_CLIP_WEIGHTS and (beside / "open_clip_config.json").is_file():
        return Recognised(Family.OPEN_CLIP, path)
    if re.fullmatch(r"(model|pytorch_model)[\w.-]*\.(safetensors|bin|json)", path.name):
        family = _family_of_config(beside)
        if family is not None or path.suffix == ".json":
            return _folder(beside)
    if path.name in ("model_index.json", "config.json", "open_clip_config.json", "modules.json"):
        return _folder(beside)
    return Recognised(Family.FILE, path)


def local_encoders() -> tuple[LocalModel, ...]:
    """The models in the local cache that are encoders, by name; only their configurations are read."""
    found = []
    for model in local_models():
        try:
            _folder(model.path)
        except (ExplorerError, OSError):
            continue
        found.append(model)
    return tuple(found)


def dims_of(path: str | PathLike[str], names: Collection[str]) -> frozenset[int] | None:
    """How long the vectors of an encoder may be, by its configuration; None where there is no encoder.

    Parameters
    ----------
    path : path or str
        A folder or file that was opened as one of tables.
    names : collection of str
        Its tensors' names, as far as they are known: of a lone file they tell that it is an encoder.

    Returns
    -------
    frozenset of int or None
        Empty where only loading it would tell.
    """
    try:
        found = recognise(Path(path))
    except (ExplorerError, OSError):
        return None
    if found.family is Family.FILE and not any(mark in name for name in names for mark in _TEXT_MARKS):
        return None
    config = read_json((found.path if found.path.is_dir() else found.path.parent) / "config.json")
    parts = [config, config.get("text_config")] if isinstance(config, dict) else []
    values = [part.get(key) for part in parts if isinstance(part, dict) for key in _DIM_KEYS]
    return frozenset(value for value in values if type(value) is int)


def snapshot_of(folder: Path) -> Path:
    """The newest snapshot of a model's folder in the local cache; any other folder itself."""
    for model in local_models(folder.parent) if (folder / "snapshots").is_dir() else ():
        if model.path.parent.parent == folder:
            return model.path
    return folder


def refuse(names: Collection[str], path: Path) -> ExplorerError:
    """What to say of weights that are no encoder's."""
    vae = any(name.startswith(("first_stage_model.", "vae.")) for name in names)
    if _is_vae(names):
        return ExplorerError(*_vae(path.name))
    if any(
        name.startswith(("model.diffusion_model.", "diffusion_model.", "double_blocks.")) for name in names
    ):
        extra = " and a VAE" if vae else ""
        return ExplorerError(
            f"{path.name} holds a diffusion model's denoiser{extra}, but no text encoder.",
            "Open the file or folder that holds its text encoder.",
        )
    if vae:
        return ExplorerError(*_vae(path.name))
    if len(names) <= 4 and any(
        name in ("emb_params", "clip_l", "clip_g") or name.startswith("string_to_param") for name in names
    ):
        return ExplorerError(
            f"{path.name} is a textual inversion: learned tokens, not an encoder.",
            "Open it as a table, or together with the Stable Diffusion model that it was learned for.",
        )
    return ExplorerError(
        f"{path.name} holds no encoder that is known here.",
        _KNOWN,
        "Its tensors: " + ", ".join(sorted(names)[:5]) + (" …" if len(names) > 5 else ""),
    )


def _folder(folder: Path) -> Recognised:
    if (folder / "model_index.json").is_file():
        return Recognised(Family.DIFFUSERS, folder)
    modules = read_json(folder / "modules.json")
    if isinstance(modules, list):
        return _sentences(folder, modules)
    family = _family_of_config(folder)
    open_clip = next((folder / name for name in _OPEN_CLIP_WEIGHTS if (folder / name).is_file()), None)
    whole = any(
        (folder / name).is_file()
        for name in (
            "model.safetensors",
            "pytorch_model.bin",
            "model.safetensors.index.json",
            "pytorch_model.bin.index.json",
        )
    )
    if family is not None and (whole or open_clip is None):
        return Recognised(family, folder)
    if open_clip is not None:
        return Recognised(Family.OPEN_CLIP, open_clip)
    return _other_folder(folder)


def _family_of_config(folder: Path) -> Family | None:
    config = read_json(folder / "config.json")
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind in _CLIP_TYPES:
        return Family.CLIP
    if kind == "siglip":
        return Family.SIGLIP
    return Family.SENTENCES if kind in SENTENCE_TYPES else None


def _sentences(folder: Path, modules: list[Any]) -> Recognised:
    first = modules[0] if modules and isinstance(modules[0], dict) else {}
    name = str(first.get("path") or "")
    if Path(name).name != name:
        raise ExplorerError(f"modules.json in {folder.name} names a folder outside of it: {name!r}.")
    body = folder / name if name else folder
    if str(first.get("type")).endswith("CLIPModel"):
        return _folder(body)
    if _family_of_config(body) is not Family.SENTENCES:
        raise ExplorerError(*_unknown_type(body))
    return Recognised(Family.SENTENCES, folder)


def _other_folder(folder: Path) -> Recognised:
    """A folder with one file of weights, or what to say of it."""
    config = read_json(folder / "config.json")
    if isinstance(config, dict):
        if "Autoencoder" in str(config.get("_class_name")):
            raise ExplorerError(*_vae(folder.name))
        raise ExplorerError(*_unknown_type(folder))
    files = [entry for entry in sorted(folder.iterdir()) if entry.suffix in _FILES and entry.is_file()]
    if len(files) == 1:
        return Recognised(Family.FILE, files[0])
    if files:
        names = ", ".join(entry.name for entry in files[:5]) + (" …" if len(files) > 5 else "")
        raise ExplorerError(
            f"The folder {folder.name} holds {len(files)} models: {names}.", "Open the one you mean."
        )
    raise ExplorerError(f"The folder {folder.name} holds no encoder.", "Open a model's folder, or its file.")


def _is_vae(names: Collection[str]) -> bool:
    """Whether all weights are an image autoencoder's, under Stable Diffusion's or diffusers' names."""
    return (
        bool(names)
        and all(
            name.startswith(
                ("encoder.", "decoder.", "quant_conv.", "post_quant_conv.", "first_stage_model.", "loss.")
            )
            for name in names
        )
        and any("conv_in" in name for name in names)
    )


def _vae(name: str) -> tuple[str, str]:
    return (
        f"{name} is a VAE, the part of a diffusion model that packs pixels; it is no encoder of meaning.",
        "Open the model's text encoder, or a CLIP.",
    )


def _unknown_type(folder: Path) -> tuple[str, str]:
    config = read_json(folder / "config.json")
    kind = (config.get("model_type") or config.get("_class_name")) if isinstance(config, dict) else None
    return (
        f"The folder {folder.name} holds a model of the kind {kind or 'unknown'}: no encoder known here.",
        _KNOWN,
    )
