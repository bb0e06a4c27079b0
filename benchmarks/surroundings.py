"""What benchmarks share: their options, what figures depend on, and how they are printed."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scope.records import Estimate, Undefined

# What another run has found or answered must not make a measurement quick.
os.environ["SCOPE_CACHE_LIMIT"] = "0"


BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

_WORDS = (
    "the a an of in on at by for with from under over after before and but or so then old young "
    "small great quiet bright cold warm early late captain sailor farmer teacher doctor river "
    "island mountain village harbour garden window letter ship horse lantern winter summer "
    "morning evening storm rain bread water stone iron glass paper music story walked carried "
    "opened followed asked answered waited found lost wrote read built broke watched slowly"
)
WORDS = tuple(_WORDS.split())
"""Of made-up texts."""


def command(docstring: str | None) -> argparse.ArgumentParser:
    """A parser with the first line of a docstring and the option --json."""
    parser = argparse.ArgumentParser(description=(docstring or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder of the stored sets."""
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("SCOPE_BENCHMARK_DATA", BESIDE)),
        help="the folder of the stored sets (default: SCOPE_BENCHMARK_DATA, else ../shared/data "
        "beside the repository)",
    )


def command_of_parts(docstring: str | None, parts: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of a benchmark that has parts, all by default, and reads stored sets."""
    parser = command(docstring)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}")
    add_data(parser)
    return parser


def parsed(parser: argparse.ArgumentParser, parts: Sequence[str]) -> argparse.Namespace:
    """The arguments, with all parts where none is named."""
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.parts) - set(parts)):
        parser.error(f"no part {unknown[0]}; parts are {', '.join(parts)}")
    arguments.parts = arguments.parts or parts
    return arguments


def bounded(key: str, estimate: Estimate | Undefined | None) -> dict[str, float]:
    """A value under its key, with its bounds; nothing where there is none."""
    if not isinstance(estimate, Estimate):
        return {}
    return {key: estimate.value, f"{key}_low": estimate.low, f"{key}_high": estimate.high}


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
