"""The picture files in a folder and all that it holds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from explorer.readers.index_files import is_index
from explorer.readers.pictures import SUFFIXES, is_picture_file


@dataclass(frozen=True)
class PictureFile:
    """A file that is meant to be a picture.

    Attributes
    ----------
    path : str
        In the folder, with ``/``; bytes that are no text as lone surrogates.
    size : int
        Bytes; -1 where a link leads nowhere.
    modified_ns : int
    """

    path: str
    size: int
    modified_ns: int


@dataclass
class FolderScan:
    """What there is in a folder; ``files`` fills ``unreadable`` while it is run through.

    Attributes
    ----------
    folder : Path
    unreadable : list of str
        Folders (paths in the folder) that could not be looked into.
    """

    folder: Path
    unreadable: list[str] = field(default_factory=list)

    def files(self) -> Iterator[PictureFile]:
        """All picture files, folder by folder in the order of their names; hidden ones and indexes left out.

        Links to folders are followed, each folder only once.
        """
        seen: set[tuple[int, int]] = set()
        waiting = [""]
        while waiting:
            inside = waiting.pop()
            below: list[str] = []
            for name, is_folder in self._entries(inside, seen):
                path = f"{inside}/{name}" if inside else name
                place = self.folder / path
                if is_folder:
                    if not is_index(place):
                        below.append(path)
                elif (file := _picture_file(place, path)) is not None:
                    yield file
            waiting.extend(reversed(below))

    def _entries(self, inside: str, seen: set[tuple[int, int]]) -> list[tuple[str, bool]]:
        """Names in a folder, and whether each is one: no more of each, as a folder can hold very many."""
        place = self.folder / inside
        try:
            status = place.stat()
            key = (status.st_dev, status.st_ino)
            if key in seen and status.st_ino:
                return []
            seen.add(key)
            with os.scandir(place) as entries:
                return sorted(
                    (entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith(".")
                )
        except OSError:
            self.unreadable.append(inside)
            return []


def count_by_name(folder: Path, most: int = 2000) -> int:
    """How many of the first entries of a folder, and of the folders in it, are pictures by their names.

    For a first look: at most ``most`` entries are looked at, and no file is opened.
    """
    found = looked_at = 0
    waiting = [folder]
    while waiting and looked_at < most:
        inside = waiting.pop(0)
        with suppress(OSError), os.scandir(inside) as entries:
            for entry in entries:
                looked_at += 1
                if looked_at > most:
                    break
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    if not is_index(Path(entry.path)):
                        waiting.append(Path(entry.path))
                else:
                    found += Path(entry.name).suffix.lower() in SUFFIXES
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir()
    return False


def _picture_file(place: Path, path: str) -> PictureFile | None:
    try:
        status = place.stat()
    except OSError:
        # A link that leads nowhere; a verdict will say so where its name is a picture's.
        return PictureFile(path, -1, 0) if is_picture_file(place) else None
    if not stat.S_ISREG(status.st_mode) or not is_picture_file(place):
        return None
    return PictureFile(path, status.st_size, status.st_mtime_ns)
