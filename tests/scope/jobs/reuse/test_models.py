"""Who may take part in a test of reuse, and under which name."""

from collections import Counter

import pytest

from scope.errors import ModelError, SpecError
from scope.jobs.reuse.models import ReuseModels, load_reuse_models
from scope.jobs.reuse.request import ReuseRequest


class Model:
    """A classifier by its spec and what it is made of."""

    labels = ("no", "yes")

    def __init__(self, spec, fingerprint=None):
        self.spec, self.fingerprint = spec, fingerprint or f"made of {spec}"

    def classify(self, texts):
        return [(0.5, 0.5) for _ in texts]


SAME = {"python:again:model": "made of python:a:model", "hf:again": "made of hf:ours"}


def loaded_models(suspect, references, controls, loaded=None):
    def load(one):
        if loaded is not None:
            loaded.append(one)
        return Model(one, SAME.get(one)) if isinstance(one, str) else one

    request = ReuseRequest(
        suspect=suspect, references=references, controls=controls, data="x", task="choice"
    )
    return load_reuse_models(request, load)


def refused(*arguments):
    with pytest.raises((SpecError, ModelError)) as caught:
        loaded_models(*arguments)
    return caught.value


INDEPENDENT = ["python:a:model", "python:b:model"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("ours\tAAA\ntheirs\tBBB\nfirst\tABA\nsecond\tBAB\n")
    return f"predictions:{path}"


def test_every_model_has_a_name_a_part_and_an_owner(table):
    mine = Model("mine")
    models = loaded_models(mine, ["hf:ours", "python:c:model"], [f"{table}#first", *INDEPENDENT])
    assert isinstance(models, ReuseModels)
    assert [(one.name, one.role, one.saved, one.own) for one in models.all] == [
        ("ours", "reference", False, False),
        ("c:model", "reference", False, True),
        ("mine", "suspect", False, True),
        ("first", "control", True, False),
        ("a:model", "control", False, True),
        ("b:model", "control", False, True),
    ]
    assert models.suspect.spec == mine.spec


def test_a_whole_table_gives_all_but_the_suspect_and_the_references(table):
    models = loaded_models(f"{table}#theirs", [f"{table}#ours"], [f"{table}#*", *INDEPENDENT])
    assert [one.name for one in models.controls] == ["first", "second", "a:model", "b:model"]
    assert all(one.saved for one in models.controls[:2])


def test_the_suspect_may_be_the_reference_and_is_loaded_once():
    loaded = []
    models = loaded_models("hf:ours", ["hf:ours"], INDEPENDENT, loaded)
    assert [one.name for one in models.all] == ["ours", "ours (suspect)", "a:model", "b:model"]
    assert models.suspect.adapter is models.references[0].adapter
    assert max(Counter(loaded).values()) == 1
    # So may it be under another name.
    assert loaded_models("hf:again", ["hf:ours"], INDEPENDENT).suspect.name == "again"


def test_models_can_be_exchanged_and_keep_their_places():
    models = loaded_models("hf:theirs", ["hf:ours"], INDEPENDENT)
    changed = models.with_models(lambda model: f"a view of {model.name}")
    assert [one.adapter for one in changed.all] == [
        "a view of ours",
        "a view of theirs",
        "a view of a:model",
        "a view of b:model",
    ]
    assert [one.role for one in changed.all] == [one.role for one in models.all]


def test_without_a_reference_there_is_nothing_to_be_derived_from():
    error = refused("hf:theirs", [], INDEPENDENT)
    assert error.found == "no reference"
    assert error.expected == "at least one model that the suspect may be derived from"
    assert error.fix == "add --reference SPEC"


@pytest.mark.parametrize(
    ("suspect", "name", "spec"),
    [("hf:theirs", "reference", "hf:ours"), ("python:a:model", "suspect", "python:a:model")],
)
def test_reference_and_suspect_are_no_controls(suspect, name, spec):
    error = refused(
        suspect, ["hf:ours"], [*INDEPENDENT, "hf:ours"][: 3 if name == "reference" else 2]
    )
    assert error.found == f"the {name} `{spec}` is also a control"
    assert error.expected == "controls that are independent of the suspect and the references"
    assert error.fix == f"leave --control {spec} out"


def test_the_same_object_in_two_places_is_found_too():
    mine = Model("mine")
    assert refused("hf:theirs", [mine], [*INDEPENDENT, mine]).found == (
        "the reference `mine` is also a control"
    )


@pytest.mark.parametrize(
    ("references", "controls", "name", "spec"),
    [
        (["hf:ours"], [*INDEPENDENT, "python:b:model"], "control", "python:b:model"),
        (["hf:ours", "hf:ours"], INDEPENDENT, "reference", "hf:ours"),
    ],
)
def test_no_model_is_given_twice(references, controls, name, spec):
    error = refused("hf:theirs", references, controls)
    assert error.found == f"the {name} `{spec}` is given twice"
    assert error.expected == f"each {name} once: a repeated one would count twice"
    assert error.fix == f"leave one --{name} {spec} out"


def test_a_table_and_one_of_its_models_give_that_model_twice(table):
    error = refused("hf:theirs", ["hf:ours"], [f"{table}#*", f"{table}#first"])
    assert error.found == f"the control `{table}#first` is given twice"


@pytest.mark.parametrize(("count", "words"), [(0, "0 controls"), (1, "1 control")])
def test_fewer_than_two_controls_are_too_few(count, words):
    error = refused("hf:theirs", ["hf:ours"], INDEPENDENT[:count])
    assert error.found == words
    assert error.expected.startswith("at least 2 independent models to compare the suspect with")
    assert error.fix.startswith("add --control SPEC, a table of answers")
    assert "--controls-from PATH" in error.fix


@pytest.mark.parametrize(
    ("arguments", "other", "one"),
    [
        # Two controls; a control and the reference.
        (
            ("hf:theirs", ["hf:ours"], [*INDEPENDENT, "python:again:model"]),
            ("control", "python:a:model"),
            ("control", "python:again:model"),
        ),
        (
            ("hf:theirs", ["hf:ours"], [*INDEPENDENT, "hf:again"]),
            ("reference", "hf:ours"),
            ("control", "hf:again"),
        ),
    ],
)
def test_one_model_under_two_names_is_refused(arguments, other, one):
    error = refused(*arguments)
    assert error.found == (
        f"the {other[0]} `{other[1]}` and the {one[0]} `{one[1]}` are the same model: both "
        f"have the fingerprint {SAME.get(one[1]) or SAME[other[1]]}"
    )
    assert error.expected == "different models, the controls independent of suspect and references"
    assert error.fix == f"leave --{one[0]} {one[1]} out"


def test_models_whose_short_names_agree_are_told_apart():
    models = loaded_models("openai:http://one/v1#x", ["openai:http://two/v1#x"], INDEPENDENT)
    assert models.suspect.name != models.references[0].name
