"""The pictures of a question: pasted or dropped, shown as chips in the query line, taken away again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QObject, Qt

from explorer.commands import Session
from explorer.core.query_text import PictureTerm
from explorer.views.dropped import holds_pixels, picture_files_in, png_bytes
from explorer.views.panels.query_field import QueryField

MOST_PICTURES = 8


class QueryPictures(QObject):
    """Joins the query line's chips to the document.

    Parameters
    ----------
    session : Session
    field : QueryField
    ask : callable
        Asks what the query line holds.
    """

    def __init__(self, session: Session, field: QueryField, ask: Callable[[], None]) -> None:
        super().__init__(field)
        self._session = session
        self._field = field
        self._ask = ask
        field.take_pasted = self.take
        field.chips.changed.connect(self._changed)
        session.document.query_pictures_changed.connect(self._show)

    def take(self, data: QMimeData) -> bool:
        """Ask for pictures that are pasted or dropped, files or only pixels, in place of those before.

        Returns
        -------
        bool
            False where there are none.
        """
        paths, has_pixels = picture_files_in(data), holds_pixels(data)
        if not paths and not has_pixels:
            return False
        asking, text = self._session.asking, self._field.text()
        if why := self._why_not(len(paths)):
            self._session.notices.tell(why)
        elif has_pixels:
            asking.paste_picture(png_bytes(data.imageData()), text=text)
        elif len(paths) == 1:
            asking.ask_picture(paths[0], text=text)
        else:
            self._session.document.set_query_pictures(tuple(PictureTerm(1.0, path) for path in paths))
            asking.ask(text)
        return True

    def _why_not(self, count: int) -> str:
        """Why the shown table cannot be asked by so many pictures; empty where it can."""
        encoder = self._session.document.encoder
        if count > MOST_PICTURES:
            return f"{count:,} pictures are too many for one question. To index them, drop their folder."
        if encoder is not None:
            return "" if encoder.has_images else f"{encoder.name} reads texts only; it sees no pictures."
        if self._session.encoding.is_loading:
            return "The encoder is still being loaded; the picture can be asked for then."
        return "Open an index of pictures first; then a picture asks for those most like it."

    def _show(self) -> None:
        self._field.set_pictures(self._session.document.query_pictures)

    def _changed(self, pictures: tuple[PictureTerm, ...]) -> None:
        """The person took a picture out of the question, or turned its sign."""
        self._session.document.set_query_pictures(pictures)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._ask()
