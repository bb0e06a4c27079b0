"""The first screen of a comparison: who is as accurate, how sure, where, a question, what to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby

from reports.blocks import (
    Beside,
    Block,
    Column,
    Fold,
    Paragraph,
    Preformatted,
    Table,
    heading,
    paragraph,
)
from reports.builders.answer import limit_strips
from reports.charts import Grid, GridCell, grid
from reports.prose import Span, Text, joined, prose, together
from reports.wording import in_percent, percent, short_points, short_share, two_digits
from scope.jobs.audit.limits import SIGNS
from scope.jobs.audit.verdict_words import rounded_up
from scope.jobs.compare.examples import example
from scope.jobs.compare.page_where import Screen, where_table, whole_part, worst, worst_of_each
from scope.jobs.compare.task_estimates import TaskEstimates
from scope.jobs.compare.verdicts import claim, in_words
from scope.models.scheme import scheme_of
from scope.records import CompareResult, Estimate, FourCells, Replacement, Undefined

MOST_ROWS, MOST_IN_MATRIX, MOST_NAMES = 5, 12, 3
"""Models in the table without verdicts, in the matrix, and named in a sentence."""

_ALIKE = 0.9
"""With fewer equal answers models are said to differ."""

_SURE = {
    "may replace": "A model just beyond the limit gets such a ✓ in about 1 run of 40.",
    "may not": "A model just within the limit gets such a ✗ in about 1 run of 40.",
}


def heading_of(screen: Screen) -> Text:
    """The answer in one sentence: who is as accurate as the first, and how alike two are."""
    first, second, *more = screen.order
    verdicts = sorted(screen.verdicts.values(), key=lambda row: [*SIGNS].index(row.decision))
    groups = groupby(verdicts, lambda row: (row.decision, claim(row, several=True)))
    parts = [_group(screen, list(rows), again=place > 0) for place, (_, rows) in enumerate(groups)]
    several = bool(screen.result.tasks[1:])
    same = None if more or (several and parts) else screen.task.same(first, second)
    if same:
        share, often = f"{in_percent(1 - same.value)[0]}\u00a0%", same.value < _ALIKE
        words = "answers otherwise on {share}"
        otherwise = prose(f"!!{words}!!" if often else words, share=share)
        before = ", but " if often else ", and "
        before = before if parts else "{second}, compared with {first}, "
        before = "; it " if [row.decision for row in verdicts] == ["not shown"] else before
        names = {} if parts else {"first": first, "second": second}
        of_task = prose(" of {task}", task=screen.task.task) if several else ()
        parts = [(*joined(parts), *prose(before, **names), *otherwise, *of_task)]
    elif not parts and more and (equals := screen.task.equally_accurate):
        words = "{best} is the most accurate, and {others} may be as accurate"
        parts = [prose(words, best=first, others=_named(equals))]
    elif not parts and more and screen.task.by_accuracy:
        words = "{best} is the most accurate of {n} models"
        parts = [prose(words, best=first, n=len(screen.task.names))]
    return joined(parts, between="; ") or prose("How alike {n} models are", n=len(screen.order))


def _group(screen: Screen, rows: Sequence[Replacement], *, again: bool) -> Text:
    """Models with the same verdict; ``again`` leaves out the model that they are compared with."""
    sign, several = SIGNS[rows[0].decision], len(rows) > 1
    signs = {"✓": (Span(sign, "good"),), "✗": prose("!!✗!!")}
    text = prose("{words}", words=in_words(rows[0], screen.result).opening)
    if several or again:
        words = claim(rows[0], several=several)
        words = words.rpartition(" ")[0] if again else f"{words} {screen.task.names[0]}"
        early = f"{'it' if again else 'It'} is too early to say whether " if sign == "?" else ""
        text = prose(
            f"{early}{{models}} {{words}}",
            models=_named([row.target for row in rows]),
            words=words,
        )
    return together(signs.get(sign, prose("?")), text)


def _named(names: Sequence[str]) -> Text:
    few = len(names) <= MOST_NAMES
    return joined(names, last=" and ") if few else prose("{n} models", n=len(names))


def about_of(screen: Screen) -> Text:
    """The numbers of the answer, how sure it is, and where to look first."""
    task, verdicts, (first, second, *more) = screen.task, screen.verdicts, screen.order
    several = bool(screen.result.tasks[1:])
    lines = [prose("On **{task}**:", task=task.task)] if several else []
    score = task.scores[first].estimate if first in task.scores else None
    if more and isinstance(score, Estimate):
        words = "{first} answers {share} of {n} questions correctly."
        lines.append(prose(words, first=first, share=short_share(score), n=score.n))
    if more and not verdicts and task.by_accuracy:
        gaps = [(name, task.gap(first, name)) for name in task.equally_accurate[:MOST_NAMES]]
        words = "{name} differs by {points} points, which may be chance."
        lines += [prose(words, name=name, points=short_points(gap)) for name, gap in gaps if gap]
    if not more:
        lines += _on_two(screen)
    decisions = [row.decision for row in verdicts.values()]
    lines += [prose(sure) for decision, sure in _SURE.items() if decision in decisions][:1]
    pairs = combinations(task.fit, 2)
    shares = [(same.value, pair) for pair in pairs if (same := task.same(*pair))]
    if cells := screen.cells:
        lines += _reveal(cells)
    elif shares and more:
        share, pair = max(shares)
        words = "Most alike: **{pair}**, the same answer on {share}\u00a0%."
        lines.append(prose(words, pair=joined(pair, last=" and "), share=in_percent(share)[0]))
    if task.degenerate:
        names = task.degenerate if more else [f"{m} ({why})" for m, why in task.degenerate.items()]
        words = "Left out, hardly better than chance or with one answer to all: {models}."
        lines.append(prose(words, models=joined(names)))
    if not task.ranked():
        lines.append(prose("No two models can be compared: {why}.", why=task.why_none))
    if not more and (parts := task.parts(first, second)):
        lines.append(worst(parts))
    return together(*lines)


def _on_two(screen: Screen) -> Iterator[Text]:
    """Both accuracies, and what the verdict rests on."""
    cells = screen.cells
    if cells is not None:
        alone = (cells.only_second, cells.only_first)
        shares = [cells.both.value + share.value for share in alone]
        after, before = in_percent(*shares)
        if after == before:
            after, before = map(percent, shares)
        words = "{after}\u00a0% against {before}\u00a0% of {n} questions right."
        yield prose(words, after=after, before=before, n=cells.both.n)
    for row in screen.result.verdicts:
        told = in_words(row, screen.result)
        shown = [told.why, *told.notes] if screen.verdicts else told.notes
        yield from (prose("{why}.", why=f"{why[:1].upper()}{why[1:]}") for why in shown)


def _reveal(cells: FourCells) -> Iterator[Text]:
    if isinstance(cells.detectable, Estimate):
        words = "{n} questions can reveal differences of {points} points or more."
        points = f"{100 * cells.detectable.value:.1f}"
        yield prose(words, n=cells.detectable.n, points=points)


def blocks_of(screen: Screen) -> Iterator[Block]:
    """What stands below: numbers, where, a question, what to do."""
    first, second, *more = screen.order
    parts = screen.task.parts(first, second)
    shown = example(screen.questions, (first, second), parts[0].ids if parts else ())
    texts = (heading("A question that shows it"), *shown) if shown else ()
    to_do = (heading("What to do"), *what_to_do(screen))
    tables = tuple(tables_of(screen))
    if not more:
        title = heading("Where they differ in accuracy, the worst first")
        where = (title, *where_table(parts, whole_part(screen), (first, second))) if parts else ()
        yield Beside(((*tables, *to_do, *texts), where))
        return
    where = tuple(worst_of_each(screen))
    if made := same_matrix(screen):
        yield from tables if screen.verdicts else ()
        yield Beside(((made, *texts), (*where, *to_do)))
    else:
        yield from tables
        yield Beside((where, (*to_do, *texts)))


def tables_of(screen: Screen) -> Iterator[Block]:
    """Which of two models is right, or each model with its difference from the first in order."""
    if len(screen.task.names) == 2:
        yield from [_four_table(screen, screen.cells)] if screen.cells else []
        return
    task, order, judged = screen.task, screen.order, bool(screen.verdicts)
    ends = [None, *map(screen.end, order[1:])]
    kept = any(end and (end.limit or 0) > 0 for end in ends)
    limits = (f"; limit {100 * end.limit:g}" for end in ends if end and end.limit)
    limit = next(limits, "").replace("-", "−")
    rows = []
    for name, strip in zip(
        order, limit_strips(ends, "difference", in_points=not kept), strict=True
    ):
        score, same = task.scores.get(name), task.same(order[0], name)
        right = short_share(score.estimate) if score else "–"
        share = f"{in_percent(same.value)[0]}\u00a0%" if same else "–"
        verdict = [_verdict(screen, name)] if judged else []
        rows.append((task.marked(name), *verdict, right, strip, share))
    columns = (
        Column("Model", "name"),
        *([Column("Verdict")] if judged else []),
        Column("Right", "number"),
        Column(f"Share kept{limit}" if kept else f"Difference, points{limit}", "strip"),
        Column(prose("Same answers as {first}", first=order[0]), "number", short="Same"),
    )
    yield Table.with_columns(columns, rows if judged else rows[:MOST_ROWS], close=True)
    if not judged and (others := rows[MOST_ROWS:]):
        title = prose("The other {n} models", n=len(others))
        yield Fold(title, (Table.with_columns(columns, others, close=True),))


def _verdict(screen: Screen, name: str) -> str:
    verdict = screen.verdicts.get(name)
    if verdict is None:
        return "reference" if name == screen.order[0] else ""
    words = claim(verdict).removeprefix("is ").rpartition(" ")[0]
    words = "too early to say" if verdict.decision == "not shown" else words
    return f"{SIGNS[verdict.decision]} {words}"


def _four_table(screen: Screen, cells: FourCells) -> Table:
    """Which of two models is right, with links to the questions."""
    first, second = cells.first, cells.second

    def linked(share: Estimate, words: str, kind: str, counted: Estimate | None) -> Text:
        count = cells.count(counted) if counted else 0
        here = screen.filters.kinds.get(kind, 0)
        some = f", {here:,} here" if 0 < here < count else ""
        below = Span(f" {count:,} {words}{some}", "note", link=screen.filters.address(kind))
        return (Span(f"{in_percent(share.value)[0]}\u00a0%"), *([below] if count else []))

    only_first, only_second = (
        linked(share, "questions", f"Only {name} is right", share)
        for share, name in ((cells.only_first, first), (cells.only_second, second))
    )
    neither = linked(cells.neither, "differ", "Different wrong answers", cells.other_wrong)
    both = linked(cells.both, "", "", None)
    heads = (prose("{name} right", name=second), prose("{name} wrong", name=second))
    columns = (
        Column(f"Of {cells.both.n:,} questions", "name"),
        *(Column(head, "number") for head in heads),
    )
    rows = (
        (prose("{name} right", name=first), both, only_first),
        (prose("{name} wrong", name=first), only_second, neither),
    )
    return Table.with_columns(columns, rows, close=True)


def same_matrix(screen: Screen) -> Grid | None:
    """The share of equal answers of all pairs; None for few or many models."""
    if not 3 < len(screen.order) <= MOST_IN_MATRIX:
        return None
    pairs = combinations(screen.task.names, 2)
    cells = {pair: same for pair in pairs if (same := screen.task.same(*pair))}
    return matrix(screen.task, screen.order, cells, "Same answers, share of questions")


def matrix(
    task: TaskEstimates,
    order: Sequence[str],
    cells: Mapping[tuple[str, str], Estimate | Undefined],
    title: str,
) -> Grid | None:
    """The numbers of all pairs, beside the accuracies; None if no number is defined."""
    names = [task.marked(name) for name in order]
    both = ((pair, of) for pairs, of in cells.items() for pair in (pairs, pairs[::-1]))
    named = {(task.marked(first), task.marked(second)): of for (first, second), of in both}
    made = grid(title, named, rows=names, columns=names)
    if made is None:
        return None
    scores = (task.scores[name].estimate if name in task.scores else None for name in order)
    right = (two_digits(score.value) if isinstance(score, Estimate) else "–" for score in scores)
    rows = tuple(
        (f"{place} {name}", (cell, *row))
        for place, ((name, row), cell) in enumerate(
            zip(made.rows, map(GridCell, right), strict=True), 1
        )
    )
    return replace(made, columns=("right", *map(str, range(1, len(rows) + 1))), rows=rows)


def what_to_do(screen: Screen) -> Iterator[Block]:
    """The next step: questions to read, more questions to ask, or the pair to compare."""
    first, second, *more = screen.order
    if not screen.verdicts:
        words = "To know whether {second} may replace {first}, compare the two alone: "
        words += "a ✓ or ✗ is given for at most ten models."
        if not more or not screen.task.by_accuracy:
            words = "Add right answers to the data to know whether {second} may replace {first}."
        yield paragraph(words, first=first, second=second)
        if more and screen.task.by_accuracy:
            command = _of_two(screen.result, (first, second))
            yield Fold(prose("The command"), (Preformatted(command),))
        return
    undecided = [row for row in screen.verdicts.values() if row.decision == "not shown"]
    told = (
        f"First change this: {row.reason}" if row.reason else in_words(row, screen.result).more
        for row in undecided
    )
    yield from (paragraph("{why}.", why=why) for why in [*dict.fromkeys(filter(None, told))][:2])
    yield from _more_questions(screen.result, undecided)
    if cells := screen.cells:
        yield from _to_read(screen, cells)
    elif link := screen.filters.address("Only one model is wrong"):
        questions = Span("the questions that one model alone gets wrong", link=link)
        yield Paragraph((*prose("Read "), questions, Span(".")))


def _to_read(screen: Screen, cells: FourCells) -> Iterator[Block]:
    """The questions on which the second model fails and the first does not."""
    decision, count = screen.verdicts[cells.second].decision, cells.count(cells.only_first)
    replaces = decision == "may replace"
    words = "Before you use {name}, read " if replaces else "Keep {name}, or read first "
    link = screen.filters.address(f"Only {cells.first} is right")
    if count:
        head = prose(words, name=cells.second if replaces else cells.first)
        questions = Span(f"the {count:,} questions", link=link)
        last = prose(" that only {first} answers correctly.", first=cells.first)
        yield Paragraph((*head, questions, *last))


def _more_questions(result: CompareResult, undecided: Sequence[Replacement]) -> Iterator[Block]:
    """How to get them: gathered where answers are logged, or drawn anew."""
    needed = [row.if_equal.unchanged for row in undecided if row.if_equal and not row.reason]
    wanted = rounded_up(max((n for n in needed if n), default=0))
    command, rows = result.manifest.command, sum(card.rows for card in result.manifest.data)
    if wanted and any(scheme_of(card.spec).holds_items for card in result.manifest.models):
        yield paragraph("Gather answers to more questions in the logs, then compare again.")
    elif wanted and (wanted > rows or " --n " not in command):
        yield paragraph("The data hold {rows} questions: add more, then compare again.", rows=rows)
    elif wanted:
        seed = int(str(result.manifest.settings["seed"])) + 1
        drawn = re.sub(r" --seed \d+", "", re.sub(r" --n \d+", f" --n {wanted}", command))
        yield Fold(prose("The command"), (Preformatted(f"{drawn} --seed {seed}"),))


def _of_two(result: CompareResult, pair: Sequence[str]) -> str:
    """The command of the run, with two of its models."""
    specs = {card.name: card.spec for card in result.manifest.models}
    rest = re.sub(r" --model ('[^']*'|\S+)", "", result.manifest.command)
    models = "".join(f" --model {shlex.quote(specs[name])}" for name in pair)
    return rest.replace("scope compare", f"scope compare{models}", 1)
