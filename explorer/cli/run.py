"""Runs one call of the command line, from its arguments to its exit status."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from explorer.cli.parser import PROGRAM, parse
from explorer.cli.printing import one_sentence
from explorer.core.errors import ExplorerError

_MODULES = {
    "open": "window",
    "demo": "window",
    "tables": "tables",
    "neighbours": "neighbours",
    "map": "mapping",
    "index": "indexing",
    "search": "searching",
    "evaluate": "evaluating",
    "stages": "stages",
}
_NO_READER = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The process's own where not given.

    Returns
    -------
    int
        Exit status: 0; 2 after an error, said in one sentence on standard error; 141 where nobody
        reads the output any more.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        call = parse(sys.argv[1:] if arguments is None else arguments)
        status = _run(call)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except ExplorerError as error:
        return _fail(one_sentence(error))
    except BrokenPipeError:
        # What is still to be flushed at exit has no reader either.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NO_READER
    except OSError as error:
        return _fail(f"{error.filename or 'A file'} cannot be used: {error.strerror}.")
    except MemoryError:
        return _fail("There is not enough memory for this.")
    except Exception as error:
        if os.environ.get("EXPLORER_DEBUG"):
            raise
        text = f"An unexpected fault stopped the command: {type(error).__name__}: {error}."
        return _fail(one_sentence(ExplorerError(text, "Set EXPLORER_DEBUG=1 to see where.")))


def _run(call: argparse.Namespace) -> int:
    if call.command == "index":
        # As in the window's encoder process: Arrow's own pools never give memory back.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    module = import_module(f"explorer.cli.{_MODULES.get(call.command, call.command)}")
    status: int = module.run(call)
    return status


def _fail(sentence: str) -> int:
    print(f"{PROGRAM}: {sentence}", file=sys.stderr)
    return 2
