"""Where an encoder computes, and in which precision."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.compute.device import choose_device
from explorer.compute.encoders.base import Encoder
from explorer.core.errors import ExplorerError

_TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Place:
    """A device and a type of numbers, and the name under which the encoder goes.

    Attributes
    ----------
    device : torch.device
    dtype : torch.dtype
    name : str
    """

    device: torch.device
    dtype: torch.dtype
    name: str

    @classmethod
    def choose(cls, device: str, dtype: str, name: str) -> Place:
        """Half precision on a graphics processor, float32 elsewhere, unless something else is wished.

        Raises
        ------
        ExplorerError
            There is no such device or type.
        """
        chosen = choose_device(device)
        if dtype == "auto":
            return cls(chosen, torch.float32 if chosen.type == "cpu" else torch.float16, name)
        if dtype not in _TYPES:
            raise ExplorerError(f'There is no type "{dtype}".', "Choose auto, float32, float16 or bfloat16.")
        return cls(chosen, _TYPES[dtype], name)

    def put(self, model: Any) -> Any:
        """A model moved here."""
        return model.to(self.device, self.dtype).requires_grad_(False)

    def encoder(self, *, path: Path, **parts: Any) -> Encoder:
        """An encoder that computes here."""
        return Encoder(name=self.name, path=path, device=self.device, dtype=self.dtype, **parts)
