"""Is the right thing said where a decision hangs on it?

    python benchmarks/decisions.py [--json]

Plays the decisions of `tests/decision_cases` through the real command, on models of a few lines,
and prints for each the exit code and what the user is told. Exits with 1 if one of them is wrong.

Keys of --json: `played`, `right`, `wrong` (their names), and `python`, `numpy`, `processor`,
`cores`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path

from surroundings import surroundings

TESTS = Path(__file__).resolve().parents[1] / "tests"
TOLD = 12
"""So many lines of what is told are printed."""


def main() -> None:
    """Play all decisions, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args().json
    sys.path.append(str(TESTS))
    playing = importlib.import_module("decision_cases.playing")
    wrong = []
    decisions = playing.all_decisions()
    for decision in decisions:
        with tempfile.TemporaryDirectory() as folder:
            played = playing.play(decision, Path(folder))
        faults = list(played.faults(decision))
        wrong += [decision.name] * bool(faults)
        if not as_json:
            print(f"{'WRONG' if faults else 'right'}  exit {played.exit}  {decision.name}")
            told = [line for line in played.told.splitlines() if line.strip()]
            print("\n".join(f"       | {line}" for line in [*faults, *told[:TOLD]]), end="\n\n")
    figures = {"played": len(decisions), "right": len(decisions) - len(wrong), "wrong": wrong}
    where = surroundings("numpy")
    if as_json:
        print(json.dumps(figures | where))
    else:
        print("\n".join(f"{key:<10} {value}" for key, value in (figures | where).items()))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
