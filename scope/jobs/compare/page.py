"""The page of a comparison: how similar the models' answers to tasks are.

Its first screen: who is as accurate, how sure, where, a question, what to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from reports.blocks import (
    Beside,
    Block,
    Column,
    Fold,
    Page,
    Paragraph,
    Preformatted,
    Section,
    SmallStrip,
    Table,
    paragraph,
)
from reports.estimates import (
    COLOURS,
    SIGNS,
    by_luck,
    differences_section,
    drift_blocks,
    drift_section,
    every_estimate,
    in_two,
    limit_strips,
    numbers_section,
    table_of,
)
from reports.prose import Span, Text, joined, prose, together
from reports.regions import region_sentence, regions_fold
from reports.sections import (
    answered_section,
    asked,
    asked_differently,
    command_with,
    model_lines,
    outcome_lines,
    page_of_run,
)
from reports.wording import as_sentence, percent, rounded_percent, rounded_up
from scope.jobs.compare.examples import (
    MOST_ITEMS,
    Filters,
    Part,
    Questions,
    TaskEstimates,
    answered_questions,
    answers_side_by_side,
    example,
    explained,
    questions_needed,
    task_estimates,
    with_short_names,
)
from scope.models.scheme import scheme_of
from scope.records import (
    ERROR,
    CompareResult,
    Endpoint,
    Estimate,
    FourCells,
    Replacement,
    TextsNeeded,
)
from scope.verdicts.words import claim, claims, comparison_words, shows_better

FEW_MODELS = 6
"""Most models with their names in the title."""

_LIMITS = (
    "Accurate models have similar answers for that reason alone. Intervals are over questions, not "
    "over retraining: the same recipe with another seed may lie outside. Those of a model's "
    "categories are so wide that all are right in 95 of 100 runs. The order of options and the "
    "words of the prompt change what a model answers. A missing answer is wrong, and the same as "
    "no other. Where answers are texts, right is an exact match with a right answer, or the score "
    "1 of an evaluation tool."
)


def page(result: CompareResult, *, max_items: int = MOST_ITEMS) -> Page:
    """The whole report of a comparison; sections without content are left out.

    ``max_items`` limits the questions shown with their answers, not the counts.
    """
    result = with_short_names(result)
    manifest, tasks = result.manifest, task_estimates(result)
    questions = [list(answered_questions(*both)) for both in zip(tasks, result.tasks, strict=True)]
    filters = Filters.of(questions, max_items)
    screens = [Screen(result, *both, filters) for both in zip(tasks, questions, strict=True)]
    details = (
        numbers_section(explained(result), [every_estimate(task.task, task.rows) for task in tasks])
        if result.measurements
        else None,
        differences_section(result.differences, (), of="model") if result.differences else None,
        drift_section(result.drift),
        asked(manifest, capabilities="Tasks"),
        answered_section(result.outcomes, *filter(None, [_by_model(result)])),
        Section(anchor="limits", title="Limits", blocks=(paragraph(_LIMITS),)),
    )
    names = ", ".join(card.name for card in manifest.models)
    named = names if len(manifest.models) <= FEW_MODELS else f"{len(manifest.models)} models"
    unmeasured = [row for row in result.outcomes if row.failures]
    return page_of_run(
        manifest,
        result.clock,
        title=f"compare: {named}",
        heading=heading_of(screens[0]) if screens else (),
        about=about_of(screens[0]) if screens else (),
        answer=_answer(screens),
        findings=[answers_side_by_side(questions, filters)] if tasks else (),
        details=details,
        brief=_brief(result, screens),
        facts=(*outcome_lines(unmeasured, of_tasks=True).pairs, *model_lines(manifest)),
    )


def _brief(result: CompareResult, screens: Sequence[Screen]) -> Iterator[Block]:
    """What a terminal shows below the heading."""
    yield from asked_differently(result.manifest.models)
    for screen in screens:
        yield Paragraph(about_of(screen, sure=screen is screens[0]))
        more = (*where(screen), *what_to_do(screen)) if screen is screens[0] else ()
        yield from (block for block in (*tables_of(screen), *more) if not isinstance(block, Fold))
    for row in result.task_shares:
        if row.warning:
            yield paragraph("**Warning**: {model}: {why}.", model=row.model, why=row.warning)
    yield from drift_blocks(result.drift)


def _answer(screens: Sequence[Screen]) -> Iterator[Block]:
    """Below the heading: what is decided, then each further task by itself."""
    for screen in screens[:1]:
        yield from blocks_of(screen)
    for screen in screens[1:]:
        yield from (Paragraph(about_of(screen, sure=False)), *tables_of(screen))


def _by_model(result: CompareResult) -> Table | None:
    """Each model's answers to a task, those without one, and what is wrong with them."""
    rows = (
        (row.model, row.task, row.asked, row.given, row.in_words(), row.degenerate or row.warning)
        for row in result.task_shares
    )
    heads = ("Model", "Task", "Asked", "Answered", "Answers", "Remark")
    return table_of("", heads, rows)


MOST_ROWS = 4
"""Models in the table without verdicts."""

_MUCH, _HALF = -0.05, 0.005
"""A category is named if it may be chance that a model loses more there; half a point, unseen."""


@dataclass(frozen=True)
class Screen:
    """A task of a result, its questions, and the addresses of those that the page shows."""

    result: CompareResult
    task: TaskEstimates
    questions: Questions
    filters: Filters

    @cached_property
    def judged(self) -> dict[str, Replacement]:
        """The verdict on each later model, if a right answer is known."""
        judged = (row for row in self.result.verdicts if any(end.limit for end in row.endpoints))
        return {row.target: row for row in judged}

    @cached_property
    def verdicts(self) -> dict[str, Replacement]:
        """The same, or of more than two models whether each is less accurate than the best.

        In the latter case intervals are so wide that the most accurate model is below another one
        by bad luck in at most 1 run of 40, whichever model leads.
        """
        first, *others = [*self.task.by_accuracy, ""]
        rows = {}
        for name in others[:-1] if self.task.names[2:] and not self.judged else ():
            if gap := self.task.gap(first, name, error=ERROR / len(others[:-1])):
                rows[name] = Replacement(
                    target=name,
                    decision="may not" if gap.high < 0 else "not shown",
                    endpoints=(Endpoint(name="accuracy", estimate=gap),),
                    open=("accuracy",),
                    if_as_seen=TextsNeeded(unchanged=questions_needed(gap)),
                )
        return self.judged or rows

    @cached_property
    def order(self) -> list[str]:
        """The models as they are compared: with the first, or without verdicts with the best."""
        if self.judged or len(self.task.names) == 2:
            return list(self.task.names)
        return list(dict.fromkeys([*self.task.by_accuracy, *self.task.fit, *self.task.names]))

    @cached_property
    def of_this_task(self) -> dict[str, Replacement]:
        """The verdicts, unless they rest on further tasks."""
        return {} if self.judged and self.result.tasks[1:] else self.verdicts

    def end(self, name: str) -> Endpoint | None:
        """What a verdict on this task rests on, or a model's difference from the first in order."""
        if name in self.of_this_task:
            return self.of_this_task[name].endpoints[0]
        gap = self.task.gap(self.order[0], name)
        return Endpoint(name="accuracy", estimate=gap) if gap else None

    @property
    def cells(self) -> FourCells | None:
        """Which of the only two models is right."""
        two = len(self.task.names) == 2
        return next((cells for cells in self.task.cells if two and cells.other_wrong), None)


def heading_of(screen: Screen) -> Text:
    """The answer in one sentence: who is as accurate as the first, and how alike two are."""
    task, (first, second, *more), order = screen.task, screen.order, [*SIGNS]
    groups = defaultdict[tuple[int, str], list[Replacement]](list)
    for row in screen.verdicts.values():
        groups[order.index(row.decision), claim(row)].append(row)
    parts = [
        (*_sign(rows[0]), *prose("{words}", words=claims(rows, "" if place else first)))
        for place, (_, rows) in enumerate(sorted(groups.items()))
    ]
    if not more and not screen.result.tasks[1:] and (same := task.same(first, second)):
        words = "it gives another answer on {share} of questions"
        words = words if parts else f"Compared with {first}, {second}{words[2:]}"
        parts.append(prose(words, share=rounded_percent(1 - same.value)))
    if parts and screen.result.tasks[1:] and not screen.judged:
        parts[-1] = (*parts[-1], *prose(" on {task}", task=task.task))
    return joined(parts, between="; ") or prose("The answers of {n} models", n=len(task.names))


def _sign(verdict: Replacement | None) -> Text:
    return (Span(*SIGNS[verdict.decision]), Span(" ")) if verdict else ()


def about_of(screen: Screen, *, sure: bool = True) -> Text:
    """The numbers of the answer, and how ``sure`` it is."""
    task, first, cells = screen.task, screen.order[0], screen.cells
    lines = [prose("On **{task}**:", task=task.task)] if screen.result.tasks[1:] else []
    score = task.scores[first].estimate if first in task.scores else None
    if cells:
        shares = (cells.both.value + alone.value for alone in (cells.only_second, cells.only_first))
        after, before = (f"{percent(share)}\u00a0%" for share in shares)
        words = "{second} answers {after} of {n} questions correctly, {first} {before}."
        names = {"first": first, "second": cells.second}
        lines.append(prose(words, after=after, before=before, n=cells.both.n, **names))
    elif isinstance(score, Estimate):
        words = "{first} answers {share} of {n} questions correctly."
        lines.append(prose(words, first=first, share=rounded_percent(score.value), n=score.n))
    lines += _how_sure(screen) if sure else []
    for name, why in task.degenerate.items() if not screen.order[2:] else ():
        lines.append(prose("Left out: {name} ({why}).", name=name, why=why))
    if task.degenerate and screen.order[2:]:
        words = "Left out, as hardly better than chance, silent or with one answer to all: {names}."
        lines.append(prose(words, names=joined(task.degenerate)))
    return together(*lines)


def _how_sure(screen: Screen) -> Iterator[Text]:
    """What is possible, and how often such verdicts are wrong."""
    rows, several, lines = list(screen.verdicts.values()), len(screen.order) > 2, []
    for row in rows:
        early = f"Not decided{f' for {row.target}' if several and not row.reason else ''}: "
        early *= row.decision == "not shown"
        if early or not several:
            lines.append(f"{as_sentence(early + comparison_words(row, screen.order[0]).why)}.")
    lines = lines[:1]
    better = list(filter(shows_better, rows))
    if better:
        words = "An equally accurate model would look this clearly better in at most 1 run of 40."
        lines.append(words)
    luck = by_luck([row.decision for row in rows if row not in better])
    lines.append(
        luck if screen.judged else luck.replace("within its limits", "as accurate as the best")
    )
    notes = [note for row in screen.result.verdicts for note in comparison_words(row, "").notes]
    if words := " ".join(dict.fromkeys(filter(None, [*lines, *(f"{note}." for note in notes)]))):
        yield prose("**How sure?** {words}", words=words)


def blocks_of(screen: Screen) -> Iterator[Block]:
    """What stands below: the numbers and what to do, beside where models differ."""
    chart = () if screen.order[2:] else by_category(screen)
    left: dict[str, Sequence[Block]] = {"What to do": tuple(what_to_do(screen))}
    right: dict[str, Sequence[Block]] = {"Where they differ": (*where(screen), *chart)}
    (right if screen.order[2:] else left)["A question that shows it"] = tuple(_question(screen))
    left_blocks, right_blocks = in_two(left, right).groups
    yield Beside(((*tables_of(screen), *left_blocks), right_blocks))


def tables_of(screen: Screen) -> Iterator[Block]:
    """What the answers of two models are, or each model beside the first in order."""
    others = screen.order[1:]
    most = len(others) if screen.judged else MOST_ROWS
    if others[1:]:
        yield _models(screen, others[:most])
    elif screen.cells:
        yield _answers(screen, screen.cells)
    if others[most:]:
        title = prose("The other {n} models", n=len(others[most:]))
        yield Fold(title, (_models(screen, others[most:]),))


def _models(screen: Screen, names: Sequence[str]) -> Table:
    """Models with their verdict, right answers, difference with its limit, and same answers."""
    first, verdicts, rows = screen.order[0], screen.of_this_task, []
    ends = [screen.end(name) for name in names]
    limit = next((end.limit for end in ends if end and end.limit), 0.0)
    strips = limit_strips(ends, "difference", in_points=limit <= 0)
    for name, strip in zip(names, strips, strict=True):
        verdict, both = verdicts.get(name), screen.task.shared(first, name)
        words, zones, same = "", strip, screen.task.same(first, name)
        if verdict:
            words = claim(verdict).partition(" ")[2].rpartition(" ")[0]
            words = "too early to say" if verdict.decision == "not shown" else words
        if isinstance(strip, SmallStrip):
            colour = COLOURS[verdict.decision] if verdict else "pale"
            zones = replace(strip, least=limit, verdict=colour)
        model = (*_sign(verdict), Span(screen.task.marked(name), foreign=True))
        right = rounded_percent(fmean(after for _, after in both.values())) if both else ""
        rows.append(
            (
                (*model, *([Span(f" {words}", "note")] if words else [])),
                f"{right} of {len(both):,}" if both else "no common question",
                zones,
                rounded_percent(same.value) if same else "–",
            )
        )
    columns = (
        Column(prose("Compared with {first}", first=first), "name"),
        Column("Right", "number"),
        Column(
            (Span("Difference, points " if limit <= 0 else "Share kept "), _key(limit)),
            "strip",
            short="Difference",
        ),
        Column("Same answers", "number", short="Same"),
    )
    return Table.with_columns(columns, rows, close=True)


def _key(limit: float) -> Span:
    """What the green background of a column means."""
    lower = f"at most {-100 * limit:g} lower" if limit else "not lower"
    return Span(f"green: {f'at least {limit:.0%}' if limit > 0 else lower}", "note")


def _answers(screen: Screen, cells: FourCells) -> Table:
    """Which of two models is right, with links to the questions."""
    other = cells.other_wrong.value if cells.other_wrong else 0.0
    kinds = {
        "Both are right": cells.both.value,
        f"Only {cells.second} is right": cells.only_second.value,
        f"Only {cells.first} is right": cells.only_first.value,
        "The same wrong answer": cells.neither.value - other,
        "Different wrong answers": other,
    }
    n, address = cells.both.n, screen.filters.address
    rows = [
        (kind, (Span(f"{share * n:,.0f}", link=address(kind)),), f"{100 * share:.0f}\u00a0%")
        for kind, share in kinds.items()
    ]
    of_all = Column(f"Of {n:,} questions", "name")
    columns = (of_all, Column("Questions", "number"), Column("Share", "number"))
    return Table.with_columns(columns, rows, close=True)


def _in_points(gap: Estimate) -> str:
    """A difference with its interval in whole points, which is as much as a part of them shows.

    >>> _in_points(Estimate(value=-0.14, low=-0.251, high=0.004, n=93, method="Tango"))
    '−14\xa0[−25,\xa00]'
    """
    numbers = (f"{round(100 * value):+d}" for value in (gap.value, gap.low, gap.high))
    return "{}\u00a0[{},\u00a0{}]".format(*numbers).replace("+0", "0").replace("-", "−")


def by_category(screen: Screen) -> Iterator[Block]:
    """Each category's difference on zones of red and green, below that of all questions."""
    first, second = screen.order
    parts, gap = screen.task.parts(first, second), screen.task.gap(first, second)
    verdict = screen.of_this_task.get(second)
    limit = min(0.0, verdict.endpoints[0].limit or 0.0) if verdict else 0.0
    rows: list[tuple[Text, SmallStrip, str]] = []
    for part in (Part("all", gap), *parts) if parts and gap else ():
        ends = (min(each.gap.low for each in parts), max(each.gap.high for each in parts))
        judged = COLOURS[verdict.decision] if verdict and limit and not rows else "pale"
        words = _in_points(part.gap)
        strip = SmallStrip(f"{part.name}: {words}", part.gap, ends, limit, verdict=judged)
        rows.append((prose("{part} ({n})", part=part.name, n=part.gap.n), strip, words))
    numbers = Column("Difference, points", "number")
    columns = (Column("Category (questions)", "name"), Column((_key(limit),), "strip"), numbers)
    if rows:
        yield Table.with_columns(columns, rows, close=True)


def where(screen: Screen) -> Iterator[Block]:
    """The regions, or else the categories, in which models differ most."""
    first, *others = screen.order
    regions = [each for each in screen.result.regions if each.task == screen.task.task]
    for name in others[:MOST_ROWS]:
        worst = [each for each in regions if each.target == name and each.confirmed][:2]
        if worst and first == screen.task.names[0]:
            yield from (region_sentence(each, screen.result.manifest) for each in worst)
            continue
        parts = sorted(screen.task.parts(first, name), key=lambda part: -abs(part.gap.value))
        clear = [part for part in parts if part.gap.high < -_HALF or part.gap.low > _HALF][:2]
        places = [
            prose(
                f"{{part}}, {{gap}} points{' (better)' * (part.gap.low > _HALF)}",
                part=part.name,
                gap=_in_points(part.gap),
            )
            for part in clear or parts[:1]
        ]
        words = "in {places}." if clear else "in no category clearly; the widest gap: {places}."
        if places:
            yield Paragraph(
                prose(f"**{{name}}**: {words}", name=name, places=joined(places, between="; "))
            )
        elif name == others[0]:
            yield paragraph("Not known: no categories of 10 questions or more.")
    yield from regions_fold(regions, screen.result.manifest)


def _question(screen: Screen) -> Iterator[Block]:
    """A question that one model alone answers correctly, as the heading says."""
    first, *others = screen.order
    rows = {name: row for name, row in screen.verdicts.items() if row.decision != "not shown"}
    other, parts = [*rows, *others][0], screen.task.parts(first, [*rows, *others][0])
    better = other in rows and shows_better(rows[other])
    right, wrong = (other, first) if better else (first, other)
    shown = example(screen.questions, (right, wrong), parts[0].ids if parts else ())
    words = "{right} is right, {wrong} is wrong:"
    words = words if shown else "None that {right} answers correctly, and {wrong} does not."
    yield from (paragraph(words, right=right, wrong=wrong), *shown)


def what_to_do(screen: Screen) -> Iterator[Block]:
    """The next step: the model to use, questions to read, or more questions to ask."""
    (first, second, *_), rows, cells = screen.order, screen.verdicts, screen.cells
    undecided = [row for row in rows.values() if row.decision == "not shown"][:1]
    passed = [name for name, row in rows.items() if row.decision == "may replace"]
    if rows:
        words = "Where accuracy is all that counts, use {names}." if passed else "Use {names}."
        yield paragraph(words, names=joined(passed or [first], last=" or "))
    else:
        words = "Add right answers to the data to know whether {second} may replace {first}."
        yield paragraph(words, first=first, second=second)
    if rows and cells and (count := cells.count(cells.only_first)):
        words = f"{count:,} questions that {second} alone gets wrong"
        link = screen.filters.address(f"Only {first} is right")
        yield Paragraph(prose("Read the {questions}.", questions=(Span(words, link=link),)))
    for part in screen.task.parts(first, second)[:1] if rows and cells else ():
        if part.gap.value < _MUCH and part.gap.high > 0:
            words = "If {part} matters to you, ask {n} questions of it, enough in 4 runs of 5 to "
            words += "show a gap as wide as here."
            yield paragraph(words, part=part.name, n=rounded_up(questions_needed(part.gap)))
    for row in undecided:
        more, plan = comparison_words(row, first).more, row.if_as_seen or row.if_equal
        yield paragraph("{more}.", more=more or f"First change what keeps {row.target} undecided")
        if plan and plan.unchanged and not row.reason:
            yield _more_questions(screen, [first, row.target], rounded_up(plan.unchanged))


def _more_questions(screen: Screen, names: Sequence[str], wanted: int) -> Block:
    """How to ask as many: gathered where answers are logged, or drawn anew."""
    manifest = screen.result.manifest
    rows = sum(card.rows for card in manifest.data)
    specs = [card.spec for card in manifest.models if card.name in names]
    if wanted > rows or any(scheme_of(spec).holds_items for spec in specs):
        words = "The data hold {rows} questions: gather more, then compare again."
        return paragraph(words, rows=rows)
    models = (word for spec in specs for word in ("--model", spec))
    numbers = ("--n", str(wanted), "--seed", str(int(str(manifest.settings["seed"])) + 1))
    dropped = ("--model", "--n", "--seed", "--run")
    return Preformatted(command_with(manifest.command, dropped, *models, *numbers))
