"""Wrong calls: one sentence of what is wrong and how to call it, status 2, nothing on standard output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer import __version__
from explorer.cli.options import Options
from explorer.cli.parser import _split, parse


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tables"], "the following arguments are required: FILE"),
        (["tables", "a", "b"], "unrecognized arguments: b"),
        (["neighbours", "a"], "the following arguments are required: QUERY"),
        (["neighbours", "a", "q", "-k", "0"], "-k: '0' is not a whole number above 0"),
        (["neighbours", "a", "q", "-k", "-1"], "-k: '-1' is not a whole number above 0"),
        (["neighbours", "a", "q", "-k", "ten"], "-k: 'ten' is not a whole number above 0"),
        (["neighbours", "a", "q", "-k"], "-k: expected one argument"),
        (["neighbours", "a", "q", "--metric", "manhattan"], "--metric: invalid choice: 'manhattan'"),
        (["tables", "a", "--device", "tpu"], "--device: invalid choice: 'tpu'"),
        (["tables", "a", "--labels-header", "maybe"], "'maybe' is neither yes nor no"),
        (["tables", "a", "--labels"], "--labels: expected one argument"),
        (["map", "a"], "the following arguments are required: -o/--output"),
        (["map", "a", "-o", "b.jpg"], "'b.jpg' ends in none of .png, .csv, .npz"),
        (["map", "a", "-o", "png"], "'png' ends in none of .png, .csv, .npz"),
        (["map", "a", "-o", "b.png", "--size", "big"], "'big' is not a size such as 1600x1200"),
        (["map", "a", "-o", "b.png", "--size", "0x9"], "'0x9' has a side below 64 or above 16384"),
        (["map", "a", "-o", "b.png", "--seed", "-4"], "'-4' is not a whole number from 0 to 4294967295"),
        (["map", "a", "-o", "b.png", "--seed", "1.5"], "'1.5' is not a whole number from 0 to 4294967295"),
        (["map", "a", "-o", "b.png", "--method", "tsne"], "--method: invalid choice: 'tsne'"),
        (["demo", "a", "b"], "unrecognized arguments: b"),
        (["tables", "a", "--", "-b"], "unrecognized arguments: -b"),
        (["stages"], "the following arguments are required: FILE"),
        (["a", "--screenshot", "b.jpg"], "'b.jpg' does not end in .png"),
        (["a", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["--table", "neighbours", "a", "-k", "3"], "unrecognized arguments: -k 3"),
    ],
)
def test_that_a_wrong_call_gets_one_sentence_that_says_how_to_call_it(call, arguments, complaint):
    said = call(*arguments)
    assert (said.status, said.out) == (2, "")
    (sentence,) = said.err.splitlines()
    assert sentence.startswith("embedding-explorer: ")
    assert complaint.lower() in sentence.lower()
    assert re.search(r"; call it as embedding-explorer .*\[options\]\.$", sentence)


def test_that_a_misspelled_command_is_told_from_a_file_that_is_not_there(call):
    said = call("neighbors", "a", "b")
    assert said.err == "embedding-explorer: There is no file neighbors; was the command neighbours meant?\n"
    assert call("words.bin").err == "embedding-explorer: There is no file words.bin.\n"


def test_that_version_and_help_are_answers(call):
    assert call("--version").out == f"embedding-explorer {__version__}\n"
    for command in ([], ["demo"], ["tables"], ["neighbours"], ["map"]):
        said = call(*command, "--help")
        assert (said.status, said.err) == (0, "")
        assert "--target-labels FILE" in said.out


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["tables", "a"], "tables"),
        (["--json", "--table", "demo", "neighbours", "a", "q"], "neighbours"),
        (["--table=x", "tables", "a"], "tables"),
        ([], "open"),
        (["a", "tables"], "open"),
        (["./demo"], "open"),
        (["--", "demo"], "open"),
        (["--table", "demo"], "open"),
    ],
)
def test_that_the_first_word_is_the_command_and_a_file_may_have_its_name(arguments, command):
    assert parse(arguments).command == command


def test_that_no_option_hides_the_command_behind_its_value(call):
    for command in ([], ["demo"], ["tables"], ["neighbours"], ["map"]):
        lines = re.findall(r"^  -.*", call(*command, "--help").out, re.MULTILINE)
        # What takes a value has it after one blank; help texts stand after two.
        names = {name for line in lines for name in re.findall(r"(-[a-z-]+) (?=\S)", line)}
        assert names >= {"--table", "--device", "--labels-header"}
        for name in names:
            assert _split([name, "demo", "tables", "a"]) == ("tables", [name, "demo", "a"])


def test_that_a_file_after_two_dashes_is_a_file():
    assert [str(path) for path in parse(["--", "demo", "--json"]).files] == ["demo", "--json"]


def test_that_a_query_may_begin_with_a_minus_or_come_in_several_words():
    assert parse(["neighbours", "a", "-king + queen"]).query == ["-king + queen"]
    assert parse(["neighbours", "a", "king", "-", "man", "-k", "3"]).query == ["king", "-", "man"]
    assert parse(["neighbours", "a", "--", "-lrb-"]).query == ["-lrb-"]
    assert parse(["neighbours", "a", "-k", "3", "--", "-king"]).query == ["-king"]


def test_that_a_text_or_query_may_stand_behind_an_option():
    assert parse(["stages", "a", "--image", "b.png", "a dog"]).text == ["a dog"]
    assert parse(["stages", "a", "wie", "--labels", "b", "geht"]).text == ["wie", "geht"]
    assert parse(["stages", "a", "--ids", "1,2"]).text == []
    assert parse(["neighbours", "a", "-k", "3", "king"]).query == ["king"]
    assert parse(["search", "a", "--image", "b.png", "a dog"]).query == ["a dog"]


def test_that_all_options_reach_their_command():
    given = ["--json", "--table", "t", "--labels", "l", "--target-labels", "m", "--labels-header", "no"]
    given += ["--device", "cpu", "--scale", "--all-rows", "--include-query"]
    expected = Options("t", Path("l"), Path("m"), False, True, "cpu", True, True, True)
    for command in (["a"], ["demo"], ["tables", "a"], ["neighbours", "a", "q"], ["map", "a", "-o", "b.npz"]):
        assert parse([*command, *given]).options == expected
        assert parse([*given, *command]).options == expected
