"""A worker's end of the conversation: requests in, progress and results out, one long work at a time.

Long requests run in the main thread, in order. Short ones (a typed query) run in a second thread, and
long work stands still at its next checkpoint until they are answered, so that they have every core.
A third thread does nothing but read, and ends the process when the session's process is gone.
"""

from __future__ import annotations

import ctypes
import os
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NoReturn

from explorer.compute.protocol import (
    Cancel,
    Done,
    Failed,
    Pause,
    Progress,
    Quit,
    Reply,
    Request,
    Resume,
    Stopped,
)
from explorer.compute.sharing import SessionFolder, id_of, pack, table_group, unpack
from explorer.core.errors import Cancelled, ExplorerError

_REPORT_SECONDS = 0.05
_PACE_SECONDS = 3.0


class Task:
    """One request while it is being met; called, it is the work's checkpoint."""

    def __init__(self, request: Request, service: Service, *, yields: bool) -> None:
        self.request = request
        self._service = service
        self._yields = yields
        self._reports: deque[tuple[float, float]] = deque()

    def __call__(self, fraction: float, stage: str = "") -> None:
        """Report progress, let short requests pass, stand still while paused, and raise Cancelled where that
        was asked for."""
        self._service.check(self.request.id)
        self._report(fraction, stage)
        if self._yields:
            self._service.stand_by(self.request.id)
            self._service.check(self.request.id)

    def _report(self, fraction: float, stage: str) -> None:
        """Send the progress, not too often; how far a work is that now stands still is always told."""
        now = time.monotonic()
        recent = bool(self._reports) and now - self._reports[-1][0] < _REPORT_SECONDS
        if recent and not self._service.is_paused(self.request.id):
            return
        self._reports.append((now, fraction))
        while self._reports[0][0] < now - _PACE_SECONDS:
            self._reports.popleft()
        self.send(Progress(self.request.id, fraction, stage, self._seconds_left(now, fraction)))

    def send(self, reply: Reply, *, group: str = "") -> None:
        """Send a reply before the last one."""
        self._service.send(reply, group=group)

    def _seconds_left(self, now: float, fraction: float) -> float:
        """What is left at the pace of the last few seconds; stages of one work differ in theirs."""
        then, before = self._reports[0]
        if fraction <= before or now - then < 4 * _REPORT_SECONDS:
            return -1.0
        return (now - then) / (fraction - before) * (1.0 - fraction)


class Service:
    """Serves one worker's requests until its connection ends.

    Parameters
    ----------
    connection : Connection
    folder : SessionFolder
    handle : function(request, task)
        Meets a request; what it returns is the result.
    short : frozenset of request types
        Those that go ahead of long work.
    breakable : frozenset of request types
        Long ones without checkpoints, which are broken off in the middle when cancelled.
    lasting : frozenset of request types
        Their results' arrays are kept as long as the table (``request.key``) they belong to;
        those of others are for one reader.
    seconds_to_save : float
        How long long work, cancelled, may take to save what it has done when the session ends.
    """

    def __init__(
        self,
        connection: Connection,
        folder: SessionFolder,
        handle: Callable[[Request, Task], object],
        *,
        short: frozenset[type] = frozenset(),
        breakable: frozenset[type] = frozenset(),
        lasting: frozenset[type] = frozenset(),
        seconds_to_save: float = 0.0,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._handle = handle
        self._short = short
        self._breakable = breakable
        self._lasting = lasting
        self._seconds_to_save = seconds_to_save
        self._ending = False
        self._idle = threading.Event()
        self._long_line: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._short_line: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._waiting_short = 0
        self._may_go_on = threading.Condition()
        self._paused: set[int] = set()
        self._cancelled: set[int] = set()
        self._breaking = threading.Lock()
        self._to_break = 0
        self._sending = threading.Lock()

    def serve(self, prepare: Callable[[], None]) -> NoReturn:
        """Meet requests until the process ends; ``prepare`` is run in the short thread first."""
        threading.Thread(target=self._read, name="reader", daemon=True).start()
        threading.Thread(target=self._serve_short, args=(prepare,), name="short", daemon=True).start()
        while True:
            self._idle.set()
            request = self._long_line.get()
            self._idle.clear()
            self._meet(request, yields=True)

    def stand_by(self, identifier: int) -> None:
        """Wait until no short request is waiting or running and the work is not paused, or is cancelled."""

        def may_go_on() -> bool:
            if self._ending or identifier in self._cancelled:
                return True
            return self._waiting_short == 0 and identifier not in self._paused

        with self._may_go_on:
            self._may_go_on.wait_for(may_go_on)

    def is_paused(self, identifier: int) -> bool:
        """Whether the request is to stand still."""
        return identifier in self._paused

    def check(self, identifier: int) -> None:
        """Raise Cancelled where the request was cancelled, or the session ends."""
        if self._ending or identifier in self._cancelled:
            raise Cancelled

    def send(self, message: object, *, group: str | None = "") -> None:
        """Send a message; its arrays go to ``group``, or are for its reader only where that is None."""
        data = pack(message, self._folder, group=group or "", once=group is None)
        with self._sending, suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send_bytes(data)

    def _read(self) -> None:
        try:
            while not isinstance(message := self._receive(), Quit):
                if isinstance(message, Cancel):
                    self._cancel(message.id)
                elif isinstance(message, Pause | Resume):
                    self._pause(message)
                elif isinstance(message, Request):
                    self._enqueue(message)
            self._let_save()
        except (EOFError, OSError):
            self._let_save()
            # The session's process is gone: nobody else tidies up.
            self._folder.remove_if_forsaken()
        # Not sys.exit: the other threads may be deep in a computation.
        os._exit(0)

    def _let_save(self) -> None:
        """Cancel long work and wait a moment for it to save what it has done."""
        if self._seconds_to_save:
            with self._may_go_on:
                self._ending = True
                self._may_go_on.notify_all()
            self._idle.wait(self._seconds_to_save)

    def _receive(self) -> object:
        data = self._connection.recv_bytes()
        try:
            return unpack(data)
        except OSError as error:
            # An array's file is gone, with the table it belonged to.
            self.send(Failed(id_of(data), "The table was closed.", "", str(error)))
        except Exception as error:  # one that cannot be read must not silence those after it
            self.send(Failed(id_of(data), "A request could not be read.", "Ask again.", repr(error)))
        return None

    def _pause(self, message: Pause | Resume) -> None:
        with self._may_go_on:
            if isinstance(message, Pause):
                self._paused.add(message.id)
            else:
                self._paused.discard(message.id)
            self._may_go_on.notify_all()

    def _cancel(self, identifier: int) -> None:
        with self._may_go_on:
            self._cancelled.add(identifier)
            self._may_go_on.notify_all()
        with self._breaking:
            if self._to_break == identifier:
                main = ctypes.c_ulong(threading.main_thread().ident or 0)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(Cancelled))

    def _enqueue(self, request: Request) -> None:
        if type(request) in self._short:
            with self._may_go_on:
                self._waiting_short += 1
            self._short_line.put(request)
        else:
            self._long_line.put(request)

    def _serve_short(self, prepare: Callable[[], None]) -> None:
        try:
            prepare()
        except BaseException as error:
            self.send(_failure(Request(0), error))
            os._exit(1)
        while True:
            request = self._short_line.get()
            self._meet(request, yields=False)
            with self._may_go_on:
                self._waiting_short -= 1
                self._may_go_on.notify_all()

    def _meet(self, request: Request, *, yields: bool) -> None:
        task = Task(request, self, yields=yields)
        try:
            self.check(request.id)
            if type(request) in self._breakable:
                result = self._handle_breakable(request, task)
            else:
                result = self._handle(request, task)
            self.send(Done(request.id, result), group=self._group_of(request))
        except Cancelled:
            self.send(Stopped(request.id))
        except BaseException as error:
            self.send(_failure(request, error))
        finally:
            self._cancelled.discard(request.id)
            self._paused.discard(request.id)

    def _handle_breakable(self, request: Request, task: Task) -> object:
        """Meet a request that ``_cancel`` may break off anywhere, but not outside of here."""
        with self._breaking:
            self._to_break = request.id
        try:
            return self._handle(request, task)
        finally:
            with suppress(Cancelled):
                with self._breaking:
                    self._to_break = 0
                # A blow that was struck before the lock was ours falls at the latest here.
                for _ in range(100):
                    pass
            self.check(request.id)

    def _group_of(self, request: Request) -> str | None:
        return table_group(request.key) if type(request) in self._lasting else None  # type: ignore[attr-defined]


def _failure(request: Request, error: BaseException) -> Failed:
    """Any exception as a sentence for the person; nothing is swallowed."""
    if isinstance(error, ExplorerError):
        return Failed(request.id, error.message, error.hint, error.detail)
    detail = "".join(traceback.format_exception(error))
    if isinstance(error, MemoryError) or "memory" in str(error).lower():
        return Failed(
            request.id,
            "There is not enough memory for this.",
            "Close other tables, choose a smaller one, or set the device to cpu.",
            detail,
        )
    name = type(request).__name__
    return Failed(request.id, f"An unexpected error stopped this work ({name}): {error}", "", detail)
