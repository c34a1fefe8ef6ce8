"""The language of conditions that rows are filtered by.

::

    year >= 1990 and kind = noun        columns against values; or, not, parentheses
    kind in (noun, verb)                one of several
    "release year" < 2000               names and values with blanks stand in quotation marks
    date < 2020-01-01, date = 2020-05   days, months and years; = means within
    caption contains dog                anywhere in the text, in upper or lower case
    label ~ /ing$/                      a regular expression (/…/i: in upper or lower case), !~ not
    score is missing, year is known     where there is no value, or one
    "new york", /ing$/, dog             on their own: of the label
    dog year > 2000                     side by side is "and"

Beside the table's columns there are ``label``, ``row`` (from 0), ``rank`` (from 1), ``norm``,
``cluster``, ``score`` (similarity to the query), ``trust`` and ``state``. Keywords and names may be
in upper or lower case. Regular expressions are RE2's, which never run away: no lookaround, no
backreferences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.core.errors import ExplorerError

EXAMPLES = (
    ("year >= 1990 and kind = noun", "columns; or, not, brackets"),
    ("kind in (noun, verb)", "one of several"),
    ("date < 2020-01-01, date = 2020-05", "days, months, years"),
    ("caption contains dog", "a text within"),
    ("label ~ /ing$/, label !~ /^un/i", "a regular expression, or not"),
    ('"new york", /ing$/, dog', "within the label"),
    ("score > 0.5", "similarity to the query"),
    ("rank < 1000, norm > 2, cluster = 3, trust < 0.2", "what the session knows"),
    ("year is missing, year is known", "with no value, or one"),
)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "~", "!~", "contains", "in", "is")
KEYWORDS = ("and", "or", "not")
MOST_NESTED = 100

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<pattern>/(?:[^/\\]|\\.)+/i?(?=[\s)]|$))
    |(?P<operator><=|>=|!=|==|!~|=|<|>|~)
    |(?P<mark>[(),])
    |(?P<word>(?:[^\s()<>=!~,"]|!(?![=~]))+)
    |(?P<broken>\S)
    )""",
    re.VERBOSE,
)


class FilterError(ExplorerError):
    """A condition that cannot be understood or held against the table.

    Attributes
    ----------
    start, end : int
        Where in the text the fault lies.
    """

    def __init__(self, message: str, hint: str = "", *, start: int, end: int) -> None:
        super().__init__(message, hint)
        self.start = start
        self.end = end


@dataclass(frozen=True)
class Token:
    """A piece of a condition.

    Attributes
    ----------
    kind : {"quoted", "pattern", "operator", "mark", "word", "end"}
    text : str
        What it says, without quotation marks or slashes.
    start, end : int
        Where it stands.
    """

    kind: str
    text: str
    start: int
    end: int

    def is_mark(self, mark: str) -> bool:
        """Whether it is that bracket or comma, not in quotation marks."""
        return self.kind == "mark" and self.text == mark

    def is_word(self, *words: str) -> bool:
        """Whether it is one of some keywords, not in quotation marks."""
        return self.kind == "word" and self.text.lower() in words


@dataclass(frozen=True)
class Comparison:
    """A column held against values.

    Attributes
    ----------
    column : Token
    operator : str
        One of ``OPERATORS``; ``is`` has the value ``missing``.
    values : tuple of Token
        One, or several for ``in``.
    """

    column: Token
    operator: str
    values: tuple[Token, ...]


@dataclass(frozen=True)
class LabelText:
    """A text or a pattern that the label has to hold."""

    value: Token


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True)
class And:
    """All of several conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """At least one of several conditions."""

    parts: tuple[Condition, ...]


Condition = Comparison | LabelText | Not | And | Or


def parse_filter(text: str) -> Condition | None:
    """Understand a condition; None where the text is blank.

    Parameters
    ----------
    text : str

    Raises
    ------
    FilterError
        With the place of the fault.
    """
    tokens = tokens_of(text)
    if tokens[0].kind == "end":
        return None
    return _Parser(tokens).whole()


def tokens_of(text: str) -> list[Token]:
    """Split a condition; the last token, of kind ``end``, is empty.

    Raises
    ------
    FilterError
        Where a quotation mark is not closed.
    """
    tokens: list[Token] = []
    at = 0
    while match := _TOKEN.match(text, at):
        kind = match.lastgroup or ""
        raw, start, at = match.group(kind), match.start(kind), match.end(kind)
        if kind == "broken":
            raise FilterError(f"{_place(start)}: {_broken(raw)}", start=start, end=len(text))
        tokens.append(Token(kind, _meant(kind, raw), start, at))
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


def columns_in(condition: Condition | None) -> set[str]:
    """The names of all columns that a condition speaks of, as typed."""
    match condition:
        case Comparison(column):
            return {column.text}
        case LabelText():
            return {"label"}
        case Not(part):
            return columns_in(part)
        case And(parts) | Or(parts):
            return set().union(*map(columns_in, parts))
    return set()


def as_typed(value: str) -> str:
    """A name or value as it has to be typed: in quotation marks where it would be misread."""
    match = _TOKEN.fullmatch(value)
    plain = match is not None and match.lastgroup == "word" and value == value.strip()
    if plain and value.lower() not in (*KEYWORDS, *OPERATORS) and not value.startswith(("'", "/")):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _meant(kind: str, raw: str) -> str:
    if kind == "quoted":
        return re.sub(r"\\(.)", r"\1", raw[1:-1], flags=re.DOTALL)
    if kind == "pattern":
        pattern = raw.rstrip("i") if raw.endswith("/i") else raw
        pattern = pattern[1:-1].replace("\\/", "/")
        return f"(?i){pattern}" if raw.endswith("/i") else pattern
    return "=" if raw == "==" else raw


def _broken(raw: str) -> str:
    if raw in "\"'":
        return "this quotation mark is not closed."
    return f"{raw} does not belong here."


def _place(start: int) -> str:
    return f"Position {start + 1}"


class _Parser:
    """Reads tokens by recursive descent, one method a rule of the grammar."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._nested = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def whole(self) -> Condition:
        condition = self._either()
        if self._next.kind != "end":
            raise self._fault(f"{self._next.text} does not belong here")
        return condition

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._next.is_word("or"):
            self._take()
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Condition:
        parts = [self._one()]
        while not self._next.is_word("or") and self._next.kind != "end" and not self._next.is_mark(")"):
            if self._next.is_word("and"):
                self._take()
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self) -> Condition:
        self._nested += 1
        if self._nested > MOST_NESTED:
            raise self._fault("this is nested too deeply")
        try:
            return self._nested_one()
        finally:
            self._nested -= 1

    def _nested_one(self) -> Condition:
        token = self._take()
        if token.is_word("not"):
            return Not(self._one())
        if token.is_mark("("):
            inside = self._either()
            if not self._take().is_mark(")"):
                raise FilterError(
                    f"{_place(token.start)}: this bracket is not closed.", start=token.start, end=token.end
                )
            return inside
        if token.kind == "pattern":
            return LabelText(token)
        if token.kind not in ("word", "quoted") or token.is_word(*KEYWORDS):
            self._at -= token.kind != "end"
            raise self._fault(
                "a condition is missing" if token.kind == "end" else f"{token.text} stands alone"
            )
        if self._next.kind == "operator" or self._next.is_word("contains", "in", "is"):
            return self._comparison(token)
        return LabelText(token)

    def _comparison(self, column: Token) -> Condition:
        operator = self._take().text.lower()
        if operator == "is":
            negated = self._next.is_word("not") and bool(self._take())
            if not self._next.is_word("missing", "known"):
                raise self._fault('after "is" comes "missing" or "known"')
            value = self._take()
            missing = Comparison(column, operator, (value,))
            return Not(missing) if negated != value.is_word("known") else missing
        if operator == "in":
            return Comparison(column, operator, self._list())
        return Comparison(column, operator, (self._value(operator),))

    def _list(self) -> tuple[Token, ...]:
        if not self._next.is_mark("("):
            raise self._fault('after "in" comes a list in brackets: (noun, verb)')
        self._take()
        values = [self._value("(")]
        while self._next.is_mark(","):
            self._take()
            values.append(self._value(","))
        if not self._next.is_mark(")"):
            raise self._fault("this list is not closed")
        self._take()
        return tuple(values)

    def _value(self, after: str) -> Token:
        if self._next.kind not in ("word", "quoted", "pattern") or self._next.is_word(*KEYWORDS):
            raise self._fault(f"a value is missing after {after}")
        if self._next.kind == "pattern" and after not in ("~", "!~"):
            raise self._fault(f"a pattern goes with ~, not with {after}")
        if after in ("~", "!~") and self._next.kind == "word" and self._next.text.startswith("/"):
            raise self._fault("this pattern is not closed: end it with /")
        return self._take()

    def _fault(self, words: str) -> FilterError:
        token = self._next
        return FilterError(f"{_place(token.start)}: {words}.", start=token.start, end=token.end)
