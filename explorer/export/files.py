"""Whole files or none: what is written takes its place only once it is complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.core.errors import ExplorerError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside the target that takes its place once the block has ended well.

    Raises
    ------
    ExplorerError
        Where the folder is missing or can't be written to, or the disk is full.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ExplorerError(f"The folder {path.parent} does not exist.", "Choose one that does.")
    if path.is_dir():
        raise ExplorerError(f"{path} is a folder.", "Give the file a name.")
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}-", suffix=path.suffix, dir=path.parent)
        temporary = Path(name)
        os.close(handle)
        yield temporary
        temporary.chmod(_mode_of(path))
        temporary.replace(path)
    except OSError as error:
        raise ExplorerError(
            f"{path.name} could not be written to {path.parent}.", "Choose another folder.", str(error)
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _mode_of(path: Path) -> int:
    """The mode a file of this name has or would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
