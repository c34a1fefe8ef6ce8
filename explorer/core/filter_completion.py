"""What may come next in a condition that is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from explorer.core.columns import Column, Kind
from explorer.core.filter_query import FilterError, Token, as_typed, tokens_of

MOST = 50
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
    """

    start: int
    end: int
    options: tuple[str, ...]


def completions(text: str, at: int, columns: Mapping[str, Column]) -> Completions:
    """What the word at the cursor may become.

    Parameters
    ----------
    text : str
    at : int
        Where the cursor stands.
    columns : mapping of str to Column
    """
    before, partial = _before(text[:at])
    options: Iterable[str]
    column = _compared_column(before, columns)
    if column is not None:
        options = map(as_typed, _values(column))
    else:
        last = _column(before[-1], columns) if before else None
        if last is not None and not (len(before) > 1 and _ends_comparison(before[-2])):
            options = _AFTER[last.kind]
        else:
            options = (*map(as_typed, columns), *(("and", "or") if before else ()), "not")
    return Completions(partial.start, at, _fitting(options, partial.text))


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


def _column(token: Token, columns: Mapping[str, Column]) -> Column | None:
    if token.kind not in ("word", "quoted"):
        return None
    named = next((name for name in columns if name.casefold() == token.text.casefold()), None)
    return None if named is None else columns[named]


def _ends_comparison(token: Token) -> bool:
    return token.kind == "operator" or token.is_word(*_COMPARING)


def _compared_column(before: list[Token], columns: Mapping[str, Column]) -> Column | None:
    """The column whose value comes next; None where something else does."""
    at = len(before) - 1
    if at >= 0 and (before[at].is_mark(",") or before[at].is_mark("(")):
        while at > 0 and not before[at].is_word("in") and not before[at].is_mark(")"):
            at -= 1
        if not before[at].is_word("in"):
            return None
    if at < 1 or not _ends_comparison(before[at]):
        return None
    return _column(before[at - 1], columns)


def _values(column: Column) -> tuple[str, ...]:
    if column.kind is Kind.BOOLEAN:
        return ("yes", "no")
    if column.kind is Kind.LIST:
        return column.items.names
    return column.categories.names if column.kind is Kind.CATEGORY or column.is_coded else ()


def _fitting(options: Iterable[str], typed: str) -> tuple[str, ...]:
    """Those that begin with what is typed, then those that hold it, in upper or lower case."""
    folded = typed.casefold()
    known = [(option, option.casefold().lstrip('"')) for option in options]
    begins = [option for option, plain in known if plain.startswith(folded) and plain != folded]
    holds = [option for option, plain in known if folded and folded in plain and not plain.startswith(folded)]
    return tuple((begins + holds)[:MOST])
