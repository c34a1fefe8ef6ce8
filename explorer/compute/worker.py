"""One worker process as its session's process sees it: started, spoken to, restarted, ended."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from explorer.compute.entry import run_worker
from explorer.compute.protocol import (
    Cancel,
    Done,
    Failed,
    Pause,
    Quit,
    Ready,
    Reply,
    Request,
    Restarted,
    Resume,
    Stopped,
)
from explorer.compute.sharing import SessionFolder, id_of, pack, unpack
from explorer.compute.spawning import SPAWN, safe_path
from explorer.core.errors import ExplorerError

_MOST_CRASHES = 3

# The id of requests that nobody waits for.
NOBODY = -1


class Worker:
    """One child process and the requests that it has in hand.

    Starting, sending and receiving happen in two threads of its own; no call waits for the child.
    A child that dies is noticed at once: what it had in hand fails, and another one is started.

    Parameters
    ----------
    name : {"vectors", "layout", "encoder"}
    folder : SessionFolder
    device : str
    listen : function of a message
        Called in this worker's threads: replies, Ready, DeviceChanged, Restarted.
    restore : function
        The requests (of id NOBODY) to send first after a restart.
    has_children : bool
        The process starts processes of its own. They end with it, whatever ends it.
    quit_seconds : float
        How long it may take to end by itself.
    """

    def __init__(
        self,
        name: str,
        folder: SessionFolder,
        device: str,
        listen: Callable[[object], None],
        restore: Callable[[], Sequence[Request]],
        *,
        has_children: bool = False,
        quit_seconds: float = 0.5,
    ) -> None:
        self.name = name
        self._folder = folder
        self._device = device
        self._listen = listen
        self._restore = restore
        self._has_children = has_children
        self._quit_seconds = quit_seconds
        self._outbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._in_hand: dict[int, Request] = {}
        self._process: SpawnProcess | None = None
        self._broken = ""
        self._closing = False
        self._keeper = threading.Thread(target=self._keep, name=f"{name} keeper", daemon=True)

    def start(self) -> None:
        """Begin to start the process, unless that was done before."""
        with self._guard:
            if self._keeper.ident is None and not self._closing:
                self._keeper.start()

    def send(self, message: Request | Cancel | Pause | Resume) -> None:
        """Put a message in line."""
        if isinstance(message, Request):
            with self._guard:
                self._in_hand[message.id] = message
                broken = self._broken
            if broken:
                self._answer(_lost(message.id, broken))
                return
        self._outbox.put(message)

    @property
    def pid(self) -> int | None:
        """The process's id, None while there is none."""
        with self._guard:
            return self._process.pid if self._process is not None else None

    def begin_close(self) -> None:
        """Ask the process to end."""
        self._closing = True
        self._outbox.put(Quit())

    def close(self) -> None:
        """Wait for the process to end, and kill it where it takes its time."""
        if self._keeper.ident is None:
            return
        self._keeper.join(self._quit_seconds)
        while self._keeper.is_alive():
            with self._guard:
                if self._process is not None:
                    self._process.kill()
            self._keeper.join(0.05)

    def _keep(self) -> None:
        """Start the process, and start it again whenever it ends by itself."""
        reason, crashes = "", 0
        while not self._closing:
            if reason:
                self._listen(Restarted(self.name, reason))
            # What a table's loading has killed once, it would kill again.
            first = list(self._restore()) if reason and crashes == 0 else []
            was_well, reason = self._live(first)
            crashes = 0 if was_well else crashes + 1
            if crashes == _MOST_CRASHES:
                with self._guard:
                    self._broken = reason
            self._fail_all(reason)
            if self._broken:
                return

    def _live(self, first: list[Request]) -> tuple[bool, str]:
        """Start a process and listen until it ends: whether it was ever well, and why it ended."""
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(
            target=run_worker,
            args=(self.name, theirs, self._folder.path, self._device),
            name=f"embedding-explorer {self.name}",
            daemon=not self._has_children,
        )
        try:
            with safe_path():
                process.start()
        except Exception as error:  # a keeper that ended here would leave every request without an answer
            ours.close()
            return False, f"no process could be started: {error}"
        finally:
            theirs.close()
        with self._guard:
            self._process = process
        restored = threading.Event()
        writer = threading.Thread(
            target=self._write, args=(ours, first, restored), name=f"{self.name} writer", daemon=True
        )
        writer.start()
        was_well, last_words = self._hear(ours, len(first), restored)
        restored.set()
        self._outbox.put(None)
        writer.join()
        ours.close()
        process.join()
        with self._guard:
            self._process = None
        return was_well, last_words or _reason(process.exitcode)

    def _hear(self, connection: Connection, restoring: int, restored: threading.Event) -> tuple[bool, str]:
        """Pass on what the process says until it says no more."""
        ready, last_words = False, ""
        while True:
            if restoring == 0:
                restored.set()
            try:
                data = connection.recv_bytes()
            except (EOFError, OSError):
                return ready and restoring == 0, last_words
            try:
                message = unpack(data)
            except OSError as error:
                message = Failed(id_of(data), "The table was closed.", "", str(error))
            except Exception as error:  # one that cannot be read must not silence those after it
                message = Failed(id_of(data), "An answer could not be read.", "Ask again.", repr(error))
            if isinstance(message, Reply):
                restoring -= message.id == NOBODY and isinstance(message, Done | Failed)
                if message.id == 0 and isinstance(message, Failed):
                    last_words = message.message
                self._answer(message)
            else:
                ready = ready or isinstance(message, Ready)
                self._listen(message)

    def _answer(self, reply: Reply) -> None:
        """Pass a reply on, where its request is still in hand."""
        with self._guard:
            known = reply.id in self._in_hand
            if isinstance(reply, Done | Failed | Stopped):
                self._in_hand.pop(reply.id, None)
        if known:
            self._listen(reply)

    def _write(self, connection: Connection, first: list[Request], restored: threading.Event) -> None:
        """Send what restores the tables and, once they are, what is in line, until a None comes."""
        for request in first:
            self._send_now(connection, request)
        restored.wait()
        for message in iter(self._outbox.get, None):
            # A request may have failed, with the process before this one, while it was in line.
            if not isinstance(message, Request) or message.id in self._in_hand:
                self._send_now(connection, message)

    def _send_now(self, connection: Connection, message: object) -> None:
        try:
            data = pack(message, self._folder, once=True)
        except ExplorerError as error:
            self._answer(Failed(getattr(message, "id", NOBODY), error.message, error.hint, error.detail))
            return
        # A broken pipe is noticed by the reading side.
        with suppress(OSError):
            connection.send_bytes(data)

    def _fail_all(self, reason: str) -> None:
        with self._guard:
            lost, self._in_hand = self._in_hand, {}
        for identifier in lost:
            self._listen(_lost(identifier, reason))


def _lost(identifier: int, reason: str) -> Failed:
    return Failed(
        identifier,
        "The process that did this work has ended unexpectedly.",
        "Try again; a smaller table or fewer open programs help where memory ran out.",
        reason,
        lost=True,
    )


def _reason(exit_code: int | None) -> str:
    """Why a process ended, in words."""
    if exit_code is not None and exit_code < 0:
        with suppress(ValueError):
            name = signal.Signals(-exit_code).name
            return f"it was ended by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")
    return f"it ended with status {exit_code}"
