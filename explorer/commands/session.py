"""The commands of one session, joined to their document."""

from __future__ import annotations

from explorer.commands.asking import Asking
from explorer.commands.encoding import Encoding
from explorer.commands.exporting import Exporting
from explorer.commands.filtering import Filtering
from explorer.commands.grouping import Grouping
from explorer.commands.index_news import IndexNews
from explorer.commands.indexing import Indexing
from explorer.commands.isolating import Isolating
from explorer.commands.judging import Judging
from explorer.commands.mapping import Mapping
from explorer.commands.notices import Notices
from explorer.commands.opening import Opening
from explorer.commands.selecting import Selecting
from explorer.commands.staging import Staging
from explorer.document import Document
from explorer.document.settings import Settings
from explorer.jobs import Jobs
from explorer.jobs.threads import Threads


class Session:
    """A document and everything that can be done to it.

    Attributes
    ----------
    document : Document
    settings : Settings
    jobs : Jobs
    notices : Notices
    opening : Opening
    mapping : Mapping
    asking : Asking
    selecting : Selecting
    isolating : Isolating
    filtering : Filtering
    exporting : Exporting
    grouping : Grouping
    threads : Threads
    encoding : Encoding
    indexing : Indexing
    news : IndexNews
    judging : Judging
    staging : Staging
    """

    def __init__(self, document: Document, jobs: Jobs, settings: Settings) -> None:
        self.document = document
        self.jobs = jobs
        self.settings = settings
        self.notices = Notices()
        self.mapping = Mapping(document, jobs, self.notices)
        self.asking = Asking(document, jobs, self.notices, settings)
        self.threads = Threads(jobs)
        self.selecting = Selecting(document)
        self.isolating = Isolating(document, jobs, self.notices, self.mapping)
        self.grouping = Grouping(document, jobs, self.notices)
        self.exporting = Exporting(document, jobs, self.threads, self.notices)
        self.filtering = Filtering(document, self.threads, self.grouping.want_scores)
        self.opening = Opening(document, jobs, self.notices, settings)
        self.encoding = Encoding(document, jobs, self.notices, settings)
        self.indexing = Indexing(document, jobs, self.notices, settings)
        self.judging = Judging(document, jobs, self.notices)
        jobs.worker_restarted.connect(self._tell_of_restart)
        self.opening.reading_begun.connect(self.mapping.make_way)
        self.opening.reading_failed.connect(self.mapping.take_up)
        self.opening.table_loaded.connect(self.mapping.begin)
        self.opening.table_loaded.connect(self.asking.begin)
        self.opening.table_loaded.connect(self.encoding.begin)
        self.news = IndexNews(document, self.notices, self.opening, self.indexing)
        self.staging = Staging(document, jobs, self.notices, self.opening)
        self.encoding.loading_changed.connect(self.asking.encoder_loading)
        self.opening.encoder_wanted.connect(self._use_encoder)
        self.indexing.index_wanted.connect(self.opening.show_index)
        self.opening.mending_wanted.connect(self.indexing.go_on)
        self.opening.looking_into.connect(self.encoding.foresee)
        # While the person chooses an encoder.
        self.opening.pictures_found.connect(jobs.encoders.warm_up)

    def _use_encoder(self, encoder: str, path: str, table: str) -> None:
        """Show a table again, to be read for by an encoder that has been opened in its place."""
        self.encoding.use_next(encoder)
        self.opening.choose_table(path, table)

    def _tell_of_restart(self, _worker: str, _reason: str) -> None:
        self.notices.tell(
            "A process that works for this window had died; it was started again, with all tables."
        )

    def close(self) -> None:
        """Stop what is under way; the workers are their maker's to end."""
        self.opening.close()
        self.indexing.close()
        self.staging.close()
        self.asking.close()
        self.mapping.close()
        self.threads.close()
