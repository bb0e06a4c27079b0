"""How well does the project tell models that descend from each other from models that do not?

    python benchmarks/reuse_power.py zoo [--json]
    python benchmarks/reuse_power.py answers [--data DIR] [--json]
    python benchmarks/reuse_power.py metabench [--data DIR] [--json]

`zoo` asks the small models of known lineage that `build_zoo.py` builds (`reuse_power_zoo.py`);
`answers` takes what models of known lineage answered long ago (`reuse_power_answers.py`), and
`metabench` models of known bases, with derivatives of the reference too
(`reuse_power_metabench.py`). Each file names its keys of --json; all add `python`, `numpy`,
`processor` and `cores`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from surroundings import add_data, show, surroundings

from scope.errors import ScopeError


def main() -> None:
    """Measure, and print a table or JSON."""
    arguments = _arguments()
    # Only the part that was asked for is imported: the other needs torch, or stored answers.
    part = importlib.import_module(f"reuse_power_{arguments.part}")
    try:
        figures: dict[str, Any] = part.figures(arguments)
    except ScopeError as error:
        sys.exit(str(error))
    figures |= surroundings("numpy")
    show(figures, as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = parser.add_subparsers(dest="part", required=True)
    zoo = parts.add_parser("zoo", help="small models of known lineage, built here")
    answers = parts.add_parser("answers", help="stored answers of models of known lineage")
    metabench = parts.add_parser("metabench", help="stored answers of models of known bases")
    for part in (answers, metabench):
        add_data(part)
    for part in (zoo, answers, metabench):
        part.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()
