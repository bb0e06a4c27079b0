"""Which models may be compared, and with what."""

from dataclasses import replace

import pytest

from capabilities.choice import Choice
from scope.errors import ModelError
from scope.jobs.answering_models import answerer_card, check_answering_models, load_answering_models
from scope.jobs.task_choice import ChosenTask
from scope.models.options import ModelOptions
from scope.progress import Silent
from scope.protocols import TaskData
from scope.records import Answer, DataCard, Item, Question


class Model:
    def __init__(self, name, fingerprint):
        self.spec, self.fingerprint = name, fingerprint

    def choose(self, questions):
        return ((place, Answer(choice=0)) for place in range(len(questions)))


def chosen():
    items = (Item(question=Question(id="0", text="Is it?", options=("yes", "no"), row=0)),)
    card = DataCard(spec="data.jsonl", fingerprint="data", rows=3, used=1)
    return ChosenTask(task=Choice(), origin="here", data=TaskData(items=items, card=card))


def load(*models):
    expanded = check_answering_models(models, ["choice_scorer"], ModelOptions())
    return load_answering_models(expanded, [chosen()], ModelOptions(), Silent())


def test_a_card_holds_the_prompts_of_the_tasks_and_none_of_the_users_objects():
    class Prompted(Model):
        prompts = {"choice": "{text}?", "cloze": "{text}"}  # noqa: RUF012

    (first, second) = load(Prompted("a", "1"), Model("b", "2"))
    ours = replace(first, own=False, adapter=Prompted("a", "1"))
    assert answerer_card(ours, ["choice_scorer"]).prompts == {"choice": "{text}?"}
    assert answerer_card(first, ["choice_scorer"]).prompts == {}
    assert answerer_card(second, []).prompts == {}


def test_answering_models_say_whose_they_are_and_whether_they_are_saved(tmp_path):
    table = tmp_path / "answers.tsv"
    table.write_text("first\tAAA\nsecond\tBBB\n")
    found = load(Model("a", "1"), "python:toy_answerers:Reader", f"predictions:{table}#*")
    assert [(one.name, one.own, one.saved) for one in found] == [
        ("a", True, False),
        ("toy_answerers:Reader", True, False),
        ("first", False, True),
        ("second", False, True),
    ]


def test_objects_that_share_a_fingerprint_are_refused():
    with pytest.raises(ModelError) as raised:
        load(Model("a", "1"), Model("b", "2"), Model("c", "1"))
    assert raised.value.found == "`a` and `c` are the same model, with the fingerprint '1'"
