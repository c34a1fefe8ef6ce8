"""The parts of a document that can be undone: how each is set, and who is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.document.undo import Part

if TYPE_CHECKING:
    from explorer.document.document import Document


def set_part(document: Document, part: Part, value: Any) -> None:
    """Give a part another value, as a ``Change`` holds it, and tell of it."""
    match part:
        case "selection":
            document.selection, changed = value.rows, document.selection_changed
        case "isolation":
            document.isolation, changed = value, document.isolation_changed
        case "filter":
            document.filter, changed = value, document.filter_changed
        case "regions":
            document.regions, changed = value, document.regions_changed
            document.given_names |= {region.found: region.name for region in value}
        case "colouring":
            document.colouring, changed = value, document.colours_changed
        case "settings":
            document.settings, changed = value, document.layout_changed
        case "kept":
            document.kept, changed = list(value), document.layout_changed
    changed.emit()
