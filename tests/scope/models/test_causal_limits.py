"""What a causal language model does with texts too long, and with questions that make no sense."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from causal_cases import ASKED, CHOICES, CLOZES, PROMPTS
from tiny_language import LIMIT, write_tiny_llama

from scope.errors import ModelError
from scope.models import ModelOptions, causal, load_model
from scope.models.causal import load
from scope.models.prompts import Prompt
from scope.models.torch_setup import quiet_transformers
from scope.records import Answer, Question


def test_of_a_text_too_long_for_the_model_the_end_counts(llama):
    end = "the film was good " * (LIMIT // 4)
    long, other, fitting = llama(False).predict_next(
        ["ann saw " * 50 + end, "zoé " * 50 + end, "the film"]
    )
    assert (long.truncated, other.truncated, fitting.truncated) == (True, True, False)
    assert long == other


def test_a_passage_too_long_for_the_model_is_cut_at_its_end(llama):
    asked = [
        Question(id=end, text="ann?", context="the film was good " * 200 + end)
        for end in ("bob", "paris")
    ]
    first, second = (answer for _, answer in llama(True).answer(asked))
    assert first == second
    assert first.truncated
    other = Question(id="0", text="bob in a?", context=asked[0].context)
    ((_, answer),) = llama(True).answer([other])
    assert answer != first
    choosing = [
        Question(id="0", text=one.text, context=one.context, options=("a", "ann")) for one in asked
    ]
    assert all(answer.truncated for _, answer in llama(True).choose(choosing))


def test_a_sentence_too_long_for_the_model_is_cut_around_its_blank(llama):
    filler = "the film was good " * 100
    ((_, answer),) = llama(True).fill([Question(id="0", text=f"{filler}____ {filler}")])
    assert answer.truncated


def test_options_too_long_for_the_model_are_cut_and_said_to_be(llama):
    question = Question(id="0", text="who?", options=("good " * 300, "ann"))
    ((_, answer),) = llama(False).choose([question])
    assert answer.truncated
    assert sum(answer.probabilities) == pytest.approx(1, abs=1e-9)


def test_an_option_without_tokens_is_refused(llama):
    with pytest.raises(ModelError, match="no token for the option ' '"):
        list(llama(True).choose([Question(id="0", text="who?", options=("ann", " "))]))


def test_answers_come_batch_by_batch(llama, monkeypatch):
    model = llama(False, 1)
    runs = []
    inference = model._decoder._inference
    run = inference.run
    monkeypatch.setattr(
        inference, "run", lambda *args, **kwargs: runs.append(1) or run(*args, **kwargs)
    )
    for name, asked in (("answer", ASKED), ("fill", CLOZES), ("choose", CHOICES)):
        runs.clear()
        answers = getattr(model, name)(asked)
        next(answers)
        first = len(runs)
        list(answers)
        assert 0 < first < len(runs)


def test_an_option_is_scored_once_on_one_prompt(llama, monkeypatch):
    model = llama(False)
    scored = []
    score = model._decoder.score
    monkeypatch.setattr(
        model._decoder,
        "score",
        lambda rows, several: scored.extend(several) or score(rows, several),
    )
    asked = [
        Question(id="0", text="who?", options=("ann", "bob", "ann")),
        Question(id="1", text="who?", options=("bob", "paris")),
    ]
    answers = dict(model.choose(asked))
    assert [len(several) for several in scored] == [3]
    assert [len(answers[index].probabilities) for index in (0, 1)] == [3, 2]


def test_nothing_written_is_no_answer(llama, monkeypatch):
    """Not the answer that there is none: silence must not be right about what is not there."""
    model = llama(True)
    silent = [[]] * len(ASKED)
    monkeypatch.setattr(model._decoder, "write", lambda rows, *_: silent[: len(rows)])
    assert {answer for _, answer in model.answer(ASKED)} == {Answer()}
    assert {answer for _, answer in model.fill(CLOZES)} == {Answer()}


def test_no_question_has_no_answer(llama):
    model = llama(True)
    assert [list(ask([])) for ask in (model.answer, model.fill, model.choose)] == [[], [], []]
    assert model.predict_next([]) == []


def test_another_prompt_for_choices_makes_another_model_of_the_same_weights(llama):
    model = llama(True)
    template = "is {text} {labels}"
    other = model.with_choice_prompt(Prompt(name="classify", template=template))
    asked = [Question(id="0", text="good", options=("ann", "bob"))]
    own = llama(True, prompts=(*PROMPTS.items(), ("choice", "is {text} ann, bob")))
    assert list(other.choose(asked)) == list(own.choose(asked)) != list(model.choose(asked))
    assert len({other.fingerprint, own.fingerprint, model.fingerprint}) == 3
    assert other.spec == model.spec


def test_what_could_change_an_answer_changes_the_fingerprint(llama, llama_folders, tmp_path):
    base = llama(True).fingerprint
    write_tiny_llama(tmp_path, chat=True, seed=1)
    others = [
        llama(False),
        llama(True, max_answer_tokens=31),
        llama(True, next_tokens=19),
        llama(True, dtype="bfloat16"),
        *(
            llama(True, prompts=tuple((PROMPTS | {name: "{text}"}).items()))
            for name in ("answer", "cloze", "choice")
        ),
        load(str(tmp_path), ModelOptions(device="cpu", prompts=PROMPTS)),
    ]
    prints = [base, *(model.fingerprint for model in others)]
    assert len(set(prints)) == len(prints)
    assert llama(True, 64).fingerprint == base


def test_the_day_changes_no_fingerprint(tmp_path, monkeypatch):
    """Neither of a template that is told the date nor of one that asks the clock."""
    write_tiny_llama(tmp_path, chat=True)
    template = (tmp_path / "chat_template.jinja").read_text()
    (tmp_path / "chat_template.jinja").write_text("{{ strftime_now('%d %b %Y') }}" + template)
    clock = quiet_transformers().utils.chat_template_utils
    prints = set()
    for day in (1, 2):
        now = datetime(2025, 1, day, tzinfo=UTC)
        monkeypatch.setattr(clock, "datetime", SimpleNamespace(now=lambda now=now: now))
        model = load(str(tmp_path), ModelOptions(device="cpu"))
        prints.add(model.fingerprint)
        assert model._spelling.frame.startswith("26 Jul 2024<s>")
    assert len(prints) == 1


def test_a_causal_checkpoint_has_four_roles(llama_folders):
    for role in ("mask_filler", "answerer", "choice_scorer", "next_token"):
        model = load_model(f"hf:{llama_folders[True]}", role)
        assert isinstance(model, causal.CausalModel)
        assert model.spec == f"hf:{llama_folders[True]}"
