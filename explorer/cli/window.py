"""``embedding-explorer [FILE…]`` and ``embedding-explorer demo``: the window."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from explorer.cli.display import require_window
from explorer.cli.parser import COMMANDS
from explorer.cli.printing import print_columns, print_json
from explorer.cli.writing import require_writable
from explorer.core.errors import ExplorerError
from explorer.demos import demos, find_demo


def run(call: argparse.Namespace) -> int:
    """Open the window on files or on a demo; or list the demos."""
    if call.command == "demo" and call.list:
        return _list_demos(call.options.json)
    demo = find_demo(call.name) if call.command == "demo" else None
    files = call.files if demo is None else [demo.path]
    for path in files:
        if not path.exists():
            meant = get_close_matches(str(path), COMMANDS, 1)
            hint = f"Was the command {meant[0]} meant?" if meant else ""
            raise ExplorerError(f"There is no file {path}.", hint)
    if call.screenshot is not None:
        require_writable(call.screenshot)
    require_window()
    from explorer import app

    # A demo's pictures, unless one of the model's own tables is asked for.
    shows_pictures = demo is not None and demo.pictures is not None and call.options.table is None
    return app.run(
        [] if shows_pictures else files,
        options=call.options,
        theme=call.theme,
        screenshot=call.screenshot,
        demo=demo.name if demo is not None and shows_pictures else None,
    )


def _list_demos(as_json: bool) -> int:
    found = demos()
    if as_json:
        print_json(
            {"demos": [{"name": demo.name, "path": str(demo.path), "kind": demo.kind} for demo in found]}
        )
    else:
        print_columns(("NAME", "KIND", "PATH"), [(demo.name, demo.kind, str(demo.path)) for demo in found])
    return 0
