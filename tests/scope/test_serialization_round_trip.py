"""Kind: property; any comparison, however odd its texts and numbers, reads back."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from scope.records import (
    Answer,
    AuditResult,
    CapabilityCard,
    Clock,
    CompareResult,
    Curve,
    DataCard,
    Difference,
    Estimate,
    Example,
    Item,
    Manifest,
    Measurement,
    ModelCard,
    Outcome,
    Perturbation,
    Prediction,
    Question,
    Result,
    ScoredExample,
    ScoredPerturbation,
    SliceTest,
    TaskAnswers,
    Undefined,
)
from scope.serialization import from_json, to_json

# Six decimals at most, so that reading gives back the very records that were written.
NUMBERS = st.integers(-(10**9), 10**9).map(lambda n: round(n / 10**6, 6) + 0.0)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VISIBLE = WORDS.map(lambda text: f"x{text}")
COUNTS = st.integers(0, 2**40)
SETTINGS = st.dictionaries(
    WORDS, st.one_of(WORDS, COUNTS, NUMBERS, st.booleans(), st.none()), max_size=3
)


def several(items: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(items, max_size=2).map(tuple)


ESTIMATES = st.builds(
    lambda numbers, n, method: Estimate(
        low=numbers[0], value=numbers[1], high=numbers[2], n=n, method=method
    ),
    st.lists(NUMBERS, min_size=3, max_size=3).map(sorted),
    COUNTS,
    WORDS,
)
ANSWERS = st.one_of(ESTIMATES, st.builds(Undefined, reason=WORDS, n=COUNTS))
PREDICTIONS = st.builds(
    Prediction, probabilities=several(NUMBERS), truncated=st.booleans(), tokens=several(WORDS)
)
PERTURBATIONS = st.one_of(
    st.builds(
        Perturbation,
        example_id=WORDS,
        trial=COUNTS,
        text=WORDS,
        score=st.none() | NUMBERS,
        queries=COUNTS,
        similarity=st.none() | NUMBERS,
    ),
    st.builds(Perturbation, example_id=WORDS, trial=COUNTS, failure=WORDS),
)
MODELS = st.builds(
    ModelCard,
    name=WORDS,
    role=st.sampled_from(["reference", "target", "model"]),
    spec=WORDS,
    fingerprint=WORDS,
    labels=several(WORDS),
    truncated=COUNTS,
)
ITEMS = st.builds(
    Item,
    question=st.builds(
        Question, id=WORDS, text=VISIBLE, context=st.none() | WORDS, options=several(WORDS)
    ),
    gold=several(WORDS),
    category=st.none() | WORDS,
)
ANSWERED = st.builds(
    Answer,
    text=st.none() | WORDS,
    choice=st.none() | COUNTS,
    probabilities=several(NUMBERS),
    others=several(WORDS),
    truncated=st.booleans(),
)
TASKS = st.builds(
    lambda task, items: TaskAnswers(
        task=task,
        items=tuple(item for item, _ in items),
        answers=(tuple(answer for _, answer in items),),
    ),
    WORDS,
    several(st.tuples(ITEMS, ANSWERED)),
)
CAPABILITIES = st.builds(
    CapabilityCard, name=WORDS, question=WORDS, origin=WORDS, settings=SETTINGS
)
MANIFESTS = st.builds(
    Manifest,
    job=WORDS,
    models=several(MODELS),
    data=several(
        st.builds(
            DataCard,
            spec=WORDS,
            fingerprint=WORDS,
            rows=COUNTS,
            used=COUNTS,
            capability=st.none() | WORDS,
        )
    ),
    capabilities=several(CAPABILITIES),
    settings=SETTINGS,
    versions=st.dictionaries(WORDS, WORDS, max_size=2),
    command=WORDS,
)
OUTCOMES = several(
    st.builds(
        Outcome,
        capability=WORDS,
        status=st.sampled_from(["measured", "not applicable", "skipped", "failed"]),
        reason=st.none() | WORDS,
        failures=st.dictionaries(WORDS, COUNTS, max_size=2),
        trace=st.none() | WORDS,
    )
)
MEASUREMENTS = several(
    st.builds(
        Measurement,
        metric=WORDS,
        target=WORDS,
        against=st.none() | WORDS,
        capability=st.none() | WORDS,
        estimate=ANSWERS,
        example_ids=several(WORDS),
        values=several(NUMBERS),
    )
)
DIFFERENCES = several(
    st.builds(
        Difference,
        metric=WORDS,
        first=WORDS,
        second=WORDS,
        estimate=ANSWERS,
        p_value=st.none() | NUMBERS,
    )
)
CLOCKS = st.none() | st.builds(Clock, finished=WORDS, seconds=NUMBERS)
AUDITS = st.builds(
    AuditResult,
    manifest=MANIFESTS,
    outcomes=OUTCOMES,
    measurements=MEASUREMENTS,
    differences=DIFFERENCES,
    curves=several(
        st.builds(
            Curve,
            metric=WORDS,
            parameter=WORDS,
            target=WORDS,
            capability=WORDS,
            points=several(st.tuples(NUMBERS, ESTIMATES)),
        )
    ),
    examples=several(
        st.builds(
            ScoredExample,
            example=st.builds(
                Example,
                id=WORDS,
                text=VISIBLE,
                label=st.none() | WORDS,
                slices=several(WORDS),
            ),
            reference=PREDICTIONS,
            targets=several(PREDICTIONS),
        )
    ),
    perturbations=several(
        st.builds(
            ScoredPerturbation,
            capability=WORDS,
            perturbation=PERTURBATIONS,
            reference=st.none() | PREDICTIONS,
            targets=several(PREDICTIONS),
        )
    ),
    answer_shares=st.just(()),
    slice_tests=several(
        st.builds(
            SliceTest,
            grouping=WORDS,
            worst=st.builds(
                Measurement, metric=WORDS, target=WORDS, subset=WORDS, estimate=ANSWERS
            ),
            p_value=NUMBERS,
            p_adjusted=NUMBERS,
        )
    ),
    clock=CLOCKS,
)
COMPARES = st.builds(
    CompareResult,
    manifest=MANIFESTS,
    outcomes=OUTCOMES,
    measurements=MEASUREMENTS,
    differences=DIFFERENCES,
    tasks=several(TASKS),
    task_shares=st.just(()),
    clock=CLOCKS,
)


@given(AUDITS | COMPARES)
def test_every_result_reads_back_as_it_was(result: Result) -> None:
    text = to_json(result)
    assert from_json(text, kind=type(result)) == result
    assert to_json(from_json(text, kind=type(result))) == text
    assert text.endswith("}\n")
    assert json.loads(text)["format"] == 7
