"""A run on disk: its configuration, its answers so far, and the result.

A run that is killed at any moment resumes and reuses its stored answers.
"""

from scope.store.run import Run, RunEntry, RunFolder, list_runs, run_folder

__all__ = ["Run", "RunEntry", "RunFolder", "list_runs", "run_folder"]
