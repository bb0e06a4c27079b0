"""The records that every layer passes on: frozen, checked, and free of any library's types.

In the order of the work: what is asked, what is answered, what is estimated from it, and the
result that holds it all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scope.records.estimates import *  # noqa: F403
    from scope.records.examples import *  # noqa: F403
    from scope.records.fleet import *  # noqa: F403  # noqa: F403
    from scope.records.result import *  # noqa: F403
    from scope.records.results import *  # noqa: F403
else:
    # Help pages need few records: each module is imported with the first of its names.
    _MODULES = ("examples", "result", "estimates", "results", "fleet")

    def __getattr__(name: str) -> Any:
        """A record on first use, from the module that has it."""
        for module in _MODULES:
            members = vars(import_module(f"{__name__}.{module}"))
            if name in members:
                globals()[name] = members[name]
                return members[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
