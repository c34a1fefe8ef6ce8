"""A table's pictures as images for painting: loaded in threads, kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from PySide6.QtGui import QImage

from explorer.core.errors import ExplorerError

if TYPE_CHECKING:
    from PIL import Image

    from explorer.core.pictures import Pictures

SIDE = 256
MOST_BYTES = 128 << 20
THREADS = 2
SMALLEST = 64
MOST_WAITING = 2000


@dataclass(frozen=True, eq=False)
class Loaded:
    """What came of loading one row's picture.

    Attributes
    ----------
    images : tuple of QImage
        The picture, upright and opaque, then halves of it for painting small; empty where there is none.
    width, height : int
        Of the file's picture, upright, in pixels; 0 where not known.
    animated : bool
        It is an animation's first frame.
    fault : str
        Why the file could not be shown, in words; empty where it could. An index's thumbnail may
        stand in for it nevertheless.
    """

    images: tuple[QImage, ...] = ()
    width: int = 0
    height: int = 0
    animated: bool = False
    fault: str = ""

    @property
    def bytes(self) -> int:
        """How much memory the images take."""
        return sum(image.sizeInBytes() for image in self.images) or SMALLEST


class Thumbnails(QObject):
    """Small images of a table's pictures, by row.

    Everything is called from the GUI thread; reading and decoding happen in two threads. What was asked
    for last is loaded first, and what no viewer shows any longer is not loaded at all.

    Parameters
    ----------
    side : int
        Images are made so small that their longer side has at most this many pixels, never larger.
    most_bytes : int
        Images shown least recently go where they take more than this; those that are shown stay.
    stored : bool
        Take a picture from the index that stores it small, where one does, without opening its file.

    Signals
    -------
    arrived(int) : a row's picture was loaded, or it turned out that there is none.
    """

    arrived = Signal(int)
    _done = Signal(int, int, object)

    def __init__(
        self,
        side: int = SIDE,
        most_bytes: int = MOST_BYTES,
        *,
        stored: bool = True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._side, self._most_bytes, self._stored = side, most_bytes, stored
        self._pictures: Pictures | None = None
        self._kept: OrderedDict[int, Loaded] = OrderedDict()
        self._bytes = 0
        self._shown: dict[int, frozenset[int]] = {}
        self._all_shown: frozenset[int] = frozenset()
        self._lock = threading.Lock()  # over the next four, and the pictures
        self._waiting: dict[int, None] = {}  # the last one is the next
        self._under_way: set[int] = set()
        self._workers = 0
        self._round = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(THREADS)
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def show(self, pictures: Pictures | None) -> None:
        """Take up another table's pictures; None for a table without."""
        if pictures is self._pictures:
            return
        with self._lock:
            self._round += 1
            self._pictures = pictures
            self._waiting.clear()
            self._under_way.clear()
        self._kept.clear()
        self._bytes = 0
        self._shown.clear()
        self._all_shown = frozenset()

    def close(self) -> None:
        """Forget everything and wait for the threads to end."""
        self.show(None)
        self._pool.waitForDone()

    def image(self, row: int, side: int | None = None) -> QImage | None:
        """A row's picture, if it is at hand; else it is loaded, and ``arrived`` follows.

        Parameters
        ----------
        row : int
        side : int, optional
            Of how many pixels the longer side is painted: the smallest image that is as large is given.

        Returns
        -------
        QImage or None
            None while it is not loaded, and for ever where there is none: ``fault`` says which.
        """
        loaded = self.loaded(row)
        if loaded is None or not loaded.images:
            return None
        enough = (image for image in reversed(loaded.images) if _longer(image) >= (side or self._side))
        return next(enough, loaded.images[0])

    def loaded(self, row: int) -> Loaded | None:
        """All that is known of a row's picture; None while it is not loaded, which is begun."""
        known = self._kept.get(row)
        if known is not None:
            self._kept.move_to_end(row)
        elif self._pictures is not None:
            self._ask_for(row)
        return known

    def fault(self, row: int) -> str:
        """Why a row's file cannot be shown, where that is known by now."""
        known = self._kept.get(row)
        return "" if known is None else known.fault

    def want(self, viewer: object, rows: Collection[int]) -> None:
        """Say which rows a viewer shows now; what it showed before and waits still is not loaded.

        Parameters
        ----------
        viewer : object
            Tells viewers apart.
        rows : collection of int
            Their images are not given up, however many they are.
        """
        before = self._shown.get(id(viewer), frozenset())
        self._shown[id(viewer)] = frozenset(rows)
        self._all_shown = frozenset().union(*self._shown.values())
        gone = before - self._all_shown
        if gone:
            with self._lock:
                for row in gone:
                    self._waiting.pop(row, None)

    @property
    def waiting(self) -> int:
        """How many pictures are still to be loaded."""
        with self._lock:
            return len(self._waiting)

    @property
    def kept(self) -> int:
        """How many pictures are at hand."""
        return len(self._kept)

    def _ask_for(self, row: int) -> None:
        with self._lock:
            if row in self._under_way:
                return
            self._waiting.pop(row, None)
            self._waiting[row] = None
            if len(self._waiting) > MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
            starts = self._workers < THREADS
            self._workers += starts
        if starts:
            self._pool.start(self._work)

    def _work(self) -> None:
        """Load until nothing waits; in a thread."""
        while True:
            with self._lock:
                pictures, round_ = self._pictures, self._round
                if pictures is None or not self._waiting:
                    self._workers -= 1
                    return
                row, _ = self._waiting.popitem()
                self._under_way.add(row)
            self._done.emit(round_, row, load(pictures, row, self._side, stored=self._stored))

    def _take(self, round_: int, row: int, loaded: Loaded) -> None:
        if round_ != self._round:
            return
        with self._lock:
            self._under_way.discard(row)
        self._kept[row] = loaded
        self._bytes += loaded.bytes
        self._make_room()
        self.arrived.emit(row)

    def _make_room(self) -> None:
        if self._bytes <= self._most_bytes:
            return
        spare = [row for row in self._kept if row not in self._all_shown]
        for row in spare[:-1]:
            self._bytes -= self._kept.pop(row).bytes
            if self._bytes <= self._most_bytes:
                return


def load(pictures: Pictures, row: int, side: int, *, stored: bool = True) -> Loaded:
    """Load one row's picture; whatever is wrong with it is a fault, never an exception.

    Parameters
    ----------
    pictures : Pictures
    row : int
    side : int
        The longer side's most pixels.
    stored : bool
        Prefer what the index stores; else it is taken only where the file can't be decoded.
    """
    from_index = partial(_from_index, pictures, row)
    try:
        if stored and (found := from_index(side)) is not None:
            return found
        found = _from_file(pictures, row, side)
    except ExplorerError as error:
        found = Loaded(fault=getattr(error, "reason", "") or str(error))
    except Exception as error:
        found = Loaded(fault=f"it cannot be read: {error}")
    if found.images or stored:
        return found
    stand_in = from_index(side)
    return found if stand_in is None else Loaded(stand_in.images, fault=found.fault)


def _from_file(pictures: Pictures, row: int, side: int) -> Loaded:
    from explorer.readers.pictures import read_picture

    path = pictures.file(row)
    if path is None:
        return Loaded(fault="this row names no picture")
    picture = read_picture(path, side)
    return Loaded(_images(picture.image, side), picture.width, picture.height, picture.animated)


def _from_index(pictures: Pictures, row: int, side: int) -> Loaded | None:
    from explorer.readers.pictures import decode_picture

    try:
        data = pictures.thumbnail(row)
        if data is None:
            return None
        image = decode_picture(data, "thumbnail").image
        return Loaded(_images(image, side), animated=pictures.is_animated(row))
    except Exception:  # a damaged index: the file itself is tried
        return None


def _images(image: Image.Image, side: int) -> tuple[QImage, ...]:
    """An RGB image cut down to a side, then halved as long as that is of use."""
    from PIL import Image

    if max(image.size) > side:
        image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
    made = [as_qimage(image)]
    while max(image.size) >= 2 * SMALLEST and side <= SIDE:
        image = image.reduce(2)
        made.append(as_qimage(image))
    return tuple(made)


def as_qimage(image: Image.Image) -> QImage:
    """An RGB image of Pillow as one of Qt that owns its pixels."""
    width, height = image.size
    pixels = image.convert("RGBA").tobytes("raw", "BGRA")
    return QImage(pixels, width, height, 4 * width, QImage.Format.Format_RGB32).copy()


def _longer(image: QImage) -> int:
    return max(image.width(), image.height())
