"""Where the project keeps what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder named by the environment variable ``SCOPE_CACHE``, else ``~/.cache/scope``.

    It need not exist yet. An empty variable counts as unset.
    """
    named = os.environ.get("SCOPE_CACHE")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "scope"
