"""A process that decodes pictures for an encoder. Imports no torch; its parent imports it, too."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import SynchronizedArray
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.core.pictures import PictureError, Verdict, digest
from explorer.readers.pictures import Picture, decode_picture, read_bytes, thumbnail

# Longer pictures lose their ends before they are resized; in the middle nothing changes.
_LONGEST = 16  # times the shorter side


@dataclass(frozen=True)
class Task:
    """A picture to decode.

    Attributes
    ----------
    row : int
        Of the index.
    path : str
        Absolute.
    known_hash : bytes or None
        Of the content that the index has a vector for: where it is the same, nothing is decoded.
    """

    row: int
    path: str
    known_hash: bytes | None = None


@dataclass(frozen=True)
class Decoded:
    """What became of a picture; its pixels lie in the memory that both processes share.

    Attributes
    ----------
    row : int
    verdict : Verdict
    reason : str
    unchanged : bool
        The content is the one that the index knows.
    size, modified_ns : int
        As the file was when it was read; -1 and 0 where it could not be.
    hash : bytes or None
    width, height : int
    animated : bool
    thumbnail : bytes
        A JPEG.
    """

    row: int
    verdict: Verdict
    reason: str = ""
    unchanged: bool = False
    size: int = -1
    modified_ns: int = 0
    hash: bytes | None = None
    width: int = 0
    height: int = 0
    animated: bool = False
    thumbnail: bytes = b""


def run_decoder(connection: Connection, memory: SynchronizedArray[Any], preprocessing: Preprocessing) -> None:
    """Decode what is asked for until the other side ends.

    Parameters
    ----------
    connection : Connection
        Takes None once this process is well; brings (slot, Task), takes (slot, Decoded).
    memory : shared array of bytes
        Slots for pixels, each of the preprocessing's size.
    preprocessing : Preprocessing
    """
    # Ctrl+C in a terminal reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    slots = slots_in(memory, preprocessing)
    with suppress(OSError):
        connection.send(None)
    for slot, task in _asked(connection):
        try:
            connection.send((slot, decode(task, preprocessing, slots[slot])))
        except OSError:  # nobody listens any more
            return


def slots_in(memory: SynchronizedArray[Any], preprocessing: Preprocessing) -> NDArray[np.uint8]:
    """The shared memory as pictures, shape (slots, 3, height, width)."""
    flat: NDArray[np.uint8] = np.frombuffer(memory, np.uint8)  # type: ignore[call-overload]
    return flat.reshape(-1, 3, *preprocessing.size)


def decode(task: Task, preprocessing: Preprocessing, pixels: NDArray[np.uint8]) -> Decoded:
    """Decode one picture into the given pixels, (3, height, width); a bad one leaves them alone."""
    name = os.path.basename(task.path)
    size, modified, content = -1, 0, None
    try:
        try:
            # Before it is read: what is written to it meanwhile makes it a changed file next time.
            status = os.stat(task.path)
            size, modified = status.st_size, status.st_mtime_ns
        except (OSError, ValueError):
            pass  # reading says why
        data = read_bytes(task.path)
        content = digest(data)
        if content == task.known_hash:
            return Decoded(task.row, Verdict.OK, "", True, size, modified, content)
        picture = decode_picture(data, name)
        del data
        small = _prepared(picture, preprocessing, pixels)
    except PictureError as error:
        return Decoded(task.row, error.verdict, error.reason, False, size, modified, content)
    except MemoryError:
        reason = "there is not enough memory to decode it"
        return Decoded(task.row, Verdict.TOO_LARGE, reason, False, size, modified, content)
    return Decoded(
        task.row,
        Verdict.OK,
        "",
        False,
        size,
        modified,
        content,
        picture.width,
        picture.height,
        picture.animated,
        small,
    )


def _prepared(picture: Picture, preprocessing: Preprocessing, pixels: NDArray[np.uint8]) -> bytes:
    """Write the pixels that the encoder sees; returns the thumbnail."""
    pixels[...] = preprocessing.prepare(within_reason(picture.image, preprocessing))
    return thumbnail(picture.image)


def within_reason(image: Image.Image, preprocessing: Preprocessing) -> Image.Image:
    """A picture that is extremely long, without its ends, where the encoder would not see them.

    Resized by its shorter side it could take any amount of memory.
    """
    shorter, longer = sorted(image.size)
    kept = _LONGEST * shorter
    if preprocessing.resize != "shortest" or longer <= kept:
        return image
    before = (longer - kept) // 2
    if image.width == longer:
        return image.crop((before, 0, before + kept, shorter))
    return image.crop((0, before, shorter, before + kept))


def _asked(connection: Connection) -> Iterator[tuple[int, Task]]:
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        yield message
