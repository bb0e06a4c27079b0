"""A run on disk: what was asked, what has been found so far, and the result.

A run that is killed at any moment goes on where it was; nothing that was kept is asked again.
"""

from scope.store.listing import RunEntry, list_runs
from scope.store.run import Run, RunFolder, run_folder

__all__ = ["Run", "RunEntry", "RunFolder", "list_runs", "run_folder"]
