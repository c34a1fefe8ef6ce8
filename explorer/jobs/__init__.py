"""Compute's work as Qt sees it: jobs with signals. The only way from the window to the workers."""

from explorer.jobs.job import Job
from explorer.jobs.jobs import Jobs

__all__ = ["Job", "Jobs"]
