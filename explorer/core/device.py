"""Where the vectors lie, as the status bar shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceInfo:
    """A device and its memory.

    Attributes
    ----------
    kind : {"cpu", "cuda", "mps"}
    name : str
        In the user's words, e.g. ``"NVIDIA H200"`` or ``"CPU, 8 cores"``.
    used_bytes : int
        Held by the vectors worker.
    total_bytes : int
        Of the device (of the machine, for a CPU); 0 where unknown.
    """

    kind: str
    name: str
    used_bytes: int
    total_bytes: int
