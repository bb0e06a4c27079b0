"""Keep what real commands of all jobs print, and compare two such records number by number.

    python tests/goldens/goldens.py record DIR [--only PATTERN ...] [--data-folder DIR] [--jobs N]
    python tests/goldens/goldens.py compare DIR_A DIR_B [--renamed FILE] [--strict]

`record` makes up data and tiny models from seeds, runs the commands of `goldens_commands.py` and
the wrong inputs of `goldens_wrong.py` through the installed `scope`, and writes a JSON file a
command: `exit`, `json` (numbers at six decimals, without the clock), `table` (standard output),
`messages` (standard error without progress), `files` (of the run, with SHA-256) and `page` (the
text of the report). Commands on packaged models, or on data in --data-folder, are skipped with a
reason where these are missing.

`compare` prints a line a difference and ends with 1 if one counts: an exit code, or a number of
the JSON, which is found by its path. A file of lines `old.path -> new.path` says which keys were
renamed (see `goldens_numbers.py`). What differs in tables, pages, messages, files and prose is
printed behind a `~`; with --strict that counts, too. Records with torch are meant to be compared
where both were made on one machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from goldens_differences import differences
from goldens_numbers import read_renamed
from goldens_recording import record

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    """Record, or compare."""
    arguments = _arguments()
    if arguments.command == "record":
        record(arguments.folder, arguments.only, arguments.data_folder, arguments.jobs)
        return
    for folder in (arguments.before, arguments.after):
        if not (folder / "record.json").exists():
            sys.exit(f"{folder} holds no record: make one with `goldens.py record {folder}`")
    renamed = read_renamed(arguments.renamed) if arguments.renamed else []
    found = differences(arguments.before, arguments.after, renamed)
    for one in found:
        print(f"{' ' if one.counts else '~'} {one.golden}: {one.said}")
    counted = sum(one.counts or arguments.strict for one in found)
    print(f"{counted} differences that count, {len(found) - counted} that do not")
    sys.exit(1 if counted else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run all commands, and keep what they gave")
    recording.add_argument("folder", type=Path, metavar="DIR")
    recording.add_argument("--only", action="append", metavar="PATTERN", help="such as 'audit-*'")
    recording.add_argument("--data-folder", type=Path, default=BESIDE, metavar="DIR")
    recording.add_argument("--jobs", type=int, default=2, help="commands at once (default: 2)")
    comparing = commands.add_parser("compare", help="tell what differs between two records")
    comparing.add_argument("before", type=Path, metavar="DIR_A")
    comparing.add_argument("after", type=Path, metavar="DIR_B")
    comparing.add_argument("--renamed", type=Path, metavar="FILE", help="lines of old -> new")
    comparing.add_argument("--strict", action="store_true", help="tables, pages and files count")
    return parser.parse_args()


if __name__ == "__main__":
    main()
