"""Runs jobs step by step on the worker processes, and brings what these say into the window's thread."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from explorer.compute import protocol
from explorer.compute.pool import Pool
from explorer.compute.protocol import Request
from explorer.core.device import DeviceInfo
from explorer.core.errors import ExplorerError
from explorer.jobs.job import Job, Stop
from explorer.jobs.pace import Pace
from explorer.jobs.steps import Step, Steps, one

# Milliseconds: the window is drawn before the workers take the processors. A request does not wait for it.
_START_AFTER = 100


@dataclass(eq=False)
class _Running:
    job: Job
    steps: Steps
    key: int | None
    identifier: int
    step: Step | None = None
    pace: Pace = field(default_factory=Pace)
    cancelled: bool = False
    lasts: bool = False  # until its worker says that it is over; others end as soon as they are cancelled


@dataclass(frozen=True, eq=False)
class _Ended:
    """What a job ends with, kept for the next turn of the event loop."""

    running: _Running
    outcome: object


class Runner(QObject):
    """Gives each job's requests to the workers, one after the other. No method waits for them.

    Signals
    -------
    job_started(Job), job_ended(Job)
        Around every job; ``job_ended`` after the job's own last signal.
    device_changed(DeviceInfo)
    worker_restarted(str, str) : which worker had died, and why; a new one is being started.
    ready(str) : a worker has loaded its libraries.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "mps"}
    """

    job_started = Signal(object)
    job_ended = Signal(object)
    device_changed = Signal(object)
    worker_restarted = Signal(str, str)
    ready = Signal(str)
    _heard = Signal(object)

    def __init__(self, device: str) -> None:
        super().__init__()
        self._ids = itertools.count(1)
        self._running: dict[int, _Running] = {}
        self._asked: dict[int, _Running] = {}
        self._devices: dict[str, DeviceInfo] = {}
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self._pool = Pool(self._hear, device)
        QTimer.singleShot(_START_AFTER, self, self._pool.start)

    def number(self) -> int:
        """A number for a new request."""
        return next(self._ids)

    def ask(self, title: str, request: Request, *, key: int | None = None, lasting: bool = False) -> Job:
        """Start a job that is one request, and finishes with its answer; else as ``start``."""
        return self.start(title, one(request), key=key, lasting=lasting)

    def start(self, title: str, steps: Steps, *, key: int | None = None, lasting: bool = False) -> Job:
        """Start a job.

        Parameters
        ----------
        title : str
        steps : Steps
        key : int, optional
            The table that it works on; see ``cancel_all_on``.
        lasting : bool
            It can be paused, and is not over before its worker says so.
        """
        identifier = self.number()
        pause = (lambda paused: self._pause(identifier, paused)) if lasting else None
        job = Job(title, lambda _job: self._cancel(identifier), pause=pause)
        running = _Running(job, steps, key, identifier, lasts=lasting)
        self._running[identifier] = running
        self.job_started.emit(running.job)
        self._advance(running, None)
        return running.job

    def send(self, request: Request) -> None:
        """Give a worker a request that nobody waits for."""
        self._pool.submit(request)

    def start_worker(self, name: str) -> None:
        """Begin to start a worker that waits for its first request."""
        self._pool.start_worker(name)

    def cancel_all_on(self, key: int) -> None:
        """Cancel the jobs on a table."""
        for running in list(self._running.values()):
            if running.key == key:
                running.job.cancel()

    def shutdown(self) -> None:
        """End the workers, within about a second. Jobs that still run end as cancelled."""
        for running in list(self._running.values()):
            self._end(running, Stop())
        self._pool.close()

    def worker_pid(self, name: str) -> int | None:
        """The process id of a worker; None while it does not run."""
        return self._pool.pid(name)

    def _advance(self, running: _Running, result: object) -> None:
        """Send a job's next request, or end it in the next turn of the event loop."""
        try:
            running.step = running.steps.send(result)
        except StopIteration as stop:
            running.step = None
            self._heard.emit(_Ended(running, stop.value))
        except ExplorerError as error:
            running.step = None
            self._heard.emit(_Ended(running, error))
        else:
            self._asked[running.step.request.id] = running
            self._pool.submit(running.step.request)

    def _cancel(self, identifier: int) -> None:
        """Stop a job: at once, whatever its worker does, save for one that has something to save first."""
        running = self._running[identifier]
        running.cancelled = True
        if running.step is not None:
            self._pool.cancel(running.step.request)
            if running.lasts:
                return
            self._asked.pop(running.step.request.id, None)
            if running.step.undone_by is not None:
                self._pool.submit(running.step.undone_by)
        self._heard.emit(_Ended(running, Stop()))

    def _pause(self, identifier: int, paused: bool) -> None:
        step = self._running[identifier].step
        if step is not None:
            (self._pool.pause if paused else self._pool.resume)(step.request)

    def _hear(self, message: object) -> None:
        """In a thread of the pool's: have a message taken up in this object's thread."""
        # The object is gone before the pool where the program ends without shutdown.
        with suppress(RuntimeError):
            self._heard.emit(message)

    def _take(self, message: object) -> None:
        """Take up what a worker has said, in the window's thread."""
        match message:
            case _Ended(running, outcome):
                self._end(running, outcome)
            case protocol.Ready(worker):
                self.ready.emit(worker)
            case protocol.Restarted(worker, reason):
                self.worker_restarted.emit(worker, reason)
            case protocol.DeviceChanged(info, worker):
                self._devices[worker] = info
                self.device_changed.emit(_together(list(self._devices.values())))
            case protocol.Reply(identifier) if identifier in self._asked:
                self._take_reply(self._asked[identifier], message)

    def _take_reply(self, running: _Running, reply: protocol.Reply) -> None:
        step = running.step
        assert step is not None
        if isinstance(reply, protocol.Progress):
            if not running.cancelled:
                self._report(running, step, reply)
        elif isinstance(reply, protocol.Told):
            if not running.cancelled:
                running.job.told.emit(reply.news)
        elif isinstance(reply, protocol.Moving):
            running.job.moving.emit(reply.xy)
        else:
            del self._asked[reply.id]
            if running.cancelled or isinstance(reply, protocol.Stopped):
                self._end(running, Stop())
            elif isinstance(reply, protocol.Failed):
                self._end(running, reply.error)
            elif isinstance(reply, protocol.Done):
                self._advance(running, reply.result)

    def _report(self, running: _Running, step: Step, reply: protocol.Progress) -> None:
        """Tell how far a job is as a whole."""
        whole, left = running.pace.left(step.start, step.end, reply.fraction, reply.seconds_left)
        running.job.report_progress(whole, reply.stage, left)

    def _end(self, running: _Running, outcome: object) -> None:
        if self._running.pop(running.identifier, None) is None:
            return
        running.steps.close()
        running.job.end(Stop() if running.cancelled else outcome)
        self.job_ended.emit(running.job)


def _together(devices: list[DeviceInfo]) -> DeviceInfo:
    """The device as the session uses it: the memory that all workers hold on the first one's kind."""
    kind = devices[0].kind
    return replace(devices[0], used_bytes=sum(each.used_bytes for each in devices if each.kind == kind))
