"""A small comparison of tasks with everything a report must survive, built by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from made_up_comparison import (
    ARABIC,
    CLOCK,
    CLOSING,
    IMAGE,
    LINK,
    SCRIPT,
    capability_card,
    failed,
    file_card,
    model_card,
    records,
)

from scope.records import (
    GOLD,
    Answer,
    CompareResult,
    Difference,
    Estimate,
    Item,
    Manifest,
    Measurement,
    Outcome,
    Question,
    TaskAnswers,
    TaskShares,
    Undefined,
)

MODELS = ("small", f"large {SCRIPT}", f"other {IMAGE}")
QA, CHOICE = "extractive_qa", "choice"
LAW = f"law {CLOSING}"


def estimate(value: float, n: int) -> Estimate:
    low, high = max(value - 0.125, 0.0 if value >= 0 else -1.0), min(value + 0.125, 1.0)
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def qa_answers() -> TaskAnswers:
    def item(id_: str, question: str, context: str, *gold: str, category: str) -> Item:
        asked = Question(id=id_, text=question, context=context)
        return Item(question=asked, gold=gold, category=category)

    items = (
        item("q1", "Which city?", "She lived in the city of Denver.", "Denver", category="places"),
        item("q2", f"Who {SCRIPT}?", f"Nobody {CLOSING}", "", category="people"),
        item("q3", ARABIC, f"{ARABIC} {IMAGE}", f"red {LINK}", "crimson", category="colours"),
        item('q4"', "How many?", "There were four or five.", "four", category="places"),
    )
    rows = (
        ("Denver", "", f"red {LINK}", "four"),
        ("Denver", f"{SCRIPT}", "crimson", None),
        ("the city of Denver", "", IMAGE, "five"),
    )
    return TaskAnswers(
        task=QA,
        items=items,
        answers=tuple(
            tuple(Answer(text=text, truncated=text == IMAGE) for text in row) for row in rows
        ),
    )


def choice_answers() -> TaskAnswers:
    options = ("yes", f"no {IMAGE}", f"{SCRIPT}")
    items = tuple(
        Item(
            question=Question(id=f"c{number}", text=f"Is {number} even?", options=options),
            right=number % 2,
            category=LAW if number < 3 else None,
        )
        for number in range(4)
    )

    def sure(choice: int, probability: float) -> Answer:
        rest = (1 - probability) / 2
        probabilities = tuple(probability if place == choice else rest for place in range(3))
        return Answer(choice=choice, probabilities=probabilities)

    return TaskAnswers(
        task=CHOICE,
        items=items,
        answers=(
            (sure(0, 0.5), sure(1, 0.75), sure(0, 0.625), sure(1, 0.875)),
            (sure(0, 0.75), sure(1, 0.5), sure(1, 0.5), sure(1, 0.5)),
            (Answer(choice=0), Answer(choice=2), Answer(choice=2), Answer()),
        ),
    )


# Word F1 and SemScore of each model against gold, then of each pair, item by item; None where one
# of the two gave no answer.
_QA_VALUES: dict[tuple[str, str], tuple[tuple[float | None, ...], tuple[float | None, ...]]] = {
    (MODELS[0], GOLD): ((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0)),
    (MODELS[1], GOLD): ((1.0, 0.0, 1.0, 0.0), (1.0, 0.125, 1.0, 0.0)),
    (MODELS[2], GOLD): ((0.4, 1.0, 0.0, 0.0), (0.75, 1.0, -0.25, 0.875)),
    (MODELS[0], MODELS[1]): ((1.0, 0.0, 0.0, None), (1.0, 0.125, 0.5, None)),
    (MODELS[0], MODELS[2]): ((0.4, 1.0, 0.0, 0.0), (0.75, 1.0, -0.25, 0.875)),
    (MODELS[1], MODELS[2]): ((0.4, 0.0, 0.0, None), (0.75, 0.125, -0.5, None)),
}


def qa_measurements() -> list[Measurement]:
    ids = [item.question.id for item in qa_answers().items]
    rows = []
    for (target, against), (overlaps, likeness) in _QA_VALUES.items():
        answered = tuple(id_ for id_, value in zip(ids, overlaps, strict=True) if value is not None)
        f1 = tuple(value for value in overlaps if value is not None)
        cosines = tuple(value for value in likeness if value is not None)
        by_metric = {
            "word_f1": f1,
            "exact_match": tuple(float(value == 1) for value in f1),
            "sem_score": cosines,
            "share_f1_zero": tuple(float(value == 0) for value in f1),
            "sem_score_at_least(threshold=0.9)": tuple(float(value >= 0.9) for value in cosines),
        }
        for metric, values in by_metric.items():
            mean = estimate(sum(values) / len(values), len(values))
            rows.append((metric, target, against, QA, mean, answered, values))
    fields = "metric target against capability estimate example_ids values"
    return [*records(Measurement, fields, *rows)]


def choice_measurements() -> list[Measurement]:
    small, large, other = MODELS
    none = Undefined(reason=f"no probabilities {IMAGE}")
    rows: list[tuple[Any, ...]] = [
        ("accuracy", small, GOLD, None, estimate(1.0, 4)),
        ("accuracy", large, GOLD, None, estimate(0.75, 4)),
        ("accuracy", other, GOLD, None, estimate(0.25, 4)),
        ("accuracy", small, GOLD, f"category = {LAW}", estimate(1.0, 3)),
        ("accuracy", other, GOLD, f"category = {LAW}", estimate(0.375, 3)),
    ]
    agreements = {(small, large): 0.75, (small, other): 0.375, (large, other): 0.375}
    for pair in combinations(MODELS, 2):
        value = agreements[pair]
        n = 3 if other in pair else 4
        rows += [
            ("agreement", *pair, None, estimate(value, n)),
            ("cohen_kappa", *pair, None, estimate(value - 0.25, n)),
            ("capa", *pair, None, none if other in pair else estimate(0.5, n)),
            ("capa_discrete", *pair, None, estimate(value - 0.5, n)),
            ("error_consistency", *pair, None, none if pair[0] == small else estimate(-0.25, n)),
            ("js_divergence", *pair, None, none if other in pair else estimate(0.125, n)),
        ]
    made = records(Measurement, "metric target against subset estimate", *rows)
    return [replace(row, capability=CHOICE) for row in made]


def differences() -> tuple[Difference, ...]:
    return records(
        Difference,
        "metric first second capability estimate p_value p_adjusted",
        ("accuracy", *MODELS[:2], CHOICE, estimate(0.25, 4), 0.0625, 0.125),
    )


def manifest() -> Manifest:
    prompts = {"answer": f"{{context}} {SCRIPT}\n{{text}}{{reply}}A:"}
    return Manifest(
        job="compare",
        models=(
            model_card(MODELS[0], "model", prompts=prompts),
            model_card(MODELS[1], "model", prompts=prompts),
            model_card(MODELS[2], "model", truncated=1),
        ),
        data=tuple(
            file_card(f"file:{task}{IMAGE}.json", 1234, 4, labelled=4, capability=task)
            for task in (QA, CHOICE)
        ),
        capabilities=(
            capability_card(QA, "What does the passage answer?"),
            capability_card(CHOICE, f"Which option is right? {LINK}"),
            capability_card("cloze", f"Never measured {CLOSING}"),
        ),
        settings={"seed": 7, "normalize": False, "encoder": f"hf:encoder {SCRIPT}"},
        versions={"scope": "0.1.0", "torch": "2.13.0"},
        command=f"scope compare --model hf:models/small --data '{SCRIPT}'",
    )


def outcomes() -> tuple[Outcome, ...]:
    measured = records(
        Outcome,
        "capability status searched found failures",
        *((task, "measured", 12, 11, {"no answer": 1}) for task in (QA, CHOICE)),
    )
    return (*measured, failed("cloze"))


def task_shares() -> tuple[TaskShares, ...]:
    small, large, other = MODELS
    none = Undefined(reason=f"no {IMAGE}")
    counts = dict.fromkeys(("Denver", "(unanswerable)", f"red {LINK}", "four"), 1)
    often = f"`{SCRIPT}` makes up 2 of 3 answers (67 %)"
    always = f"it gives the option `no {IMAGE}` to 3 of 3 questions"
    return records(
        TaskShares,
        "task model counts asked accuracy warning degenerate",
        (QA, small, counts, 4, estimate(1.0, 4), None, None),
        (QA, large, {SCRIPT: 2, "crimson": 1}, 4, none, often, None),
        ("cloze", other, {f"no {IMAGE}": 3}, 4, estimate(0.25, 4), None, always),
    )


def build_comparison() -> CompareResult:
    return CompareResult(
        manifest=manifest(),
        outcomes=outcomes(),
        measurements=(*qa_measurements(), *choice_measurements()),
        differences=differences(),
        tasks=(qa_answers(), choice_answers()),
        task_shares=task_shares(),
        clock=CLOCK,
    )
