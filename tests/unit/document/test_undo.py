"""What is done can be taken back, and done again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.health import Health, HealthCounts
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.regions import Region
from explorer.core.selection import PackedRows
from explorer.core.table import Role
from explorer.document import Document
from explorer.document.colouring import Colouring
from explorer.document.selection import Isolation
from explorer.document.undo import MOST_BYTES, MOST_CHANGES, Change, UndoStack

ROWS = 40

ROW_SETS = st.lists(st.integers(0, ROWS - 1), unique=True).map(lambda rows: np.array(sorted(rows), np.int64))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("select"), ROW_SETS),
        st.tuples(st.just("filter"), st.sampled_from(["", "norm > 1", "rank < 3"])),
        st.tuples(st.just("colour"), st.sampled_from(["cluster", "row length", "year"])),
        st.tuples(st.just("hide"), st.frozensets(st.integers(0, 5))),
        st.tuples(st.just("isolate"), ROW_SETS),
        st.tuples(st.just("neighbours"), st.integers(2, 30)),
        st.tuples(st.just("rename"), st.sampled_from(["birds", "verbs"])),
        st.tuples(st.just("keep"), st.just("PCA")),
        st.tuples(st.sampled_from(["undo", "redo"]), st.none()),
    ),
    max_size=30,
)


def made_document() -> Document:
    document = Document()
    listing = TableListing("table", ROWS, 4, "float32", Role.OTHER)
    health = Health(
        states=np.zeros(ROWS, np.uint8),
        norms=np.ones(ROWS, np.float32),
        first_twin=np.arange(ROWS),
        counts=HealthCounts(),
    )
    document.set_table(LoadedTable(1, "file", listing, None, health, False, "cpu"))
    document.positions = np.zeros((ROWS, 2), np.float32)
    document.set_regions((Region("animals", 0.0, 0.0, 20, 1.0, found="animals"),))
    return document


def state(document: Document) -> tuple:
    isolated = None if document.isolation is None else document.isolation.rows.tolist()
    return (
        document.selection.tolist(),
        document.filter,
        document.colouring,
        isolated,
        document.settings,
        document.regions,
        [name for name, _ in document.kept],
    )


def act(document: Document, what: str, value: object) -> None:
    match what:
        case "select":
            document.set_selection(value)
        case "filter":
            document.set_filter(value, None)
        case "colour":
            document.set_colouring(Colouring(value))
        case "hide":
            document.set_colouring(replace(document.colouring, hidden=value))
        case "isolate":
            document.set_isolation(Isolation(value))
        case "neighbours":
            document.set_settings(replace(document.settings, neighbours=value))
        case "rename":
            document.name_region(0, value)
        case "keep":
            document.keep_layout(value)


@given(STEPS)
def test_that_undo_and_redo_lead_through_the_very_states_there_were(steps: list) -> None:
    document = made_document()
    states, place = [state(document)], 0
    for what, value in steps:
        if what == "undo":
            place = max(place - 1, 0)
            document.undo()
        elif what == "redo":
            place = min(place + 1, len(states) - 1)
            document.redo()
        else:
            done, before = len(document.changes.done), state(document)
            act(document, what, value)
            if state(document) != before or len(document.changes.done) > done:
                del states[place + 1 :]
                # Steps of one setting are one change.
                place += len(document.changes.done) - done
                states[place:] = [state(document)]
        assert state(document) == states[place]
    while document.changes.done:
        document.undo()
    assert state(document) == states[0]


def test_that_what_is_undone_is_said_in_words() -> None:
    document = made_document()
    document.set_selection(np.arange(12))
    assert document.changes.done[-1].text == "select 12 rows"
    document.set_selection(np.empty(0, np.int64))
    assert document.changes.done[-1].text == "clear the selection"
    document.set_filter("year > 1990", None)
    assert document.changes.done[-1].text == "filter year > 1990"
    document.name_region(0, "birds")
    assert document.changes.done[-1].text == "rename animals"


def test_that_steps_of_one_setting_are_one_change() -> None:
    document = made_document()
    first = document.settings
    for neighbours in (16, 17, 18):
        document.set_settings(replace(document.settings, neighbours=neighbours))
    document.undo()
    assert document.settings == first


def test_that_another_table_forgets_what_was_done_to_the_last_one() -> None:
    document = made_document()
    document.set_selection(np.arange(3))
    document.set_table(document.table)
    assert not document.changes.done
    document.undo()
    assert document.selection.tolist() == []


def test_that_a_region_found_again_keeps_its_given_name_and_undo_brings_back_no_old_place() -> None:
    document = made_document()
    document.name_region(0, "birds")
    moved = (Region("animals", 5.0, 5.0, 20, 1.0, found="animals"), Region("b", 0.0, 0.0, 9, 1.0, found="b"))
    document.set_regions(())
    document.set_regions(moved)
    assert [region.name for region in document.regions] == ["birds", "b"]
    document.undo()
    assert document.regions[0].x == 5.0
    document.name_region(0, "fowl")
    document.undo()
    assert document.regions[0].name == "birds"


def test_that_the_stack_is_bounded_in_number_and_in_memory() -> None:
    stack = UndoStack()
    for number in range(MOST_CHANGES + 50):
        stack.push(Change(f"change {number}", "filter", "", "a"))
    assert len(stack.done) == MOST_CHANGES
    total = 8_000_000
    half = PackedRows.of(np.arange(0, total, 2), total)
    for _ in range(100):
        stack.push(Change("select", "selection", half, half))
    assert sum(change.nbytes for change in stack.done) <= MOST_BYTES
    assert len(stack.done) > 10


@given(
    st.integers(0, 300).flatmap(
        lambda n: st.tuples(st.just(n), st.frozensets(st.integers(0, max(n - 1, 0)), max_size=n))
    )
)
def test_that_packed_rows_come_back(case: tuple[int, frozenset[int]]) -> None:
    total, rows = case
    ascending = np.array(sorted(row for row in rows if row < total), np.int64)
    packed = PackedRows.of(ascending, total)
    assert packed.rows.tolist() == ascending.tolist()
    assert packed.nbytes <= max(total // 8 + 1, 4 * len(ascending))


def test_that_a_condition_is_undone_whole_however_often_typing_paused() -> None:
    document = made_document()
    document.set_filter("norm > 1", None)
    for draft in ("r", "rank", "rank < 3"):
        document.set_filter(draft, None, draft=True)
    document.set_filter("rank < 30", None)
    document.set_filter("norm < 9", None)
    document.undo()
    assert document.filter == "rank < 30"
    document.undo()
    assert document.filter == "norm > 1"
    document.set_filter("x", None, draft=True)
    document.set_filter("norm > 1", None)
    assert [change.text for change in document.changes.done] == ["filter norm > 1"], "typed and taken back"
