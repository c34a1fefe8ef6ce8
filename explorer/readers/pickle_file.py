"""Plain pickles: arrays, tensors, ``{word: vector}`` and whole modules that were saved without PyTorch."""

from __future__ import annotations

import re
from pathlib import Path

from explorer.core.table import OpenedFile
from explorer.readers.assemble import assemble
from explorer.readers.contents import contents_of
from explorer.readers.inert_pickle import load_pickle
from explorer.readers.torch_legacy import storage_from_bytes
from explorer.readers.torch_values import TORCH

_REBUILDERS = {**TORCH, "torch.storage._load_from_bytes": storage_from_bytes}
# Protocols 0 and 1 have no mark: they start with marks, an empty container, a class or a text.
_OLD = re.compile(
    rb"\(*([dl](p\d+\n|q)|[\]}](q|\()|c[\w.]+\n\w+\n|\(i[\w.]+\n|\((X...\0|[VS][^\n]*\np))", re.DOTALL
)


def sniff(path: Path, head: bytes) -> bool:
    """Whether the bytes start and end as a pickle does."""
    if len(head) < 2 or not (_OLD.match(head) or (head[0] == 0x80 and 1 <= head[1] <= 5)):
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return head[0] == 0x80 or file.read(1) == b"."


def read(path: Path) -> OpenedFile:
    """Open a pickle; nothing in it is run.

    Raises
    ------
    ExplorerError
    """
    return assemble(path, "pickle", contents_of(load_pickle(path, rebuilders=_REBUILDERS)))
