"""``scope cache``."""

from __future__ import annotations

import json as json_library
from typing import Annotated

from cyclopts import App, Parameter

from scope.cli.help import flowing
from scope.cli.list import print_rows
from scope.cli.output import print_json, say
from scope.paths import CacheKind

Kind = Annotated[CacheKind | None, Parameter(help="What to remove; all by default.")]


def cache_commands() -> App:
    """The commands of the cache."""
    app = App(name="cache", help="Answers and searches kept across runs: show, clear.")
    for command in (show, clear):
        app.command(command, help=flowing(command.__doc__))
    return app


def show(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """Show what is kept across runs: entries, size, folder and limit.

    Runs share the answers of models that are known by the bytes of their files, and what SCoPE's
    own capabilities find for them. The variable SCOPE_CACHE sets the folder, SCOPE_CACHE_LIMIT its
    size, such as 500MB; what was not used for the longest time goes first.

    Example: scope cache show
    """
    from scope.answers.cache import bytes_of_cache, size_limit, sizes
    from scope.paths import cache_folder

    folder, limit = cache_folder(), size_limit()
    found, total = sizes(folder), bytes_of_cache(folder)
    if json:
        known = {"folder": str(folder), "limit": limit, "bytes": total}
        print_json(
            json_library.dumps(known | {"caches": [one._asdict() for one in found]}, indent=1)
        )
        return
    print_rows(
        [
            {"cache": one.kind, "entries": f"{one.entries:,}", "size": _megabytes(one.bytes)}
            for one in found
        ]
    )
    say(f"folder: {folder} ({_megabytes(total)} of at most {_megabytes(limit)})")


def clear(kind: Kind = None, /) -> None:
    """Remove what is kept across runs; runs keep their own answers.

    Example: scope cache clear answers
    """
    from typing import get_args

    from scope.answers.cache import clear_cache
    from scope.paths import cache_folder

    for one in (kind,) if kind else get_args(CacheKind):
        clear_cache(cache_folder(), one)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
