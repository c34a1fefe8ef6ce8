"""Work on encoders, in the encoder worker: queries encoded, pictures indexed, recall measured."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from explorer.compute import protocol
from explorer.compute.encoders import recognise
from explorer.jobs.job import Job
from explorer.jobs.runner import Runner
from explorer.readers.local_models import LocalModel

Path = str | PathLike[str]


class EncoderJobs:
    """Starts jobs on encoders.

    Parameters
    ----------
    runner : Runner
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def warm_up(self) -> None:
        """Have the worker load its libraries, which takes seconds, before it is asked for anything."""
        self._runner.start_worker(protocol.ENCODER)

    def open(self, path: Path, index: Path | None = None) -> Job:
        """Load an encoder: finishes with an EncoderInfo.

        Parameters
        ----------
        path : path or str
            A folder, a file, or the name of a cached model.
        index : path, optional
            The picture index that it is for: an encoder that did not make it is refused.
        """
        made_by = None if index is None else fspath(index)
        request = protocol.OpenEncoder(self._runner.number(), fspath(path), made_by)
        return self._runner.ask("Loading the encoder", request)

    def encode(self, path: Path, texts: Sequence[str] = (), pictures: Sequence[Path] = ()) -> Job:
        """Encode the parts of a query: finishes with EncodedParts. Goes ahead of indexing.

        Parameters
        ----------
        path : path or str
            The encoder's.
        texts : sequence of str
        pictures : sequence of path
            Picture files.
        """
        files = tuple(fspath(picture) for picture in pictures)
        request = protocol.EncodeQuery(self._runner.number(), fspath(path), tuple(texts), files)
        return self._runner.ask("Encoding", request)

    def index_folder(self, folder: Path, encoder: Path, index: Path, captions: Path | None = None) -> Job:
        """Index a folder of pictures, or bring an index up to date: finishes with an IndexReport.

        It can be paused; ``told`` brings an IndexProgress. A run that is cancelled ends once all that is done
        is saved, and the same call goes on where it was.

        Parameters
        ----------
        folder, encoder, index : path
        captions : path, optional
            A list chosen by hand.
        """
        chosen = None if captions is None else fspath(captions)
        request = protocol.IndexFolder(
            self._runner.number(), fspath(folder), fspath(encoder), fspath(index), chosen
        )
        return self._runner.ask("Indexing", request, lasting=True)

    def evaluate(self, index: Path) -> Job:
        """Measure how well an index's captions find their pictures, and back: finishes with a Retrieval."""
        return self._runner.ask("Recall", protocol.Evaluate(self._runner.number(), fspath(index)))

    def local(self) -> tuple[LocalModel, ...]:
        """The models in the local cache that are encoders: only their configurations are read."""
        return recognise.local_encoders()

    def dims(self, path: Path, names: Sequence[str]) -> frozenset[int] | None:
        """How long an opened encoder's vectors may be; None where what was opened is no encoder."""
        return recognise.dims_of(path, names)
