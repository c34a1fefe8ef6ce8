"""Back and forward through questions."""

from explorer.document.history import History


def test_that_back_and_forward_retrace_the_visits() -> None:
    history: History[str] = History()
    for item in "abc":
        history.visit(item)
    assert (history.go(-1), history.go(-1), history.go(1)) == ("b", "a", "b")


def test_that_a_new_visit_drops_what_lay_ahead() -> None:
    history: History[str] = History()
    for item in "abc":
        history.visit(item)
    history.go(-2)
    history.visit("d")
    assert history.items == ["a", "d"]
    assert not history.can_go_forward


def test_that_visiting_the_same_item_again_is_no_visit() -> None:
    history: History[str] = History()
    history.visit("a")
    history.visit("a")
    assert history.items == ["a"]
    assert not history.can_go_back


def test_that_going_past_either_end_stays_there() -> None:
    history: History[str] = History()
    assert history.go(1) is None
    history.visit("a")
    assert history.go(-5) == "a"
    assert history.go(5) == "a"
