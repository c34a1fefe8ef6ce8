"""From a picture to the captions that say what is on it: another table of the same index."""

from __future__ import annotations

from explorer.commands.session import Session
from explorer.readers.index_files import CAPTION_VECTORS


def can_ask_captions(session: Session) -> bool:
    """Whether the shown table's index has captions, and an encoder that sees pictures."""
    document = session.document
    return document.has_captions and document.encoder is not None and document.encoder.has_images


def ask_captions(session: Session, picture: str) -> None:
    """Show the index's captions, and ask for those nearest to a picture file."""
    table = session.document.table
    if table is None:
        return
    if table.listing.name == CAPTION_VECTORS:
        session.asking.ask_picture(picture)
        return
    wanted = (table.path, CAPTION_VECTORS)

    def loaded() -> None:
        session.opening.table_loaded.disconnect(loaded)
        shown = session.document.table
        if shown is not None and (shown.path, shown.listing.name) == wanted:
            session.asking.ask_picture(picture)

    session.opening.table_loaded.connect(loaded)
    session.opening.choose_table(*wanted)
