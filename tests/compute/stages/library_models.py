"""Small models of ``transformers`` with random weights, to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from explorer.compute.encoders.transformer import library


def made(family: str, model: str = "", **values: Any) -> Any:
    """A family's model, by default its bare one, as a configuration of these values makes it.

    No two of its rows are alike, and none of its initial zeros and ones is left: they would hide faults.
    """
    transformers = library()
    torch.manual_seed(7)
    config = getattr(transformers, f"{family}Config")(**values)
    config._attn_implementation = "eager"
    made = getattr(transformers, model or f"{family}Model")(config).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.requires_grad:  # sines are what they are
                parameter.add_(torch.randn_like(parameter) * 0.05)
    return made


def saved_in(folder: Path, model: Any) -> Path:
    """Its folder, as people have it."""
    model.save_pretrained(folder)
    return folder
