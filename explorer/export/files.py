"""Whole files or none: what is written takes its place only once it is complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from explorer.core.errors import ExplorerError

Report = Callable[[float, str], None]
"""Called with how far the writing is, 0 to 1, and its stage in words; raises where it is to stop."""


def unwatched(_fraction: float, _stage: str) -> None:
    """A ``Report`` that nobody reads."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file beside the target that takes its place, and its mode, once the block has ended well.

    Raises
    ------
    ExplorerError
        Where the folder is missing or can't be written to, or the disk is full.
    """
    path = Path(path)
    temporary = path.with_name(f".{uuid4().hex}{path.suffix}")
    try:
        if not path.parent.is_dir():
            raise ExplorerError(f"The folder {path.parent} does not exist.", "Choose one that does.")
        if path.is_dir():
            raise ExplorerError(f"{path} is a folder.", "Give the file a name.")
        temporary.touch(exist_ok=False)
        if path.exists():
            shutil.copymode(path, temporary)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise ExplorerError(
            f"{path.name} could not be written to {path.parent}.", "Choose another folder.", str(error)
        ) from error
    finally:
        if path.parent.is_dir():
            temporary.unlink(missing_ok=True)
