"""The folder of a run: its configuration, its result and its lock.

The answers of a run, and the run itself while it is open, are in `scope.answers`.
"""

from scope.store.files import said_differences as said_differences
from scope.store.folder import (
    RunEntry as RunEntry,
    RunFolder as RunFolder,
    check_folder as check_folder,
    check_run as check_run,
    list_runs as list_runs,
    run_folder as run_folder,
)
