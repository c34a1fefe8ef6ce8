"""The encoder worker: loads encoders, encodes queries, indexes folders of pictures.

It is started when the first encoder is wanted: its libraries take seconds and memory. A query does not wait
for an indexing run: it is encoded at once, and the run stands still after its present batch until it is done.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from explorer.compute import protocol
from explorer.compute.protocol import ENCODER, DeviceChanged, Ready, Request, Told
from explorer.compute.service import Service, Task
from explorer.compute.sharing import SessionFolder
from explorer.core.encoder_info import EncodedParts, EncoderInfo
from explorer.core.index import IndexProgress, IndexReport
from explorer.core.retrieval import Retrieval

if TYPE_CHECKING:
    from explorer.compute.encoders.base import Encoder

MOST_ENCODERS = 2  # that stay loaded
_SECONDS_TO_SAVE = 2.0  # less than the session's process waits for this one


def serve(connection: Connection, folder: Path, device: str) -> NoReturn:
    """Meet requests until the session ends."""
    worker = _EncoderWorker(connection, folder, device)
    worker.service.serve(worker.prepare)


class _EncoderWorker:
    def __init__(self, connection: Connection, folder: Path, device: str) -> None:
        self._device = device
        self._encoders: OrderedDict[tuple[str, int], Encoder] = OrderedDict()
        self._loading = threading.Lock()
        self._prepared = threading.Event()
        self._read: Callable[..., Encoder]
        self.service = Service(
            connection,
            SessionFolder(folder),
            self._handle,
            short=frozenset({protocol.OpenEncoder, protocol.EncodeQuery}),
            seconds_to_save=_SECONDS_TO_SAVE,
        )

    def prepare(self) -> None:
        """Import, in one thread, torch and what nearly every encoder is made of; ready after that."""
        from explorer.compute.encoders import transformer
        from explorer.compute.encoders.opening import open_encoder

        self._read = open_encoder
        transformer.warm_up()
        self._prepared.set()
        self.service.send(Ready(ENCODER))

    def _handle(self, request: Request, task: Task) -> object:
        self._prepared.wait()
        match request:
            case protocol.OpenEncoder(path=path, index=index):
                return self._open(path, index)
            case protocol.EncodeQuery():
                return self._encode(request)
            case protocol.IndexFolder():
                return self._index(request, task)
            case protocol.Evaluate(index=index):
                return self._evaluate(Path(index), task)
        raise TypeError(f"The encoder worker knows no {type(request).__name__}.")

    def _encoder(self, path: str) -> Encoder:
        """An encoder, loaded if it is not; what was used longest ago goes."""
        with self._loading:
            key = (path, _modified(path))
            if key not in self._encoders:
                # First, so that three are never held at once.
                while len(self._encoders) >= MOST_ENCODERS:
                    self._encoders.popitem(last=False)
                self._encoders[key] = self._read(path, device=self._device)
                self._tell_device(self._encoders[key])
            self._encoders.move_to_end(key)
            return self._encoders[key]

    def _open(self, path: str, index: str | None) -> EncoderInfo:
        encoder = self._encoder(path)
        if index is not None:
            from explorer.compute.indexing import check_encoder
            from explorer.readers.index_files import read_manifest

            check_encoder(Path(index), read_manifest(Path(index)), encoder)
        return info_of(encoder, path)

    def _encode(self, request: protocol.EncodeQuery) -> EncodedParts:
        from explorer.compute.retrieval import encode_picture
        from explorer.readers.pictures import read_picture

        encoder = self._encoder(request.path)
        texts = encoder.encode_text(request.texts) if request.texts else None
        parts = [np.empty((0, encoder.dim), np.float32) if texts is None else texts.vectors]
        parts += [encode_picture(encoder, read_picture(Path(path)))[None] for path in request.pictures]
        return EncodedParts(np.concatenate(parts), () if texts is None else texts.notes)

    def _index(self, request: protocol.IndexFolder, task: Task) -> IndexReport:
        from explorer.compute.indexing import update_index

        task(-1.0, "Loading the encoder")
        encoder = self._encoder(request.encoder)
        task.send(Told(request.id, info_of(encoder, request.encoder)))

        def tell(progress: IndexProgress) -> None:
            task.send(Told(request.id, progress))
            task(progress.fraction, progress.stage)

        return update_index(
            Path(request.folder),
            encoder,
            Path(request.index),
            captions=None if request.captions is None else Path(request.captions),
            tell=tell,
        )

    def _evaluate(self, index: Path, task: Task) -> Retrieval:
        from explorer.compute.evaluation import evaluate_index

        return evaluate_index(index, self._encoder, checkpoint=task)

    def _tell_device(self, encoder: Encoder) -> None:
        from explorer.compute.device import describe

        self.service.send(DeviceChanged(describe(encoder.device), ENCODER))


def info_of(encoder: Encoder, path: str) -> EncoderInfo:
    """What the window knows of an encoder that was opened by ``path``."""
    limits, similarity = encoder.limits, encoder.similarity
    return EncoderInfo(
        name=encoder.name,
        kind=encoder.kind,
        path=path,
        dim=encoder.dim,
        fingerprint=encoder.fingerprint,
        has_text=encoder.has_text,
        has_images=encoder.has_images,
        context_length=limits.context_length,
        image_size=limits.image_size,
        notes=encoder.notes,
        device=str(encoder.device),
        similarity_kind=None if similarity is None else similarity.kind,
        similarity_scale=1.0 if similarity is None else similarity.scale,
        similarity_bias=0.0 if similarity is None else similarity.bias,
    )


def _modified(path: str) -> int:
    """Changes when a lone file, or what a folder lists, is replaced; 0 for a cached model's name."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
