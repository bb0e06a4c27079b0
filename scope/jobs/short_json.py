"""The short JSON of a result: what a script needs of it, in a few kilobytes."""

from __future__ import annotations

import json

from scope.jobs.pages import headline_of
from scope.paths import without_home
from scope.records import AuditResult, FrameRow, PairResult, Result, ReuseResult
from scope.store import RunFolder

MOST_ESTIMATES = 60
"""The whole result has them all; a map of many models or layers has thousands."""


def to_short_json(result: Result) -> str:
    """Models, headline, verdicts, estimates and paths, with ``~`` for the home folder."""
    manifest, folder = result.manifest, result.folder
    rows = list(result.rows())
    paths = None if folder is None else RunFolder(folder)
    found = {
        "job": manifest.job,
        "headline": headline_of(result),
        "models": [
            {"name": one.name, "role": one.role, "spec": one.spec} for one in manifest.models
        ],
        "data": [one.spec for one in manifest.data],
        "failed": list(result.failed_parts()),
        "verdicts": _verdicts(result),
        "estimates": list(map(_estimate, rows[:MOST_ESTIMATES])),
        "estimates_left_out": max(0, len(rows) - MOST_ESTIMATES),
        "finished": result.clock and result.clock.finished,
        "seconds": result.clock and result.clock.seconds,
        "folder": paths and str(paths.path),
        "report": paths and str(paths.report_path),
        "result": paths and str(paths.result_path),
    }
    return without_home(json.dumps(found, ensure_ascii=False, indent=1)) + "\n"


def _verdicts(result: Result) -> list[dict[str, object]]:
    if isinstance(result, PairResult):
        audits = ((one.manifest.reference.name, one) for one in result.audits)
        of_audits = [{"reference": name} | own for name, one in audits for own in _verdicts(one)]
        return [*of_audits, *(own for one in result.reuses for own in _verdicts(one))]
    if isinstance(result, AuditResult):
        return [
            {
                "target": one.target,
                "decision": one.decision,
                "sentence": one.sentence,
                "rows_needed": one.rows_needed,
                "endpoints": [
                    _estimate(FrameRow.of("", end.name, one.target, end.estimate))
                    | {"limit": end.limit, "state": end.state}
                    for end in one.endpoints
                ],
            }
            for one in result.verdicts
        ]
    if not isinstance(result, ReuseResult):
        return []
    return [
        {"suspect": one.suspect, "reference": one.reference, "decision": one.decision}
        for one in result.verdicts
    ]


def _estimate(row: FrameRow) -> dict[str, object]:
    """The row without its empty fields; numbers have six decimals as in the whole result."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in row._asdict().items()
        if value not in ("", None)
    }
