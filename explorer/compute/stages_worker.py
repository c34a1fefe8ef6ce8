"""The stages worker: opens models, and runs them stage by stage on what is typed or dropped.

It is started when the first model is wanted, and keeps the one that was used last.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from explorer.compute import protocol
from explorer.compute.protocol import STAGES, Ready, Request, Source
from explorer.compute.service import Service, Task
from explorer.compute.sharing import SessionFolder
from explorer.core.errors import ExplorerError
from explorer.core.stages import Needs, StageModelInfo, StageRun, Stages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from explorer.compute.stages.base import StageModel


def serve(connection: Connection, folder: Path) -> NoReturn:
    """Meet requests until the session ends."""
    worker = _StagesWorker(connection, folder)
    worker.service.serve(worker.prepare)


class _StagesWorker:
    def __init__(self, connection: Connection, folder: Path) -> None:
        self._opened: tuple[Source, int | None] | None = None
        self._model: StageModel | None = None
        self._last: tuple[int, Stages] | None = None
        self._opening = threading.Lock()
        self._prepared = threading.Event()
        self.service = Service(
            connection,
            SessionFolder(folder),
            self._handle,
            short=frozenset({protocol.OpenStageModel, protocol.RunStages, protocol.FetchAttention}),
        )

    def prepare(self) -> None:
        """Import torch; said to be ready after that."""
        import explorer.compute.stages  # noqa: F401

        self._prepared.set()
        self.service.send(Ready(STAGES))

    def _handle(self, request: Request, task: Task) -> object:
        self._prepared.wait()
        match request:
            case protocol.OpenStageModel():
                return info_of(self._model_of(request))
            case protocol.RunStages():
                return self._run(request, task)
            case protocol.FetchAttention():
                return self._attention(request)
            case protocol.FetchParts(source=source):
                return self._parts(source)
            case protocol.EncodePhrases():
                return self._encode(request, task)
            case protocol.CompareWord():
                return self._compare(request)
        raise TypeError(f"The stages worker knows no {type(request).__name__}.")

    def _model_of(self, request: protocol.StageRequest) -> StageModel:
        from explorer.compute.stages import open_stage_model

        with self._opening:
            source, wanted = request.source, (request.source, request.heads)
            if self._model is None or wanted != self._opened:
                self._opened = self._model = None
                self._model = open_stage_model(
                    source.path,
                    labels=source.labels,
                    target_labels=source.target_labels,
                    header=source.header,
                    heads=request.heads,
                )
                self._opened = wanted
            return self._model

    def _run(self, request: protocol.RunStages, task: Task) -> StageRun:
        from explorer.readers.pictures import read_picture

        picture = None if request.picture is None else read_picture(Path(request.picture)).image
        stages = self._model_of(request).run(
            request.text,
            ids=request.ids,
            picture=picture,
            side=request.side,
            special=request.special,
            source=request.source_text,
            tell=task,
        )
        self._last = (request.id, stages)
        return StageRun(
            request.id,
            replace(stages, attentions=()),
            tuple(attention.shape for attention in stages.attentions),
        )

    def _attention(self, request: protocol.FetchAttention) -> NDArray[np.float32]:
        last = self._last
        attentions = () if last is None or last[0] != request.run else last[1].attentions
        for attention in attentions:
            if attention.name == request.name and 1 <= request.layer <= attention.layers:
                return attention.weights(request.layer)
        raise ExplorerError("This run is over.", "Type the text again.")

    def _parts(self, source: Source) -> object:
        from explorer.compute.stages import model_parts

        return model_parts(source.path)

    def _encode(self, request: protocol.EncodePhrases, task: Task) -> object:
        from explorer.compute.stages import encode_phrases

        def tell(done: int) -> None:
            task(done / len(request.phrases), "Encoding phrases")

        return encode_phrases(self._model_of(request), request.phrases, side=request.side, tell=tell)

    def _compare(self, request: protocol.CompareWord) -> object:
        from explorer.compute.stages import compare_word

        return compare_word(
            self._model_of(request), request.first, request.second, request.word, side=request.side
        )


def info_of(model: StageModel) -> StageModelInfo:
    """What the window knows of an opened model."""
    return StageModelInfo(
        name=model.name,
        path=str(model.path),
        needs=model.needs,
        sides=model.sides,
        reads=tuple(side for side, way in model.texts.items() if way.tokenizer is not None),
        special=any(way.special for way in model.texts.values()),
        wraps=tuple(
            side for side, way in model.texts.items() if way.tokenizer and way.tokenizer("", True).tokens
        ),
        notes=model.notes,
        heads=model.heads,
        names=_events(model),
        source_of=model.source_of,
    )


def _events(model: StageModel) -> tuple[str, ...]:
    labels = model.texts[""].labels if model.needs is Needs.EVENTS else None
    return () if labels is None else tuple(labels[row] for row in range(len(labels)))
