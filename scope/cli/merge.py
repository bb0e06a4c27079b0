"""``scope merge``."""

from __future__ import annotations

import json as json_library
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from scope.cli.output import print_json, say


def merge(
    shard: Annotated[str, Parameter(help="Run of a shard.")],
    /,
    *shards: Annotated[str, Parameter(help="Runs of the other shards.")],
    run: Annotated[str, Parameter(help="Name or path of the merged run.")],
    runs: Annotated[Path, Parameter(help="Folder under which runs are kept.")] = Path("runs"),
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> None:
    """Join the runs of all shards of a job to one run.

    The command that is printed then makes the result and its report; it searches and asks nothing
    again.

    Example: scope merge part1 part2 part3 --run whole
    """
    from scope.jobs.shards import merge as merge_shards

    merged = merge_shards((shard, *shards), run=run, runs=runs)
    if json:
        print_json(
            json_library.dumps({"folder": str(merged.folder), "command": merged.command}, indent=1)
        )
        return
    say(f"merged into {merged.folder}; its result: {merged.command}")
