"""Indexing pictures: the rate beside the encoder's own on tensors in memory, and the memory that it takes.

Run as ``python -m benchmarks.indexing [MODEL]``. Without a MODEL, a CLIP of ViT-B/32's size with random
weights is made. Photographs of 640 × 480 (JPEG) are drawn; the encoder alone and the whole index run take
turns in one process, so that both meet the same machine. Memory is that of this process and its decoders
together, while folders of 2,000 and of 10,000 small pictures are indexed with a CLIP of one layer.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

PICTURES, TURNS = 192, 3
FOLDERS = (2_000, 10_000)


def draw(folder: Path, count: int, size: tuple[int, int] = (640, 480)) -> None:
    """Pictures with the detail of photographs, each of its own."""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(count):
        coarse = random.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        picture = np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC), np.int16)
        grain = random.integers(-12, 13, (*picture.shape[:2], 1), dtype=np.int16)
        Image.fromarray(np.clip(picture + grain, 0, 255).astype(np.uint8)).save(
            folder / f"{number:05}.jpg", quality=85
        )


def make_clip(folder: Path, layers: int = 12, width: int = 768, image: int = 224, patch: int = 32) -> None:
    """A CLIP with random weights; its text tower is small, as no text is encoded here."""
    from explorer.compute.encoders.transformer import library

    transformers = library()
    heads = max(1, width // 64)
    tower = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": 4 * width}
    text = {"num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 1}
    config = transformers.CLIPConfig(
        text_config=text,
        vision_config={**tower, "num_attention_heads": heads, "image_size": image, "patch_size": patch},
        projection_dim=512,
    )
    transformers.CLIPModel(config).save_pretrained(folder)


def rates(model: Path, place: Path) -> tuple[float, float]:
    """Pictures a second: of the encoder on pixels in memory, and of a whole index run, start to end."""
    from explorer.compute.encoders.opening import open_encoder
    from explorer.compute.indexing import update_index
    from explorer.core.index import IndexProgress
    from explorer.readers.pictures import read_picture

    encoder = open_encoder(model)
    draw(place / "photographs", PICTURES)
    files = sorted((place / "photographs").iterdir())
    batch = 32 if encoder.device.type == "cpu" else 256
    prepare = encoder.preprocessing.prepare
    pixels = np.stack([prepare(read_picture(files[i % PICTURES]).image) for i in range(batch)])
    encoder.encode_images(pixels)
    own, indexed = [], []
    for turn in range(TURNS):
        start = time.perf_counter()
        for _ in range(PICTURES // batch):
            encoder.encode_images(pixels)
        own.append((PICTURES // batch * batch) / (time.perf_counter() - start))
        marks: list[tuple[float, int]] = []

        def tell(progress: IndexProgress, marks: list[tuple[float, int]] = marks) -> None:
            if progress.stage == "Pictures" and progress.done:
                marks.append((time.perf_counter(), progress.done))

        update_index(place / "photographs", encoder, place / f"index-{turn}", tell=tell)
        # From the first batch on: before it the decoders start, once a run.
        (first, before), (last, after) = marks[0], marks[-1]
        indexed.append((after - before) / (last - first))
    return max(own), max(indexed)


def memory(place: Path) -> list[int]:
    """Peak bytes of this process and its children while folders of growing size are indexed."""
    from explorer.compute.encoders.opening import open_encoder
    from explorer.compute.indexing import update_index

    make_clip(place / "small", layers=1, width=64, image=32, patch=16)
    encoder = open_encoder(place / "small", device="cpu")
    peaks = []
    for count in (FOLDERS[0], *FOLDERS):  # the first one warms up
        folder = place / f"small-{len(peaks)}"
        draw(folder, count, (64, 48))
        peaks.append(
            peak_while(lambda folder=folder: update_index(folder, encoder, folder.with_suffix(".index")))
        )
    return peaks[1:]


def peak_while(work: Callable[[], object]) -> int:
    """The most memory (of this process alone plus its children's own) at any moment of some work."""
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, sum(map(own_memory, [os.getpid(), *children()])))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return peak


def children() -> list[int]:
    """Processes that this one has started."""
    import multiprocessing

    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def own_memory(process: int) -> int:
    """A process's anonymous memory; 0 where it is gone or the system does not tell."""
    try:
        with open(f"/proc/{process}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024
    except (OSError, StopIteration):
        return 0


def main() -> None:
    """Print the figures."""
    # As the program sets it where it indexes: Arrow's own pools never give memory back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model = Path(sys.argv[1]) if len(sys.argv) > 1 else place / "clip"
        if len(sys.argv) == 1:
            make_clip(model)
        own, indexed = rates(model, place)
        print(f"encoder alone: {own:.1f} pictures a second; indexing: {indexed:.1f}")
        print(f"  {indexed / own:.1%} of the encoder's own rate (goal: at least 95 %)")
        few, many = memory(place)
        print(
            f"memory: {few / 1e6:.0f} MB for {FOLDERS[0]:,} pictures, {many / 1e6:.0f} MB for {FOLDERS[1]:,}"
        )
        print(f"  {(many - few) / (FOLDERS[1] - FOLDERS[0]):.0f} bytes more a picture")


if __name__ == "__main__":
    main()
