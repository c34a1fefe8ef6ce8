"""The trained models that ship with the application, for a first look without a file of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from explorer.core.errors import ExplorerError
from explorer.core.resources import resource_path


@dataclass(frozen=True)
class Demo:
    """A bundled model.

    Attributes
    ----------
    name : str
        What a person types to open it, e.g. ``"word-lstm"``.
    path : Path
        A checkpoint's file, or a model's folder.
    kind : str
        What it is, in words.
    pictures : Path or None
        A folder of pictures to look at with it.
    """

    name: str
    path: Path
    kind: str
    pictures: Path | None = None

    @property
    def index(self) -> Path:
        """Where the index of its pictures lies: made on first use, and anew for another model."""
        weights = self.path / "model.safetensors"
        made_of = f"{self.path}\n{self.pictures}\n{weights.stat().st_size if weights.exists() else 0}"
        key = blake2b(made_of.encode(), digest_size=4).hexdigest()
        return user_cache_path("embedding-explorer", appauthor=False) / "demo" / key / "demo pictures"


def demos() -> tuple[Demo, ...]:
    """All bundled models: the word model, the CLIP, then the word model's table from the random start on."""
    folder = resource_path("demo")
    trained = Demo("word-lstm", folder / "wordLSTM.pth", "word LSTM, trained")
    clip = Demo("clip", folder / "clip", "CLIP", folder / "pictures")
    return (trained, clip, *(_at_epoch(path) for path in sorted(folder.glob("epoch-*.pth"))))


def _at_epoch(path: Path) -> Demo:
    epoch = int(path.stem.removeprefix("epoch-"))
    kind = f"word LSTM, table after epoch {epoch}" if epoch else "word LSTM, table at its random start"
    return Demo(f"word-lstm-{path.stem}", path, kind)


def find_demo(name: str | None = None) -> Demo:
    """The demo of this name; the first one where none is given.

    Raises
    ------
    ExplorerError
        Where there is none of this name; the hint lists those there are.
    """
    found = demos()
    if name is None:
        return found[0]
    for demo in found:
        if demo.name == name:
            return demo
    raise ExplorerError(
        f"There is no demo called “{name}”.", f"Choose one of: {', '.join(demo.name for demo in found)}."
    )
