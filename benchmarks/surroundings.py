"""What a benchmark's figures depend on beside the code: software, processor, cores."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

# What another run has found or answered must not make a measurement quick.
os.environ["SCOPE_CACHE_LIMIT"] = "0"


def surroundings(*packages: str) -> dict[str, Any]:
    """Versions of Python and of these packages, the processor's name, the number of cores."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")
