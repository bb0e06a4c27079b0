"""A run on disk: its configuration, its answers so far, and the result.

A run that is killed at any moment resumes and reuses its stored answers.
"""

from scope.store.checks import check_folder as check_folder, check_run as check_run
from scope.store.configuration import said_differences as said_differences
from scope.store.listing import RunEntry as RunEntry, list_runs as list_runs
from scope.store.run import Run as Run, RunFolder as RunFolder, run_folder as run_folder
