"""Asking an index of pictures in words and by pictures, on the demo's real CLIP in its real process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import demo_pictures as demo
import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.commands import Notice, Session
from explorer.commands.encoding import Encoding
from explorer.core.errors import ExplorerError
from explorer.document import Answer
from explorer.document.colouring import ZERO_SHOT
from explorer.jobs import Job


@pytest.fixture
def answer_to(qtbot: QtBot, scenes: Session) -> Callable[[str], Answer]:
    """Ask a text of the scenes and wait for the answer."""

    def ask(text: str) -> Answer:
        return next_answer(qtbot, scenes, lambda: scenes.asking.ask(text))

    return ask


def next_answer(qtbot: QtBot, session: Session, act: Callable[[], None]) -> Answer:
    before = session.document.answer
    act()
    qtbot.waitUntil(lambda: session.document.answer not in (None, before))
    return session.document.answer


def rejection(qtbot: QtBot, session: Session, act: Callable[[], None]) -> ExplorerError:
    with qtbot.waitSignal(session.asking.rejected) as refused:
        act()
    return refused.args[0]


def result_of(qtbot: QtBot, job: Job) -> object:
    with qtbot.waitSignal(job.finished) as finished:
        pass
    return finished.args[0]


def names(session: Session, answer: Answer) -> list[str]:
    return [session.document.pictures.name(row) for row in answer.result.rows.tolist()]


def from_the_command_line(index: Path, *query: str) -> list[tuple[int, float]]:
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "search", str(index), *query, "-k", "60", "--json"],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return [(found["row"], found["score"]) for found in json.loads(done.stdout)["results"]]


def test_that_words_find_pictures_as_the_command_line_does(qtbot, scenes, scenes_index, answer_to):
    query = '2*"a red heart" - "black background" + #3'
    answer = answer_to(query)
    rows, scores = zip(*from_the_command_line(scenes_index, query), strict=True)
    shown = len(answer.result.rows)
    assert answer.result.rows.tolist() == list(rows[:shown])
    np.testing.assert_allclose(answer.result.scores, scores[:shown], atol=1e-6)
    assert (len(answer.question.texts), [term.row for term in answer.question.terms]) == (2, [3])
    assert "heart" in scenes.document.pictures.captions(answer_to("a red heart").result.rows[0])[0]
    assert answer.query_vector.shape == (128,)


def test_that_a_name_in_quotes_and_a_row_are_rows_and_plain_words_are_text(qtbot, scenes, answer_to):
    by_name, by_row = answer_to('"scene-0007.png"'), answer_to("#7")
    assert by_name.question.focus == by_row.question.focus == 7
    assert 7 not in by_row.result.rows
    np.testing.assert_array_equal(by_name.result.rows, by_row.result.rows)
    plain = answer_to("scene-0007.png")
    assert (plain.question.terms, plain.question.texts[0].text) == ((), "scene-0007.png")
    assert scenes.asking.text_for(7) == '"scene-0007.png"'
    clicked = next_answer(qtbot, scenes, lambda: scenes.asking.more_like(9))
    assert clicked.question.focus == 9


def test_that_a_picture_and_a_text_are_asked_together(qtbot, scenes, tmp_path):
    data = demo.scene(10).read_bytes()
    (tmp_path / "dropped.png").write_bytes(data)
    dropped = next_answer(qtbot, scenes, lambda: scenes.asking.ask_picture(str(tmp_path / "dropped.png")))
    assert dropped.question.title == "dropped.png"
    assert names(scenes, dropped)[0] == "scene-0010.png"
    assert dropped.result.scores[0] == pytest.approx(1, abs=1e-5)
    both = next_answer(qtbot, scenes, lambda: scenes.asking.ask("a black background"))
    assert both.question.title == "a black background + dropped.png"
    scenes.document.set_query_pictures(())
    text = next_answer(qtbot, scenes, lambda: scenes.asking.ask("a black background"))
    unit = dropped.query_vector + text.query_vector
    np.testing.assert_allclose(both.query_vector, unit, atol=1e-6)
    pasted = next_answer(qtbot, scenes, lambda: scenes.asking.paste_picture(data))
    np.testing.assert_allclose(pasted.result.scores, dropped.result.scores, atol=1e-6)
    # Back and forward bring the pictures back, too.
    again = next_answer(qtbot, scenes, lambda: scenes.asking.go(-2))
    assert (again.question, scenes.document.query_pictures) == (both.question, both.question.pictures)
    path = Path(pasted.question.pictures[0].path)
    scenes.close()
    assert not path.exists()


def test_that_a_text_that_is_cut_says_where(answer_to):
    typed = "#5 + 2*" + '"' + "a red star and " * 20 + '"'
    answer = answer_to(typed)
    (note,) = answer.text_notes
    assert note.kind == "cut"
    assert typed[note.start : note.end].startswith(("a ", "red ", "star ", "and "))
    assert typed[note.end :].strip() == '"'


def test_that_a_script_without_words_says_so(answer_to):
    (note,) = answer_to("a star + красное сердце").text_notes
    assert (note.kind, note.start, note.end) == ("unknown script", 9, 23)


def test_that_only_the_last_of_several_typed_texts_is_answered(qtbot, scenes):
    answered = []
    scenes.document.answer_changed.connect(lambda: answered.append(scenes.document.answer))
    for text in ("a", "a blue", "a blue circ", "a blue circle"):
        scenes.asking.ask(text, settled=False)
    qtbot.waitUntil(lambda: bool(answered))
    assert [answer.question.text for answer in answered] == ["a blue circle"]
    # A text that was asked before needs no encoder.
    ended = []
    scenes.jobs.job_ended.connect(ended.append)
    next_answer(qtbot, scenes, lambda: scenes.asking.ask("a blue circle + #1"))
    assert "Encoding" not in [job.title for job in ended]


def test_that_terms_that_cancel_out_are_refused(qtbot, scenes):
    error = rejection(qtbot, scenes, lambda: scenes.asking.ask("a red heart - a red heart"))
    assert "cancel out" in str(error)
    error = rejection(qtbot, scenes, lambda: scenes.asking.ask("a red heart + #60"))
    assert "There is no row #60" in str(error)


def test_that_words_wait_for_an_encoder_that_is_on_its_way(qtbot, scenes):
    scenes.encoding.close()
    error = rejection(qtbot, scenes, lambda: scenes.asking.ask("a red heart"))
    assert str(error).startswith("There is no encoder to read “a red heart”.")
    scenes.encoding.use(str(demo.CLIP))
    answer = next_answer(qtbot, scenes, lambda: scenes.asking.ask("a red heart"))
    assert answer.question.texts[0].text == "a red heart"
    assert str(demo.CLIP) in [choice.path for choice in scenes.encoding.local()]


def test_that_an_encoder_that_is_loaded_ahead_is_one_job_to_wait_for(qtbot, scenes, scenes_index):
    jobs: list[Job] = []
    dropped: list[bool] = []
    scenes.jobs.job_started.connect(jobs.append)
    encoding = Encoding(scenes.document, scenes.jobs, scenes.notices, scenes.settings)
    encoding.foresee(str(scenes_index))
    jobs[0].cancelled.connect(lambda: dropped.append(True))
    encoding.begin()
    assert [job.title for job in jobs] == ["Loading the encoder"] * 2
    qtbot.waitUntil(lambda: not encoding.is_loading)
    assert dropped == [True]
    assert scenes.document.encoder is not None


def test_that_an_encoder_of_another_dimension_or_for_another_index_is_refused(
    qtbot, scenes, tmp_path, words_file
):
    said: list[Notice] = []
    scenes.notices.posted.connect(said.append)
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in demo.CLIP.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    weights = bytearray((changed / "model.safetensors").read_bytes())
    weights[-40_000:] = bytes(40_000)
    (changed / "model.safetensors").write_bytes(weights)
    scenes.encoding.use(str(changed))
    qtbot.waitUntil(lambda: bool(said))
    assert "was made by the encoder clip" in said[-1].text
    assert scenes.document.encoder is not None
    scenes.opening.open([str(words_file)])
    qtbot.waitUntil(lambda: scenes.document.table.listing.dim == 24)
    assert scenes.document.encoder is None
    scenes.encoding.use(str(demo.CLIP))
    qtbot.waitUntil(lambda: "128 numbers" in said[-1].text)
    assert "have 24" in said[-1].text


def test_that_typed_classes_colour_the_map(qtbot, scenes):
    document = scenes.document
    scenes.judging.zero_shot(["heart", "star", "circle"], "a {}")
    qtbot.waitUntil(lambda: document.zero_shot is not None)
    found = document.zero_shot
    assert found.classes == ("heart", "star", "circle")
    assert document.colouring.by == ZERO_SHOT
    texts = result_of(
        qtbot, scenes.jobs.encoders.encode(demo.CLIP, ["a heart", "a star", "a circle"])
    ).vectors
    rows = result_of(qtbot, scenes.jobs.rows(document.table.key, np.arange(demo.COUNT)))
    logits = document.encoder.similarity_scale * rows @ texts.T
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    assert found.codes.tolist() == shares.argmax(axis=1).tolist()
    np.testing.assert_allclose(found.probability, shares.max(axis=1), atol=1e-4)
    captions = [document.pictures.captions(row)[0] for row in range(demo.COUNT)]
    named = [row for row, text in enumerate(captions) if sum(name in text for name in found.classes) == 1]
    assert np.mean([found.classes[found.codes[row]] in captions[row] for row in named]) > 0.6


def test_that_recall_is_measured_both_ways(qtbot, scenes):
    scenes.judging.evaluate()
    qtbot.waitUntil(lambda: scenes.document.retrieval is not None)
    found = scenes.document.retrieval
    assert (found.text_to_image.queries, found.image_to_text.queries) == (300, demo.COUNT)
    assert 0.9 < found.text_to_image.at_1 <= found.text_to_image.at_10 <= 1
    assert (found.image_to_text.median_rank, found.encoder) == (1, "clip")


def test_that_pictures_captions_and_queries_lie_in_one_table(qtbot, scenes, scenes_index, answer_to):
    demo.show(qtbot, scenes, scenes_index, "pictures_and_captions")
    answer = answer_to("a red heart")
    modality = scenes.document.table.metadata["modality"]
    assert set(modality) == {"picture", "caption"}
    assert scenes.document.table.listing.rows == 6 * demo.COUNT
    # A caption that is asked for is a text, not its row: the row itself is among the answers.
    caption = scenes.document.table.labels[demo.COUNT + 4]
    found = answer_to(caption)
    assert found.question.texts[0].text == caption
    assert found.result.scores.max() == pytest.approx(1, abs=1e-5)
    assert answer.question.title == "a red heart"


def test_that_a_centred_map_lays_pictures_among_their_captions(qtbot, scenes, scenes_index):
    demo.show(qtbot, scenes, scenes_index, "pictures_and_captions")
    document = scenes.document
    pictures = document.table.metadata["modality"] == "picture"

    def gap() -> float:
        """How far apart the two clouds lie, in units of their own spread."""
        xy = document.positions
        between = np.linalg.norm(xy[pictures].mean(axis=0) - xy[~pictures].mean(axis=0))
        return float(between / xy[pictures].std())

    qtbot.waitUntil(lambda: scenes.mapping.settled)
    apart, answer = gap(), next_answer(qtbot, scenes, lambda: scenes.asking.ask("a red heart"))
    scenes.mapping.change(centred=True)
    before = document.positions
    scenes.mapping.start()
    qtbot.waitUntil(lambda: document.positions is not before)
    assert gap() < 0.01 < 0.1 < apart
    # Search sees the rows as they are.
    found = next_answer(qtbot, scenes, scenes.asking.again)
    np.testing.assert_array_equal(found.result.scores, answer.result.scores)
    # A UMAP layout's graph is of the centred rows, too: pictures and captions are neighbours.
    layout = result_of(qtbot, scenes.jobs.umap(document.table.key, replace(document.settings, epochs=50)))
    assert np.isfinite(layout.xy).all()
