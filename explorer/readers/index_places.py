"""Where an index of a folder's pictures lies: the ones that are there, and where a new one goes."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path

from platformdirs import user_data_path

from explorer.core.errors import ExplorerError
from explorer.core.index import Manifest
from explorer.readers.index_files import is_index, pictures_folder, read_manifest


def indexes_of(folder: Path) -> tuple[Path, ...]:
    """The indexes of a folder's pictures that lie where new ones go: beside it, or in the user's own data."""
    found = []
    for home in dict.fromkeys((folder.parent, _own_home(folder))):
        with suppress(OSError):
            found += [
                path
                for path in sorted(home.glob(f"{_escaped(folder.name)}-index*"))
                if _is_of(_manifest_of(path), path, folder)
            ]
    return tuple(found)


def place_for(folder: Path, encoder: Path) -> Path:
    """Where the index of a folder's pictures by an encoder goes, where nobody says otherwise.

    Beside the folder, so that both can be moved together; in the user's own data where nothing can be
    written there. An index of these pictures by this encoder is the place to bring up to date.

    Parameters
    ----------
    folder : Path
        The pictures', absolute.
    encoder : Path
        Its folder or file.
    """
    home = folder.parent if os.access(folder.parent, os.W_OK) else _own_home(folder)
    plain = f"{folder.name or 'pictures'}-index"
    named = f"{plain}-{_plain(encoder.stem if encoder.is_file() else encoder.name)}"
    for name in (plain, named, *(f"{named}-{number}" for number in range(2, 10))):
        path = home / name
        if not path.exists():
            return path
        manifest = _manifest_of(path)
        if manifest is not None and _is_of(manifest, path, folder) and _is_by(manifest, encoder):
            return path
    return next(path for number in count(10) if not (path := home / f"{named}-{number}").exists())


def _own_home(folder: Path) -> Path:
    """The user's own data; folders of one name in different places must not meet there."""
    return user_data_path("embedding-explorer", appauthor=False) / "indexes" / _plain(str(folder.parent))


def _manifest_of(path: Path) -> Manifest | None:
    if not is_index(path):
        return None
    try:
        return read_manifest(path)
    except ExplorerError:
        return None


def _is_of(manifest: Manifest | None, path: Path, folder: Path) -> bool:
    with suppress(OSError):
        return manifest is not None and pictures_folder(path, manifest).samefile(folder)
    return False


def _is_by(manifest: Manifest, encoder: Path) -> bool:
    with suppress(OSError):
        return Path(manifest.encoder.path).samefile(encoder)
    return False


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "encoder"


def _escaped(name: str) -> str:
    """A name as it stands in a glob pattern."""
    return re.sub(r"([*?[])", r"[\1]", name)
