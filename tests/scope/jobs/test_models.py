"""Which models may be compared, and with what."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from capabilities.tasks import Choice
from scope.errors import ModelError, SpecError
from scope.jobs.answering_models import (
    ChosenTask,
    answerer_card,
    check_answering_models,
    in_one_form,
    load_answering_models,
    require_one_form,
)
from scope.jobs.audit.request import AuditRequest
from scope.jobs.configuration import adapted_model, short_names
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
    models = [adapted_model(model, ModelOptions()) for model in models]
    expanded = check_answering_models(models, ["choice_scorer"], ModelOptions())
    return load_answering_models(expanded, [chosen()], ModelOptions(), Silent())


def test_a_card_holds_the_prompts_of_the_tasks_and_none_of_the_users_objects():
    class Prompted(Model):
        prompts = {"choice": "{text}?", "cloze": "{text}"}  # noqa: RUF012

    (first, second) = load(Prompted("a", "1"), Model("b", "2"))
    ours = replace(first, adapter=Prompted("a", "1"))
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


ENDPOINT = "openai:http://localhost:1/v1#ours"


@pytest.mark.parametrize(
    ("models", "options", "form"),
    [
        (("hf:a", "hf:b.gguf"), {}, None),
        (("hf:a", "hf:b.gguf"), {"ask": "letters", "chat": "no"}, "letters"),
        (("hf:a", "gguf:b.gguf"), {"chat": "no"}, "letters"),
        (("hf:a", "b.gguf"), {"ask": "words"}, "--ask words with `b.gguf`"),
        (("hf:a", ENDPOINT), {}, "letters"),
        (("hf:a", ENDPOINT), {"ask": "words"}, "--ask words with `openai:"),
        (("hf:a", ENDPOINT), {"chat": "no"}, "--chat no with `openai:"),
    ],
)
def test_all_models_are_asked_in_one_form(models, options, form):
    texts = {"data": ["a text"], "model_options": ModelOptions(**options)}
    request = AuditRequest(reference=models[0], targets=models[1:], **texts)
    if form not in ("letters", None):
        with pytest.raises(SpecError, match=form):
            in_one_form(request, models, chooses=True)
        return
    assert in_one_form(request, models, chooses=True).model_options.ask == form
    assert in_one_form(request, models, chooses=False).model_options.ask is None


def test_models_that_were_loaded_for_different_forms_are_refused():
    models = [SimpleNamespace(spec=form, form=form) for form in ("letters", "words")]
    with pytest.raises(ModelError, match="`letters` for letters and `words` for words"):
        require_one_form(models)


def test_objects_that_share_a_fingerprint_are_refused():
    with pytest.raises(ModelError) as raised:
        load(Model("a", "1"), Model("b", "2"), Model("c", "1"))
    assert raised.value.found == "`a` and `c` are the same model, with the fingerprint '1'"


def test_a_folder_and_a_file_of_one_name_are_told_apart_by_the_ending(tmp_path):
    (tmp_path / "smol").mkdir()
    folder, file = f"hf:{tmp_path}/smol", f"gguf:{tmp_path}/smol.gguf"
    assert short_names([folder, file]) == ("smol", "smol.gguf")
    assert short_names([f"smol={file}", folder]) == ("smol", f"{tmp_path.name}/smol")
    unpacked = f"hf:{tmp_path}/smol.gguf"
    assert short_names([file, unpacked]) == ("gguf:smol.gguf", "hf:smol.gguf")
