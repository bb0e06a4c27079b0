"""The verdict on each later model: is it accurate enough to replace the first one?

It rests on accuracy alone, or on the mean score where an evaluation tool gives scores between 0 and
1: at most a margin below the first model's, or with a recovery at least a share of it. Of several
benchmarks, which are tasks or those of a log, the unweighted mean is judged, and none of them may
fail alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from reports.wording import as_sentence, comma_list, percent, points, rounded_up
from scope.data.log_items import ItemName
from scope.estimation.answer_shares import SILENT, cut_thoughts
from scope.estimation.tasks import TaskNumbers
from scope.jobs.audit.verdict_words import FAILS_ALONE, VerdictWords
from scope.records import MOST_WITH_CELLS, Endpoint, Estimate, Replacement, TaskAnswers, Undefined
from scope.verdicts.endpoints import decide, lacking_clusters, texts_lacking
from scope.verdicts.plan import ALL_GOLD, Evidence, Scores, accuracy_evidence, with_texts_needed

MEAN_SCORE = "mean score"
"""In place of accuracy, where scores lie between 0 and 1."""

NO_GOLD = "no question has a known right answer"

_CLAIMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "accuracy": ("is {} {} less accurate than", "is more accurate than"),
        MEAN_SCORE: ("scores {} {} lower than", "scores higher than"),
        "recovery": ("keeps {} {} of the accuracy of", "is more accurate than"),
    }
)
"""What is said of a model that is within its limit or beyond, and of a better one."""

_MEANS = {"accuracy": "mean accuracy", "recovery": "recovery of mean accuracy"}

_MOST_NAMES = 3
"""More benchmarks are counted in a sentence, not named."""


class Benchmark(NamedTuple):
    """Two models' scores, of target and reference, and why they are not judged, if so."""

    name: str
    scores: Scores
    why_not: str = ""
    ids: Sequence[str] = ()

    @property
    def measure(self) -> str:
        """What the scores measure."""
        return MEAN_SCORE if set().union(*self.scores) - {0.0, 1.0} else "accuracy"


class MeasuredTask(NamedTuple):
    """A task's answers and estimates, and how many of all questions each model left out for all."""

    answers: TaskAnswers
    numbers: TaskNumbers
    lost: Mapping[str, int] = MappingProxyType({})
    total: int = 0

    def too_few_left(self, margin: float) -> str:
        """Why what is left of the questions decides nothing; empty where most are left."""
        lost = self.total - len(self.answers.items)
        if lost <= margin * self.total:
            return ""
        names = comma_list([name for name, count in self.lost.items() if count])
        return (
            f"{lost:,} of {self.total:,} questions of {self.name} are left out for want of answers "
            f"of {names}, more than the margin of {margin:g}"
        )

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.answers.task

    @property
    def known(self) -> set[str]:
        """The ids of the items whose right answer is known, or to which an answer is scored."""
        return {id_ for scores in self.numbers.scores.values() for id_ in scores}

    def benchmarks(self, reference: str, target: str, *, all_gold: bool) -> Iterator[Benchmark]:
        """The whole task, or each task of a log."""
        first, second = (self.numbers.scores.get(model, {}) for model in (reference, target))
        tasks: dict[str, list[str]] = {}
        for item in self.answers.items:
            of_log = ItemName.parse(item.question.id)
            name = of_log.conditions.task if of_log else self.name
            tasks.setdefault(name, []).append(item.question.id)
        for name, ids in tasks.items():
            both = [id_ for id_ in ids if id_ in first and id_ in second]
            scores = [(second[id_], first[id_]) for id_ in both]
            known, why = len(self.known.intersection(ids)), ""
            if all_gold and known < len(ids):
                why = ALL_GOLD.format(known=known, texts=len(ids))
            elif not scores:
                why = "no question was put to both models" if known else NO_GOLD
            yield Benchmark(name if len(tasks) > 1 else self.name, scores, why, both)


def comparison_verdicts(
    tasks: Sequence[MeasuredTask],
    models: Sequence[str],
    margin: float,
    recovery: float | None = None,
) -> tuple[Replacement, ...]:
    """May each later model replace the first? None with more than ten models.

    A model that is degenerate on a task, that was asked less than three quarters of its questions,
    or whose reference is hardly better than chance, never *may replace*. One whose thoughts are cut
    is never *may not*, either: the limit decides what it answers. Nor is any model where unreadable
    rows or failing servers leave out a larger share of the questions than the margin.
    """
    if not 2 <= len(models) <= MOST_WITH_CELLS:
        return ()
    reference, *targets = models
    evidence: dict[str, list[Evidence]] = {}
    unusable: dict[str, str] = {}
    for target in targets:
        benchmarks: list[Benchmark] = []
        never_beyond = False
        for task in tasks:
            cut = cut_thoughts(task.answers.answers[models.index(target)])
            cut = cut and f"of {target} on {task.name}, {cut}"
            if few := lacking_clusters([item.question.id for item in task.answers.items]):
                unusable.setdefault(target, few)
            if open_by := cut or task.too_few_left(margin):
                never_beyond, unusable[target] = True, open_by
            here = list(task.benchmarks(reference, target, all_gold=recovery is not None))
            asked = sum(len(benchmark.scores) for benchmark in here)
            if task.known and (why := _unusable(task, asked, reference, target, margin)):
                unusable.setdefault(target, why)
            benchmarks += here
        otherwise = sum(
            cells.count(share)
            for cells in (cells for task in tasks for cells in task.numbers.cells)
            for share in (cells.flips, cells.other_wrong)
            if share and (cells.first, cells.second) == (reference, target)
        )
        share = otherwise / max(sum(len(benchmark.scores) for benchmark in benchmarks), 1)
        judge = partial(accuracy_evidence, margin=margin, recovery=recovery, otherwise=share)
        parts = _evidence(benchmarks, judge, recovery or -margin, "recovery" if recovery else "")
        evidence[target] = [part.never_beyond if never_beyond else part for part in parts]
    ends = {target: [part.endpoint for part in parts] for target, parts in evidence.items()}
    verdicts = [
        with_texts_needed(verdict, evidence[verdict.target])
        for verdict in decide(ends, degenerate=unusable)
    ]
    return tuple(
        replace(verdict, sentence=str(in_words(verdict, reference))) for verdict in verdicts
    )


def _evidence(
    benchmarks: Sequence[Benchmark], judge: Callable[..., Evidence], limit: float, measure: str
) -> Iterator[Evidence]:
    """The mean of several benchmarks, then each by itself."""
    judged = [part for part in benchmarks if not part.why_not]
    if len(judged) > 1:
        measures = {part.measure for part in judged}
        name = measure or (measures.pop() if len(measures) == 1 else MEAN_SCORE)
        yield judge(name, [part.scores for part in judged])
    for part in benchmarks:
        name = (measure or part.measure) + f" on {part.name}" * (len(benchmarks) > 1)
        if part.why_not:
            none = Undefined(reason=part.why_not)
            shown = None if part.why_not == NO_GOLD else limit
            yield Evidence(Endpoint(name=name, estimate=none, limit=shown))
        else:
            endpoint, planned = judge(name, [part.scores], ids=part.ids)
            yield Evidence(replace(endpoint, needed=len(judged) == 1), planned)


def _unusable(
    task: MeasuredTask, asked: int, reference: str, target: str, margin: float
) -> str | None:
    """Why the answers to a task cannot show that the target may replace the reference."""
    for share in task.numbers.shares:
        if share.model in (reference, target) and share.degenerate is not None:
            advice = "; put another model first" if share.model == reference else ""
            return f"{share.model} is degenerate on {task.name}{advice}"
    known = task.known
    if asked < (1 - SILENT) * len(known):
        return f"only {asked:,} of {len(known):,} questions of {task.name} were put to both models"
    asked_about = [item.question for item in task.answers.items if item.question.id in known]
    options = [len(question.options) for question in asked_about if question.options]
    chance = float(np.mean([1 / count for count in options])) if options else 0.0
    accuracy = next(share.accuracy for share in task.numbers.shares if share.model == reference)
    if not isinstance(accuracy, Estimate) or accuracy.low <= chance + margin:
        return (
            f"{reference} may only guess on {task.name}: its accuracy is {accuracy}, chance is "
            f"{chance:.3f}, and the margin is {margin:g}"
        )
    return None


def in_words(verdict: Replacement, reference: str) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    early, shown = verdict.decision == "not shown", _deciding(verdict)
    numbers = [_number(end, len(verdict.endpoints) > 1) for end in shown[:_MOST_NAMES]]
    numbers += [f"{len(shown) - _MOST_NAMES} more"] * (len(shown) > _MOST_NAMES)
    notes = (
        f"{as_sentence(end.name)} is not judged: {end.estimate.reason}"
        for end in verdict.endpoints
        if end.limit is None and isinstance(end.estimate, Undefined)
    )
    return VerdictWords(
        opening([verdict], reference),
        (early and verdict.reason) or "; ".join(numbers),
        _more(verdict, reference) if early and not verdict.reason else "",
        tuple(notes),
    )


def opening(verdicts: Sequence[Replacement], reference: str = "") -> str:
    """What is, or is not, shown of models with the same verdict; the reference is optional."""
    first, names = verdicts[0], [verdict.target for verdict in verdicts]
    models = comma_list(names) if len(names) <= _MOST_NAMES else f"{len(names)} models"
    early = "It is too early to say whether " if first.decision == "not shown" else ""
    if early and not reference:
        return f"for {models} it is too early to say"
    verb, _, words = claim(first).partition(" ")
    verb = {"is": "are"}.get(verb, verb[:-1]) if names[1:] else verb
    words, _, than = words.rpartition(" ")
    of = f" {than} {reference}" if reference else ""
    return f"{early}{models} {verb} {words}{of}{_on(first)}"


def claim(verdict: Replacement) -> str:
    """What is, or is not, shown of a model and the first one, which follows these words."""
    fails, judged = verdict.decision == "may not", [e for e in verdict.endpoints if e.limit]
    if not judged:
        return "is clearly less accurate than" if fails else "is as accurate as"
    end = next((end for end in judged if end.needed), judged[0])
    limit = f"{100 * abs(end.limit or 0):g}"
    bounds, unit = ("at worst", "more than"), " point" if limit == "1" else " points"
    if end.measure == "recovery":
        bounds, unit = ("at least", "less than"), "\u00a0%"
    words, better = _CLAIMS[end.measure]
    return better if shows_better(verdict) else words.format(bounds[fails], f"{limit}{unit}")


def shows_better(verdict: Replacement) -> bool:
    """Whether more than the limit is shown: each interval lies above no difference."""
    return verdict.decision == "may replace" and all(
        isinstance(end.estimate, Estimate) and end.estimate.low > (end.measure == "recovery")
        for end in _deciding(verdict)
    )


def _deciding(verdict: Replacement) -> list[Endpoint]:
    """The numbers on which a verdict rests."""
    if verdict.decision == "may replace":
        return [end for end in verdict.endpoints if end.limit is not None and end.needed]
    decisive = verdict.beyond or verdict.open
    return [end for end in verdict.endpoints if end.name in decisive]


def _on(verdict: Replacement) -> str:
    """The benchmarks that the claim is about; nothing where there is one alone."""
    names = [end.name.partition(" on ")[2] for end in verdict.endpoints if not end.needed]
    beyond = [end.name.partition(" on ")[2] for end in _deciding(verdict)]
    if names and verdict.decision == "may not" and all(beyond):
        return f" on {comma_list(beyond[:_MOST_NAMES])}"
    several = comma_list(names) if len(names) <= _MOST_NAMES else f"{len(names)} benchmarks"
    return f" on average over {several}" if names else ""


def _number(endpoint: Endpoint, of_several: bool) -> str:
    """How far a number may be from what was seen, its limit, and why it is open."""
    if isinstance(endpoint.estimate, Undefined):
        return f"{endpoint.name} is {endpoint.estimate}"
    name = _MEANS.get(endpoint.name, endpoint.name) if of_several else endpoint.name
    low, high, limit = endpoint.estimate.low, endpoint.estimate.high, endpoint.limit or 0.0
    words = f"{name} may differ by {points(low)} to {points(high)} points"
    if limit < 0 > low:
        words += f", −{-100 * limit:g} is allowed"
    elif limit > 0:
        words = f"{name} may be {percent(low)} to {percent(high)}\u00a0%, {100 * limit:g} is needed"
    needed = texts_lacking(endpoint)
    if endpoint.state == "fails alone":
        words += f"; it is {FAILS_ALONE}"
    elif needed:
        words += f"; {endpoint.estimate.n:,} questions count, at least {needed:,} are needed"
    return words


def _more(verdict: Replacement, reference: str) -> str:
    """How many questions decide in 4 runs of 5: first as seen, then if the models are equal."""
    seen, equal = (
        f"{rounded_up(needed.unchanged):,}" if needed and needed.unchanged else ""
        for needed in (verdict.if_as_seen, verdict.if_equal)
    )
    close = f"if {verdict.target} is as good as {reference}"
    hopeful = f"; {close}, {equal} are enough" if equal not in ("", seen) else ""
    if seen:
        plan = f"To decide on {verdict.target}, plan {seen} questions in all"
        return f"{plan}, enough in 4 runs of 5 if it differs as much as here{hopeful}"
    words = (
        f"More questions will hardly bring {verdict.target} a ✓: it is too near the limit or beyond"
    )
    only = f"Only {close} are {equal} questions in all enough (in 4 runs of 5)"
    return f"{words}. {only}" if equal else ""
