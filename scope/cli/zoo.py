"""``scope zoo``."""

from __future__ import annotations

import json as json_library
from typing import TYPE_CHECKING, Annotated

import typer

from scope.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from scope.zoo.lineage import Zoo


def zoo(
    seed: Annotated[
        int, typer.Option(min=0, help="Decides the texts of each model, and training.")
    ] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that train, a core each.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Build small models of known lineage offline: the truth that verdicts are held against.

    The first time takes about half an hour; a build that was stopped goes on. Example: scope zoo
    """
    from scope.paths import cache_folder
    from scope.progress import suitable_progress
    from scope.zoo.zoo import build_zoo

    built = build_zoo(
        cache_folder() / "zoo", seed=seed, workers=workers, progress=suitable_progress()
    )
    if json:
        from scope.zoo.lineage import to_rows

        rows = to_rows(built)
        print_json(json_library.dumps(rows, indent=1, ensure_ascii=False))
    else:
        _print(built)


def _print(built: Zoo) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("name", "kind", "derived from"):
        table.add_column(heading, overflow="fold")
    for model in built:
        table.add_row(*map(Text, (model.name, model.kind, model.source or "")))
    print_table(table)
    say(f"path of a model: {built.models[0].path.parent}/NAME")
