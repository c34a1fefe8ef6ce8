"""What a model makes of a row after the lookup: its stages as matrices, and where its attention looks.

Row *i* of a stage stands for token ``first + i`` of the stage's sequence, in every stage of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Needs(StrEnum):
    """What a model is given to work on."""

    TEXT = "text"
    EVENTS = "events"
    PICTURE = "picture"
    PICTURE_AND_TEXT = "picture and text"
    EITHER = "picture or text"


class Of(StrEnum):
    """Which sequence a matrix's rows stand for."""

    TOKENS = "tokens"
    PATCHES = "patches"
    SOURCE = "source"


@dataclass(frozen=True)
class StageToken:
    """One place of a sequence.

    Attributes
    ----------
    id : int or None
        The row of the token table; None for what has none, such as a picture's class token.
    label : str
        The row's name as shown everywhere; for an unknown token, the text as it was typed.
    known : bool
        Whether the vocabulary has a row of its own for it.
    """

    id: int | None
    label: str
    known: bool = True


@dataclass(frozen=True)
class LeftOut:
    """A typed token that the model has no row for, not even one for unknown tokens.

    Attributes
    ----------
    label : str
        As it was typed.
    before : int
        The place in the sequence that it would have had: it stood before token ``before``.
    """

    label: str
    before: int


@dataclass(frozen=True, eq=False)
class Stage:
    """A matrix on the way through a model.

    Attributes
    ----------
    name : str
        Unique within a run, e.g. ``"looked up"``, ``"after layer 1"``.
    shape : tuple of int
        ``(n, dim)``; ``(n,)`` for ids; ``(dim,)`` for a pooled vector.
    values : array of that shape, float32 (ids: int64), or None
        None for a matrix that is never built (one-hot).
    how : str
        What was done to get here, in a few words, e.g. ``"× √256 = 16"``.
    of : Of
        Which sequence the rows stand for.
    first : int
        The place in that sequence of the stage's first row.
    """

    name: str
    shape: tuple[int, ...]
    values: NDArray | None
    how: str = ""
    of: Of = Of.TOKENS
    first: int = 0


@dataclass(frozen=True, eq=False)
class Patches:
    """A picture as a model sees it, and how it is cut.

    Attributes
    ----------
    pixels : uint8 array, shape (height, width, 3)
        After resizing and cropping, before any normalising.
    rows, columns : int
        Of the grid; patch ``row * columns + column`` is read row by row.
    class_token : bool
        Whether a class token stands before the patches in the sequence.
    """

    pixels: NDArray[np.uint8]
    rows: int
    columns: int
    class_token: bool

    @property
    def tokens(self) -> tuple[StageToken, ...]:
        """The sequence that the model makes of it."""
        cells = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        patches = [StageToken(i, f"patch {row + 1},{column + 1}") for i, (row, column) in enumerate(cells)]
        return (StageToken(None, "class token"), *patches) if self.class_token else tuple(patches)

    def crop(self, patch: int) -> NDArray[np.uint8]:
        """The pixels of one patch, counted from 0 without the class token."""
        row, column = divmod(patch, self.columns)
        height, width = self.pixels.shape[0] // self.rows, self.pixels.shape[1] // self.columns
        return self.pixels[row * height : (row + 1) * height, column * width : (column + 1) * width]


@dataclass(frozen=True)
class Heads:
    """Into how many heads a model's attention is split.

    Attributes
    ----------
    count : int
    width : int
        What they share.
    is_guess : bool
        Whether neither file nor person said so.
    is_told : bool
        Whether the file, or a configuration beside it, says so.
    keys : int
        Their width in a model of rotary positions, where several heads may share one; 0 in others.
    """

    count: int
    width: int
    is_guess: bool = False
    is_told: bool = False
    keys: int = 0

    @property
    def choices(self) -> tuple[int, ...]:
        """All numbers that divide the width; with rotary positions, into heads of pairs that fit the keys."""
        divisors = [count for count in range(1, self.width + 1) if self.width % count == 0]
        if not self.keys:
            return tuple(divisors)
        widths = [self.width // count for count in divisors]
        fits = [width % 2 == 0 and self.keys % width == 0 for width in widths]
        return tuple(count for count, fit in zip(divisors, fits, strict=True) if fit)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say of a guess."""
        if not self.is_guess:
            return ()
        return (
            f"The file does not say how many heads its attention has: {self.count} are taken, as is usual.",
        )


@dataclass(frozen=True)
class AttentionShape:
    """What can be asked of where places look.

    Attributes
    ----------
    name : str
        Unique within a run, e.g. ``"self-attention"``, ``"cross-attention"``.
    layers, heads : int
    queries, keys : Of
        The sequences that look, and that are looked at.
    """

    name: str
    layers: int
    heads: int
    queries: Of
    keys: Of


@dataclass(frozen=True, eq=False)
class Attention(AttentionShape):
    """Where each place looks; computed for a layer when it is asked for.

    Attributes
    ----------
    weights : callable
        From a layer, counted from 1, to a float32 array of shape ``(heads, queries, keys)`` whose rows sum
        to 1.
    """

    weights: Callable[[int], NDArray[np.float32]]

    @property
    def shape(self) -> AttentionShape:
        """What can be asked of it, without what answers."""
        return AttentionShape(self.name, self.layers, self.heads, self.queries, self.keys)


@dataclass(frozen=True, eq=False)
class Stages:
    """One run of a model.

    Attributes
    ----------
    model : str
        What the model is, in words.
    tokens : tuple of StageToken
        The typed sequence; for a picture alone, its patches.
    stages : tuple of Stage
        In the order in which they are computed.
    attentions : tuple of Attention
    patches : Patches or None
        The picture, where one was given.
    source : tuple of StageToken
        The sentence that a translator's decoder looks at, where one was given.
    left_out : tuple of LeftOut
    notes : tuple of str
        What the user should know of it, one sentence each.
    """

    model: str
    tokens: tuple[StageToken, ...]
    stages: tuple[Stage, ...]
    attentions: tuple[Attention, ...] = ()
    patches: Patches | None = None
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    source: tuple[StageToken, ...] = ()

    def __getitem__(self, name: str) -> Stage:
        """The stage of a name; KeyError where the model has none."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(name)

    def sequence(self, of: Of) -> tuple[StageToken, ...]:
        """The places that a stage's rows, or an attention's, stand for."""
        if of is Of.PATCHES and self.patches is not None:
            return self.patches.tokens
        return self.source if of is Of.SOURCE else self.tokens


@dataclass(frozen=True, eq=False)
class Phrases:
    """Phrases as a table.

    Attributes
    ----------
    vectors : float32 array, shape (n, dim)
        Row *i* is phrase *i*; NaN where it could not be encoded.
    labels : tuple of str
    how : str
        What a vector is, in words, e.g. ``"the mean over all tokens"``.
    notes : tuple of str
        Which could not be encoded, and why.
    """

    vectors: NDArray[np.float32]
    labels: tuple[str, ...]
    how: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TokenComparison:
    """A token in two sentences, at one stage.

    Attributes
    ----------
    stage : str
    cosine : float
        NaN where a vector is zero.
    distance : float
        Euclidean.
    vectors : float32 array, shape (2, dim)
    """

    stage: str
    cosine: float
    distance: float
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class StageModelInfo:
    """A model that was opened to be run stage by stage, as the window knows it.

    Attributes
    ----------
    name : str
        What it is, in words.
    path : str
    needs : Needs
    sides : tuple of str
        To choose from; empty where there is nothing to choose.
    reads : tuple of str
        The sides (``""`` without any) whose texts can be read: that have a vocabulary.
    special : bool
        Whether a text is wrapped in the tokens that begin and end a sequence where nobody has said.
    wraps : tuple of str
        The sides whose vocabulary names such tokens.
    notes : tuple of str
    heads : Heads or None
        None where there are none, or no choice.
    names : tuple of str
        All that can be typed, where they are few: a music model's events.
    source_of : mapping of str to str
        For a side whose layers look at a text of the other side: the side of the text to give beside it.
    """

    name: str
    path: str
    needs: Needs
    sides: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    special: bool = False
    wraps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    heads: Heads | None = None
    names: tuple[str, ...] = ()
    source_of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StageRun:
    """A run whose attention is fetched layer by layer.

    Attributes
    ----------
    id : int
        Names the run to the worker, until the next.
    stages : Stages
        Without its attentions.
    attentions : tuple of AttentionShape
    """

    id: int
    stages: Stages
    attentions: tuple[AttentionShape, ...] = ()
