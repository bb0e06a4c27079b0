"""Earlier audits of the same models on the same data: those looked at, and one that is combined.

An audit that is planned after a look at the same texts is exploratory: its error is not that of its
plan. One exception has a known error: a second run with the plan of the first, but for the seed and
the numbers of texts, after the first has left a target open. It is judged on the texts of both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from scope.answers import Run
from scope.errors import RunError
from scope.jobs.audit.plan import OF_VERDICTS
from scope.jobs.identity import configuration_of
from scope.records import AuditResult, Manifest, own_id_of
from scope.store.folder import RunFolder

_PLAN = (
    *(*OF_VERDICTS, "least_reach", "candidates", "encoder", "min_similarity"),
    *("label_map", "role", "next_tokens", "cluster", "recall"),
)
_SAMPLE = ("seed", "changed_texts", "n_most", "looks")
"""What a second run may choose anew."""

_FACT = "earlier audits"


class Earlier(NamedTuple):
    """The names of runs that make an audit exploratory, or else of the one combined with it."""

    looks: tuple[str, ...]
    combined_with: tuple[str, ...] = ()
    combined: AuditResult | None = None


def earlier_audits(run: Run, manifests: Sequence[Manifest], ids: Set[str]) -> list[Earlier]:
    """What had finished in the same folder when the run began; a resume goes by the same.

    For each audit of the run these share the reference, a target and the specification of the data.
    Those with any of the texts, by their ``ids``, count as looks. Of two or more none is combined.
    """
    folder = run.path.absolute().parent
    keys = [here.reference.name if manifests[1:] else _FACT for here in manifests]
    new = {key: here for key, here in zip(keys, manifests, strict=True) if not run.fact(_FACT, key)}
    for key, names in zip(new, _sorted_out(folder, [*new.values()], ids), strict=True):
        run.keep_fact(_FACT, key, json.dumps(names))
    stored = (json.loads(str(run.fact(_FACT, key))) for key in keys)
    return [_earlier(folder, *both) for both in zip(manifests, stored, strict=True)]


def _earlier(folder: Path, here: Manifest, names: tuple[list[str], list[str]]) -> Earlier:
    looks, again = names
    combined = _against(here, _audit(folder / again[0])) if again else None
    # One that was deleted meanwhile was looked at, too.
    return Earlier(tuple(looks), tuple(again), combined) if combined else Earlier((*looks, *again))


def _sorted_out(
    folder: Path, manifests: Sequence[Manifest], ids: Set[str]
) -> list[tuple[list[str], list[str]]]:
    """For each audit the names of looks, and of the run that is combined, if any."""
    texts = set(map(own_id_of, ids))
    names: list[tuple[list[str], list[str]]] = [([], []) for _ in manifests]
    for path in sorted(folder.glob("*/result.json")) if manifests else ():
        whole = _audit(path.parent)
        for here, (looks, again) in zip(manifests, names, strict=True):
            result = _against(here, whole)
            if result is None or not _is_another_plan(result.manifest, here):
                continue
            rows = (row for row in result.measurements if row.metric == "iid_agreement")
            if _may_be_combined(result, here):
                again.append(path.parent.name)
            elif not texts.isdisjoint(own_id_of(id_) for row in rows for id_ in row.example_ids):
                looks.append(path.parent.name)
    return [
        (sorted(looks + again), []) if looks or again[1:] else ([], again) for looks, again in names
    ]


def _against(here: Manifest, whole: AuditResult | None) -> AuditResult | None:
    """The audit of the same reference, of several in a matrix; None without one."""
    reference = configuration_of(here)["reference"]
    for audit in () if whole is None else whole.audits or (whole,):
        if configuration_of(audit.manifest).get("reference") == reference:
            return audit
    return None


def _audit(folder: Path) -> AuditResult | None:
    """A finished audit; None of a damaged run, which its own commands report."""
    run = RunFolder(folder)
    with suppress(RunError):
        if (run.read_configuration() or {}).get("job") == "audit":
            result = run.read_result()
            return result if isinstance(result, AuditResult) else None
    return None


def _is_another_plan(there: Manifest, here: Manifest) -> bool:
    """Whether it is of the same models and data, with another plan or other texts."""
    return (
        not _targets(there).isdisjoint(_targets(here))
        and there.data[0].spec == here.data[0].spec
        and (_plan(there), _sample(there)) != (_plan(here), _sample(here))
    )


def _may_be_combined(result: AuditResult, here: Manifest) -> bool:
    judged = {card.name for card in here.targets}
    decisions = {each.decision for each in result.verdicts if each.target in judged}
    return (
        _plan(result.manifest) == _plan(here)
        and _targets(here) <= _targets(result.manifest)
        and not (result.earlier_looks or result.combined_with)
        and not here.settings.get("cluster")  # runs may share documents
        # A second look at what is decided would judge it anew, at another error.
        and decisions == {"not shown"}
    )


def _targets(manifest: Manifest) -> set[str]:
    targets: Any = configuration_of(manifest)["targets"]
    return set(map(str, targets))


def _plan(manifest: Manifest) -> tuple[object, ...]:
    parts = map(configuration_of(manifest).get, ("baseline", "capabilities"))
    return (*map(manifest.settings.get, _PLAN), *parts)


def _sample(manifest: Manifest) -> tuple[object, ...]:
    return (*map(manifest.settings.get, _SAMPLE), manifest.data[0].fingerprint)
