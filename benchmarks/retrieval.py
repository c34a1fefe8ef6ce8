"""Asking an index of 100,000 pictures: from a typed text to ranked results, and from the program's start.

Run as ``python -m benchmarks.retrieval``. The index is of random unit vectors of 512 dimensions, with
captions and thumbnails, written by the program's own store; the encoder is a CLIP of ViT-B/32's size with
random weights. A query goes through the encoder's and the vectors' processes, as the window's do; the time
of the encoder alone is taken in this process, in turn and at the same priority. The start is the time from
starting the program's process (offscreen) to each thing that a person can see. Of all turns the quickest
counts.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROWS, DIM, TURNS, STARTS = 100_000, 512, 30, 3
QUERY = "a dog on the beach, number {}"
GOAL_MS = 30
_WAY, _RANKED = "the way to the encoder's process and back", "vector to 50 ranked results"
BARE = """
import sys
from transformers import AutoTokenizer, CLIPModel
model, tokenizer = CLIPModel.from_pretrained(sys.argv[1]), AutoTokenizer.from_pretrained(sys.argv[1])
model.get_text_features(**tokenizer(["a dog on the beach"], return_tensors="pt"))
"""


def make_clip(folder: Path) -> None:
    """A CLIP of ViT-B/32's size with random weights and the published tokenizer."""
    from explorer.compute.encoders.clip_vocabulary import published
    from explorer.compute.encoders.transformer import library

    transformers = library()
    transformers.CLIPModel(transformers.CLIPConfig(projection_dim=DIM)).save_pretrained(folder)
    published().save(str(folder / "tokenizer.json"))


def make_index(path: Path, model: Path, rows: int = ROWS) -> None:
    """An index of random vectors that the model seems to have made."""
    import pyarrow as pa

    from explorer.compute.decoding import Decoded
    from explorer.compute.encoders.opening import open_encoder
    from explorer.compute.index_store import empty_rows, open_store
    from explorer.compute.indexing import identity_of
    from explorer.core.index import Manifest
    from explorer.core.pictures import Verdict
    from explorer.readers.pictures import BACKGROUND

    encoder = open_encoder(model, device="cpu")
    assert encoder.preprocessing is not None
    folder = path.with_name("pictures")
    folder.mkdir()
    manifest = Manifest(
        str(folder), "../pictures", identity_of(encoder), encoder.preprocessing.to_json(), BACKGROUND
    )
    random = np.random.default_rng(0)
    with open_store(path, manifest, new=True) as store:
        names = [b"%03d/%06d.jpg" % (row % 200, row) for row in range(rows)]
        table = empty_rows(names, [50_000] * rows, [1] * rows)
        at = table.schema.get_field_index("captions")
        texts = pa.array([[f"picture {row} of a dog"] for row in range(rows)], table.schema.field(at).type)
        store.write_rows(table.set_column(at, table.schema.field(at), texts))
        for start in range(0, rows, 1000):
            vectors = random.normal(size=(1000, DIM)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            found = [
                Decoded(
                    row, Verdict.OK, "", False, 50_000, 1, _digest(row), 640, 480, False, b"\xff\xd8" * 2000
                )
                for row in range(start, start + 1000)
            ]
            store.add_pictures(found, vectors)
        store.fold()
        store.describe(complete=True)


def _digest(row: int) -> bytes:
    return hashlib.blake2b(str(row).encode(), digest_size=16).digest()


def queries(index: Path, model: Path) -> dict[str, float]:
    """Milliseconds of a query's parts through the processes and back, and of the encoder alone."""
    from explorer.compute import protocol
    from explorer.compute.encoders.opening import open_encoder
    from explorer.core.results import Metric

    ask, close = _pool()
    os.nice(5)  # as the workers are
    encoder = open_encoder(model, device="cpu")
    taken: dict[str, list[float]] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = act()
        taken.setdefault(name, []).append(1000 * (time.perf_counter() - start))
        return result

    try:
        ask(protocol.LoadTable, 1, protocol.Source(str(index)), "image_vectors")
        ask(protocol.OpenEncoder, str(model))
        for turn in range(TURNS):
            text = QUERY.format(turn)
            timed("the encoder alone, in this process", lambda text=text: encoder.encode_text([text]))
            vector = timed(
                "text to vector, in the encoder's process",
                lambda text=text: ask(protocol.EncodeQuery, str(model), (text,)),
            ).vectors[0]
            timed(_WAY, lambda: ask(protocol.EncodeQuery, str(model)))
            timed(
                _RANKED,
                lambda vector=vector: ask(protocol.Search, 1, (), Metric.COSINE, 50, False, False, vector),
            )
    finally:
        close()
    return {name: min(times) for name, times in taken.items()}


def _pool() -> tuple[Callable[..., Any], Callable[[], None]]:
    """Worker processes, asked one request at a time."""
    import queue
    from itertools import count

    from explorer.compute import protocol
    from explorer.compute.pool import Pool

    said: queue.SimpleQueue[object] = queue.SimpleQueue()
    pool = Pool(said.put, "cpu")
    pool.start()
    ids = count(1)

    def ask(kind: Callable[..., protocol.Request], *values: object) -> Any:
        request = kind(next(ids), *values)
        pool.submit(request)
        while True:
            reply = said.get()
            if isinstance(reply, protocol.Done) and reply.id == request.id:
                return reply.result
            if isinstance(reply, protocol.Failed):
                raise RuntimeError(reply.message)

    return ask, pool.close


def first_answers(index: str, began: float) -> None:
    """In a process of its own: open the window on the index, ask at once, print when each thing was there."""
    from PySide6.QtWidgets import QApplication

    from explorer.app import make_window
    from explorer.cli.options import Options

    application = QApplication([])
    window = make_window(application, Options(), "light")
    session, document = window.session, window.session.document
    seen: dict[str, float] = {}

    def see(name: str) -> None:
        seen.setdefault(name, time.time() - began)

    def answered() -> None:
        if document.answer is None:
            return
        if document.answer.question.texts:
            see("first answer to words")
            application.quit()
        else:
            see("first answer to a picture's row")

    def loaded() -> None:
        see("table")
        session.asking.ask_row(5)

    def encoder() -> None:
        if document.encoder is not None:
            see("encoder")
            session.asking.ask("a dog on the beach")

    window.show()
    application.processEvents()
    see("window")
    session.opening.table_loaded.connect(loaded)
    document.positions_changed.connect(lambda: document.positions is not None and see("first map"))
    document.encoder_changed.connect(encoder)
    document.answer_changed.connect(answered)
    session.opening.open([index])
    application.exec()
    window.close()
    session.jobs.shutdown()
    for name, seconds in seen.items():
        print(f"{name}|{seconds}")


def starts(index: Path, model: Path) -> dict[str, float]:
    """Seconds from starting the process to each thing, and of a bare script that encodes one text."""
    runs: list[dict[str, float]] = []
    for _ in range(STARTS):
        began = time.time()
        subprocess.run([sys.executable, "-c", BARE, str(model)], capture_output=True, timeout=300, check=True)
        bare = time.time() - began
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.retrieval", "--first", str(index), str(time.time())],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
            check=True,
        )
        seen = {line.split("|")[0]: float(line.split("|")[1]) for line in done.stdout.splitlines()}
        runs.append({"bare script": bare, **seen})
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    """Print the figures."""
    if sys.argv[1:2] == ["--first"]:
        first_answers(sys.argv[2], float(sys.argv[3]))
        return
    with tempfile.TemporaryDirectory() as place:
        model, index = Path(place) / "clip", Path(place) / "big.index"
        os.environ["EMBEDDING_EXPLORER_SETTINGS"] = str(Path(place) / "settings.json")
        make_clip(model)
        make_index(index, model)
        began = starts(index, model)
        asked = queries(index, model)
    print(f"A text asked of {ROWS:,} × {DIM} pictures\n\n| | ms |\n|---|--:|")
    for name, milliseconds in asked.items():
        print(f"| {name} | {milliseconds:.1f} |")
    print(f"| beside the encoder (goal: {GOAL_MS}) | {asked[_WAY] + asked[_RANKED]:.1f} |")
    print("\n| from the start of the program | s | times the bare script |\n|---|--:|--:|")
    for name, seconds in sorted(began.items(), key=lambda each: each[1]):
        print(f"| {name} | {seconds:.2f} | {seconds / began['bare script']:.2f} |")


if __name__ == "__main__":
    main()
