"""Prompts are files that anyone can read and replace."""

import io
import os
from dataclasses import replace

import pytest

from scope.errors import SpecError
from scope.models.options import PROMPTS, ModelOptions
from scope.models.prompts import Prompt, as_script, fit_prompt, prompt_of
from scope.progress import Lines, reading_shown_by
from scope.records import Question

QUESTION = Question(
    id="0", text="Who {context}?", context="Ann saw {text}.", options=("yes {text}", "no")
)


@pytest.mark.parametrize("name", PROMPTS)
def test_each_prompt_tells_what_its_question_is_about(name):
    shown = prompt_of(name, ModelOptions()).render(QUESTION)
    parts = {"classify": ("yes {text}, no",), "cloze": ()}.get(name, (QUESTION.context,))
    more = ("A. yes {text}\nB. no",) if name == "choice_letters" else ()
    assert [part for part in (QUESTION.text, *parts, *more) if part not in shown] == []
    assert shown == shown.strip("\n")


def test_words_of_a_question_that_look_like_fields_stay_as_they_are():
    prompt = Prompt(name="classify", template="{context}|{text}|{options}|{labels}")
    assert prompt.render(replace(QUESTION, text="{labels}")) == (
        "Ann saw {text}.|{labels}|A. yes {text}\nB. no|yes {text}, no"
    )


@pytest.mark.parametrize("context", [None, ""])
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{context}\n\n{text}\n", "Who?"),
        ("Copy from it.\n\nPassage: {context}\nQuestion: {text}", "Question: Who?"),
        ("Read: {context}\n{text}\nAnswer with its words.", "Who?\nAnswer with its words."),
        ("{context} {text} Answer:", " Who? Answer:"),
        ("Question: {text}\nPassage: {context}\nAnswer:", "Question: Who?\nPassage: \nAnswer:"),
        ("Question: {text}\nPassage: {context}", "Question: Who?\nPassage: "),
    ],
)
def test_what_a_prompt_says_about_a_passage_that_is_not_there_is_left_out(
    template, expected, context
):
    alone = Question(id="0", text="Who?", context=context)
    prompt = Prompt(name="answer", template=template)
    assert prompt.render(alone) == expected
    assert prompt.parts(alone) == (expected, "")


def test_a_question_without_a_passage_is_asked_as_one():
    alone = Question(id="0", text="How many eggs?")
    read = prompt_of("answer", ModelOptions()).parts(alone)
    assert read == ("Question: How many eggs?", "Answer:")


def test_a_users_prompt_is_a_text_or_a_file(tmp_path):
    file = tmp_path / "answer.txt"
    file.write_text("Só: {text}\n", encoding="utf-8")
    for given in ("Só: {text}", file):
        prompt = prompt_of("answer", ModelOptions(prompts={"answer": given}))
        assert prompt.template == "Só: {text}"


@pytest.mark.parametrize(
    ("name", "template", "expected"),
    [
        ("cloze", "no field", "{text} and no field but text, context, options"),
        ("choice", "{text} {answer}", "{text} and no field but text, context, options"),
        ("choice", "{text}{reply}Answer:", "{text} and no field but text, context, options"),
        ("choice_letters", "{text}", "{text} and {options} and no field but"),
        ("classify", "{text}", "no field but text, context, options, labels"),
        ("answer", "{text}{reply}{before}", ""),
        ("answer", "{reply}{text}", ""),
        ("cloze", "{text}{reply}{reply}", ""),
    ],
)
def test_a_template_without_what_it_must_hold_or_with_fields_out_of_place_is_refused(
    name, template, expected
):
    with pytest.raises(SpecError, match=f"the prompt {name} with the fields") as raised:
        prompt_of(name, ModelOptions(prompts={name: template}))
    assert expected in raised.value.expected


def test_what_stands_behind_reply_is_put_apart_from_the_message():
    question = Question(id="0", text="Ann saw the ____ in {before}.")
    prompt = prompt_of("cloze", ModelOptions(prompts={"cloze": "{text}\n{reply}So: {before}"}))
    assert prompt.parts(question) == ("Ann saw the ____ in {before}.", "So: Ann saw the")
    assert prompt.render(question) == "Ann saw the ____ in {before}.\nSo: Ann saw the"
    assert Prompt(name="cloze", template="{text}").parts(question) == (question.text, "")


@pytest.mark.parametrize("content", [None, b"\xff\xfe{text}", os.mkfifo])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content):
    file = tmp_path / "own.txt"
    if callable(content):
        content(file)  # a pipe that nobody writes into
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(SpecError, match="cannot be read"):
        prompt_of("answer", ModelOptions(prompts={"answer": file}))


def test_of_a_chat_that_is_too_long_the_oldest_messages_are_left_out_first():
    messages = (("user", "one"), ("assistant", "two"), ("user", "three"))
    asked = Question(id="0", text="four", messages=messages)

    def spelled(question):
        return [ord(c) for c in as_script(question.messages, question.text)]

    shown = io.StringIO()
    with reading_shown_by(Lines(shown)):
        fitted = fit_prompt(asked, 40, spelled)
        fit_prompt(asked, 40, spelled)
    assert shown.getvalue().count("longer than its model reads") == 1
    assert "".join(map(chr, fitted.tokens)) == "user: three\nuser: four\nassistant:"
    assert fitted.truncated
