"""Earlier audits of the same models on the same data: those looked at, and one that is combined.

An audit that is planned after a look at the same texts is exploratory: its error is not that of its
plan. One exception has a known error: a second run with the plan of the first, but for the seed and
the numbers of texts, after the first has left a target open. It is judged on the texts of both.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from scope.answers import Run
from scope.errors import RunError
from scope.jobs.shards import SETTING
from scope.records import AuditResult
from scope.store.folder import RunFolder

_PLAN = (
    *("accuracy_margin", "agreement_margin", "keeps_margin", "concordance_margin"),
    *("least_agreement", "least_concordance", "least_reach"),
    *("candidates", "gap", "encoder", "min_similarity"),
)
_DRAWN = ("seed", "changed_texts", "n_most", "looks")
"""What a second run may choose anew."""

_FACT = "earlier audits"


class Earlier(NamedTuple):
    """Names of runs that make an audit exploratory, or a run that is combined with it."""

    looks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    combined: AuditResult | None = None


def earlier_audits(run: Run, ids: Collection[str]) -> Earlier:
    """What had finished in the same folder when the run began; a resume goes by the same.

    They share the reference, a target and the specification of the data. Those with any of the
    texts, by their ``ids``, count as looks. Of two or more none is combined.
    """
    stored = run.fact(_FACT, _FACT)
    if stored is None:
        stored = json.dumps(_sorted_out(run, ids))
        run.keep_fact(_FACT, _FACT, stored)
    looks, names = map(tuple, json.loads(stored))
    results = [_result(RunFolder(run.path.absolute().parent / name)) for name in names]
    # One that was deleted meanwhile was looked at, too.
    return Earlier(looks, names, *results) if all(results) else Earlier(names)


def _sorted_out(run: Run, ids: Collection[str]) -> tuple[list[str], list[str]]:
    """The names of looks, and of the run that is combined."""
    here = run.read_configuration() or {}
    looks, open_ = [], []
    for other, there in _related(run, here):
        result = _result(other)
        if result is not None and _may_be_combined(result, here, there):
            open_.append(other.name)
        elif result is not None and not _texts(result).isdisjoint(ids):
            looks.append(other.name)
    if looks or len(open_) > 1:
        return sorted((*looks, *open_)), []
    return [], open_


def _related(run: Run, here: Mapping[str, Any]) -> Iterator[tuple[RunFolder, Mapping[str, Any]]]:
    """Finished audits of the same models on the same data with another plan or sample."""
    for path in sorted(run.path.absolute().parent.glob("*/result.json")):
        other = RunFolder(path.parent)
        try:
            there: Mapping[str, Any] = other.read_configuration() or {}
            same_data = _data(run) == _data(other)
        except RunError:  # a damaged run, which its own commands report
            continue
        if (
            same_data
            and all(there.get(part) == here[part] for part in ("job", "reference"))
            and any(target in _fingerprints(there) for target in _fingerprints(here))
            and SETTING not in there["settings"]
            and (_plan(there), _sample(there)) != (_plan(here), _sample(here))
        ):
            yield other, there


def _may_be_combined(
    result: AuditResult, here: Mapping[str, Any], there: Mapping[str, Any]
) -> bool:
    names = [target["name"] for target in here["targets"]]
    return (
        _plan(here) == _plan(there)
        and all(target in there["targets"] for target in here["targets"])
        and not (result.earlier_looks or result.combined_with)
        and any(row.decision == "not shown" and row.target in names for row in result.verdicts)
    )


def _plan(configuration: Mapping[str, Any]) -> tuple[Any, ...]:
    settings = configuration["settings"]
    parts = (configuration.get(part) for part in ("baseline", "capabilities"))
    return (*(settings.get(name) for name in _PLAN), *parts)


def _sample(configuration: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*map(configuration["settings"].get, _DRAWN), configuration.get("data"))


def _fingerprints(configuration: Mapping[str, Any]) -> list[str]:
    return [target["fingerprint"] for target in configuration.get("targets", ())]


def _data(run: RunFolder) -> list[str]:
    cards: Any = run.read_notes().get("data", ())
    return [card["spec"] for card in cards]


def _result(folder: RunFolder) -> AuditResult | None:
    try:
        result = folder.read_result()
    except RunError:
        return None
    return result if isinstance(result, AuditResult) else None


def _texts(result: AuditResult) -> set[str]:
    rows = (row for row in result.measurements if row.metric == "iid_agreement")
    return {id_ for row in rows for id_ in row.example_ids}
