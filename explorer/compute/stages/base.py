"""A model that is kept and run many times, and what every family of models has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.text_side import TextSide, Tokenized
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.stages import (
    Attention,
    Heads,
    Needs,
    Of,
    Patches,
    Stage,
    Stages,
    StageToken,
)
from explorer.core.table import OpenedFile
from explorer.core.typed_ids import typed_ids


@dataclass(frozen=True, eq=False)
class Opening:
    """What a family opens its model from.

    Attributes
    ----------
    path : Path
    weights : Weights
        Without the prefixes of training wrappers.
    opened : OpenedFile
        The file's tables, with the labels that were found or chosen.
    heads : int or None
        Attention heads, where a person has said.
    chosen : Path or None
        The vocabulary that was chosen by hand.
    """

    path: Path
    weights: Weights
    opened: OpenedFile
    heads: int | None = None
    chosen: Path | None = None

    @property
    def folder(self) -> Path:
        """Where files that belong to the model lie."""
        return self.path if self.path.is_dir() else self.path.parent

    def labels(self, tensor: str) -> Labels | None:
        """The names of a token table's rows; of its tensor by the name that the weights give it."""
        rows = self.weights.shape(tensor)[0]
        for table in self.opened.tables:
            names = (table.name, *table.aliases)
            if table.rows == rows and any(name == tensor or name.endswith(f".{tensor}") for name in names):
                return table.labels
        return None


class NotRun(ExplorerError):  # noqa: N818 - named for what happens
    """A model that is known, but not run: its rows can still be looked up.

    Parameters
    ----------
    name : str
        What it is, in words.
    why : str
        What is not computed, a sentence.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


@dataclass(frozen=True, eq=False)
class Input:
    """What a family's model is run on.

    Attributes
    ----------
    ids : int64 tensor, shape (n,), or None
    picture : PIL.Image.Image in RGB, or None
    side : str or None
        "source" or "target" in a model that has both.
    source : int64 tensor, shape (m,), or None
        What a translator's target side looks at.
    tell : callable
        Told after each layer of a large model what share is done; what it raises (Cancelled) ends the run.
    """

    ids: torch.Tensor | None
    picture: Image.Image | None
    side: str | None
    source: torch.Tensor | None = None
    tell: Callable[[float], None] = lambda share: None


@dataclass(frozen=True, eq=False)
class Computed:
    """What a family's model gives: all stages but ``ids`` and ``one-hot``, which the frame adds."""

    stages: tuple[Stage, ...]
    attentions: tuple[Attention, ...] = ()
    patches: Patches | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class StageModel:
    """A model ready to be run: loaded once, kept, and run for every text or picture.

    Attributes
    ----------
    name : str
        What it is, in words, e.g. ``"word LSTM"``.
    path : Path
    needs : Needs
    compute : callable
        From an ``Input`` to what it computes; called without gradients.
    texts : mapping of str to TextSide
        Its ways in for text by side, the usual one first: ``"source"`` and ``"target"`` in a translator, else
        only ``""``; empty where it takes none.
    notes : tuple of str
        What was assumed in opening it.
    threads : int
        On which it is computed.
    heads : Heads or None
        Into which its attention is split; None where it has none, or another number would not fit.
    source_of : mapping of str to str
        For a side whose layers look at a text of the other side: the side of the text to give beside it.
    """

    name: str
    path: Path
    needs: Needs
    compute: Callable[[Input], Computed]
    texts: Mapping[str, TextSide] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    threads: int = 1
    heads: Heads | None = None
    source_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides to choose from; empty where there is nothing to choose."""
        return tuple(side for side in self.texts if side)

    def run(
        self,
        text: str = "",
        *,
        ids: Sequence[int] | None = None,
        picture: Image.Image | None = None,
        side: str | None = None,
        special: bool | None = None,
        source: str = "",
        tell: Callable[[float], None] = lambda share: None,
    ) -> Stages:
        """Take a text, ids or a picture through the model's stages.

        Parameters
        ----------
        text : str
            ``"#5 #17"`` are rows of the token table, and where there is no vocabulary ``"5 17"`` too.
        ids : sequence of int, optional
            Instead of a text.
        picture : PIL.Image.Image in RGB, optional
        side : {"source", "target"}, optional
            The first of ``sides`` where not given.
        special : bool, optional
            Whether a text is wrapped in the tokens that begin and end a sequence; as is usual for the model
            where not given.
        source : str
            What a translator's target side looks at, typed as ``text`` is; without it, that side stops
            before its decoder.
        tell : callable
            As in ``Input``.

        Raises
        ------
        ExplorerError
            There is nothing to run, or not what this model needs.
        """
        way = self._way(side)
        tokenized = self._tokens(way, text, ids, special)
        self._check(tokenized, picture)
        notes: list[str] = []
        tokens: tuple[StageToken, ...] = ()
        first: list[Stage] = []
        if tokenized is not None and way is not None:
            tokens, cut = way[1].cut(tokenized)
            notes += [*tokenized.notes, *cut]
            first = _first_stages(tokens, way[1].rows)
        ids_of = torch.tensor([token.id for token in tokens]) if tokens else None
        looked_at, said = self._source(way, source, special)
        notes += said
        source_of = torch.tensor([token.id for token in looked_at]) if looked_at else None
        named = None if way is None or not way[0] else way[0]
        computed = self._compute(Input(ids_of, picture, named, source_of, tell))
        stages = _placed(first, computed.stages)
        notes += [*computed.notes, *_faults(stages), *self.notes]
        left_out = () if tokenized is None else tokenized.left_out
        if not tokens and computed.patches is not None:
            tokens = computed.patches.tokens
        return Stages(
            self.name,
            tokens,
            stages,
            computed.attentions,
            computed.patches,
            tuple(each for each in left_out if each.before <= len(tokens)),
            tuple(dict.fromkeys(notes)),
            looked_at,
        )

    def tokens(self, text: str, *, side: str | None = None, special: bool = False) -> Tokenized:
        """How a text is split, without running the model.

        Raises
        ------
        ExplorerError
            The model reads no text, or there is no vocabulary to read it with.
        """
        return self._tokens(self._way(side), text, None, special) or Tokenized(())

    def _compute(self, given: Input) -> Computed:
        try:
            with torch.inference_mode(), _threads(self.threads):
                return self.compute(given)
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise ExplorerError("This takes more memory than there is.", detail=str(error)) from error
        except (RuntimeError, ValueError, IndexError) as error:  # torch's own, where shapes do not fit
            raise ExplorerError(
                f"{self.path.name} cannot be run: its tensors do not fit each other.", detail=str(error)
            ) from error

    def _way(self, side: str | None) -> tuple[str, TextSide] | None:
        if side is not None and side not in self.texts:
            has = f"It has {' and '.join(self.sides)}." if self.sides else "Leave the side out."
            raise ExplorerError(f"A {self.name} has no {side} side.", has)
        return next(((name, way) for name, way in self.texts.items() if side in (None, name)), None)

    def _tokens(
        self, way: tuple[str, TextSide] | None, text: str, ids: Sequence[int] | None, special: bool | None
    ) -> Tokenized | None:
        """Tokens of what was given; None where nothing was."""
        if ids is None and not text.strip():
            return None
        if way is None:
            raise ExplorerError(f"A {self.name} reads no text.", "Give it a picture.")
        if ids is None:
            ids = typed_ids(text, bare=way[1].tokenizer is None)
        return way[1].read(text, special) if ids is None else Tokenized(way[1].tokens_of(ids))

    def _source(
        self, way: tuple[str, TextSide] | None, text: str, special: bool | None
    ) -> tuple[tuple[StageToken, ...], list[str]]:
        """Tokens of the text to look at, and what to say of them; none where none was given."""
        if not text.strip():
            return (), []
        side = None if way is None else self.source_of.get(way[0])
        if side is None and self.source_of:
            raise ExplorerError(
                f"On this side a {self.name} looks at no source sentence.",
                "Choose the target side, or leave the source out.",
            )
        if side is None:
            raise ExplorerError(f"A {self.name} looks at no source sentence.", "Leave the source out.")
        found = self._tokens((side, self.texts[side]), text, None, special)
        if found is None or not found.tokens:
            raise ExplorerError("None of the source's words is in the vocabulary.", "Type known words.")
        tokens, cut = self.texts[side].cut(found)
        return tokens, [*found.notes, *cut]

    def _check(self, tokenized: Tokenized | None, picture: Image.Image | None) -> None:
        if picture is not None and self.needs in (Needs.TEXT, Needs.EVENTS):
            raise ExplorerError(f"A {self.name} reads no pictures.", "Give it a text.")
        if tokenized is not None and not tokenized.tokens:
            raise ExplorerError(
                "None of these words is in the model's vocabulary."
                if tokenized.left_out
                else "There is no token in this text.",
                "Type events, e.g. note_on_60 time_shift_10."
                if self.needs is Needs.EVENTS
                else "Type a text of known words.",
            )
        wanted = {
            Needs.TEXT: (tokenized is not None, "Type a text, or give token ids."),
            Needs.EVENTS: (
                tokenized is not None,
                "Type events, e.g. note_on_60 time_shift_10, or give token ids.",
            ),
            Needs.PICTURE: (picture is not None, "Choose a picture."),
            Needs.PICTURE_AND_TEXT: (
                tokenized is not None or picture is not None,
                "Choose a picture; a caption may be typed with it.",
            ),
            Needs.EITHER: (tokenized is not None or picture is not None, "Type a text, or choose a picture."),
        }
        given, hint = wanted[self.needs]
        if not given:
            raise ExplorerError(f"There is nothing for this {self.name} to work on.", hint)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Compute on so many threads: beside busy programs, two ran a small model 20 times slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stage(name: str, values: torch.Tensor, how: str = "", of: Of = Of.TOKENS, first: int = 0) -> Stage:
    """A stage of a tensor of shape (n, dim) or (dim,)."""
    # A copy: what is shown must not change, nor keep a larger tensor alive.
    array: NDArray[np.float32] = np.array(values.detach().numpy(), np.float32, order="C")
    return Stage(name, array.shape, array, how, of, first)


def _first_stages(tokens: tuple[StageToken, ...], rows: int) -> list[Stage]:
    ids = np.array([token.id for token in tokens], np.int64)
    return [
        Stage("ids", ids.shape, ids, "rows of the token table"),
        Stage("one-hot", (len(ids), rows), None, "a 1 at each id, never built"),
    ]


def _placed(first: Sequence[Stage], computed: Sequence[Stage]) -> tuple[Stage, ...]:
    """All stages in order: ``ids`` and ``one-hot`` stand before the lookup, after a picture's stages."""
    at = next((i for i, each in enumerate(computed) if each.name == "looked up"), 0)
    stages = (*computed[:at], *first, *computed[at:])
    names = [each.name for each in stages]
    assert len(set(names)) == len(names), names
    return stages


def _faults(stages: Sequence[Stage]) -> list[str]:
    for each in stages:
        if each.values is not None and not np.isfinite(each.values).all():
            return [
                f"From the stage “{each.name}” on there are numbers that are infinite or no numbers (NaN)."
            ]
    return []
