"""The command line's grammar."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import NoReturn

from explorer import __version__
from explorer.cli.options import Options
from explorer.core.errors import ExplorerError

PROGRAM = "embedding-explorer"
COMMANDS = ("demo", "tables", "neighbours", "map", "index", "search", "evaluate", "stages")
LAYOUT_FORMATS = (".png", ".csv", ".npz")
MOST_PIXELS_A_SIDE = 16_384

_HELP = """\
Open trained embedding tables, see their map, ask them for neighbours.

commands:
  embedding-explorer [FILE…] [--screenshot OUT.png]   open the window
  embedding-explorer demo [NAME] [--list] [--screenshot OUT.png]
                                                      open the window on a bundled demo, or list them
  embedding-explorer tables FILE                      list the tables of a file
  embedding-explorer neighbours FILE QUERY [-k N] [--metric cosine|dot|euclidean]
                                                      print nearest neighbours
  embedding-explorer map FILE -o OUT.png|.csv|.npz [--method umap|pca] [--seed N] [--size 1600x1200]
                                                      write a map
  embedding-explorer index FOLDER --encoder MODEL -o INDEX [--captions FILE]
                                                      index a folder of pictures
  embedding-explorer search INDEX [QUERY] [--image FILE] [-k N]
                                                      print the pictures nearest to a text, a picture or both
  embedding-explorer evaluate INDEX                   print how well captions and pictures find each other
  embedding-explorer stages FILE [TEXT] [--image FILE] [--ids 5,17,3] [--side source|target] [-o OUT.npz]
                                                      print what a model makes of a text or picture

A file that is named like a command is opened as ./demo, or after --.
"""
_QUERY_HELP = """\
A query is a label, "a quoted label", #row, or a sum of these: 'king - man + woman',
'2*paris - france + "new york"'. Several known words in a row ask for their mean.
"""
_INDEX_HELP = """\
Make an index of the pictures in a folder, or bring one up to date: what is new or changed is encoded, the
rest kept. Stopped at any moment, the same command goes on where it was.
"""
_SEARCH_HELP = """\
A query is a text, or a sum of texts and rows: 'a dog + "on the beach" - people', '#12 + 0.5*night'.
With a picture, its vector is added. INDEX may also be vectors saved elsewhere, with --encoder.
"""
_STAGES_HELP = """\
Run a model on a text, token ids or a picture, and print each stage on the way: rows looked up, positions
added, what comes out of each layer. Music events are typed by name: note_on_60 time_shift_10.
"""
# Stands before an argument that begins with a minus but is no option; no argument can hold it.
_SHIELD = "\0"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments after the program's name.

    Returns
    -------
    Namespace
        ``command`` is ``"open"`` or one of COMMANDS; ``options`` are what all commands share.

    Raises
    ------
    ExplorerError
        Where the call is wrong.
    SystemExit
        With status 0 after ``--help`` and ``--version``.
    """
    command, rest = _split(list(arguments))
    parser = _PARSERS[command]()
    # Words of a text or query may stand behind an option, as in FILE --image PICTURE TEXT.
    found = parser.parse_intermixed_args(_shielded(rest))
    found.command = command
    found.options = Options(**{field.name: getattr(found, field.name) for field in fields(Options)})
    return found


def _split(arguments: list[str]) -> tuple[str, list[str]]:
    """The command (the first argument that is no option or an option's value), and the others."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        at += 2 if arguments[at] in _TAKING_A_VALUE else 1
    if at < len(arguments) and arguments[at] in COMMANDS:
        return arguments[at], arguments[:at] + arguments[at + 1 :]
    return "open", arguments


def _shielded(arguments: list[str]) -> list[str]:
    """Keep a query such as ``-man + king``, and all after ``--``, from being taken for options."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    before = [_SHIELD + each if re.match(r"-[^-].*\s", each, re.DOTALL) else each for each in arguments[:end]]
    return [*before, *(_SHIELD + each for each in arguments[end + 1 :])]


def _text(argument: str) -> str:
    return argument.removeprefix(_SHIELD)


def _path(argument: str) -> Path:
    return Path(_text(argument))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Complain of a wrong call as of everything else, instead of in two lines of argparse's."""
        words = message.replace(_SHIELD, "").removeprefix("argument ")
        raise ExplorerError(f"{words[0].upper()}{words[1:]}.", f"Call it as {self.usage}")


def _parser(command: str, usage: str, description: str) -> argparse.ArgumentParser:
    words = " ".join(word for word in (PROGRAM, command, usage) if word)
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{words} [options]",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    shared = parser.add_argument_group("options of all commands")
    shared.add_argument("--json", action="store_true", help="answer in JSON")
    shared.add_argument("--table", metavar="NAME", type=_text, help="a table by name; else the likeliest")
    shared.add_argument(
        "--labels", metavar="FILE", type=Path, help="the rows' names: a vocabulary or text file"
    )
    shared.add_argument(
        "--target-labels", metavar="FILE", type=Path, help="the same for a translator's other side"
    )
    shared.add_argument(
        "--labels-header",
        dest="header",
        type=_yes_or_no,
        metavar="yes|no",
        help="whether the first line of a label file is a header",
    )
    shared.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    shared.add_argument("--scale", dest="scaled", action="store_true", help="multiply rows by √dim")
    shared.add_argument("--all-rows", action="store_true", help="special and padding rows take part, too")
    shared.add_argument("--include-query", action="store_true", help="so do the query's own rows")
    shared.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _open_parser() -> argparse.ArgumentParser:
    parser = _parser("", "[FILE…] [--screenshot OUT.png]", _HELP)
    parser.add_argument("files", nargs="*", metavar="FILE", type=_path, help="files or folders to open")
    _add_window_options(parser)
    return parser


def _demo_parser() -> argparse.ArgumentParser:
    parser = _parser("demo", "[NAME] [--list] [--screenshot OUT.png]", "Open the window on a bundled demo.")
    parser.add_argument("name", nargs="?", metavar="NAME", type=_text, help="which demo; else the first")
    parser.add_argument("--list", action="store_true", help="list the demos instead")
    _add_window_options(parser)
    return parser


def _tables_parser() -> argparse.ArgumentParser:
    parser = _parser("tables", "FILE", "List the embedding tables of a file, the likeliest first.")
    parser.add_argument("file", metavar="FILE", type=_path)
    return parser


def _neighbours_parser() -> argparse.ArgumentParser:
    parser = _parser("neighbours", "FILE QUERY [-k N] [--metric cosine|dot|euclidean]", _QUERY_HELP)
    parser.add_argument("file", metavar="FILE", type=_path)
    parser.add_argument("query", metavar="QUERY", nargs="+", type=_text)
    parser.add_argument("-k", type=_positive, default=10, metavar="N", help="how many; 10 where not given")
    parser.add_argument("--metric", choices=("cosine", "dot", "euclidean"), default="cosine")
    return parser


def _map_parser() -> argparse.ArgumentParser:
    usage = "FILE -o OUT.png|.csv|.npz [--method umap|pca] [--seed N] [--size 1600x1200]"
    parser = _parser("map", usage, "Lay a table's rows out on a plane and write the map.")
    parser.add_argument("file", metavar="FILE", type=_path)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", type=_layout_path)
    parser.add_argument("--method", choices=("umap", "pca"), default="umap")
    parser.add_argument("--seed", type=_seed, default=42, metavar="N", help="42 where not given")
    parser.add_argument(
        "--size", type=_size, default=(1600, 1200), metavar="1600x1200", help="of a picture, in pixels"
    )
    return parser


def _index_parser() -> argparse.ArgumentParser:
    parser = _parser("index", "FOLDER --encoder MODEL -o INDEX [--captions FILE]", _INDEX_HELP)
    parser.add_argument("folder", metavar="FOLDER", type=_path)
    _add_encoder(parser, required=True)
    parser.add_argument("-o", "--output", required=True, metavar="INDEX", type=Path, help="a folder")
    _add_captions(parser)
    return parser


def _search_parser() -> argparse.ArgumentParser:
    parser = _parser("search", "INDEX [QUERY] [--image FILE] [-k N]", _SEARCH_HELP)
    parser.add_argument("file", metavar="INDEX", type=_path)
    parser.add_argument("query", metavar="QUERY", nargs="*", default=[], type=_text)
    parser.add_argument("--image", metavar="FILE", type=Path, help="a picture to look for")
    parser.add_argument("-k", type=_positive, default=10, metavar="N", help="how many; 10 where not given")
    _add_encoder(parser)
    return parser


def _evaluate_parser() -> argparse.ArgumentParser:
    help_text = "Recall at 1, 5 and 10 and median rank, captions to pictures and pictures to captions."
    parser = _parser("evaluate", "INDEX", help_text)
    parser.add_argument("file", metavar="INDEX", type=_path)
    _add_encoder(parser)
    _add_captions(parser)
    return parser


def _stages_parser() -> argparse.ArgumentParser:
    usage = "FILE [TEXT] [--image FILE] [--ids 5,17,3] [--side source|target] [-o OUT.npz]"
    parser = _parser("stages", usage, _STAGES_HELP)
    parser.add_argument("file", metavar="FILE", type=_path)
    parser.add_argument("text", metavar="TEXT", nargs="*", default=[], type=_text)
    parser.add_argument("--image", metavar="FILE", type=Path, help="a picture to run it on")
    parser.add_argument("--ids", metavar="5,17,3", type=_ids, help="token ids instead of a text")
    parser.add_argument("--side", choices=("source", "target"), help="of a translator; else the source")
    parser.add_argument(
        "--source", metavar="TEXT", type=_text, default="", help="what a translator's target side looks at"
    )
    parser.add_argument(
        "--special-tokens", action="store_true", help="wrap the text in those of begin and end"
    )
    parser.add_argument("--heads", type=_positive, metavar="N", help="attention heads, where no shape tells")
    parser.add_argument("-o", "--output", metavar="OUT.npz", type=_arrays_path, help="write the stages here")
    return parser


def _add_encoder(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    where = "a model's folder or file, or the name of a cached one"
    parser.add_argument(
        "--encoder",
        metavar="MODEL",
        required=required,
        help=where if required else f"{where}; else the index's own",
    )


def _add_captions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--captions",
        metavar="FILE",
        type=Path,
        help="a list of image,caption; else those beside the pictures",
    )


_PARSERS = {
    "open": _open_parser,
    "demo": _demo_parser,
    "tables": _tables_parser,
    "neighbours": _neighbours_parser,
    "map": _map_parser,
    "index": _index_parser,
    "search": _search_parser,
    "evaluate": _evaluate_parser,
    "stages": _stages_parser,
}
_TAKING_A_VALUE = frozenset(
    (
        *("--table", "--labels", "--target-labels", "--labels-header", "--device", "--screenshot", "--theme"),
        *("-k", "--metric", "-o", "--output", "--method", "--seed", "--size"),
        *("--encoder", "--image", "--captions"),
        *("--ids", "--side", "--heads", "--source"),
    )
)


def _add_window_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--screenshot",
        metavar="OUT.png",
        type=_picture_path,
        help="save the window as a picture once the layout is done, and exit",
    )
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="else as it was last")


def _yes_or_no(text: str) -> bool:
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text == "yes"


def _positive(text: str) -> int:
    if not re.fullmatch(r"0*[1-9]\d*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return min(int(text.lstrip("0")[:19]), sys.maxsize)  # no table has more rows than that


def _ids(text: str) -> list[int]:
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    if not parts or not all(re.fullmatch(r"\d{1,9}", part, re.ASCII) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of token ids such as 5,17,3")
    return [int(part) for part in parts]


def _seed(text: str) -> int:
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII) or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {(1 << 32) - 1}")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", text, re.ASCII)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1600x1200")
    width, height = int(match[1]), int(match[2])
    if not (64 <= width <= MOST_PIXELS_A_SIDE and 64 <= height <= MOST_PIXELS_A_SIDE):
        raise argparse.ArgumentTypeError(f"{text!r} has a side below 64 or above {MOST_PIXELS_A_SIDE}")
    return width, height


def _layout_path(text: str) -> Path:
    if Path(text).suffix.lower() not in LAYOUT_FORMATS:
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {', '.join(LAYOUT_FORMATS)}")
    return Path(text)


def _arrays_path(text: str) -> Path:
    if Path(text).suffix.lower() != ".npz":
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .npz")
    return Path(text)


def _picture_path(text: str) -> Path:
    if Path(text).suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    return Path(text)
