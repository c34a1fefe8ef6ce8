"""Row numbers typed where a text is asked for."""

from __future__ import annotations

import pytest

from explorer.core.typed_ids import typed_ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("#5 #17", (5, 17)),
        ("#5,#17;#0", (5, 17, 0)),
        ("[#5 #17]", (5, 17)),
        ("5 17", None),
        ("#5 king", None),
        ("", None),
        (" , ", None),
        ("#-5", None),
        ("#" + "9" * 30, None),
    ],
)
def test_that_numbers_with_a_mark_are_rows_everywhere(text: str, ids: tuple[int, ...] | None) -> None:
    assert typed_ids(text) == ids


@pytest.mark.parametrize(
    ("text", "ids"), [("5, 17", (5, 17)), ("[5, #17]", (5, 17)), ("5 17 king", None), ("1.5", None)]
)
def test_that_plain_numbers_are_rows_where_nothing_can_be_read(
    text: str, ids: tuple[int, ...] | None
) -> None:
    assert typed_ids(text, bare=True) == ids
