"""Prompts as a diffusion model reads them: the sequence for its denoiser, and the pooled vector."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.core.text_note import TextNote

_BATCH = 16


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Prompts, encoded.

    Attributes
    ----------
    sequence : float32 array, shape (n, length, dim)
        What the denoiser attends to, as it is, not of unit length; towers' vectors stand one after the other.
    pooled : float32 array, shape (n, pooled dim)
        One vector for the whole prompt, as it is.
    pieces : tuple of tuple of str
        The first tower's tokens of each prompt, without filling: ``pieces[i][j]`` is at ``sequence[i, j]``.
    notes : tuple of tuple of TextNote
    """

    sequence: NDArray[np.float32]
    pooled: NDArray[np.float32]
    pieces: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[TextNote, ...], ...]


@dataclass(frozen=True, eq=False)
class PromptComparison:
    """How alike two prompts are to the denoiser.

    Attributes
    ----------
    pooled : float
        Cosine of the pooled vectors.
    positions : float32 array, shape (length,)
        Cosine of the two sequences at each position.
    first, second : tuple of str
        The tokens of each.
    """

    pooled: float
    positions: NDArray[np.float32]
    first: tuple[str, ...]
    second: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PromptTower:
    """One CLIP text model of a diffusion model.

    Attributes
    ----------
    name : str
        E.g. ``"clip_l"``, as textual inversions name it.
    model : CLIPTextModel
    tokenizer : TextTokenizer
    penultimate : bool
        Whether the sequence is the last but one layer's output, not the last's.
    final_norm : bool
        Whether the sequence goes through the final norm.
    projection : tensor or None
        Of the pooled vector, shape (dim, width).
    """

    name: str
    model: Any
    tokenizer: TextTokenizer
    penultimate: bool
    final_norm: bool
    projection: torch.Tensor | None = None

    @property
    def width(self) -> int:
        """Length of a token's vector."""
        return int(self.model.config.hidden_size)

    @property
    def pooled_dim(self) -> int:
        """Length of the pooled vector."""
        return self.width if self.projection is None else len(self.projection)

    @property
    def table(self) -> torch.Tensor:
        """The token table, shape (tokens, width)."""
        table: torch.Tensor = self.model.embeddings.token_embedding.weight
        return table

    def forward(self, ids: torch.Tensor, end: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Sequence, shape (n, length, width), and pooled vector, (n, pooled dim).

        Parameters
        ----------
        ids : int64 tensor, shape (n, length)
        end : int64 tensor, shape (n,)
            Where each text's end token stands: the pooled vector is the last layer's there.
        """
        output = self.model(input_ids=ids, output_hidden_states=True)
        hidden = output.hidden_states[-2 if self.penultimate else -1]
        sequence = self.model.final_layer_norm(hidden) if self.final_norm else hidden
        pooled = output.last_hidden_state[torch.arange(len(ids), device=ids.device), end]
        return sequence, pooled if self.projection is None else pooled @ self.projection.T


@dataclass(frozen=True, eq=False)
class Conditioner:
    """All CLIP towers of a diffusion model.

    Attributes
    ----------
    towers : tuple of PromptTower
    pooled : tuple of int
        Which towers' pooled vectors the denoiser gets, one after the other.
    device : torch.device
    sequence_dim : int
        Length of a position's vector, filled up with zeros where the towers give less (SD3).
    """

    towers: tuple[PromptTower, ...]
    pooled: tuple[int, ...]
    device: torch.device
    sequence_dim: int

    @property
    def pooled_dim(self) -> int:
        """Length of the pooled vector."""
        return sum(self.towers[i].pooled_dim for i in self.pooled)

    @torch.inference_mode()
    def condition(self, prompts: Sequence[str]) -> Conditioning:
        """What the denoiser gets of prompts.

        Parameters
        ----------
        prompts : sequence of str
        """
        length = self.towers[0].tokenizer.limit
        sequences = [np.empty((0, length, self.sequence_dim), np.float32)]
        pooled = [np.empty((0, self.pooled_dim), np.float32)]
        for start in range(0, len(prompts), _BATCH):
            sequence, vector = self._run(prompts[start : start + _BATCH])
            sequences.append(sequence.float().cpu().numpy())
            pooled.append(vector.float().cpu().numpy())
        tokens = self.towers[0].tokenizer.encode(prompts)
        return Conditioning(np.concatenate(sequences), np.concatenate(pooled), tokens.pieces, tokens.notes)

    def compare(self, first: str, second: str) -> PromptComparison:
        """How alike two prompts are, as a whole and position by position."""
        both = self.condition([first, second])
        return PromptComparison(
            float(_cosine(both.pooled[0], both.pooled[1])),
            _cosine(both.sequence[0], both.sequence[1]),
            both.pieces[0],
            both.pieces[1],
        )

    def token_table(self, tower: int = 0) -> tuple[list[str], NDArray[np.float32]]:
        """A tower's token table, learned tokens at its end: names, and vectors of shape (tokens, width)."""
        chosen = self.towers[tower]
        vocabulary = chosen.tokenizer.tokenizer.get_vocab(with_added_tokens=True)
        names = [f"#{row}" for row in range(len(chosen.table))]
        for text, row in vocabulary.items():
            if row < len(names):
                names[row] = text
        return names, chosen.table.float().cpu().numpy()

    def with_tokens(self, tokens: Sequence[tuple[str, dict[str, NDArray[np.float32]]]]) -> Conditioner:
        """A conditioner that also knows learned tokens (textual inversions).

        Parameters
        ----------
        tokens : sequence of (str, dict of str to array)
            Each token's text, and its vectors of shape (n, width) by the tower's name.

        Raises
        ------
        ValueError
            A token has no vectors for a tower, of another width, or is known already.
        """
        return replace(self, towers=tuple(_with_tokens(tower, tokens) for tower in self.towers))

    def _run(self, prompts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        parts, pools = [], []
        for tower in self.towers:
            tokens = tower.tokenizer.encode(prompts)
            ids = torch.from_numpy(tokens.ids).to(self.device)
            end = torch.from_numpy(tokens.mask.sum(1) - 1).to(self.device)
            sequence, pooled = tower.forward(ids, end)
            parts.append(sequence)
            pools.append(pooled)
        sequence = torch.cat(parts, -1)
        missing = self.sequence_dim - sequence.shape[-1]
        sequence = torch.nn.functional.pad(sequence, (0, missing)) if missing else sequence
        return sequence, torch.cat([pools[i] for i in self.pooled], -1)


def _with_tokens(
    tower: PromptTower, tokens: Sequence[tuple[str, dict[str, NDArray[np.float32]]]]
) -> PromptTower:
    rows = []
    for text, vectors in tokens:
        learned = vectors.get(tower.name)
        if learned is None or learned.ndim != 2 or learned.shape[1] != tower.width:
            raise ValueError(f"{text} has no vectors of {tower.width} numbers for {tower.name}")
        rows.append(learned)
    tokenizer = tower.tokenizer.with_tokens([(t, len(r)) for (t, _), r in zip(tokens, rows, strict=True)])
    first = tower.tokenizer.size
    if first != len(tower.table):
        raise ValueError(f"{tower.name} has {len(tower.table)} tokens, its tokenizer {first}")
    added = torch.from_numpy(np.concatenate(rows)).to(tower.table)
    return replace(tower, model=_extended(tower.model, added), tokenizer=tokenizer)


def _extended(model: Any, added: torch.Tensor) -> Any:
    """A model with a longer token table that shares all other weights with the given one."""
    memo = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    longer = copy.deepcopy(model, memo)
    table = torch.cat([model.embeddings.token_embedding.weight, added])
    longer.embeddings.token_embedding = torch.nn.Embedding(
        len(table), table.shape[1], _weight=table
    ).requires_grad_(False)
    return longer


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    cosine: NDArray[np.float32] = (a * b).sum(-1) / np.maximum(lengths, 1e-12)
    return cosine
