"""What a person can do: open, map, ask.

Each command starts jobs and writes their results into the document.
"""

from explorer.commands.asking import Asking
from explorer.commands.mapping import Mapping
from explorer.commands.notices import Notice, Notices
from explorer.commands.opening import Opening
from explorer.commands.session import Session

__all__ = ["Asking", "Mapping", "Notice", "Notices", "Opening", "Session"]
