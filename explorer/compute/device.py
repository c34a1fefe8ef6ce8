"""Which device computes, and how much of its memory is in use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import torch

from explorer.core.device import DeviceInfo
from explorer.core.errors import ExplorerError

_PRESENT: dict[str, Callable[[], bool]] = {
    "cuda": torch.cuda.is_available,
    "mps": torch.backends.mps.is_available,
    "cpu": lambda: True,
}


def choose_device(wish: str = "auto") -> torch.device:
    """The device that was asked for; ``"auto"`` takes the quickest one there is.

    Parameters
    ----------
    wish : {"auto", "cpu", "cuda", "mps"}

    Returns
    -------
    torch.device

    Raises
    ------
    ExplorerError
        Where this machine does not have it, or it has no such name.
    """
    if wish == "auto":
        wish = next(kind for kind, present in _PRESENT.items() if present())
    if wish not in _PRESENT:
        raise ExplorerError(f'There is no device "{wish}".', "Choose auto, cpu, cuda or mps.")
    if not _PRESENT[wish]():
        raise ExplorerError(
            f"This machine has no {wish} device that torch {torch.__version__} can use.",
            "Choose the device auto or cpu, or install a build of torch for it.",
        )
    return torch.device(f"cuda:{torch.cuda.current_device()}" if wish == "cuda" else wish)


def describe(device: torch.device) -> DeviceInfo:
    """The device's name, and its memory: what this process holds, and what there is."""
    if device.type == "cuda":
        total = torch.cuda.get_device_properties(device).total_memory
        used = torch.cuda.memory_reserved(device)
        return DeviceInfo("cuda", torch.cuda.get_device_name(device), used, total)
    if device.type == "mps":
        return DeviceInfo(
            "mps", "Apple GPU", torch.mps.driver_allocated_memory(), torch.mps.recommended_max_memory()
        )
    cores = os.cpu_count() or 1
    name = f"CPU, {cores} core{'s' if cores > 1 else ''}"
    return DeviceInfo("cpu", name, _process_bytes(), _machine_bytes())


def free_bytes() -> int:
    """Memory of the machine that is free for programs (half of all, on macOS)."""
    if sys.platform == "linux":
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":") for line in file)
        return int(fields["MemAvailable"].split()[0]) * 1024
    if sys.platform == "win32":
        return _windows_memory()[1]
    return _machine_bytes() // 2


def _process_bytes() -> int:
    """Memory that this process holds at present (at most so far, on macOS)."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return _windows_process_bytes()
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _machine_bytes() -> int:
    if sys.platform == "win32":
        return _windows_memory()[0]
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class _ProcessMemory(ctypes.Structure):
        _fields_ = [
            ("size", wintypes.DWORD),
            ("page_faults", wintypes.DWORD),
            ("peak_working_set", ctypes.c_size_t),
            ("working_set", ctypes.c_size_t),
            ("rest", ctypes.c_size_t * 6),
        ]

    class _MachineMemory(ctypes.Structure):
        _fields_ = [
            ("size", wintypes.DWORD),
            ("load", wintypes.DWORD),
            ("total", ctypes.c_uint64),
            ("rest", ctypes.c_uint64 * 6),
        ]

    def _windows_process_bytes() -> int:
        memory = _ProcessMemory(size=ctypes.sizeof(_ProcessMemory))
        process = ctypes.c_void_p(ctypes.windll.kernel32.GetCurrentProcess())
        ctypes.windll.kernel32.K32GetProcessMemoryInfo(process, ctypes.byref(memory), memory.size)
        return int(memory.working_set)

    def _windows_memory() -> tuple[int, int]:
        """All of it, and what is free."""
        memory = _MachineMemory(size=ctypes.sizeof(_MachineMemory))
        ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(memory))
        return int(memory.total), int(memory.rest[0])
