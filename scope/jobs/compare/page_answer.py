"""The first screen of a comparison: who is as accurate, how sure, where, a question, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import fmean
from typing import NamedTuple

from reports.blocks import (
    Beside,
    Block,
    Column,
    Fold,
    Paragraph,
    Table,
    heading,
    note,
    paragraph,
)
from reports.builders.answer import SIGNS, limit_strips
from reports.charts import Colour, SmallStrip
from reports.prose import Span, Text, joined, prose, together
from reports.wording import (
    as_sentence,
    in_percent,
    percent,
    rounded_percent,
    rounded_up,
    short,
    short_points,
    short_share,
)
from scope.jobs.compare.examples import Filters, Questions, example
from scope.jobs.compare.task_estimates import Part, TaskEstimates
from scope.jobs.compare.verdicts import claim, in_words, questions_needed
from scope.metrics.catalog import metric_name
from scope.models.scheme import scheme_of
from scope.records import CompareResult, Endpoint, Estimate, FourCells, Replacement

MOST_ROWS, MOST_NAMES = 4, 3
"""Models in the table without verdicts, and models named in a sentence."""

_MUCH = -0.05
"""A category is named if it may be chance that a model loses more there."""

_SURE = {
    "may replace": "A model just beyond the limit would pass this test in 1 run of 40.",
    "better": "An equally accurate model would be called more accurate in 1 run of 40.",
    "may not": "A model just within the limit would fail this test in 1 run of 40.",
    "not shown": "Where it is too early, the interval still reaches past the limit.",
}


class Screen(NamedTuple):
    """A task of a result, its questions, and the addresses of those that the page shows."""

    result: CompareResult
    task: TaskEstimates
    questions: Questions
    filters: Filters

    @property
    def verdicts(self) -> dict[str, Replacement]:
        """The verdict on each later model, if a right answer is known."""
        judged = (row for row in self.result.verdicts if any(end.limit for end in row.endpoints))
        return {row.target: row for row in judged}

    @property
    def order(self) -> list[str]:
        """The models as they are compared: with the first, or without verdicts with the best."""
        if self.verdicts or len(self.task.names) == 2:
            return list(self.task.names)
        return list(dict.fromkeys([*self.task.by_accuracy, *self.task.fit, *self.task.names]))

    @property
    def cells(self) -> FourCells | None:
        """Which of the only two models is right."""
        return self.task.cells[0] if len(self.task.names) == 2 and self.task.cells else None

    def end(self, target: str) -> Endpoint | None:
        """What the verdict on a model rests on, or the difference from the first in order."""
        if target in self.verdicts and not self.result.tasks[1:]:
            ends = self.verdicts[target].endpoints
            return next((end for end in ends if end.limit is not None), None)
        gap = self.task.gap(self.order[0], target)
        return Endpoint(name="accuracy", estimate=gap) if gap else None


def heading_of(screen: Screen) -> Text:
    """The answer in one sentence: who is as accurate as the first, and how alike two are."""
    task, (first, second, *more) = screen.task, screen.order
    tasks, count = screen.result.tasks, len(task.names)
    verdicts = sorted(screen.verdicts.values(), key=lambda row: [*SIGNS].index(row.decision))
    groups = groupby(verdicts, lambda row: (row.decision, claim(row, several=True)))
    parts = [_group(screen, list(rows), again=place > 0) for place, (_, rows) in enumerate(groups)]
    gaps = {name: task.gap(first, name) for name in more and task.by_accuracy[1:]}
    equals = [name for name, gap in gaps.items() if not gap or gap.high >= 0]
    if not more and not tasks[1:] and (same := task.same(first, second)):
        words = "gives another answer on {share}\u00a0% of questions"
        words = f"it {words}" if parts else f"Compared with {{first}}, {{second}} {words}"
        names = {} if parts else {"first": first, "second": second}
        parts.append(prose(words, share=in_percent(1 - same.value)[0], **names))
    elif not parts and equals:
        words = "It is too early to say which model is the most accurate: {best} leads, {others} "
        words += "may be as accurate"
        parts = [prose(words, best=first, others=_named(equals))]
    elif not parts and more and task.by_accuracy:
        words = "{best} is the most accurate of {n} models"
        parts = [prose(words, best=first, n=len(task.by_accuracy))]
    return joined(parts, between="; ") or prose("How alike {n} models are", n=count)


def _group(screen: Screen, rows: Sequence[Replacement], *, again: bool) -> Text:
    """Models with the same verdict; ``again`` leaves out the model that they are compared with."""
    text = prose("{words}", words=in_words(rows[0], screen.task.names[0]).opening)
    if again or rows[1:]:
        words = claim(rows[0], several=len(rows) > 1)
        words = words.rpartition(" ")[0] if again else f"{words} {screen.task.names[0]}"
        early = f"{'it' if again else 'It'} is too early to say whether "
        early = early if rows[0].decision == "not shown" else ""
        models = _named([row.target for row in rows])
        text = prose(f"{early}{{models}} {{words}}", models=models, words=words)
    return (*_sign(rows[0]), *text)


def _sign(verdict: Replacement | None) -> Text:
    if verdict is None:
        return ()
    return Span(*SIGNS[verdict.decision]), Span(" ")


def _named(names: Sequence[str]) -> Text:
    few = len(names) <= MOST_NAMES
    return joined(names, last=" and ") if few else prose("{n} models", n=len(names))


def about_of(screen: Screen) -> Text:
    """The numbers of the answer, and how sure it is."""
    task, (first, *others) = screen.task, screen.order
    lines = [prose("On **{task}**:", task=task.task)] if screen.result.tasks[1:] else []
    score = task.scores[first].estimate if first in task.scores else None
    if others[1:] and isinstance(score, Estimate):
        words = "{first} answers {share} of {n} questions correctly."
        lines.append(prose(words, first=first, share=short_share(score), n=score.n))
    lines += _verdicts(screen) if screen.result.verdicts else _uncorrected(screen)
    if task.degenerate:
        names = [f"{name} ({why})" for name, why in task.degenerate.items()]
        why = "Left out, as hardly better than chance, silent or with one answer to all: {models}."
        words = why if others[1:] else "Left out: {models}."
        lines.append(prose(words, models=joined(task.degenerate if others[1:] else names)))
    if task.ranked() and not task.choice:
        (pair, likeness), *_ = task.ranked()
        which = prose(" of {pair}, the most alike", pair=joined(pair, last=" and "))
        words = "{metric} of the answers{which}: **{likeness}** (1: the same words)."
        label = metric_name(task.main_metric).label
        which = which if others[1:] else ()
        lines.append(prose(words, metric=label, which=which, likeness=short(likeness)))
    if not task.ranked():
        lines.append(prose("No two models can be compared: {why}.", why=task.why_none))
    return together(*lines)


def _verdicts(screen: Screen) -> Iterator[Text]:
    """Both accuracies of two models, what their verdict rests on, and how sure verdicts are."""
    if cells := screen.cells:
        alone = (cells.only_second, cells.only_first)
        after, before = (percent(cells.both.value + share.value) for share in alone)
        words = "{after}\u00a0% against {before}\u00a0% of {n} questions right."
        yield prose(words, after=after, before=before, n=cells.both.n)
    for row in screen.result.verdicts if len(screen.order) == 2 else ():
        told = in_words(row, screen.task.names[0])
        shown = [told.why, *told.notes] if screen.verdicts else told.notes
        yield from (prose("{why}.", why=as_sentence(why)) for why in shown)
    sure = [
        "better" if row.decision == "may replace" and "than" in claim(row) else row.decision
        for row in screen.verdicts.values()
        if not row.reason
    ]
    if sure:
        yield prose(f"**How sure?** {' '.join(_SURE[each] for each in dict.fromkeys(sure))}")


def _uncorrected(screen: Screen) -> Iterator[Text]:
    """How far the second is from the most accurate one, of more models than get a verdict."""
    first, second, *more = screen.order
    gap = screen.task.gap(first, second) if more and screen.task.by_accuracy else None
    if gap:
        surely = "is below 0" if gap.high < 0 else "reaches 0: not decided"
        words = (
            f"**How sure?** The interval of {{second}}, {{points}} points, {surely}. The best of "
        )
        words += "{n} looks better here than on new questions."
        points, count = short_points(gap), len(screen.task.names)
        yield prose(words, second=second, points=points, n=count)


def blocks_of(screen: Screen) -> Iterator[Block]:
    """What stands below: numbers, where, a question, what to do."""
    pair = screen.order[:2]
    parts = screen.task.parts(*pair)
    gap = screen.task.gap(*pair) if len(pair) == 2 else None
    # A question that only the better one answers; without one, of the weakest category.
    better = gap is not None and gap.low > 0
    wanted = (pair[::-1], ()) if better else (pair, parts[0].ids if parts else ())
    shown = example(screen.questions, *wanted)
    texts = (heading("A question that shows it"), *shown) if shown else ()
    to_do = (heading("What to do"), *what_to_do(screen))
    tables = tuple(tables_of(screen))
    if screen.order[2:]:
        yield from (*tables, Beside((texts, to_do)))
        return
    title = heading("Where they differ in accuracy, the worst first")
    yield Beside(((*tables, *to_do, *texts), (title, *_where(screen, parts)) if parts else ()))


def tables_of(screen: Screen) -> Iterator[Block]:
    """What the answers of two models are, or each model beside the first in order."""
    others = screen.order[1:]
    most = len(others) if screen.verdicts else MOST_ROWS
    if others[1:]:
        yield from _models(screen, others[:most])
    elif screen.cells:
        yield _answers(screen, screen.cells)
    if others[most:]:
        title = prose("The other {n} models", n=len(others[most:]))
        yield Fold(title, tuple(_models(screen, others[most:])))


def _models(screen: Screen, names: Sequence[str]) -> Iterator[Block]:
    """Models with their accuracy, difference and same answers, and their weakest category."""
    first, ends = screen.order[0], list(map(screen.end, names))
    limit = next((end.limit for end in ends if end and end.limit), 0.0)
    head = "Share kept" if limit > 0 else "Difference, points"
    allowed = f"at least {100 * limit:g}\u00a0%" if limit > 0 else f"at most {-100 * limit:g} lower"
    strips = limit_strips(ends, "difference", in_points=limit <= 0)
    rows = []
    for name, strip in zip(names, strips, strict=True):
        model = (*_sign(screen.verdicts.get(name)), Span(screen.task.marked(name), foreign=True))
        zoned = replace(strip, least=0.0) if isinstance(strip, SmallStrip) and not limit else strip
        right, *others = _beside(screen.task, first, name)
        rows.append((model, right, zoned, *others))
    columns = (
        Column(prose("Compared with {first}", first=first), "name"),
        Column("Right, %"),
        Column((Span(f"{head} "), Span(allowed * bool(limit), "note")), "strip"),
        Column("Same answers", "number", short="Same"),
        Column("Weakest category", spacious=True),
    )
    yield Table.with_columns(columns, rows, close=True)
    words = "Each row is on the questions that both models were asked. The interval of a weakest "
    yield note(f"{words}category holds for all categories of that model together.")


def _beside(task: TaskEstimates, first: str, name: str) -> Iterator[str | Text]:
    """A model's right answers beside the first one's, the same answers, the weakest category."""
    both, same = task.shared(first, name), task.same(first, name)
    before, after = map(fmean, zip(*both.values(), strict=True)) if both else (0.0, 0.0)
    yield f"{percent(after)} against {percent(before)}" if both else "–"
    yield rounded_percent(same.value) if same else "–"
    parts = task.parts(first, name)
    yield f"{parts[0].name} {_in_points(parts[0].gap)}" if parts else "–"


def _answers(screen: Screen, cells: FourCells) -> Table:
    """Which of two models is right, with links to the questions, and how often they differ."""
    kinds = {
        "Both are right": cells.both,
        f"Only {cells.second} is right": cells.only_second,
        f"Only {cells.first} is right": cells.only_first,
        "Different wrong answers": cells.other_wrong,
    }
    rows: list[tuple[str, str | Text, str]] = []
    if cells.other_wrong:
        count = cells.count(cells.neither) - cells.count(cells.other_wrong)
        share_of_all = rounded_percent(count / cells.both.n)
        rows.append(("The same wrong answer", f"{count:,}", share_of_all))
    for kind, share in kinds.items():
        count, here = cells.count(share) if share else 0, screen.filters.kinds.get(kind, 0)
        some = f" ({here:,} shown)" if 0 < here < count else ""
        link = Span(f"{count:,}{some}", link=screen.filters.address(kind))
        rows.append((kind, (link,), rounded_percent(share.value) if share else "–"))
    if cells.flips and cells.other_wrong:
        count = cells.count(cells.flips) + cells.count(cells.other_wrong)
        total = rounded_percent(count / cells.both.n)
        rows.append(("Another answer, these three together", f"{count:,}", total))
    columns = (
        Column(f"Of {cells.both.n:,} questions", "name"),
        *(Column("Questions", "number"), Column("Share", "number")),
    )
    return Table.with_columns(columns, rows, close=True)


def _in_points(gap: Estimate) -> str:
    """A difference with its interval in whole points, which is as much as a part of them shows.

    >>> _in_points(Estimate(value=-0.14, low=-0.251, high=0.004, n=93, method="Tango"))
    '−14\xa0[−25,\xa00]'
    """
    numbers = (f"{round(100 * value):+d}" for value in (gap.value, gap.low, gap.high))
    return "{}\u00a0[{},\u00a0{}]".format(*numbers).replace("+0", "0").replace("-", "−")


def _where(screen: Screen, parts: Sequence[Part]) -> Iterator[Block]:
    """Each category's difference on zones of red and green, below that of all questions."""
    first, second = screen.order
    end, gap = screen.end(second), screen.task.gap(first, second)
    limit = min(0.0, end.limit or 0.0) if end else 0.0
    # Of several benchmarks, or as a share, the verdict's number is another one.
    other = end.estimate if end and isinstance(end.estimate, Estimate) else None
    whole = [Part("all", gap)] if gap and other and abs(gap.value - other.value) < 1e-5 else []
    ends = (min(part.gap.low for part in parts), max(part.gap.high for part in parts))
    rows = []
    for name, of, _ in (*whole, *parts):
        verdict: Colour = "good" if of.low >= limit else "bad" if of.high < limit else "open"
        strip = SmallStrip(f"{name}: {_in_points(of)}", of, ends, least=limit, verdict=verdict)
        rows.append((prose("{part} ({n})", part=name, n=of.n), strip, _in_points(of)))
    head = f"at most {abs(100 * limit):g} points lower" if limit else "Difference"
    numbers = Column("Difference, points", "number")
    columns = (Column("Questions", "name"), Column(head, "strip"), numbers)
    words = "All {n} intervals of categories hold together, in 95 of 100 runs."
    yield note(words, n=len(parts))
    yield Table.with_columns(columns, rows, close=True)


def what_to_do(screen: Screen) -> Iterator[Block]:
    """The next step: questions to read, more questions to ask, or the pair to compare."""
    (first, second, *more), verdicts, needs = screen.order, screen.verdicts, [0]
    if not verdicts and more and screen.task.by_accuracy:
        margin = float(str(screen.result.manifest.settings.get("accuracy_margin", 0.02)))
        both = list(screen.task.shared(first, second).values())
        needs.append(questions_needed(both, margin) or 0)
        words = "To decide if {second} may replace {first}, compare the two alone"
        if needs[-1]:
            words += f": about {rounded_up(needs[-1]):,} questions show it in 4 runs of 5"
            words += " if they are equally good"
        yield paragraph(f"{words}.", first=first, second=second)
    elif not verdicts:
        words = "Add right answers to the data to know whether {second} may replace {first}."
        yield paragraph(words, first=first, second=second)
    undecided = [row for row in verdicts.values() if row.decision == "not shown"]
    told: dict[str, None] = {}
    for row in undecided:
        more_of = in_words(row, screen.task.names[0]).more
        told[f"First change this: {row.reason}" if row.reason else more_of] = None
        needs += [row.if_equal.unchanged or 0] if row.if_equal and not row.reason else []
    yield from (paragraph("{why}.", why=why) for why in [*filter(None, told)][:2])
    yield from _more_questions(screen, rounded_up(max(needs)))
    passed = [name for name, row in verdicts.items() if row.decision == "may replace"]
    if verdicts and (cells := screen.cells):
        yield from _to_read(screen, cells, passed)
    elif passed:
        words = "Where accuracy is all that counts, {names} may take the place of {first}. Compare "
        words += "the two alone to see the questions that are lost."
        yield paragraph(words, names=_named(passed), first=first)
    elif verdicts and not undecided:
        yield paragraph("Keep {first}.", first=first)


def _to_read(screen: Screen, cells: FourCells, passed: Sequence[str]) -> Iterator[Block]:
    """The questions on which the second model fails and the first does not."""
    count, names = cells.count(cells.only_first), {"first": cells.first, "second": cells.second}
    words = "Keep {first}, unless {questions} that {second} alone gets wrong do not matter to you."
    if passed:
        words = "Before you use {second}, read {questions} that it alone gets wrong: if you need "
        words += "those, keep {first}."
    if count:
        link = screen.filters.address(f"Only {cells.first} is right")
        questions = (Span(f"the {count:,} questions", link=link),)
        yield Paragraph(prose(words, questions=questions, **names))
    elif passed:
        yield paragraph("Use {second}.", second=cells.second)
    parts = screen.task.parts(cells.first, cells.second)
    if parts and parts[0].gap.value < _MUCH and parts[0].gap.high > 0:
        part, gap, _ = parts[0]
        words = "If {part} matters to you, ask more of it: {points} on {n} may be chance."
        yield paragraph(words, part=part, points=_in_points(gap), n=gap.n)


def _more_questions(screen: Screen, wanted: int) -> Iterator[Block]:
    """How to ask as many: gathered where answers are logged, or drawn anew."""
    manifest = screen.result.manifest
    rows = sum(card.rows for card in manifest.data)
    if wanted and any(scheme_of(card.spec).holds_items for card in manifest.models):
        yield paragraph("Gather answers to more questions in the logs, then compare again.")
    elif wanted > rows:
        yield paragraph("The data hold {rows} questions: add more, then compare again.", rows=rows)
    elif wanted:
        seed = int(str(manifest.settings["seed"])) + 1
        yield paragraph(f"In its command: ``--n {wanted} --seed {seed}``.")
