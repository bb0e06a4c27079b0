"""What a test of reuse says of itself: the command that repeats it, and its manifest."""

import shlex
from itertools import pairwise

import pytest

from scope.jobs.identity import configuration_of, default_run_name
from scope.jobs.reuse.models import ReuseModel, ReuseModels
from scope.jobs.reuse.plan import ReusePlan
from scope.jobs.reuse.request import ReuseRequest
from scope.models import ModelOptions
from scope.records import CapabilityCard, DataCard


class Model:
    def __init__(self, name):
        self.spec, self.fingerprint, self.labels = f"python:mine:{name}", f"f-{name}", ("no", "yes")


def model(name, part):
    return ReuseModel(name=name, part=part, model=Model(name), saved=False, own=True)


def plan(controls=("a", "b"), settings=None, **changes):
    request = ReuseRequest(
        **{
            "suspect": "python:mine:theirs",
            "references": ["python:mine:ours", "python:mine:older"],
            "controls": [f"python:mine:{name}" for name in controls],
            "data": "my data.csv",
            "seed": 3,
            **changes,
        }
    )
    return ReusePlan(
        request=request,
        models=ReuseModels(
            suspect=model("theirs", "suspect"),
            references=(model("ours", "reference"), model("older", "reference")),
            controls=tuple(model(name, "control") for name in controls),
        ),
        data=DataCard(spec="my data.csv", fingerprint="d", rows=50, used=50),
        asked=(CapabilityCard(name="typo", question="?", origin="here", settings={}),),
        settings=settings or {"trials": 2},
    )


def test_the_command_names_every_model_in_its_part_and_quotes_what_the_shell_would_cut():
    asked = plan(
        alpha=0.01,
        label_map=["A=B"],
        sequential=True,
        model_options=ModelOptions(max_answer_tokens=5),
    )
    words = shlex.split(asked.manifest().command)
    assert words[:2] == ["scope", "reuse"]
    pairs = list(pairwise(words))
    assert ("--suspect", "python:mine:theirs") in pairs
    assert [value for name, value in pairs if name == "--reference"] == [
        "python:mine:ours",
        "python:mine:older",
    ]
    assert [value for name, value in pairs if name == "--control"] == [
        "python:mine:a",
        "python:mine:b",
    ]
    for option in (("--data", "my data.csv"), ("--alpha", "0.01"), ("--seed", "3")):
        assert option in pairs
    for option in (("--label-map", "A=B"), ("--max-answer-tokens", "5")):
        assert option in pairs
    assert "--sequential" in words
    assert "--n" not in words


def test_the_manifest_has_the_models_with_their_parts_and_the_hypothesis():
    manifest = plan().manifest({"theirs": 4}, {"ours": "0123"})
    assert manifest.job == "reuse"
    parts = {card.name: (card.role, card.truncated) for card in manifest.models}
    assert parts == {
        "ours": ("reference", 0),
        "older": ("reference", 0),
        "theirs": ("suspect", 4),
        "a": ("control", 0),
        "b": ("control", 0),
    }
    assert manifest.settings["probes for ours"] == "0123"
    assert manifest.settings["alpha"] == 0.05
    assert "no more like the reference than independent models" in manifest.settings["null"]


def test_what_is_found_on_the_way_is_no_part_of_the_question():
    before, after = plan().manifest(), plan().manifest({"theirs": 4}, {"ours": "0123"})
    assert configuration_of(after) == configuration_of(before)
    assert default_run_name(after) == default_run_name(before)


def test_the_order_of_the_controls_is_no_part_of_the_question():
    assert configuration_of(plan(controls=("b", "a")).manifest()) == configuration_of(
        plan().manifest()
    )


@pytest.mark.parametrize(
    "changes",
    [{"alpha": 0.01}, {"seed": 4}, {"settings": {"trials": 3}}, {"controls": ("a", "c")}],
    ids=str,
)
def test_whatever_decides_the_result_is_part_of_the_question(changes):
    assert configuration_of(plan(**changes).manifest()) != configuration_of(plan().manifest())
