"""What a person can do: open, map, ask.

Each command starts jobs and writes their results into the document.
"""

from explorer.commands.asking import Asking
from explorer.commands.encoding import EncoderChoice, Encoding
from explorer.commands.indexing import Indexing
from explorer.commands.mapping import Mapping
from explorer.commands.notices import Notice, Notices
from explorer.commands.opening import Opening
from explorer.commands.session import Session

__all__ = [
    "Asking",
    "EncoderChoice",
    "Encoding",
    "Indexing",
    "Mapping",
    "Notice",
    "Notices",
    "Opening",
    "Session",
]
