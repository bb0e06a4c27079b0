"""Audits and comparisons made up so that their sentences could contradict their numbers."""

from dataclasses import replace

import numpy as np
from kept_results import file_card, found, kept, model_card, prediction

from scope.estimation.answer_shares import shares_of_models
from scope.estimation.audits import measure, regions_of
from scope.estimation.pairs import ScoredCandidates
from scope.estimation.tasks import measure_task
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.verdicts import audit_verdicts
from scope.jobs.compare.run import MeasuredTask, comparison_verdicts
from scope.metrics.catalog import METRICS
from scope.records import REGION_MARGIN, Answer, Example, Item, Question, ScoredExample, TaskAnswers

LABELS, CAPABILITIES = ("negative", "positive"), ("synonym", "typo")
NAMES = ("teacher", "student", "another-seed")


def differing(flips=0, better=False, noise=(0, 0), scale=1.0):
    """A model as the log-odds of the reference before and after, and where it errs, make it.

    It gives ``flips`` texts that the reference has right the other label, or is ``better`` where
    the reference errs; noise is added to its moves, which are ``scale`` times as large.
    """

    def model(clean, moves, errs):
        generator = np.random.default_rng(1)
        turned = (np.cumsum(~errs) <= flips) & ~errs | (errs & better)
        moved = [
            scale * part + size * generator.normal(size=part.shape)
            for part, size in zip(moves, noise, strict=True)
        ]
        return np.where(turned, -clean, clean), moved

    return model


SAME = differing()


def audit(target=SAME, baseline=None, texts=100, gold=True):
    """The audit of a target on texts of which the reference has every twentieth wrong."""
    generator, place = np.random.default_rng(7), np.arange(texts)
    errs, right = place % 20 == 0, place % 2
    clean = np.where((right == 1) ^ errs, 1, -1) * generator.uniform(1, 4, texts)
    moves = [generator.normal(size=(texts, 4)) for _ in CAPABILITIES]
    models = [model(clean, moves, errs) for model in filter(None, (SAME, target, baseline))]
    shares = [
        [1 / (1 + np.exp(-odds)) for odds in (first, *(first[:, None] + part for part in moved))]
        for first, moved in models
    ]
    examples = tuple(
        ScoredExample(
            example=Example(id=str(n), text=f"text {n}", label=LABELS[right[n]] if gold else None),
            reference=prediction(float(shares[0][0][n])),
            targets=tuple(prediction(float(share[0][n])) for share in shares[1:]),
        )
        for n in range(texts)
    )
    drawn = tuple(
        found(name, str(n), f"text {n} {name} {k}", *(float(s[c][n, k]) for s in shares), trial=k)
        for c, name in enumerate(CAPABILITIES, start=1)
        for n in range(texts)
        for k in range(4)
    )
    names, roles = NAMES[: len(models)], ("reference", "target", "baseline")
    choices = [{str(n): LABELS[int(share[0][n] > 0.5)] for n in range(texts)} for share in shares]
    labels = {str(n): LABELS[right[n]] for n in range(texts)} if gold else {}
    options = {"targets": names[1:], "labels": LABELS, "seed": 0}
    options |= {"reference": names[0], "baseline": baseline and NAMES[2]}
    candidates, metric = ScoredCandidates(scored=drawn), METRICS["soft_scope"]
    numbers = measure(
        examples, drawn, candidates, capabilities=CAPABILITIES, soft_scope=metric, **options
    )
    made = kept("audit")
    cards = tuple(model_card(*card, labels=LABELS) for card in zip(names, roles, strict=False))
    data = (file_card("t.csv", texts, texts, labelled=len(labels)),)
    manifest = replace(made.manifest, models=cards, data=data)
    result = replace(
        made,
        **numbers._asdict(),
        regions=regions_of(examples, drawn, margin=REGION_MARGIN, **options),
        **dict.fromkeys(("outcomes", "candidate_outcomes"), made.outcomes[:2]),
        **dict.fromkeys(("perturbations", "candidates"), drawn),
        manifest=replace(manifest, capabilities=manifest.capabilities[:2]),
        examples=examples,
        answer_shares=shares_of_models(names, choices, labels),
    )
    request = AuditRequest(reference="m", targets=["m"], data="d")
    return replace(result, verdicts=audit_verdicts(result, request))


def runs(lost=0, n=1000, wrong=200, gained=0, other=0):
    """The right answers, and two runs: the first has some wrong, the second also what it loses."""
    right = [place % 4 for place in range(n)]
    first = [(g + 1) % 4 if place < wrong else g for place, g in enumerate(right)]
    second = list(first)
    for place in range(wrong, wrong + lost):
        second[place] = (right[place] + 1) % 4
    for place in range(gained):
        second[place] = right[place]
    for place in range(gained, gained + other):
        second[place] = (right[place] + 2) % 4
    return right, first, second


def comparison(right, *rows, names=("m0", "m1", "m2"), sure=None):
    """A comparison of choices, -1 for not asked; with ``sure``, the probability of each choice."""

    def answer(choice):
        if choice < 0:
            return Answer(asked=False)
        shares = (1 - sure) / 3 + np.eye(4)[choice] * (4 * sure - 1) / 3 if sure else ()
        return Answer(choice=choice, probabilities=tuple(map(float, shares)))

    items = tuple(
        Item(
            question=Question(id=f"i{n}", text=f"What is {n}?", options=tuple("abcd")),
            right=gold,
            category=f"c{n % 4}",
        )
        for n, gold in enumerate(right)
    )
    answers = tuple(tuple(map(answer, row)) for row in rows)
    task = TaskAnswers(task="choice", items=items, answers=answers)
    names = names[: len(rows)]
    numbers = measure_task(task, names, normalize=False, seed=0)
    made = kept("compare")
    manifest = replace(made.manifest, models=tuple(model_card(name, "model") for name in names))
    return replace(
        made,
        manifest=replace(manifest, capabilities=manifest.capabilities[1:2]),
        outcomes=made.outcomes[1:2],
        measurements=numbers.measurements,
        differences=numbers.differences,
        task_shares=numbers.shares,
        cells=numbers.cells,
        tasks=(task,),
        verdicts=comparison_verdicts([MeasuredTask(task, numbers)], names, 0.02),
    )
