"""What a worker says of its progress."""

from __future__ import annotations

import pytest

from explorer.compute import service
from explorer.compute.protocol import Progress, Request
from explorer.compute.service import Task


class Recorder:
    """Stands where a service stands, and takes down what its tasks send."""

    def __init__(self) -> None:
        self.sent: list[Progress] = []

    def stand_by(self, identifier: int) -> None:
        pass

    def check(self, identifier: int) -> None:
        pass

    def is_paused(self, identifier: int) -> bool:
        return False

    def send(self, message: Progress, *, group: str = "") -> None:
        self.sent.append(message)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(service.time, "monotonic", lambda: now[0])
    return now


def test_that_progress_is_told_twenty_times_a_second_at_most(clock: list[float]) -> None:
    recorder = Recorder()
    task = Task(Request(7), recorder, yields=True)
    for step in range(10_000):
        clock[0] = step / 1000
        task(step / 10_000, f"epoch {step}")
    assert 150 <= len(recorder.sent) <= 200
    assert {report.id for report in recorder.sent} == {7}


def test_that_the_time_left_follows_the_pace_of_the_stage_at_work(clock: list[float]) -> None:
    recorder = Recorder()
    task = Task(Request(7), recorder, yields=True)
    for step in range(2000):
        # Twenty seconds to 0.2, then the rest in another twenty.
        clock[0] = step / 50
        task(step / 5000 if step < 1000 else 0.2 + (step - 1000) / 1250)
    left = {round(report.fraction, 2): report.seconds_left for report in recorder.sent}
    assert recorder.sent[0].seconds_left == -1.0
    assert left[0.1] == pytest.approx(90, rel=0.02)
    assert left[0.6] == pytest.approx(10, rel=0.02)
