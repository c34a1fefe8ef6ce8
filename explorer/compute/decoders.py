"""Processes that decode pictures ahead of an encoder, so that it need not wait for them."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from explorer.compute.decoding import Decoded, Task, run_decoder, slots_in
from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.compute.parallel import CORES
from explorer.compute.spawning import SPAWN, safe_path
from explorer.core.errors import ExplorerError
from explorer.core.pictures import Verdict

_MOST_PROCESSES = 32
_AHEAD = 4  # batches: one with the encoder, one ready, two being filled
_QUEUED = 2  # tasks a process, so that it never waits for the next
_MOST_CRASHES = 3  # of processes that never did anything
_POLL_SECONDS = 0.02
_WAITING_SECONDS = 0.1
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class Batch:
    """Decoded pictures, in the order of their tasks.

    Attributes
    ----------
    pixels : uint8 array, shape (n, 3, height, width)
        A view of shared memory: valid until ``Decoders.release``. Rows of bad pictures hold anything.
    decoded : tuple of Decoded, of length n
    """

    pixels: NDArray[np.uint8]
    decoded: tuple[Decoded, ...]
    number: int


class Decoders:
    """Several processes and the memory that they decode into; a context manager.

    Parameters
    ----------
    preprocessing : Preprocessing
    batch : int
        Pictures a batch.
    processes : int, optional
        One less than there are cores where not given.
    """

    def __init__(self, preprocessing: Preprocessing, batch: int, processes: int | None = None) -> None:
        self._preprocessing = preprocessing
        self._batch = batch
        height, width = preprocessing.size
        # Anonymous: it goes with the last process, however that ends.
        self._memory = SPAWN.RawArray("B", _AHEAD * batch * 3 * height * width)
        self._slots = slots_in(self._memory, preprocessing)
        self._count = processes or max(1, min(_MOST_PROCESSES, CORES - 1))
        self._children: list[_Child] = []
        self._crashes = 0
        self._ready: queue.SimpleQueue[Batch | BaseException | None] = queue.SimpleQueue()
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._feeder: threading.Thread | None = None

    def __enter__(self) -> Decoders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._feeder is not None:
            self._feeder.join()
        for child in self._children:
            child.connection.close()
        for child in self._children:
            child.end()
        self._children.clear()

    def batches(self, tasks: Iterable[Task], waiting: Callable[[], object] = lambda: None) -> Iterator[Batch]:
        """Decode pictures ahead of whoever takes the batches; once for each ``Decoders``.

        A batch is released when the next one is asked for.

        Parameters
        ----------
        tasks : iterable of Task
        waiting : function
            Called ten times a second while there is no batch yet; what it raises ends the run.

        Raises
        ------
        ExplorerError
            No process can be started.
        """
        self._feeder = threading.Thread(
            target=self._feed, args=(iter(tasks),), name="picture decoders", daemon=True
        )
        self._feeder.start()
        while True:
            try:
                batch = self._ready.get(timeout=_WAITING_SECONDS)
            except queue.Empty:
                waiting()
                continue
            if batch is None:
                return
            if isinstance(batch, BaseException):
                raise batch
            yield batch
            self._free.put(batch.number)

    def _feed(self, tasks: Iterator[Task]) -> None:
        try:
            _Feeding(self, tasks).run()
            self._ready.put(None)
        except BaseException as error:  # raised again where the batches are taken
            self._ready.put(error)

    def _child(self) -> _Child:
        child = _Child.start(self)
        self._children.append(child)
        return child


class _Feeding:
    """The feeder thread's work: tasks to processes, results to batches, batches in order to the encoder."""

    def __init__(self, owner: Decoders, tasks: Iterator[Task]) -> None:
        self.owner = owner
        self.tasks = tasks
        self.size = owner._batch
        self.to_do: deque[tuple[int, Task]] = deque()  # of batches that have slots
        self.filling: deque[_Filling] = deque()
        self.free = deque(range(_AHEAD))
        self.more = True

    def run(self) -> None:
        while not self.owner._stop.is_set():
            self._take_slots_back()
            self._plan()
            if not self.filling and not self.more:
                return
            self._hand_out()
            for connection in wait([c.connection for c in self.owner._children], _POLL_SECONDS):
                self._hear(next(c for c in self.owner._children if c.connection is connection))
            while self.filling and self.filling[0].is_full:
                self.owner._ready.put(self.filling.popleft().batch(self.owner._slots, self.size))

    def _take_slots_back(self) -> None:
        with suppress(queue.Empty):
            while True:
                self.free.append(self.owner._free.get_nowait())

    def _plan(self) -> None:
        """Give the next tasks slots of free batches."""
        while self.free and self.more:
            tasks = [task for _, task in zip(range(self.size), self.tasks, strict=False)]
            self.more = len(tasks) == self.size
            if tasks:
                number = self.free.popleft()
                self.filling.append(_Filling(number, [None] * len(tasks)))
                self.to_do.extend((number * self.size + i, task) for i, task in enumerate(tasks))

    def _hand_out(self) -> None:
        while len(self.owner._children) < min(self.owner._count, len(self.to_do)):
            self.owner._child()
        for load in range(_QUEUED):
            for child in self.owner._children:
                if self.to_do and len(child.in_hand) == load:
                    child.ask(self.to_do.popleft())

    def _hear(self, child: _Child) -> None:
        try:
            message = child.connection.recv()
        except (EOFError, OSError):
            self._bury(child)
            return
        if message is None:
            child.is_well = True
            self.owner._crashes = 0
            return
        child.in_hand.popleft()
        self._keep(*message)

    def _bury(self, child: _Child) -> None:
        """A process has died: of the picture that it had in hand, unless it never was well."""
        self.owner._children.remove(child)
        reason = child.end()
        lost = list(child.in_hand)
        if not child.is_well:
            self.owner._crashes += 1
            if self.owner._crashes >= _MOST_CRASHES:
                raise ExplorerError("The processes that decode pictures end at once.", detail=reason)
        elif lost:
            slot, task = lost.pop(0)
            why = f"decoding it ended its process ({reason})"
            self._keep(slot, Decoded(task.row, Verdict.UNREADABLE, why))
        self.to_do.extendleft(reversed(lost))

    def _keep(self, slot: int, decoded: Decoded) -> None:
        number, place = divmod(slot, self.size)
        next(filling for filling in self.filling if filling.number == number).decoded[place] = decoded


@dataclass
class _Filling:
    """A batch that is not whole yet."""

    number: int
    decoded: list[Decoded | None]

    @property
    def is_full(self) -> bool:
        return None not in self.decoded

    def batch(self, slots: NDArray[np.uint8], size: int) -> Batch:
        done = tuple(each for each in self.decoded if each is not None)
        start = self.number * size
        return Batch(slots[start : start + len(done)], done, self.number)


class _Child:
    """One process and the tasks that it has in hand, the one it works at first."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.in_hand: deque[tuple[int, Task]] = deque()
        self.is_well = False

    @classmethod
    def start(cls, owner: Decoders) -> _Child:
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(
            target=run_decoder,
            args=(theirs, owner._memory, owner._preprocessing),
            name="embedding-explorer pictures",
            daemon=True,
        )
        try:
            with safe_path():
                process.start()
        except OSError as error:
            ours.close()
            raise ExplorerError(
                "No process could be started to decode pictures.", detail=str(error)
            ) from error
        finally:
            theirs.close()
        return cls(process, ours)

    def ask(self, task: tuple[int, Task]) -> None:
        self.in_hand.append(task)
        # A broken pipe is noticed by the reading side.
        with suppress(OSError):
            self.connection.send(task)

    def end(self) -> str:
        """End the process; says how it had ended."""
        self.connection.close()
        self.process.join(_PATIENCE_SECONDS if not self.in_hand else 0.5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode
        self.process.close()
        return f"signal {-code}" if code is not None and code < 0 else f"status {code}"
