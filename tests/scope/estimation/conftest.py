"""Measurements of values by hand, and scored texts of answers by hand."""

import pytest

from scope.records import Example, Measurement, Perturbation, ScoredExample, ScoredPerturbation
from scope.statistics.intervals import mean_estimate


@pytest.fixture(scope="session")
def measured():
    """Makes a measurement of a value for each text: by their ids, or for e0, e1 and so on."""

    def make(
        values, metric="concordance", target="student", capability="typo", against=None, ids=None
    ):
        if isinstance(values, dict):
            ids, values = values.keys(), values.values()
        numbers = tuple(map(float, values))
        ids = tuple(ids or (f"e{place}" for place in range(len(numbers))))
        return Measurement(
            metric=metric,
            target=target,
            against=against,
            capability=capability,
            estimate=mean_estimate(numbers, ids, empty="no pair"),
            example_ids=ids,
            values=numbers,
        )

    return make


@pytest.fixture(scope="session")
def scored():
    """Makes texts and their changes of rows: a gold label, then each model's two answers."""

    def make(rows):
        examples, perturbations = [], []
        for number, (gold, before, after, *others) in enumerate(rows):
            example = Example(id=str(number), text=f"text {number}", label=gold)
            examples.append(
                ScoredExample(example=example, reference=before, targets=tuple(others[::2]))
            )
            changed = Perturbation(example_id=str(number), trial=1, text=f"tex {number}")
            perturbations.append(
                ScoredPerturbation(
                    capability="typo",
                    perturbation=changed,
                    reference=after,
                    targets=tuple(others[1::2]),
                )
            )
        return examples, perturbations

    return make
