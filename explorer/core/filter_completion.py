"""What may come next in a condition that is being typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from explorer.core.columns import Column, Kind
from explorer.core.filter_query import FilterError, Token, as_typed, tokens_of

MOST = 50
MOST_SEARCHED = 50_000
"""Of more values, the commonest are proposed: a key's answer must not wait for the others."""
_AFTER = {
    Kind.NUMBER: (">=", "<=", "=", ">", "<", "!=", "is missing"),
    Kind.DATE: (">=", "<", "=", "is missing"),
    Kind.BOOLEAN: ("= yes", "= no", "is missing"),
    Kind.CATEGORY: ("=", "!=", "in (", "contains", "~ /", "is missing"),
    Kind.LIST: ("=", "!=", "contains", "is missing"),
    Kind.TEXT: ("contains", "~ /", "!~ /", "=", "is missing"),
}
_COMPARING = ("contains", "in")


@dataclass(frozen=True)
class Completions:
    """Texts that may take the place of a part of the condition.

    Attributes
    ----------
    start, end : int
        The part of the text that an option replaces.
    options : tuple of str
        As they are typed, the likeliest first.
    awaits : str
        A column that has to be read before what comes next can be told; blank for none.
    """

    start: int
    end: int
    options: tuple[str, ...]
    awaits: str = ""


def completions(text: str, at: int, columns: Mapping[str, Column | None]) -> Completions:
    """What the word at the cursor may become.

    Parameters
    ----------
    text : str
    at : int
        Where the cursor stands.
    columns : mapping of str to Column
        None for one that was not read yet.
    """
    before, partial = _before(text[:at])

    def found(options: tuple[str, ...]) -> Completions:
        return Completions(partial.start, at, options)

    name = _compared_name(before, columns)
    compared = name is not None
    if name is None and before and not (len(before) > 1 and _ends_comparison(before[-2])):
        name = _name(before[-1], columns)
    if name is None:
        words = (*(("and", "or") if before else ()), "not")
        return found((*_fitting(columns, partial.text, as_typed), *_fitting(words, partial.text))[:MOST])
    column = columns[name]
    if column is None:
        return Completions(partial.start, at, (), awaits=name)
    if compared:
        return found(_fitting(_values(column)[:MOST_SEARCHED], partial.text, as_typed))
    return found(_fitting(_AFTER[column.kind], partial.text))


def _before(text: str) -> tuple[list[Token], Token]:
    """The tokens before the cursor, and the one that is being typed, maybe empty."""
    try:
        tokens = tokens_of(text)[:-1]
    except FilterError as error:
        tokens = tokens_of(text[: error.start])[:-1]
        return tokens, Token("word", text[error.start + 1 :], error.start, len(text))
    if tokens and tokens[-1].kind == "word" and tokens[-1].end == len(text):
        return tokens[:-1], tokens[-1]
    return tokens, Token("word", "", len(text), len(text))


def _name(token: Token, columns: Iterable[str]) -> str | None:
    """The column that a token names, in upper or lower case."""
    if token.kind not in ("word", "quoted"):
        return None
    return next((name for name in columns if name.casefold() == token.text.casefold()), None)


def _ends_comparison(token: Token) -> bool:
    return token.kind == "operator" or token.is_word(*_COMPARING)


def _compared_name(before: list[Token], columns: Iterable[str]) -> str | None:
    """The column whose value comes next; None where something else does."""
    at = len(before) - 1
    if at >= 0 and (before[at].is_mark(",") or before[at].is_mark("(")):
        while at > 0 and not before[at].is_word("in") and not before[at].is_mark(")"):
            at -= 1
        if not before[at].is_word("in"):
            return None
    if at < 1 or not _ends_comparison(before[at]):
        return None
    return _name(before[at - 1], columns)


def _values(column: Column) -> tuple[str, ...]:
    if column.kind is Kind.BOOLEAN:
        return ("yes", "no")
    if column.kind is Kind.LIST:
        return column.items.names
    return column.categories.names if column.kind is Kind.CATEGORY or column.is_coded else ()


def _fitting(options: Iterable[str], typed: str, spelled: Callable[[str], str] = str) -> tuple[str, ...]:
    """Those that begin with what is typed, then those that hold it, in upper or lower case, as typed."""
    folded = typed.casefold()
    known = [(option, option.casefold()) for option in options]
    begins = [option for option, plain in known if plain.startswith(folded) and plain != folded]
    holds = [option for option, plain in known if folded and folded in plain and not plain.startswith(folded)]
    return tuple(map(spelled, (begins + holds)[:MOST]))
