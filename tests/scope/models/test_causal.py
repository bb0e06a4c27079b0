"""The oracle is plain transformers: one text at a time, in one pass, with nothing remembered."""

import math
import random

import pytest
from causal_cases import (
    ASKED,
    CHOICES,
    CLOZES,
    TEXTS,
    chat_or_not,
    every_answer,
    log_probabilities,
    prompt_tokens,
    rendered,
)

from scope.models import probabilities
from scope.models.replies import first_word
from scope.models.torch_setup import load_torch
from scope.records import Question


@pytest.mark.parametrize(
    ("budget", "chat"),
    [
        pytest.param(1, True, marks=pytest.mark.slow),
        pytest.param(64, False, marks=pytest.mark.bits),
        (4096, True),
    ],
)
def test_answers_are_bit_for_bit_the_same_in_any_batch_and_order(llama, chat, budget, monkeypatch):
    # Every digit: it must not be the rounding that makes them equal.
    monkeypatch.setattr(probabilities, "DECIMALS", 15)
    model = llama(chat, budget)
    wanted = every_answer(llama(chat))
    assert every_answer(model) == wanted
    for name, asked in (("answer", ASKED), ("fill", CLOZES), ("choose", CHOICES)):
        order = random.Random(0).sample(range(len(asked)), len(asked))
        got = dict(getattr(model, name)([asked[index] for index in order]))
        assert {order[place]: answer for place, answer in got.items()} == wanted[name]
    for name in ("predict_next", "perplexities"):
        backwards = getattr(model, name)(TEXTS[::-1])
        assert dict(enumerate(backwards[::-1])) == wanted[name]


@chat_or_not
def test_questions_get_different_answers(llama, chat):
    """Else the tests of equality would hold for a model that answers the same to everything."""
    for answers in every_answer(llama(chat)).values():
        assert len(set(answers.values())) > len(answers) // 2


@chat_or_not
def test_an_answer_is_the_first_line_that_transformers_generates(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    torch = load_torch()
    for index, answer in llama(chat).answer(ASKED):
        tokens = torch.tensor([prompt_tokens(tokenizer, rendered("answer", ASKED[index]))])
        whole = model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            do_sample=False,
            max_new_tokens=32,
            pad_token_id=0,
        )[0, tokens.shape[1] :]
        text = tokenizer.decode(whole, skip_special_tokens=True).strip().split("\n")[0].strip()
        assert (answer.text, answer.truncated) == (text, False)


@chat_or_not
def test_a_filler_is_the_first_word_that_follows_the_begun_reply(llama, plain_llama, chat):
    begun = llama(chat, prompts=(("cloze", "{text}\n{reply}{before}"),))
    _, model = plain_llama(chat)
    fitted = [begun._tokens("cloze")(question) for question in CLOZES]
    for index, answer in begun.fill(CLOZES):
        tokens = load_torch().tensor([fitted[index]])
        mask = load_torch().ones_like(tokens)
        whole = model.generate(
            tokens, attention_mask=mask, do_sample=False, max_new_tokens=32, pad_token_id=0
        )[0, tokens.shape[1] :].tolist()
        assert answer.text == first_word(begun._spelling.text(whole))


@chat_or_not
def test_an_options_score_is_the_mean_log_probability_of_its_tokens(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    for index, answer in llama(chat).choose(CHOICES):
        question = CHOICES[index]
        prompt = prompt_tokens(tokenizer, rendered("choice", question))
        scores = []
        for option in question.options:
            # A reply begins without a space, a text goes on with one.
            following = option if chat else f" {option}"
            tokens = tokenizer(following, add_special_tokens=False)["input_ids"]
            every = log_probabilities(model, [*prompt, *tokens])
            places = range(len(prompt) - 1, len(prompt) + len(tokens) - 1)
            scores.append(
                sum(float(every[place, token]) for place, token in zip(places, tokens, strict=True))
                / len(tokens)
            )
        total = sum(map(math.exp, scores))
        wanted = [math.exp(score) / total for score in scores]
        assert answer.probabilities == pytest.approx(wanted, abs=2e-6)
        assert sum(answer.probabilities) == pytest.approx(1, abs=1e-9)
        assert answer.choice == wanted.index(max(wanted))


def test_of_equal_options_the_first_is_chosen(llama):
    question = Question(id="0", text="who?", options=("ann", "ann", "ann "))
    ((_, answer),) = llama(False).choose([question])
    assert answer.choice == 0
    assert answer.probabilities == pytest.approx([1 / 3] * 3, abs=2e-6)


@chat_or_not
def test_a_perplexity_is_of_the_bare_text_after_its_first_sign(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    for text, found in zip(TEXTS, llama(chat).perplexities(TEXTS), strict=True):
        tokens = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        every = log_probabilities(model, tokens)[:-1]
        chosen = [float(row[token]) for row, token in zip(every, tokens[1:], strict=True)]
        assert found == pytest.approx(math.exp(-sum(chosen) / len(chosen)), rel=1e-4)
        assert found >= 1


def test_a_text_without_tokens_has_no_perplexity(llama):
    nothing, some = llama(False).perplexities(["", "ann saw bob"])
    assert math.isnan(nothing)
    assert some > 1


@chat_or_not
def test_the_next_tokens_are_those_after_the_bare_text(llama, plain_llama, chat):
    """Whether or not there is a chat template: nothing is said but the text."""
    tokenizer, model = plain_llama(chat)
    size = len(tokenizer)
    for text, got in zip(TEXTS, llama(chat, next_tokens=size).predict_next(TEXTS), strict=True):
        every = log_probabilities(model, tokenizer(text)["input_ids"])[-1].exp().tolist()
        wanted = {}
        for number, value in enumerate(every):
            token = tokenizer.decode([number])
            wanted[token] = wanted.get(token, 0) + value
        assert dict(zip(got.tokens, got.probabilities, strict=True)) == pytest.approx(
            wanted, abs=1e-4
        )
        ranks = [(-p, t) for p, t in zip(got.probabilities[1:], got.tokens[1:], strict=True)]
        assert ranks == sorted(ranks)
        assert sum(got.probabilities) <= 1 + 1e-9
        assert " film" in got.tokens


def test_only_so_many_next_tokens_are_told(llama):
    few = llama(False, next_tokens=3).predict_next(TEXTS)
    many = llama(False).predict_next(TEXTS)
    assert all(0 < len(one.tokens) <= 3 for one in few)
    for one, other in zip(few, many, strict=True):
        assert set(one.tokens) < set(other.tokens)
