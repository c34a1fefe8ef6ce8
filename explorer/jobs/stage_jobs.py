"""Work on a model that is run stage by stage, in the stages worker."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.compute import protocol
from explorer.document.sources import Source
from explorer.jobs.job import Job
from explorer.jobs.runner import Runner

STAGES_WORKER = protocol.STAGES
"""Its name, as ``Jobs.worker_restarted`` gives it."""


class StageJobs:
    """Starts jobs on the model in an open file.

    Parameters
    ----------
    runner : Runner
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def open(self, source: Source, heads: int | None = None) -> Job:
        """Open the model: finishes with a StageModelInfo.

        In all of these, ``heads`` says into how many the attention is split, where no shape tells and the
        usual number is wrong.
        """
        request = protocol.OpenStageModel(self._runner.number(), _told(source), heads=heads)
        return self._runner.ask("Opening the model", request)

    def run(
        self,
        source: Source,
        text: str = "",
        *,
        ids: tuple[int, ...] | None = None,
        picture: str | None = None,
        side: str | None = None,
        special: bool | None = None,
        heads: int | None = None,
        source_text: str = "",
    ) -> Job:
        """Take a text or ids, a picture (a file) or both through the model: finishes with a StageRun.

        Parameters
        ----------
        source : Source
        text : str
        ids : tuple of int, optional
            Rows of the token table, instead of a text.
        picture : str, optional
        side : {"source", "target"}, optional
        special : bool, optional
            Whether the text is wrapped in the tokens that begin and end a sequence.
        heads : int, optional
        source_text : str
            What a translator's target side looks at.
        """
        request = protocol.RunStages(
            self._runner.number(),
            _told(source),
            text,
            ids,
            picture,
            side,
            special,
            source_text,
            heads=heads,
        )
        return self._runner.ask("Stages", request)

    def attention(self, source: Source, run: int, name: str, layer: int) -> Job:
        """Fetch where a run's places look: finishes with float32, shape (heads, queries, keys)."""
        request = protocol.FetchAttention(self._runner.number(), _told(source), run, name, layer)
        return self._runner.ask("Attention", request)

    def parts(self, source: Source) -> Job:
        """Fetch position tables, patch filters and how output layers compare: finishes with ModelParts."""
        return self._runner.ask(
            "Positions and patches", protocol.FetchParts(self._runner.number(), _told(source))
        )

    def encode_phrases(
        self, source: Source, phrases: Sequence[str], side: str | None = None, heads: int | None = None
    ) -> Job:
        """Encode phrases: finishes with Phrases."""
        request = protocol.EncodePhrases(
            self._runner.number(), _told(source), tuple(phrases), side, heads=heads
        )
        return self._runner.ask("Encoding phrases", request)

    def compare_word(
        self,
        source: Source,
        first: str,
        second: str,
        word: str,
        side: str | None = None,
        heads: int | None = None,
    ) -> Job:
        """Follow a word through two sentences: finishes with a tuple of TokenComparison."""
        request = protocol.CompareWord(
            self._runner.number(), _told(source), first, second, word, side, heads=heads
        )
        return self._runner.ask("Comparing", request)


def _told(source: Source) -> protocol.Source:
    return protocol.Source(source.path, source.labels, source.target_labels, source.header)
