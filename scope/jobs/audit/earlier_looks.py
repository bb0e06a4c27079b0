"""Whether an audit was planned after looking: finished audits beside it asked the same texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scope.errors import RunError
from scope.store.folder import RunFolder

_PLAN = (
    *("accuracy_margin", "agreement_margin", "concordance_margin", "least_reach"),
    *("candidates", "changed_texts", "gap"),
)


def earlier_looks(run: RunFolder) -> tuple[str, ...]:
    """Names of finished audits in the same folder that make this one exploratory.

    They have its reference and one of its targets, the same data and seed, but another plan: other
    margins, capabilities, another baseline or number of texts. With each look at a growing sample
    an error becomes more likely than the plan of one look says.
    """
    here = run.read_configuration()
    if here is None:
        return ()
    names = []
    for path in sorted(run.path.absolute().parent.glob("*/result.json")):
        other = RunFolder(path.parent)
        try:
            there = other.read_configuration()
            is_look = there is not None and _is_look(here, there) and _data(run) == _data(other)
        except RunError:  # a damaged run, of which its own commands complain
            continue
        if is_look:
            names.append(other.name)
    return tuple(names)


def _is_look(here: Mapping[str, Any], there: Mapping[str, Any]) -> bool:
    return (
        there["job"] == here["job"]
        and there.get("reference") == here.get("reference")
        and _seed(there) == _seed(here)
        and bool(_fingerprints(there) & _fingerprints(here))
        and _plan(there) != _plan(here)
    )


def _plan(configuration: Mapping[str, Any]) -> tuple[Any, ...]:
    settings = configuration["settings"]
    return (
        *(settings.get(name) for name in _PLAN),
        *(configuration.get(part) for part in ("baseline", "capabilities", "data")),
    )


def _seed(configuration: Mapping[str, Any]) -> Any:
    return configuration["settings"].get("seed")


def _fingerprints(configuration: Mapping[str, Any]) -> set[str]:
    return {target["fingerprint"] for target in configuration.get("targets", ())}


def _data(run: RunFolder) -> list[str]:
    cards: Any = run.read_notes().get("data", ())
    return [card["spec"] for card in cards]
