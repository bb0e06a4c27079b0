"""The comparison as a function: what it takes, what it keeps, and what it refuses to go on with."""

import re

import pytest
from toy_answerers import Reader, Skimmer
from toy_suspects import Counting

import scope
from reports.text import to_text
from scope.errors import SpecError
from scope.jobs.pages import page_of


@pytest.fixture
def compare(tmp_path, choices, without_pages):
    def run(*models, **options):
        asked = {"tasks": "choice", "data": choices(12), "runs": tmp_path / "runs", **options}
        return scope.compare(models=models, **asked)

    return run


def test_one_task_may_be_named_alone_and_specs_and_objects_are_the_same(compare):
    by_spec = compare("python:toy_answerers:Reader", "python:toy_answerers:Skimmer")
    objects = compare(Reader(), Skimmer(), tasks=["choice"])
    assert by_spec.tasks == objects.tasks
    assert [card.name for card in objects.manifest.models] == ["Reader", "Skimmer"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "all.tsv"
    path.write_text(f"first\t{'A' * 12}\nsecond\t{'ABC' * 4}\n", encoding="utf-8")
    return f"predictions:{path}#*"


def test_a_gate_on_a_name_that_is_not_there_is_refused_before_any_question(compare, table):
    model = Counting("mine", [0] * 12)
    with pytest.raises(SpecError) as caught:
        compare(model, table, gates=["agreement[mine]>=0", "agreement[nobody]>=0.9"])
    assert "`nobody` in the brackets of the gate" in caught.value.found
    assert caught.value.expected.endswith(": choice, mine, first, second, (gold)")
    assert model.asked == []


def test_gates_may_name_tasks_models_of_a_table_and_gold(compare, table):
    model = Counting("mine", [0] * 12)
    gates = ["agreement[choice,first]>=0", "accuracy[mine,(gold)]>=0"]
    assert len(compare(model, table, gates=gates).manifest.models) == 3
    assert len(model.asked) == 12


def test_ten_models_fit_a_usual_terminal_below_their_verdicts(compare, tmp_path):
    rows = [
        f"m{model}\t{''.join('ABC'[place * (model + 1) // 5 % 3] for place in range(12))}\n"
        for model in range(10)
    ]
    (tmp_path / "ten.tsv").write_text("".join(rows), encoding="utf-8")
    result = compare(f"predictions:{tmp_path}/ten.tsv#*")
    lines = to_text(page_of(result).brief, width=80).splitlines()
    assert len([line for line in lines if re.match(r"\? m\d too early", line)]) == 9
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24


def test_a_name_before_a_spec_names_the_model_everywhere(compare, table, tmp_path):
    whole = [f"predictions:{tmp_path}/all.tsv#{name}" for name in ("first", "second")]
    named = [f"{name}={spec}" for name, spec in zip(("a b", "c"), whole, strict=True)]
    result = compare(*named, gates=["agreement[c]>=0"])
    assert [card.name for card in result.manifest.models] == ["a b", "c"]
    assert [card.spec for card in result.manifest.models] == named
    assert "--model 'a b=predictions:" in result.manifest.command
    path = tmp_path / "x=y.tsv"
    path.write_text(f"third\t{'B' * 12}\n", encoding="utf-8")
    kept = compare(whole[0], f"predictions:{path}#third").manifest.models
    assert [card.name for card in kept] == ["first", "third"]


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        (("x={0}#first", "x={0}#second"), "two models with the name `x`"),
        (("x={0}#first", "y={0}#first"), "is listed twice"),
        (("x={0}#*",), "one name for 2 models"),
    ],
)
def test_names_of_models_are_names_of_one_model_each(compare, table, models, problem):
    with pytest.raises(SpecError, match=problem):
        compare(*(model.format(table.removesuffix("#*")) for model in models))
