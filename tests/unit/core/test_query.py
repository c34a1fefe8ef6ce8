"""The query line's grammar."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.query import (
    Operator,
    Term,
    format_label,
    format_query,
    parse,
    parse_partial,
    replace_term,
    spread_operators,
)

WEIGHTS = st.floats(allow_nan=False, allow_infinity=False)
TRICKY = st.sampled_from(
    ["+", "-", "- ", '"', "\\", '\\"', "#1", "#", "2*", "2*x", "-x", ".5*", " ", "", "a b", "1e3*", "a\n"]
)
LABELS = st.one_of(st.text(), st.lists(TRICKY, max_size=4).map("".join))
TERMS = st.builds(
    lambda weight, label, row: Term(weight, label, None if label is not None else row, False, 0, 0),
    WEIGHTS,
    st.one_of(st.none(), LABELS),
    st.integers(0, 10**18 - 1),
)


def said(text: str) -> list[tuple[float, str | int]]:
    return [(term.weight, term.row if term.text is None else term.text) for term in parse(text).terms]


@given(st.lists(TERMS, min_size=1, max_size=5))
def test_that_what_is_formatted_is_parsed_into_the_same_terms(terms):
    again = parse(format_query(terms))
    assert [(math.copysign(1, t.weight), t.weight, t.text, t.row) for t in again.terms] == [
        (math.copysign(1, t.weight), t.weight, t.text, t.row) for t in terms
    ]
    assert not again.is_sentence


@given(LABELS)
def test_that_a_formatted_label_is_one_term(label):
    assert said(format_label(label)) == [(1.0, label)]


@given(st.one_of(st.text(), st.lists(TRICKY, max_size=8).map(" ".join), st.lists(TRICKY).map("".join)))
def test_that_any_text_is_read_or_refused_and_terms_stand_where_they_say(text):
    query = parse_partial(text)
    ends = [0]
    for term in query.terms:
        assert ends[-1] <= term.start < term.end <= len(text)
        ends.append(term.end)
        if term.text is not None and not term.quoted:
            assert text[: term.end].endswith(term.text)
    assert all(text[operator.at] == operator.sign for operator in query.operators)
    if query.problem is None:
        assert query.terms
        assert parse(text) == query
    else:
        with pytest.raises(ExplorerError):
            parse(text)


def test_that_operators_join_weighted_terms():
    expected = [(1.0, "king"), (-1.0, "man"), (1.0, "woman")]
    assert said("king - man + woman") == expected
    assert parse("king - man + woman").operators == (Operator("-", 5), Operator("+", 11))
    assert said('2*paris - france + "new york"') == [(2.0, "paris"), (-1.0, "france"), (1.0, "new york")]
    assert said("0.5 * paris - .25* #12") == [(0.5, "paris"), (-0.25, 12)]
    assert said("-king + queen") == [(-1.0, "king"), (1.0, "queen")]
    assert said("+ king") == [(1.0, "king")]
    assert said('-2*"a"+#3') == [(-2.0, "a"), (1.0, 3)]


@pytest.mark.parametrize(
    "token", ["well-known", "c++", "a*b", "5", "3.14", "#tag", "#1st", 'x"y', "don't", "²"]
)
def test_that_signs_inside_a_token_are_part_of_it(token):
    assert said(token) == [(1.0, token)]
    assert said(f"king - {token}") == [(1.0, "king"), (-1.0, token)]


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000", "\x0b", "\x85"])
def test_that_only_ascii_blanks_part_tokens(blank):
    assert said(f"new{blank}york - x") == [(1.0, f"new{blank}york"), (-1.0, "x")]


def test_that_a_backslash_escapes_quotation_marks_and_itself_alone():
    assert said(r'"a \"b\" \\ \n"') == [(1.0, r'a "b" \ \n')]
    assert said('""') == [(1.0, "")]


def test_that_bare_words_alone_are_a_sentence_and_among_operators_a_label_with_blanks():
    sentence = parse("happy families are all alike")
    assert sentence.is_sentence
    assert [term.text for term in sentence.terms] == ["happy", "families", "are", "all", "alike"]
    assert not parse("happy").is_sentence
    assert said("new york - usa") == [(1.0, "new york"), (-1.0, "usa")]
    assert said("2*new  york") == [(2.0, "new  york")]
    assert not parse("2*new york").is_sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The query is empty."),
        (" \t", "The query is empty."),
        ("king -", "Nothing to add or subtract follows the - at character 6."),
        ("king + - man", "Nothing to add or subtract follows the + at character 6."),
        ("+", "Nothing to add or subtract follows the + at character 1."),
        ("king - 2*", "Nothing to weigh follows the 2* at character 8."),
        ("2* - king", "Nothing to weigh follows the 2* at character 1."),
        ("2*3*king", "Two weights follow each other at character 1."),
        ("1e999*king", "The weight at character 1 is too large."),
        ('king - "new york', "The quotation mark at character 8 is never closed."),
        ('"new"york', "A blank or an operator is missing after the quotation mark at character 5."),
        ('"new" york', "A + or - is missing before york at character 7."),
        ("#1 #2", "A + or - is missing before #2 at character 4."),
        ("king #2", "A + or - is missing before #2 at character 6."),
        ("king 2*man", "A + or - is missing before 2* at character 6."),
    ],
)
def test_that_a_fault_is_named_with_its_place(text, message):
    with pytest.raises(ExplorerError) as caught:
        parse(text)
    assert caught.value.message == message


def test_that_a_text_being_typed_gives_its_terms_and_the_one_under_the_cursor():
    query = parse_partial('king - 2*"new yo')
    assert [(term.weight, term.text) for term in query.terms] == [(1.0, "king"), (-2.0, "new yo")]
    assert query.problem is not None
    assert query.term_at(16) is query.terms[1]
    assert query.term_at(3) is query.term_at(4) is query.terms[0]
    assert query.term_at(0) is query.term_at(6) is None
    assert parse_partial("king - ").terms[0].text == "king"


def test_that_a_completed_term_keeps_its_weight_and_is_quoted_where_it_must_be():
    query = parse_partial("king - 2*new + x")
    assert replace_term(query, query.terms[1], "new york") == ('king - 2*"new york" + x', 19)
    assert replace_term(query, query.terms[0], "kingdom") == ("kingdom - 2*new + x", 7)


def test_that_operators_are_spread_within_their_place_alone():
    assert spread_operators("well-known king-man", 11, 19) == "well-known king - man"


def test_that_a_long_text_is_read_in_linear_time():
    for text in ("1" * 50_000, '"' + "\\" * 50_000, "- " * 20_000, "+" * 50_000, "2*" * 20_000):
        parse_partial(text)
