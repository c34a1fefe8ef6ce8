"""The query line's grammar: ``2*paris - france + "new york"``, ``#123``, a plain sentence.

A query is terms joined by ``+`` and ``-``. A term is a bare token, ``"a quoted label"`` (a
backslash escapes a quotation mark or itself) or ``#row``, with an optional weight ``2*`` before
it. Terms part at blanks only, as tokens do: ``well-known`` is one token, so an operator stands
alone between blanks, at the start of the text, or against something that no token starts with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import copysign, isfinite
from typing import Literal

from explorer.core.errors import ExplorerError


@dataclass(frozen=True)
class Term:
    """One term as typed.

    Attributes
    ----------
    weight : float
        Sign and factor together.
    text : str or None
        The label asked for; None where a row is named.
    row : int or None
        The row of ``#row``.
    quoted : bool
        Written in quotes: taken to the letter.
    start, end : int
        Where the term (without its operator) stands in the query text.
    """

    weight: float
    text: str | None
    row: int | None
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True)
class RowTerm:
    """A term whose row is known."""

    weight: float
    row: int


@dataclass(frozen=True)
class Operator:
    """A ``+`` or ``-`` and where it stands in the query text."""

    sign: Literal["+", "-"]
    at: int


@dataclass(frozen=True)
class Query:
    """A query text and what is understood of it.

    Attributes
    ----------
    text : str
    terms : tuple of Term
    operators : tuple of Operator
    is_sentence : bool
        Several bare words and nothing else: one term a word, each of weight 1.
    problem : ExplorerError or None
        Why the text is not, or not yet, a query; the terms are what can be made out so far.
    """

    text: str
    terms: tuple[Term, ...]
    operators: tuple[Operator, ...]
    is_sentence: bool
    problem: ExplorerError | None = None

    def term_at(self, cursor: int) -> Term | None:
        """The term that a cursor before character ``cursor`` stands in or touches the end of."""
        return next((term for term in self.terms if term.start < cursor <= term.end), None)


_BLANKS = " \t\r\n"
_WEIGHT = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t\r\n]*\*"
_LEXEME = re.compile(
    rf"""(?P<blank>[{_BLANKS}]+)
    | (?P<operator>[+-](?=[{_BLANKS}]|\Z|"|\#\d|{_WEIGHT}))
    | (?P<weight>{_WEIGHT})
    | "(?P<quoted>(?:[^"\\]|\\.|\\\Z)*)(?P<close>"?)
    | \#(?P<row>\d{{1,18}})(?=[{_BLANKS}]|\Z)
    | (?P<bare>[^{_BLANKS}]+)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPED = re.compile(r'\\(["\\])')


def parse(text: str) -> Query:
    """Read a query text.

    Raises
    ------
    ExplorerError
        Where the text is no query; the message says what and at which character.
    """
    query = parse_partial(text)
    if query.problem is not None:
        raise query.problem
    return query


def parse_partial(text: str) -> Query:
    """Read a text that may still be being typed; what is wrong with it is in ``problem``."""
    return _Reader(text).query()


def format_term(term: Term) -> str:
    """The term as it would be typed, without its sign; quoted where it has to be."""
    factor = "" if abs(term.weight) == 1 else f"{_format_number(abs(term.weight))}*"
    return factor + (f"#{term.row}" if term.text is None else format_label(term.text))


def format_label(label: str, *, quoted: bool = False) -> str:
    """A label as it is typed in a query: bare where that is wished and read as the same, else quoted."""
    match = None if quoted else _LEXEME.match(label)
    if match is not None and match.lastgroup == "bare" and match.end() == len(label) and label[0] not in "+-":
        return label
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def format_query(terms: Sequence[Term], is_sentence: bool = False) -> str:
    """The text that is parsed into these terms again."""
    if is_sentence:
        return " ".join(term.text or "" for term in terms)
    text = ""
    for term in terms:
        negative = copysign(1, term.weight) < 0
        if text:
            text += " - " if negative else " + "
        elif negative:
            text += "- "
        text += format_term(term)
    return text


def replace_term(query: Query, term: Term, label: str) -> tuple[str, int]:
    """The query's text with one term's label put in place of what was typed, and the place after it."""
    typed = format_term(replace(term, text=label, row=None))
    return query.text[: term.start] + typed + query.text[term.end :], term.start + len(typed)


def spread_operators(text: str, start: int, end: int) -> str:
    """The text with blanks round each ``+`` and ``-`` between two places: ``king-man`` to ``king - man``."""
    return text[:start] + re.sub(r"([+-])", r" \1 ", text[start:end]) + text[end:]


def _format_number(number: float) -> str:
    return str(int(number)) if number == int(number) and number < 1e15 else repr(number)


@dataclass(frozen=True)
class _Lexeme:
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    """Joins a text's lexemes to terms; notes the first thing that is wrong and reads on."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.terms: list[Term] = []
        self.operators: list[Operator] = []
        self.problem: ExplorerError | None = None

    def query(self) -> Query:
        lexemes = list(self.lexemes())
        if not lexemes:
            self.complain("The query is empty.", 'Type a word, "a label in quotes" or #123 for a row.')
        is_sentence = len(lexemes) > 1 and all(lexeme.kind == "bare" for lexeme in lexemes)
        if is_sentence:
            self.terms = [Term(1.0, word.text, None, False, word.start, word.end) for word in lexemes]
        else:
            self.join(lexemes)
        return Query(self.text, tuple(self.terms), tuple(self.operators), is_sentence, self.problem)

    def lexemes(self) -> Iterator[_Lexeme]:
        at = 0
        after_quote = False
        while at < len(self.text):
            match = _LEXEME.match(self.text, at)
            assert match is not None, "every character starts some lexeme"
            kind = "quoted" if match["quoted"] is not None else str(match.lastgroup)
            content, end = match[kind], match.end()
            # A sign at the very start, or against a closing quotation mark, cannot be part of a token.
            if kind == "bare" and content[0] in "+-" and (after_quote or not self.text[:at].strip(_BLANKS)):
                kind, content, end = "operator", content[0], at + 1
            if kind == "quoted":
                content = _ESCAPED.sub(r"\1", content)
                if not match["close"]:
                    self.complain(
                        f"The quotation mark at character {at + 1} is never closed.",
                        'Close it, or ask for a label that holds one as "\\"".',
                    )
            elif after_quote and kind not in ("blank", "operator"):
                self.complain(
                    f"A blank or an operator is missing after the quotation mark at character {at}.",
                    'A quotation mark within a label is written \\".',
                )
            if kind != "blank":
                yield _Lexeme(kind, content, at, end)
            after_quote = kind == "quoted"
            at = end

    def join(self, lexemes: list[_Lexeme]) -> None:
        operator: _Lexeme | None = None
        weight: _Lexeme | None = None
        number = 0
        while number < len(lexemes):
            lexeme = lexemes[number]
            number += 1
            if lexeme.kind == "operator":
                self.take_operator(lexeme, weight or operator)
                operator, weight = lexeme, None
                continue
            if operator is None and weight is None and self.terms:
                self.complain(
                    f"A + or - is missing before {self.text[lexeme.start : lexeme.end]} "
                    f"at character {lexeme.start + 1}.",
                    "Put a label of several words in quotes.",
                )
            if lexeme.kind == "weight":
                if weight is not None:
                    self.complain(f"Two weights follow each other at character {weight.start + 1}.")
                weight = lexeme
                continue
            last = lexeme
            while lexeme.kind == "bare" and number < len(lexemes) and lexemes[number].kind == "bare":
                last = lexemes[number]
                number += 1
            self.take_term(operator, weight, lexeme, last)
            operator = weight = None
        if weight is not None or operator is not None:
            self.nothing_follows(weight or operator)

    def take_operator(self, lexeme: _Lexeme, waiting: _Lexeme | None) -> None:
        if waiting is not None:
            self.nothing_follows(waiting)
        self.operators.append(Operator("-" if lexeme.text == "-" else "+", lexeme.start))

    def take_term(
        self, operator: _Lexeme | None, weight: _Lexeme | None, first: _Lexeme, last: _Lexeme
    ) -> None:
        """Add a term; a run of bare words between operators is one label that holds blanks."""
        factor = 1.0 if weight is None else float(weight.text.rstrip("*" + _BLANKS))
        if not isfinite(factor):
            factor = 1.0
            self.complain(f"The weight at character {(weight or first).start + 1} is too large.")
        sign = -1.0 if operator is not None and operator.text == "-" else 1.0
        start = (weight or first).start
        if first.kind == "row":
            self.terms.append(Term(sign * factor, None, int(first.text), False, start, first.end))
        else:
            content = first.text if first is last else self.text[first.start : last.end]
            self.terms.append(Term(sign * factor, content, None, first.kind == "quoted", start, last.end))

    def nothing_follows(self, waiting: _Lexeme | None) -> None:
        assert waiting is not None
        sign = waiting.text.strip()
        self.complain(
            f"Nothing to {'weigh' if waiting.kind == 'weight' else 'add or subtract'} follows the {sign} "
            f"at character {waiting.start + 1}.",
            f'Write "{sign}" in quotes to ask for the row of that name.',
        )

    def complain(self, message: str, hint: str = "") -> None:
        self.problem = self.problem or ExplorerError(message, hint)
