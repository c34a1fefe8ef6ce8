"""Open an encoder, whatever holds it."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from explorer.compute.encoders import (
    hugging_face,
    open_clip,
    open_clip_siglip,
    scratch,
    sentences,
    stable_diffusion,
)
from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.placing import Place
from explorer.compute.encoders.recognise import Family, recognise, refuse, snapshot_of
from explorer.compute.encoders.weights import Weights, read_contents, read_weights
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json
from explorer.readers.local_models import local_models

# What reading a configuration comes to that holds a text in place of a number, or the like.
_NONSENSE = (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, RuntimeError)


def open_encoder(path: str | Path, *, device: str = "auto", dtype: str = "auto") -> Encoder:
    """Load an encoder from a folder, a file or the local model cache; nothing in it is executed or fetched.

    Parameters
    ----------
    path : str or Path
        A folder or file; or the name of a cached model, ``owner/name``, where there is no such path.
    device : {"auto", "cpu", "cuda", "mps"}
        ``auto`` takes the quickest there is.
    dtype : {"auto", "float32", "float16", "bfloat16"}
        ``auto``: half precision on a graphics processor, float32 on the CPU.

    Returns
    -------
    Encoder

    Raises
    ------
    ExplorerError
        There is no such encoder, it is of a kind that is not known here, or something in it is missing.
    """
    # tokenizers warns of its threads where a process forks later on.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    where, name = _resolve(path)
    place = Place.choose(device, dtype, name)
    try:
        found = recognise(where)
        match found.family:
            case Family.CLIP:
                return hugging_face.open_clip_folder(found.path, place)
            case Family.SIGLIP:
                return hugging_face.open_siglip_folder(found.path, place)
            case Family.SENTENCES:
                return sentences.open_sentences(found.path, place)
            case Family.DIFFUSERS:
                return stable_diffusion.open_diffusers(found.path, place)
            case _:
                return _open_file(found.path, place)
    except OSError as error:
        raise ExplorerError(f"{where} cannot be read.", detail=str(error)) from error
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise ExplorerError(
            f"{name} takes more memory than there is on {place.device}.",
            "Close other programs, or choose the device cpu.",
            str(error),
        ) from error
    except _NONSENSE as error:
        raise ExplorerError(
            f"{name} is put together in a way that is not understood.",
            "Download the whole model again.",
            f"{type(error).__name__}: {error}",
        ) from error


def _resolve(path: str | Path) -> tuple[Path, str]:
    """The path that is meant, and the encoder's name."""
    where = Path(path)
    cached = {model.name: model.path for model in local_models()}
    if not where.exists() and str(path) in cached:
        return cached[str(path)], str(path)
    names = {model_path: name for name, model_path in cached.items()}
    if where.is_dir():
        folder = snapshot_of(where.absolute())
        return where, names.get(folder, folder.name)
    return where, where.stem


def _open_file(path: Path, place: Place) -> Encoder:
    """A lone file: its tensors' names tell what it is."""
    weights, folder = read_weights(path), path.parent
    if stable_diffusion.family_of(weights) is not None:
        return stable_diffusion.open_single_file(weights, path, folder, place)
    if scratch.is_scratch(weights):
        return scratch.open_scratch(weights, path, folder, place)
    if _is_open_ai(weights):
        config = read_json(folder / "open_clip_config.json")
        if open_clip_siglip.is_siglip(weights, config):
            return open_clip_siglip.open_siglip(weights, config, path, folder, place)
        return open_clip.open_open_clip(weights, config, path, folder, place)
    if weights.has("text_model.embeddings.token_embedding") and not weights.has("vision_model."):
        return stable_diffusion.open_text_file(weights, path, folder, place)
    raise refuse(list(weights) or [table.name for table in read_contents(path).tables], path)


def _is_open_ai(weights: Weights) -> bool:
    """Whether the names are OpenAI's: pictures under ``visual.``, texts bare or under ``text.``."""
    return weights.has("visual.") and any(f"{p}token_embedding.weight" in weights for p in ("", "text."))
