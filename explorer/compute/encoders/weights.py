"""A model's weights by name, from whichever file holds them, read one tensor at a time and never by torch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.core.errors import ExplorerError
from explorer.readers.contents import Contents
from explorer.readers.tensors import Tensor
from explorer.readers.weight_files import read_weight_file, read_weight_files, shards_of
from explorer.readers.zip_entries import ZipEntries

_WRAPPERS = ("module.", "_orig_mod.", "model.", "net.", "clip.", "clip_model.")
_STANDARD = (
    "model.safetensors",
    "pytorch_model.bin",
    "model.fp16.safetensors",
    "pytorch_model.fp16.bin",
)
_SAMPLES = 32  # values of each tensor that go into a fingerprint


@dataclass(frozen=True, eq=False)
class Weights:
    """Tensors by name, not read yet.

    Attributes
    ----------
    path : Path
        The file or folder they come from.
    tensors : mapping of str to Tensor
    unreadable : mapping of str to str
        Tensors that are there but can't be read, and why.
    """

    path: Path
    tensors: Mapping[str, Tensor]
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def under(self, prefix: str) -> Weights:
        """Those whose names start with a prefix, without it."""
        return Weights(self.path, _under(self.tensors, prefix), _under(self.unreadable, prefix))

    def has(self, prefix: str) -> bool:
        """Whether any name starts so."""
        return any(name.startswith(prefix) for name in self.tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape.

        Raises
        ------
        ExplorerError
            It is not there.
        """
        return self._tensor(name).shape

    def read(self, name: str) -> torch.Tensor:
        """One tensor as float32, in memory of its own.

        Raises
        ------
        ExplorerError
            It is not there, can't be read, or does not hold real numbers.
        """
        if not self._tensor(name).is_number:
            raise ExplorerError(
                f"{self.path.name} is not the model that it seems: {name} holds no real numbers."
            )
        # NumPy knows all stored types here, torch's own conversion only some of them.
        return torch.from_numpy(np.array(self._tensor(name).read(), np.float32, order="C"))

    def read_all(self) -> dict[str, torch.Tensor]:
        """All tensors of floating-point numbers, as float32."""
        return {name: self.read(name) for name, tensor in self.tensors.items() if tensor.is_float}

    def count(self, pattern: str) -> int:
        """How many numbered layers there are: one more than the largest number that the pattern finds."""
        found = [int(match[1]) for name in self.tensors if (match := re.match(pattern, name))]
        return max(found, default=-1) + 1

    def fingerprint(self, **facts: Any) -> str:
        """What tells these weights from any others: 32 hexadecimal digits.

        Names, types, shapes and a sample of the values of every tensor of floating-point numbers, together
        with what else decides the output; the file's name, place and dates do not count. Training changes
        nearly every value, so a sample of each tensor is enough.

        Parameters
        ----------
        **facts
            What the weights do not say, e.g. the activation. Plain values.
        """
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
        for name in sorted(self.tensors):
            tensor = self.tensors[name]
            if not tensor.is_float:
                continue
            digest.update(f"{name}|{tensor.dtype}|{tensor.shape}|".encode())
            values = tensor.read()
            if values.size:
                digest.update(values.flat[np.linspace(0, values.size - 1, _SAMPLES).astype(int)].tobytes())
        return digest.hexdigest()[:32]

    def _tensor(self, name: str) -> Tensor:
        tensor = self.tensors.get(name)
        if tensor is None:
            why = f" is {self.unreadable[name]}" if name in self.unreadable else " is missing"
            raise ExplorerError(
                f"{self.path.name} is not whole: its tensor {name}{why}.",
                "Save the whole model in its usual form.",
            )
        return tensor


def _under(entries: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in entries.items() if name.startswith(prefix)}


def read_weights(path: Path) -> Weights:
    """The weights in a file, an index of shards, or a folder that has one of their usual names.

    Prefixes that training wrappers put before all names are taken away.

    Raises
    ------
    ExplorerError
        There are none, or they can't be read.
    """
    if path.is_dir():
        return read_weights(_weights_of(path))
    if path.name.endswith(".index.json"):
        contents = read_weight_files(shards_of(path))
    else:
        contents = read_contents(path)
    tensors = dict(contents.tensors)
    tensors.update(
        (name, tensors[kept])
        for name, kept in contents.tied.items()
        if kept in tensors and name not in tensors
    )
    unreadable = dict(contents.unreadable)
    while (prefix := _wrapper(tensors)) is not None:
        tensors, unreadable = _under(tensors, prefix), _under(unreadable, prefix)
    return Weights(path, tensors, unreadable)


def read_contents(path: Path) -> Contents:
    """What one file of weights holds; nothing in it is executed.

    Raises
    ------
    ExplorerError
        It is no such file, or damaged.
    """
    try:
        contents = read_weight_file(path)
    except OSError as error:
        raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
    if contents is not None:
        return contents
    raise ExplorerError(
        f"{path.name} is no model that can encode text or pictures.",
        "Known are PyTorch checkpoints and safetensors files, and the folders they come in.",
    )


def is_torch_script(path: Path) -> bool:
    """Whether a file is a TorchScript archive: it has code beside its weights, which is never run."""
    try:
        names = ZipEntries(path).sizes if path.is_file() else {}
    except ExplorerError:
        return False
    return any(name.endswith("/constants.pkl") or "/code/" in name for name in names)


def weights_in(folder: Path) -> Path | None:
    """The file of weights in a Hugging Face folder, or the index of its shards."""
    for name in _STANDARD:
        for candidate in (folder / name, folder / f"{name}.index.json"):
            if candidate.is_file():
                return candidate
    return None


def _weights_of(folder: Path) -> Path:
    found = weights_in(folder)
    if found is None:
        raise ExplorerError(
            f"The folder {folder.name} holds no weights that can be read.",
            "It should hold model.safetensors or pytorch_model.bin.",
            "It holds " + ", ".join(sorted(entry.name for entry in folder.iterdir())[:10]),
        )
    return found


def _wrapper(tensors: Mapping[str, Tensor]) -> str | None:
    """A training wrapper's prefix, where all names start with it."""
    if not tensors:
        return None
    return next((p for p in _WRAPPERS if all(name.startswith(p) for name in tensors)), None)
