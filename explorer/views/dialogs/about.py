"""What the program says of itself, and its keys."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from explorer import __version__
from explorer.core.filter_query import EXAMPLES
from explorer.views.actions import MENUS, Entry

POINTING = (
    ("Click a point", "ask for its neighbours"),
    ("Click with the other button", "what can be done with a point or a line of the legend"),
    ("Drag, wheel", "move and zoom the map; in 3-D, dragging turns it"),
    ("Drag with the other button, or with Space held", "move the map, in 3-D and with any tool"),
    ("Shift and drag", "select with a lasso, adding to the selection"),
    ("Ctrl and click", "select a point, or take it from the selection"),
    (
        "Shift, Alt, Shift+Alt with lasso, box or click",
        "add to the selection, take from it, keep what is in both",
    ),
    ("Click, double click on the legend", "hide, show alone"),
    ("Double click on a region's name", "rename it"),
    ("Double click elsewhere", "fit the map"),
    ("Arrow keys, on the map", "move the map; in 3-D, turn it (with Shift, move it)"),
    ("Ctrl and arrow keys, on the map", "go from point to point; Return asks, Ctrl+Space selects"),
    ("Tab, on the map", "only the map, and back"),
    ("Escape", "close the message, go to the map"),
    ("Escape, on the map", "drop what is drawn, the selection, the tool; bring the panels back"),
)

GALLERY = (
    ("Arrow keys, Home, End, Page up and down", "walk the pictures"),
    ("Return, double click", "full picture; there 0 fits, 1 is 100 %, arrows go on"),
    ("Ctrl+Return", "more like this"),
    ("Ctrl+C", "copy picture"),
    ("Ctrl+Shift+P", "copy path"),
    ("Ctrl+Shift+R", "show in file manager"),
    ("Ctrl and wheel", "larger or smaller pictures"),
)


def shortcuts_text() -> str:
    """Every command that has keys, as HTML."""
    sections = {
        title: [(entry.text, _keys(entry)) for entry in entries if isinstance(entry, Entry) and entry.keys]
        for title, entries in MENUS.items()
    }
    from html import escape

    lines = []
    for title, rows in {
        **sections,
        "On the map": POINTING,
        "Among pictures": GALLERY,
        "To filter by": EXAMPLES,
    }.items():
        lines.append(f"<tr><td colspan='2' style='padding-top:12px'><b>{title}</b></td></tr>")
        lines += [
            f"<tr><td>{escape(what)}</td><td style='padding-left:24px'>{escape(does)}</td></tr>"
            for what, does in rows
        ]
    return f"<table>{''.join(lines)}</table>"


def _keys(entry: Entry) -> str:
    return "  or  ".join(
        QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) for keys in entry.keys
    )


def about_text() -> str:
    """What the program is, as HTML."""
    return (
        f"<h3>Embedding Explorer {__version__}</h3>"
        "<p>Opens trained embedding tables, shows their map, and answers queries with nearest neighbours.</p>"
        "<p>No file's code is ever run. Nothing leaves this machine.</p>"
        "<p>MIT licence. The demo is trained on the World English Bible, which is in the public domain.</p>"
    )
