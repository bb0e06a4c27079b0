"""Who may take part in a test of reuse, and under which name."""

from collections import Counter

import pytest

from scope.errors import ModelError, SpecError
from scope.jobs.reuse.pool import ReuseModels, load_reuse_models
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


INDEPENDENT = ["python:a:model", "python:b:model"]
MINE = Model("mine")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("ours\tAAA\ntheirs\tBBB\nfirst\tABA\nsecond\tBAB\n")
    return f"predictions:{path}"


def test_every_model_has_a_name_and_a_part(table):
    models = loaded_models(MINE, ["hf:ours", "python:c:model"], [f"{table}#first", *INDEPENDENT])
    assert isinstance(models, ReuseModels)
    assert [(one.name, one.role, one.saved) for one in models.all] == [
        ("ours", "reference", False),
        ("c:model", "reference", False),
        ("mine", "suspect", False),
        ("first", "control", True),
        ("a:model", "control", False),
        ("b:model", "control", False),
    ]
    assert models.suspect.spec == MINE.spec


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


@pytest.mark.parametrize(
    ("models", "complaint", "fix"),
    [
        (("hf:theirs", [], INDEPENDENT), "no reference", "add --reference SPEC"),
        (
            ("python:a:model", ["hf:ours"], INDEPENDENT),
            "the suspect `python:a:model` is also a control",
            "leave --control python:a:model out",
        ),
        (
            ("hf:theirs", ["hf:ours"], [*INDEPENDENT, "python:b:model"]),
            "the control `python:b:model` is given twice",
            "leave --control python:b:model out",
        ),
    ],
)
def test_a_model_has_one_part(models, complaint, fix):
    with pytest.raises((SpecError, ModelError)) as caught:
        loaded_models(*models)
    assert caught.value.found.startswith(complaint)
    assert caught.value.fix.startswith(fix)
