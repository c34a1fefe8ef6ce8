"""Models run stage by stage in their own worker process, through Jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from explorer.compute.protocol import Source
from explorer.core.resources import resource_path
from explorer.core.results import Metric
from explorer.core.stages import Needs, Of
from explorer.demos import demos
from explorer.jobs import Job, Jobs

CLIP = str(resource_path("demo", "clip"))


pytestmark = pytest.mark.usefixtures("stages_worker")


def result(qtbot: QtBot, job: Job) -> object:
    with qtbot.waitSignal(job.finished, timeout=60_000, raising=True) as signal:
        job.failed.connect(lambda error: pytest.fail(str(error)))
    return signal.args[0]


def test_that_a_sentence_runs_through_the_demos_lstm_and_finds_its_rows(qtbot: QtBot, jobs: Jobs) -> None:
    path = str(demos()[0].path)
    source = Source(path)
    info = result(qtbot, jobs.open_stages(source))
    assert (info.name, info.needs, info.reads) == ("word LSTM", Needs.TEXT, ("",))
    run = result(qtbot, jobs.run_stages(source, "happy families are all alike"))
    assert [token.label for token in run.stages.tokens] == ["happy", "families", "are", "all", "alike"]
    looked = run.stages["looked up"]
    table = result(qtbot, jobs.load_table(path, "embedding.weight"))
    rows = result(qtbot, jobs.nearest(table.key, looked.values, 3, Metric.COSINE))
    assert rows.shape == (5, 3)
    assert rows[:, 0].tolist() == [token.id for token in run.stages.tokens]
    nothing = np.full((2, looked.shape[1]), np.nan, np.float32)
    assert (result(qtbot, jobs.nearest(table.key, nothing, 3, Metric.COSINE)) == -1).all()


def test_that_attention_is_fetched_layer_by_layer_and_only_of_the_last_run(
    qtbot: QtBot, jobs: Jobs, tmp_path: Path
) -> None:
    source = Source(CLIP)
    Image.new("RGB", (64, 64), (200, 10, 10)).save(tmp_path / "red.png")
    run = result(qtbot, jobs.run_stages(source, "a red square", picture=tmp_path / "red.png"))
    shapes = {shape.name: shape for shape in run.attentions}
    assert shapes["picture self-attention"].queries is Of.PATCHES
    weights = result(qtbot, jobs.attention(source, run.id, "self-attention", 2))
    assert weights.shape == (shapes["self-attention"].heads, len(run.stages.tokens), len(run.stages.tokens))
    np.testing.assert_allclose(weights.sum(2), 1, atol=1e-5)
    again = result(qtbot, jobs.run_stages(source, "a blue square"))
    with qtbot.waitSignal(jobs.attention(source, run.id, "self-attention", 2).failed, timeout=30_000) as told:
        pass
    assert "over" in str(told.args[0])
    assert result(qtbot, jobs.attention(source, again.id, "self-attention", 1)).ndim == 3


def test_that_phrases_become_vectors_and_a_word_is_followed(qtbot: QtBot, jobs: Jobs) -> None:
    source = Source(CLIP)
    found = result(qtbot, jobs.encode_phrases(source, ["a red square", "two blue circles"]))
    assert found.vectors.shape[0] == 2
    assert np.isfinite(found.vectors).all()
    alike = result(qtbot, jobs.compare_word(source, "a red square", "a red circle", "red"))
    assert alike[0].cosine == pytest.approx(1, abs=1e-5)
    assert {each.stage for each in alike} >= {"looked up", "after layer 1"}


def test_that_a_file_without_a_model_says_so(qtbot: QtBot, jobs: Jobs, tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", np.ones((5, 3), np.float32))
    job = jobs.open_stages(Source(str(tmp_path / "plain.npy")))
    with qtbot.waitSignal(job.failed, timeout=60_000) as told:
        pass
    assert "is not known here" in str(told.args[0])
