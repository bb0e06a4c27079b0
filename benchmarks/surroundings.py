"""What a benchmark's figures depend on beside the code, and how they are printed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
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


def show(figures: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the figures as one JSON object, or each on a line with its interval."""
    if as_json:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        if not key.endswith(("_low", "_high")):
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            low, high = figures.get(f"{key}_low"), figures.get(f"{key}_high")
            print(f"{key:<44} {shown}" + ("" if low is None else f" [{low:.4g}, {high:.4g}]"))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")
