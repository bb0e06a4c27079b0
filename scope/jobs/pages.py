"""The page of a result, with sections of plugins, and its other forms; reports of stored runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice, takewhile
from pathlib import Path
from pkgutil import resolve_name

from reports import blocks
from reports.blocks import Block, Bullets, Callout, Page, Paragraph
from reports.html import render, render_blocks, render_notebook
from reports.model_card import every_eval_ever, model_card
from reports.prose import Span, plain
from reports.sections import left_out_lines, left_out_section
from reports.text import blocks_as_markdown, junit, to_markdown, to_short_markdown, to_text
from scope.errors import RunError, ScopeError, SpecError
from scope.jobs import JOBS, job_named, plugin_jobs
from scope.paths import expanded, without_home
from scope.protocols import UntrustedCode
from scope.records import AuditResult, CompareResult, FrameRow, PairResult, Result, ReuseResult
from scope.registry import Entry, entries
from scope.store.folder import RunFolder, run_folder


def page_of(result: Result) -> Page:
    """The report of a result.

    A plugin adds a section to it under the entry point ``scope.sections``: a function that takes
    the result and returns a `reports.blocks.Section`, or None where it has nothing to say
    about the result. It comes before the last section. If it fails, the report says so there, and
    the terminal, too.

    Raises
    ------
    SpecError
        When the plugin that has the job is not installed.
    """
    page = _own_page(result)
    if page.heading:
        page = replace(page, brief=(Paragraph(page.heading, lead=True), *page.brief))
    added, failures = _added(result)
    left_out = left_out_section(result.manifest)
    more = (*([replace(left_out, folded=True)] if left_out else []), *added)
    # What the answer rests on is told below it, before all tables.
    answer = tuple(takewhile(lambda block: isinstance(block, Paragraph | Callout), page.brief))
    return replace(
        page,
        sections=(*page.sections[:-1], *more, *page.sections[-1:]),
        brief=(*answer, *left_out_lines(result.manifest), *page.brief[len(answer) :], *failures),
    )


def headline_of(result: Result) -> str:
    """The first sentence, the verdicts, or the first finding, of the report in one line."""
    page = _own_page(result)
    if page.heading:
        return without_home(" ".join(plain(page.heading).split()))
    answer = tuple(blocks.within(page.sections[0].blocks))
    leads = [block.text for block in answer if isinstance(block, Paragraph) and block.lead]
    others = (
        block.items[0] if isinstance(block, Bullets) else block.text
        for block in answer
        if isinstance(block, Paragraph) or (isinstance(block, Bullets) and block.items)
    )
    is_lead = isinstance(answer[0], Paragraph) and answer[0].lead
    texts = leads[:1] if is_lead else leads or islice(others, 1)
    return without_home("; ".join(" ".join(plain(text).split()) for text in texts))


def html_of(result: Result, *more: Block) -> str:
    """The report as one HTML document, with more blocks after its first one."""
    return without_home(render(_page_with(result, *more)))


def picture_html(result: Result) -> str:
    """The first chart of the report, in the table that it stands in, for a notebook."""
    for block in page_of(result).blocks():
        columns = block.columns if isinstance(block, blocks.Table) else ()
        if isinstance(block, blocks.Figure) or any(column.kind == "strip" for column in columns):
            return without_home(render_notebook((block,)))
    raise SpecError(
        f"a picture of a result of the job {result.manifest.job}",
        expected="a result whose report has a chart",
        fix="use to_html(path), or to_frame()",
    )


def _page_with(result: Result, *more: Block) -> Page:
    page = page_of(result)
    first, *others = page.sections
    first = replace(first, blocks=(*first.blocks[:1], *more, *first.blocks[1:]))
    return replace(page, sections=(first, *others))


def notebook_html(result: Result) -> str:
    """What a terminal shows of the report, for a notebook."""
    return without_home(render_notebook(page_of(result).brief))


def markdown_of(result: Result, *more: Block, verbose: bool = False) -> str:
    """The report as Markdown in at most 60 lines, or all of it."""
    page = _page_with(result, *more)
    path = "" if result.folder is None else str(RunFolder(result.folder).report_path)
    if verbose:
        return without_home(to_markdown(page))
    return without_home(to_short_markdown(page, more, path))


def save(path: Path, text: str) -> Path:
    """Write a file that a user named, and the folders on the way to it; its path."""
    path = expanded(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(without_home(text), encoding="utf-8")
    return path


def terminal_text(result: Result) -> str:
    """The tables of the terminal as plain text."""
    return to_text(page_of(result).brief)


def _own_page(result: Result) -> Page:
    job = job_named(result.manifest.job)
    if job in JOBS:
        page: Page = resolve_name(job.page)(result)
        return page
    with UntrustedCode(f"{job.name} of {plugin_jobs().get(job.name, 'a plugin')}").entered("page"):
        made: Page = resolve_name(job.page)(result)
        for section in made.sections:
            _show_in_every_form(section)
        to_text(made.brief)
    return made


def _added(result: Result) -> tuple[list[blocks.Section], list[Paragraph]]:
    """The sections of plugins, and a paragraph for each that failed, which is its section, too."""
    added, failures = [], []
    for place, entry in enumerate(entries("sections"), start=1):
        made = entry.error or _of_plugin(entry, result)
        if isinstance(made, str):
            failure = blocks.paragraph(
                "The section ``{name}`` of {origin} could not be made: {reason}.",
                name=entry.name,
                origin=entry.origin,
                reason=made,
            )
            failures.append(failure)
            made = blocks.Section(anchor="failed", title=entry.name, blocks=(failure,))
        if made is not None:
            added.append(replace(made, anchor=f"added-{place}"))
    return added, failures


def _of_plugin(entry: Entry, result: Result) -> blocks.Section | str | None:
    """The section of a plugin, None if it has none, or why it failed."""
    code = UntrustedCode(f"{entry.name} of {entry.origin}")
    try:
        section = code.call("its function", entry.target, result)
        if isinstance(section, blocks.Section):
            code.call("its blocks", _show_in_every_form, section)
    except ScopeError as error:
        return error.found
    if section is None or isinstance(section, blocks.Section):
        return section
    return f"it returned a {type(section).__name__}, not a Section"


def _show_in_every_form(section: blocks.Section) -> None:
    """Fail now if a block cannot be rendered: later the whole report would fail."""
    render_blocks(section.blocks)
    to_markdown(Page(title=section.heading or section.title, sections=(section,)))
    to_text(section.blocks)


def load_result(run: str | Path, runs: Path = Path("runs")) -> Result:
    """The result of a run that has finished, as the job's function returned it.

    Parameters
    ----------
    run
        The run's name under ``runs``, or the path of its folder, with a slash in it.

    Raises
    ------
    RunError
        When there is no such run, or it has not finished.
    """
    folder = _find(run, runs)
    result = folder.read_result()
    if result is None:
        raise RunError(
            f"`{folder.path}` has no result yet",
            expected="a run that has finished",
            fix="run its command again to resume it",
        )
    return result


def report(run: str | Path, runs: Path = Path("runs")) -> Path:
    """Write a run's report.html again from its stored result, and return its path.

    Parameters
    ----------
    run
        The run's name under ``runs``, or the path of its folder, with a slash in it.

    Raises
    ------
    RunError
        When there is no such run, or it has not finished.
    """
    folder = _find(run, runs)
    write_report(load_result(run, runs))
    return folder.report_path


def write_report(result: Result, *more: Block) -> None:
    """Write the report of a stored result into its run's folder; see `html_of`."""
    if result.folder is not None:
        RunFolder(result.folder).write_report(html_of(result, *more))


def write_brief(result: Result, *more: Block) -> Path | None:
    """Write the answer of a stored result and its numbers as one page to print; its path.

    It is beside the report, to which the examples are left.
    """
    page = _page_with(result, *more)
    answer, *others = page.sections
    tables = (block for block in page.brief if isinstance(block, blocks.Table) and not page.heading)
    report = Paragraph((Span("Examples and all numbers", link="./report.html"),))
    shown = (*blocks.without_folds(answer.blocks), *tables, report)
    moves = (part for part in others if part.anchor == "moves")
    shorter = (replace(part, blocks=blocks.without_folds(part.blocks)) for part in moves)
    brief = replace(page, sections=(replace(answer, blocks=shown), *shorter))
    if result.folder is None:
        return None
    kept = "|".join(part.anchor for part in brief.sections)
    html = re.sub(rf'href="#(?!{kept})', 'href="./report.html#', render(brief))
    return save(result.folder / "brief.html", html)


def _find(run: str | Path, runs: Path) -> RunFolder:
    path = run_folder(run, runs)
    if not path.is_dir():
        here = sorted(run.name for run in runs.iterdir() if run.is_dir()) if runs.is_dir() else []
        raise RunError(
            f"no run `{run}`",
            expected=f"one of: {', '.join(here[:20])}" if here else f"a run under `{runs}`",
            fix="see `scope list runs`, or give the folder's path",
        )
    return RunFolder(path)


MOST_ESTIMATES = 60
"""The whole result has them all; a map of many models or layers has thousands."""


def to_short_json(result: Result) -> str:
    """Models, headline, verdicts, estimates and paths, with ``~`` for the home folder."""
    manifest, folder = result.manifest, result.folder
    rows = list(result.rows())
    paths = None if folder is None else RunFolder(folder)
    summary = {
        "job": manifest.job,
        "headline": headline_of(result),
        "models": [
            {"name": model.name, "role": model.role, "spec": model.spec}
            for model in manifest.models
        ],
        "data": [card.spec for card in manifest.data],
        "failed": list(result.failed_parts()),
        "left_out": [asdict(left) for card in manifest.data for left in card.left_out],
        "no_answer": {card.name: list(map(asdict, card.missing)) for card in manifest.models},
        "verdicts": _verdicts(result),
        "estimates": list(map(_estimate, rows[:MOST_ESTIMATES])),
        "estimates_left_out": max(0, len(rows) - MOST_ESTIMATES),
        "finished": result.clock and result.clock.finished,
        "seconds": result.clock and result.clock.seconds,
        "folder": paths and str(paths.path),
        "report": paths and str(paths.report_path),
        "result": paths and str(paths.result_path),
    }
    return without_home(json.dumps(summary, ensure_ascii=False, indent=1)) + "\n"


def _verdicts(result: Result) -> list[dict[str, object]]:
    if isinstance(result, PairResult):
        parts = (*result.audits, *result.comparisons, *result.reuses)
        return [row for part in parts for row in _verdicts(part)]
    if isinstance(result, AuditResult) and result.audits:
        return [row for audit in result.audits for row in _verdicts(audit)]
    if isinstance(result, AuditResult | CompareResult):
        return [
            {
                "reference": result.manifest.models[0].name,
                "target": verdict.target,
                "decision": verdict.decision,
                "sentence": verdict.sentence,
                "may_replace_in": verdict.may_replace_in,
                "combined_with": getattr(result, "combined_with", ()),
                "if_equal": verdict.if_equal and asdict(verdict.if_equal),
                "if_as_seen": verdict.if_as_seen and asdict(verdict.if_as_seen),
                "endpoints": [
                    _estimate(FrameRow.of("", end.name, verdict.target, end.estimate))
                    | {"limit": end.limit, "most": end.most, "state": end.state}
                    for end in verdict.endpoints
                ],
            }
            for verdict in result.verdicts
        ]
    if not isinstance(result, ReuseResult):
        return []
    return [
        {"suspect": verdict.suspect, "reference": verdict.reference, "decision": verdict.decision}
        for verdict in result.verdicts
    ]


def _estimate(row: FrameRow) -> dict[str, object]:
    """The row without its empty fields; numbers have six decimals as in the whole result."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in row._asdict().items()
        if value not in ("", None)
    }


def model_card_of(result: Result) -> str:
    """A table and a model index for a model card, as Markdown."""
    return without_home(blocks_as_markdown(model_card(result)))


def to_junit(result: Result, judged: Mapping[str, Sequence[str]], path: Path) -> Path:
    """Write verdicts and gates as test cases; ``judged`` are the failures of each gate."""
    return save(path, junit(result, page_of(result).title, judged))


def to_eee(result: Result, path: Path) -> Path:
    """Write how a model compares with the first of two in Every Eval Ever's schema."""
    comparisons: Sequence[CompareResult] = getattr(result, "comparisons", ())
    if isinstance(result, CompareResult):
        comparisons = (result,)
    count = len(comparisons[0].manifest.models) if comparisons else 0
    require_eee(result.manifest.job, count)
    return save(path, every_eval_ever(result, comparisons, comparisons[0].manifest.models[1]))


def require_eee(job: str, models: int) -> None:
    """Refuse --eee unless two models are compared; ``models`` is 0 without a comparison."""
    if models != 2:
        raise SpecError(
            f"--eee with {models} models" if models else f"--eee with a result of the job {job}",
            expected="a comparison of the answers of two models to questions",
            fix="use a run of `scope compare` or `scope pair` on two models, or omit --eee",
        )
