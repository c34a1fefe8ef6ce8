"""A file that is open in the session, and what the person chose for it."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.listing import FileListing


@dataclass(frozen=True)
class Source:
    """An opened file.

    Attributes
    ----------
    listing : FileListing
    labels, target_labels : str or None
        Vocabulary files chosen by hand, for the source and the target side.
    header : bool or None
        Whether the label file's first line is a header; None where nobody said.
    """

    listing: FileListing
    labels: str | None = None
    target_labels: str | None = None
    header: bool | None = None

    @property
    def path(self) -> str:
        """The file's path, which names the source within the session."""
        return self.listing.path
