"""Models run stage by stage in their own worker process, through Jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from explorer.core.listing import FileListing
from explorer.core.resources import resource_path
from explorer.core.results import Metric
from explorer.core.stages import Needs, Of
from explorer.demos import demos
from explorer.document import Source
from explorer.jobs import Job, Jobs

CLIP = str(resource_path("demo", "clip"))


pytestmark = pytest.mark.usefixtures("stages_worker")


def opened(path: str) -> Source:
    return Source(FileListing(path, "", ()))


def result(qtbot: QtBot, job: Job) -> object:
    with qtbot.waitSignal(job.finished, raising=True) as signal:
        job.failed.connect(lambda error: pytest.fail(str(error)))
    return signal.args[0]


def test_that_a_sentence_runs_through_the_demos_lstm_and_finds_its_rows(qtbot: QtBot, jobs: Jobs) -> None:
    path = str(demos()[0].path)
    source = opened(path)
    info = result(qtbot, jobs.stages.open(source))
    assert (info.name, info.needs, info.reads) == ("word LSTM", Needs.TEXT, ("",))
    run = result(qtbot, jobs.stages.run(source, "happy families are all alike"))
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
    source = opened(CLIP)
    Image.new("RGB", (64, 64), (200, 10, 10)).save(tmp_path / "red.png")
    run = result(qtbot, jobs.stages.run(source, "a red square", picture=str(tmp_path / "red.png")))
    shapes = {shape.name: shape for shape in run.attentions}
    assert shapes["picture self-attention"].queries is Of.PATCHES
    weights = result(qtbot, jobs.stages.attention(source, run.id, "self-attention", 2))
    assert weights.shape == (shapes["self-attention"].heads, len(run.stages.tokens), len(run.stages.tokens))
    np.testing.assert_allclose(weights.sum(2), 1, atol=1e-5)
    again = result(qtbot, jobs.stages.run(source, "a blue square"))
    with qtbot.waitSignal(jobs.stages.attention(source, run.id, "self-attention", 2).failed) as told:
        pass
    assert "over" in str(told.args[0])
    assert result(qtbot, jobs.stages.attention(source, again.id, "self-attention", 1)).ndim == 3


def test_that_phrases_become_vectors_and_a_word_is_followed(qtbot: QtBot, jobs: Jobs) -> None:
    source = opened(CLIP)
    found = result(qtbot, jobs.stages.encode_phrases(source, ["a red square", "two blue circles"]))
    assert found.vectors.shape[0] == 2
    assert np.isfinite(found.vectors).all()
    alike = result(qtbot, jobs.stages.compare_word(source, "a red square", "a red circle", "red"))
    assert alike[0].cosine == pytest.approx(1, abs=1e-5)
    assert {each.stage for each in alike} >= {"looked up", "after layer 1"}


def test_that_a_file_without_a_model_says_so(qtbot: QtBot, jobs: Jobs, tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", np.ones((5, 3), np.float32))
    job = jobs.stages.open(opened(str(tmp_path / "plain.npy")))
    with qtbot.waitSignal(job.failed) as told:
        pass
    assert "is not known here" in str(told.args[0])


def test_that_positions_filters_and_output_layers_are_told_of(qtbot: QtBot, jobs: Jobs) -> None:
    parts = result(qtbot, jobs.stages.parts(opened(CLIP)))
    assert {table.name.rsplit(".", 2)[0].split(".")[0] for table in parts.positions} == {
        "text_model",
        "vision_model",
    }
    assert parts.filters.shape == (192, 3, 21, 21)
    words = result(qtbot, jobs.stages.parts(opened(str(demos()[0].path))))
    assert [output.tied for output in words.outputs] == [False]
