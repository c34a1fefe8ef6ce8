"""Checkpoints of torch in both of its forms, and what is listed of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from explorer.core.dtypes import as_float32
from explorer.core.table import EmbeddingTable, OpenedFile

LEGACY = {"_use_new_zipfile_serialization": False}
FORMS = {"zip": {}, "legacy": LEGACY}


def listed(opened: OpenedFile) -> list[tuple[str, int, int, str]]:
    return [(table.name, table.rows, table.dim, table.role.value) for table in opened.tables]


def save(folder: Path, value: object, form: str = "zip", name: str = "model.pth") -> Path:
    torch.save(value, folder / name, **FORMS[form])
    return folder / name


def rows_of(table: EmbeddingTable) -> np.ndarray:
    return as_float32(table.read())


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(60, 6)
        self.register_buffer("pe", torch.arange(24.0).reshape(1, 4, 6))
        self.layers = nn.ModuleList([nn.Linear(6, 6)])
        self.fc = nn.Linear(6, 60)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(ids) + self.pe
        for layer in self.layers:
            hidden = layer(hidden)
        return self.fc(hidden)


class Tied(Net):
    def __init__(self) -> None:
        super().__init__()
        self.fc.weight = self.embedding.weight


NET_TABLES = [
    ("embedding.weight", 60, 6, "token"),
    ("pe", 4, 6, "position"),
    ("fc.weight", 60, 6, "output layer"),
]
