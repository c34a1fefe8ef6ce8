"""A model's way in for texts: from what was typed to rows of its token table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels, label_of
from explorer.core.stages import LeftOut, StageToken

LONGEST = 2048  # places of a sequence without a position table, or with a longer one
_LONGEST_TEXT = 50_000  # characters


class Tokenizer(Protocol):
    """How a typed text becomes tokens; knows its vocabulary."""

    def __call__(self, text: str, special: bool) -> Tokenized:
        """Tokens of a text, with those that begin and end a sequence where ``special`` asks for them."""


@dataclass(frozen=True)
class Tokenized:
    """A text's tokens, none of them without a row.

    Attributes
    ----------
    tokens : tuple of StageToken
    left_out : tuple of LeftOut
    notes : tuple of str
    closing : int
        How many of the last tokens end the sequence, so that they are kept where it is cut.
    """

    tokens: tuple[StageToken, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    closing: int = 0


@dataclass(frozen=True, eq=False)
class TextSide:
    """A model's way in for texts.

    Attributes
    ----------
    rows : int
        Of its token table.
    limit : int
        Most tokens that it takes.
    labels : Labels or None
    tokenizer : callable or None
        None where there is no vocabulary to read a text with.
    missing : str
        What to say where there is no tokenizer.
    special : bool
        Whether a text is wrapped in the tokens of begin and end where nobody has said: what a model makes of
        a text without them is of little use.
    """

    rows: int
    limit: int
    labels: Labels | None = None
    tokenizer: Tokenizer | None = None
    missing: str = ""
    special: bool = False

    def tokens_of(self, ids: Sequence[int]) -> tuple[StageToken, ...]:
        """Given ids with their names.

        Raises
        ------
        ExplorerError
            An id is not one of a row.
        """
        wrong = next((id_ for id_ in ids if not 0 <= id_ < self.rows), None)
        if wrong is not None:
            raise ExplorerError(
                f"There is no token {wrong}: the table has {self.rows:,} rows.",
                f"Give ids from 0 to {self.rows - 1:,}." if self.rows else "",
            )
        return tuple(StageToken(id_, label_of(self.labels, id_)) for id_ in ids)

    def read(self, text: str, special: bool | None) -> Tokenized:
        """A typed text's tokens.

        Parameters
        ----------
        text : str
        special : bool or None
            As in ``Tokenizer``; None where nobody has said.

        Raises
        ------
        ExplorerError
            There is no vocabulary to read it with.
        """
        if self.tokenizer is None:
            raise ExplorerError(
                self.missing or "There is no vocabulary to read a text with.",
                "Add the vocabulary, or give token ids (5 17 3).",
            )
        kept = re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text[:_LONGEST_TEXT])
        found = self.tokenizer(kept, self.special if special is None else special)
        if len(text) > _LONGEST_TEXT:
            note = f"Only the first {_LONGEST_TEXT:,} of {len(text):,} characters are read."
            return replace(found, notes=(note, *found.notes))
        return found

    def cut(self, tokenized: Tokenized) -> tuple[tuple[StageToken, ...], list[str]]:
        """As many tokens as the model takes, those that end a sequence among them, and what to say of it.

        Raises
        ------
        ExplorerError
            The model takes none.
        """
        if self.limit < 1:
            raise ExplorerError("This model's position table has no row for any token.")
        tokens, closing = tokenized.tokens, tokenized.closing
        if len(tokens) <= self.limit:
            return tokens, []
        kept = (*tokens[: self.limit - closing], *tokens[len(tokens) - closing :])
        taken = f"Only {self.limit:,} of the {len(tokens):,} tokens are taken"
        return kept, [f"{taken}, as many as this model reads at once."]
