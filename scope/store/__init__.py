"""A run on disk: its configuration, its answers so far, and the result.

A run that is killed at any moment resumes and reuses its stored answers.
"""

from scope.store.checks import check_folder, check_run
from scope.store.configuration import said_differences
from scope.store.listing import RunEntry, list_runs
from scope.store.run import Run, RunFolder, run_folder

__all__ = [
    "Run",
    "RunEntry",
    "RunFolder",
    "check_folder",
    "check_run",
    "list_runs",
    "run_folder",
    "said_differences",
]
