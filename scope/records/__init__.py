"""The records that every layer passes on: frozen, checked, and free of any library's types.

In the order of the work: what is asked, what is answered, what is estimated from it, and the
result that holds it all. All names are in ``__init__.pyi``; help pages need few of them, so each
module is imported with the first of its names.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    for module in ("examples", "result", "estimates", "results", "fleet"):
        members = vars(import_module(f"{__name__}.{module}"))
        if name in members:
            globals()[name] = members[name]
            return members[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
