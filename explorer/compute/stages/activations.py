"""What stands between the two linear layers of an MLP, by the names that configurations give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional

from explorer.core.errors import ExplorerError

Map = Callable[[torch.Tensor], torch.Tensor]


def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    """GELU in its tanh form (Hendrycks and Gimpel, 2016)."""
    return functional.gelu(x, approximate="tanh")


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    """``x * sigmoid(1.702 x)``, with which OpenAI's CLIPs were trained."""
    return x * torch.sigmoid(1.702 * x)


_NAMED: Mapping[str, Map] = {
    "gelu": functional.gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "relu": functional.relu,
    "silu": functional.silu,
    "swish": functional.silu,
}


def activation_of(name: object) -> Map:
    """An activation by its name.

    Raises
    ------
    ExplorerError
        It is not known here: another one would give other numbers without a sign of it.
    """
    found = _NAMED.get(str(name))
    if found is None:
        raise ExplorerError(f"Its activation “{name}” is not known here.")
    return found
