"""Models that already lie in the local Hugging Face cache. Nothing is ever fetched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LocalModel:
    """A cached model: its name as ``owner/name`` and the folder of its newest snapshot."""

    name: str
    path: Path


def cache_folder() -> Path:
    """Where the cache lies, by the variables that Hugging Face's own libraries read."""
    if chosen := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(chosen)
    home = os.environ.get("HF_HOME")
    if home is None:
        home = str(Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface"))
    return Path(home, "hub").expanduser()


def local_models(folder: Path | None = None) -> tuple[LocalModel, ...]:
    """List the cached models by name.

    Parameters
    ----------
    folder : Path, optional
        The cache; the usual one where none is given.

    Returns
    -------
    tuple of LocalModel
        Empty where there is no cache or it cannot be read.
    """
    found = []
    try:
        entries = sorted((folder or cache_folder()).glob("models--*"))
    except OSError:
        return ()
    for entry in entries:
        snapshot = _newest_snapshot(entry)
        if snapshot is not None:
            found.append(LocalModel(entry.name.removeprefix("models--").replace("--", "/"), snapshot))
    return tuple(found)


def _newest_snapshot(entry: Path) -> Path | None:
    try:
        revision = (entry / "refs" / "main").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        revision = ""
    if revision and (entry / "snapshots" / revision).is_dir():
        return entry / "snapshots" / revision
    try:
        snapshots = [path for path in (entry / "snapshots").iterdir() if path.is_dir()]
        return max(snapshots, key=lambda path: path.stat().st_mtime, default=None)
    except OSError:
        return None
