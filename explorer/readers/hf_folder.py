"""Hugging Face folders: configuration and weights side by side, the weights in one file or in shards.

Also diffusers folders (the text encoders inside), sentence-transformers folders (the first module with
weights), a model's folder in the local cache, and an index of shards opened by itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers import other_kinds, vocabulary
from explorer.readers.assemble import SHARD, assemble
from explorer.readers.hf_config import read_json
from explorer.readers.weight_files import is_inside, is_weights, read_weight_files, shards_of

_STANDARD = (
    "model.safetensors.index.json",
    "model.safetensors",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.bin",
    "diffusion_pytorch_model.safetensors",
    "model.fp16.safetensors",
    "pytorch_model.fp16.bin",
)
_WHOLE = ("model_index.json", "modules.json")
_MARKS = ("config.json", "open_clip_config.json", "wordembedding_config.json")
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")
_ENCODERS = re.compile(r"(text|image)_encoder(_\d+)?")


def sniff(path: Path, head: bytes) -> bool:
    """Whether the folder has Hugging Face's marks and weights, or the file is an index of shards."""
    if path.is_dir():
        if (path / "snapshots").is_dir() or any((path / name).is_file() for name in (*_WHOLE, *_STANDARD)):
            return True
        marked = any((path / name).is_file() for name in _MARKS)
        return marked and any(entry.suffix in _WEIGHTS for entry in path.iterdir())
    return head.lstrip()[:1] == b"{" and (b'"weight_map"' in head or path.name.endswith(".index.json"))


def read(path: Path) -> OpenedFile:
    """Open a folder, or an index of shards.

    Raises
    ------
    ExplorerError
        There are no weights, a shard is missing, or it is not clear which weights are meant.
    """
    if not path.is_dir():
        shards = shards_of(path)
        return assemble(path, f"checkpoint in {len(shards)} shards", read_weight_files(shards))
    folder = _snapshot(path)
    if (folder / "model_index.json").is_file():
        return _read_diffusers(path, folder)
    for part in _modules(folder):
        weights = _weights_in(part)
        if weights:
            files = shards_of(weights[0]) if weights[0].suffix == ".json" else weights
            file_format = "Hugging Face folder" + (f", {len(files)} shards" if len(files) > 1 else "")
            return replace(assemble(part, file_format, read_weight_files(files)), path=path)
    raise other_kinds.refuse_unknown(folder, b"")


def _snapshot(path: Path) -> Path:
    """The newest snapshot of a model's folder in the local cache; any other folder itself."""
    if not (path / "snapshots").is_dir():
        return path
    try:
        revision = (path / "refs" / "main").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        revision = ""
    if re.fullmatch(r"\w+", revision) and (path / "snapshots" / revision).is_dir():
        return path / "snapshots" / revision
    snapshots = [entry for entry in (path / "snapshots").iterdir() if entry.is_dir()]
    if not snapshots:
        raise ExplorerError(f"The model {path.name} is not in the cache: it has no snapshot.")
    return max(snapshots, key=lambda entry: entry.stat().st_mtime)


def _read_diffusers(path: Path, folder: Path) -> OpenedFile:
    """The text and image encoders of a pipeline; where there are several, each table says whose it is."""
    opened: list[tuple[str, OpenedFile]] = []
    for part in sorted(folder.iterdir()):
        if part.is_dir() and _ENCODERS.fullmatch(part.name):
            opened.append((part.name, vocabulary.attach(read(part))))
    if not opened:
        raise ExplorerError(f"The diffusers folder {path.name} has no text encoder.")
    tables: list[EmbeddingTable] = []
    for name, part_opened in opened:
        for table in part_opened.tables:
            tables.append(replace(table, name=f"{name}/{table.name}") if len(opened) > 1 else table)
    first = [table for table in tables if table.role is tables[0].role]
    rest = [table for table in tables if table.role is not tables[0].role]
    notes = tuple(note for _, part_opened in opened for note in part_opened.notes)
    return OpenedFile(path, "diffusers folder", (*first, *rest), notes)


def _modules(folder: Path) -> list[Path]:
    """The folder itself, then a sentence-transformers model's modules in their order."""
    modules = read_json(folder / "modules.json")
    names = (
        [module.get("path") for module in modules if isinstance(module, dict)]
        if isinstance(modules, list)
        else []
    )
    parts = [folder / name for name in names if isinstance(name, str) and name and is_inside(name)]
    return [folder, *(part for part in parts if part.is_dir())]


def _weights_in(folder: Path) -> list[Path]:
    """The file of weights, its shards, or the index of them; empty where there is none."""
    for name in _STANDARD:
        if (folder / name).is_file():
            return [folder / name]
    found = [entry for entry in sorted(folder.iterdir()) if entry.suffix in _WEIGHTS and is_weights(entry)]
    shards = [match for entry in found if (match := SHARD.fullmatch(entry.name))]
    if len(found) > 1 and len(shards) == len(found) == int(shards[0][2]):
        return found  # without their index
    if len(found) > 1:
        names = ", ".join(entry.name for entry in found[:5]) + (" …" if len(found) > 5 else "")
        raise ExplorerError(
            f"The folder {folder.name} holds {len(found)} checkpoints: {names}.", "Open the one you mean."
        )
    return found
