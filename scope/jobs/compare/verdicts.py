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

from reports.wording import as_sentence, comma_list, rounded_up, short_points, short_share
from scope.data.log_items import ItemName
from scope.estimation.answer_shares import SILENT, cut_thoughts
from scope.estimation.tasks import TaskNumbers
from scope.jobs.audit.verdict_words import FAILS_ALONE, VerdictWords
from scope.records import (
    MOST_WITH_CELLS,
    Endpoint,
    Estimate,
    Replacement,
    TaskAnswers,
    Undefined,
)
from scope.verdicts.endpoints import decide, lacking_clusters, texts_lacking
from scope.verdicts.plan import (
    ALL_GOLD,
    MOST_TEXTS,
    Evidence,
    Scores,
    accuracy_evidence,
    texts_for_power,
    with_texts_needed,
)

MEAN_SCORE = "mean score"
"""In place of accuracy, where scores lie between 0 and 1."""

NO_GOLD = "no question has a known right answer"

_CLAIMS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "accuracy": ("is as accurate as", "is more accurate than", "is less accurate than"),
        MEAN_SCORE: ("scores as high as", "scores higher than", "scores lower than"),
        "recovery": (
            "keeps at least {limit} of the accuracy of",
            "is more accurate than",
            "keeps less than {limit} of the accuracy of",
        ),
    }
)
"""What is said of a model that is within its limit, better than the first, and beyond."""

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


def questions_needed(scores: Scores, margin: float) -> int | None:
    """How many questions decide in 4 runs of 5, if the models whose scores these are are equal."""
    planned = accuracy_evidence("accuracy", [scores], margin=margin).planned
    return texts_for_power(planned.if_equal) if planned else None


def in_words(verdict: Replacement, reference: str) -> VerdictWords:
    """The verdict for a reader who reads nothing else."""
    carrying = [end for end in verdict.endpoints if end.limit is not None and end.needed]
    parts = [end.name.partition(" on ")[2] for end in verdict.endpoints if not end.needed]
    shown = carrying
    if verdict.decision != "may replace":
        decisive = verdict.beyond or verdict.open
        shown = [end for end in verdict.endpoints if end.name in decisive]
    head = f"{verdict.target} {claim(verdict)} {reference}{_on(verdict, shown, parts)}"
    if verdict.decision == "not shown":
        head = f"It is too early to say whether {head}"
    reason = verdict.reason if verdict.decision == "not shown" else None
    numbers = [_number(end, bool(parts)) for end in shown[:_MOST_NAMES]]
    numbers += [f"{len(shown) - _MOST_NAMES} more"] * (len(shown) > _MOST_NAMES)
    notes = (
        f"{end.name.capitalize()} is not judged: {end.estimate.reason}"
        for end in verdict.endpoints
        if end.limit is None and isinstance(end.estimate, Undefined)
    )
    more = _more(verdict, reference) if verdict.decision == "not shown" else ""
    return VerdictWords(head, reason or "; ".join(numbers), more, tuple(notes))


def claim(verdict: Replacement, *, several: bool = False) -> str:
    """What is, or is not, shown of a model and the first one, which follows these words."""
    carrying = [end for end in verdict.endpoints if end.limit is not None and end.needed]
    end = carrying[0] if carrying else verdict.endpoints[0]
    case = 2 if verdict.decision == "may not" else 0
    if verdict.decision == "may replace" and all(map(_is_better, carrying)):
        case = 1
    words = _CLAIMS[end.measure][case].format(limit=f"{100 * (end.limit or 0):g}\u00a0%")
    verb, _, rest = words.partition(" ")
    return f"{ {'is': 'are'}.get(verb, verb[:-1]) if several else verb } {rest}"


def _on(verdict: Replacement, shown: Sequence[Endpoint], parts: Sequence[str]) -> str:
    """The benchmarks that the claim is about; nothing where there is one alone."""
    beyond = [name for end in shown if (name := end.name.partition(" on ")[2])]
    if verdict.decision == "may not" and parts and len(beyond) == len(shown):
        return f" on {comma_list(beyond[:_MOST_NAMES])}"
    if not parts:
        return ""
    names = comma_list(parts) if len(parts) <= _MOST_NAMES else f"{len(parts)} benchmarks"
    return f" on average over {names}"


def _is_better(endpoint: Endpoint) -> bool:
    """Whether superiority is shown: the interval lies above no difference."""
    equal = 1 if endpoint.measure == "recovery" else 0
    return isinstance(endpoint.estimate, Estimate) and endpoint.estimate.low > equal


def _number(endpoint: Endpoint, of_several: bool) -> str:
    """An endpoint's number with its interval, its limit, and why it is open."""
    if isinstance(endpoint.estimate, Undefined):
        return f"{endpoint.name} is {endpoint.estimate}"
    name = _MEANS.get(endpoint.name, endpoint.name) if of_several else endpoint.name
    if endpoint.measure == "recovery":
        number = f"is {short_share(endpoint.estimate)}"
        limit = f"at least {100 * (endpoint.limit or 0):g}\u00a0%"
    else:
        value, _, interval = short_points(endpoint.estimate).partition(" ")
        number = f"differs by {value} points {interval}"
        limit = f"allowed: at most {-100 * (endpoint.limit or 0):g} lower"
    remark = ""
    if endpoint.state == "fails alone":
        remark = f", {FAILS_ALONE}"
    elif needed := texts_lacking(endpoint):
        asked = endpoint.estimate.n
        remark = f", too few questions: at least {needed} are needed, {asked} were usable"
    return f"{name} {number} ({limit}){remark}"


def _more(verdict: Replacement, reference: str) -> str:
    """The number of questions for the wanted power, how many more these are, and right answers."""
    asked = max(end.estimate.n for end in verdict.endpoints)
    parts: list[str] = []
    cases = (
        (verdict.if_equal, f"if {verdict.target} is as good as {reference}"),
        (verdict.if_as_seen, "if it differs as much as here"),
    )
    for needed, case in cases:
        if needed is not None and needed.unchanged is not None and not verdict.reason:
            questions = rounded_up(needed.unchanged)
            more = f"{questions - asked:,} more" if questions > asked else "no more than here"
            show = " show it in 4 runs of 5" if not parts else ""
            parts.append(f"{case}, about {questions:,} questions ({more}){show}")
    if parts and not verdict.if_as_seen:
        parts.append(f"if it differs as much as here, no number up to {MOST_TEXTS:,} does")
    return as_sentence("; ".join(parts))
