"""Warm worker processes with limits: hostile input is parsed there, and a crash costs one file.

Limits, Pool      how much a job may use; processes that are reused from job to job
WorkerFailed      a job that ended without an answer: memory, timeout, crash, missing
child             what runs on the other side
"""

from agenvoy.workers.pool import Limits, Pool, WorkerFailed

__all__ = ["Limits", "Pool", "WorkerFailed"]
