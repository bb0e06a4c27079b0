"""What a terminal shows of a comparison, and its numbers as rows."""

import pytest
from made_up_tasks import choice_task

from reports.renderers.terminal import to_text
from scope.estimation.tasks import measure_task
from scope.jobs.compare.page import page
from scope.records import CompareResult, Estimate, Manifest, ModelCard


def compared(answers, names):
    numbers = measure_task(answers, names, normalize=False, seed=0)
    return CompareResult(
        manifest=Manifest(
            job="compare",
            models=tuple(
                ModelCard(name=name, role="model", spec=f"hf:{name}", fingerprint="f")
                for name in names
            ),
            data=(),
            capabilities=(),
            settings={},
            versions={},
            command="scope compare",
        ),
        outcomes=(),
        measurements=numbers.measurements,
        differences=numbers.differences,
        tasks=(answers,),
        task_shares=numbers.shares,
        cells=numbers.cells,
    )


def shown(result, width=100):
    return to_text(page(result).brief, width)


def two_models():
    return compared(choice_task((0, 0, 0), (1, 1, 2), (2, 0, 0), (2, 0, 1)), ("a", "b"))


def test_two_models_are_a_few_sentences_and_the_four_cells():
    lines = shown(two_models(), width=80).replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[0].startswith("On choice, a and b give the same answer to 50 % [15, 85] of 4")
    assert [line.split()[:3] for line in lines[-5:]] == [
        ["Both", "are", "right"],
        ["Only", "a", "is"],
        ["Only", "b", "is"],
        ["Both", "are", "wrong"],
        ["Both", "are", "wrong,"],
    ]
    assert len(lines) < 20


def test_a_degenerate_model_is_a_line_and_in_no_pair():
    rows = compared(choice_task(*((place % 3, 0, place % 3) for place in range(9))), ("a", "b"))
    lines = shown(rows, width=200).splitlines()
    assert lines[0] == "On choice no two models can be compared: 1 of 2 are degenerate."
    assert lines[1].startswith("Degenerate, so out of pairs, rankings and examples: a (it gives")


@pytest.fixture(scope="module")
def many():
    names = [f"m{number}" for number in range(10)]
    rows = [
        (place % 2, *((place * (model + 1)) // 5 % 3 for model in range(10))) for place in range(30)
    ]
    return compared(choice_task(*rows), names)


def test_of_many_models_each_has_a_row_with_the_most_similar_other_one(many):
    lines = shown(many, 80).splitlines()
    rows = [line for line in lines if line.startswith("m")]
    fit = [one.model for one in many.task_shares if one.degenerate is None]
    assert len(rows) == 10
    values = {
        frozenset((one.target, one.against)): one.estimate.value
        for one in many.measurements
        if one.metric == "capa_discrete" and isinstance(one.estimate, Estimate)
    }
    for row in rows:
        name, nearest = row.split()[0], row.split()[-2]
        if name in fit:
            others = [values[frozenset((name, other))] for other in fit if other != name]
            assert values[frozenset((name, nearest))] == max(others)


def test_nothing_is_wider_or_longer_than_a_usual_terminal(many):
    for comparison in (two_models(), many):
        lines = shown(comparison, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) <= 24
