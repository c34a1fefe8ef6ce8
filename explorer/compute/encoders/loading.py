"""Weights into modules of torch's own."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from explorer.compute.encoders.weights import Weights
from explorer.core.errors import ExplorerError

M = TypeVar("M", bound=nn.Module)
_COUNTER = "num_batches_tracked"  # of batch norms; plays no part once they are trained


def load_into(module: M, weights: Weights) -> M:
    """A module made on the ``meta`` device, filled with weights of the same names.

    Returns
    -------
    Module
        The same, in float32 on the CPU, ready to compute.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    state = {}
    for name, wanted in module.state_dict().items():
        if name.endswith(_COUNTER):
            state[name] = torch.zeros((), dtype=torch.long)
            continue
        if weights.shape(name) != tuple(wanted.shape):
            raise ExplorerError(
                f"{weights.path.name} is not the model that it seems: {name} has the shape "
                f"{weights.shape(name)}, not {tuple(wanted.shape)}."
            )
        state[name] = weights.read(name)
    module.load_state_dict(state, assign=True)
    return module.eval()
