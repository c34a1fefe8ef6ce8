"""Any other model or table: its rows are looked up, and what it does after that is not known."""

from __future__ import annotations

import numpy as np

from explorer.compute.stages.base import Computed, Input, Opening, StageModel, stage
from explorer.compute.stages.linear import Lookup
from explorer.compute.stages.text_side import LONGEST
from explorer.compute.stages.tokenizers import text_side
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs
from explorer.core.table import EmbeddingTable, Role
from explorer.readers.roles import side_of

_STOPS = "What this model does after the lookup is not known here, so nothing after it is shown."
_NAME = "model with a token table"


def open_lookup(opening: Opening, name: str = _NAME, why: str = _STOPS) -> StageModel:
    """A model whose token tables alone are used.

    Parameters
    ----------
    opening : Opening
    name : str
        What it is, in words.
    why : str
        What is not computed, a sentence.

    Raises
    ------
    ExplorerError
        It has no token table.
    """
    tokens = [table for table in opening.opened.tables if table.role is Role.TOKEN]
    if not tokens:
        names = sorted(opening.weights)
        raise ExplorerError(
            f"What {opening.path.name} does after the lookup is not known here, and it has no token table.",
            "Known are the word LSTM, translators, GPT, Llama, T5 and music models, ViT, captioning models, "
            "CLIP, BERT.",
            "Its tensors: " + ", ".join(names[:5]) + (" …" if len(names) > 5 else ""),
        )
    tables = _by_side(tokens)
    lookups = {side: Lookup(table.name, np.array(table.read())) for side, table in tables.items()}

    def compute(given: Input) -> Computed:
        assert given.ids is not None
        table = lookups[given.side or next(iter(lookups))]
        return Computed((stage("looked up", table(given.ids), f"rows of {table.name}"),), notes=(why,))

    texts = {
        side: text_side(opening, table.labels, table.rows, LONGEST, "table") for side, table in tables.items()
    }
    return StageModel(name, opening.path, Needs.TEXT, compute, texts)


def _by_side(tokens: list[EmbeddingTable]) -> dict[str, EmbeddingTable]:
    """The likeliest table of each side, or the likeliest of all under no name."""
    sides: dict[str, EmbeddingTable] = {}
    for table in tokens:
        if (side := side_of(table.name)) is not None:
            sides.setdefault(side, table)
    if set(sides) == {"source", "target"}:
        return {side: sides[side] for side in ("source", "target")}
    return {"": tokens[0]}
