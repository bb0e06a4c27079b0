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
from tiny_language import LIMIT

from scope.errors import ModelError
from scope.models import replies
from scope.models.replies import first_word
from scope.models.torch_setup import load_torch
from scope.records import Answer, GivenAnswer, Question


@pytest.fixture
def plain_llama(llama_folders, as_transformers):
    return lambda chat: as_transformers(llama_folders[chat], "CausalLM")


@pytest.mark.parametrize(
    ("budget", "chat"),
    [
        pytest.param(1, True, marks=pytest.mark.slow),
        pytest.param(64, False, marks=pytest.mark.bits),
        pytest.param(4096, True, marks=pytest.mark.slow),
    ],
)
def test_answers_are_bit_for_bit_the_same_in_any_batch_and_order(llama, chat, budget, monkeypatch):
    # Every digit: it must not be the rounding that makes them equal.
    monkeypatch.setattr(replies, "DECIMALS", 15)
    model = llama(chat, budget, max_answer_tokens=8)
    wanted = every_answer(llama(chat, max_answer_tokens=8))
    # Else this would hold for a model that answers the same to everything.
    assert all(len(set(each.values())) > len(each) // 2 for each in wanted.values())
    assert every_answer(model) == wanted
    for name, asked in (("answer", ASKED), ("fill", CLOZES), ("choose", CHOICES)):
        order = random.Random(0).sample(range(len(asked)), len(asked))
        got = dict(getattr(model, name)([asked[index] for index in order]))
        assert {order[place]: answer for place, answer in got.items()} == wanted[name]
    for name in ("predict_next", "perplexities"):
        backwards = getattr(model, name)(TEXTS[::-1])
        assert dict(enumerate(backwards[::-1])) == wanted[name]


def generated(model, tokens):
    """What plain transformers writes after a prompt."""
    torch = load_torch()
    prompt = torch.tensor([tokens])
    return model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=32,
        pad_token_id=0,
    )[0, len(tokens) :].tolist()


@chat_or_not
def test_an_answer_is_the_first_line_that_transformers_generates(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    for index, answer in llama(chat).answer(ASKED):
        whole = generated(model, prompt_tokens(tokenizer, rendered("answer", ASKED[index])))
        text = tokenizer.decode(whole, skip_special_tokens=True).strip().split("\n")[0].strip()
        assert (answer.text, answer.truncated) == (text, False)


@chat_or_not
def test_of_a_message_as_it_stands_the_whole_reply_is_the_answer(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    bare = llama(chat, prompts=(("answer", "{text}"),))
    for index, answer in bare.answer(ASKED):
        whole = generated(model, prompt_tokens(tokenizer, ASKED[index].text))
        text = tokenizer.decode(whole, skip_special_tokens=True).strip()
        assert (answer.text or "") == text
        if text:
            ((_, score),) = bare.score_answers([GivenAnswer(question=ASKED[index], answer=text)])
            assert score.same is not False


@chat_or_not
def test_a_filler_is_the_first_word_that_follows_the_begun_reply(llama, plain_llama, chat):
    begun = llama(chat, prompts=(("cloze", "{text}\n{reply}{before}"),))
    _, model = plain_llama(chat)
    fitted = [begun._fitted("cloze", question, 32).tokens for question in CLOZES]
    for index, answer in begun.fill(CLOZES):
        whole = generated(model, fitted[index])
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


@chat_or_not
def test_a_perplexity_is_of_the_bare_text_after_its_first_sign(llama, plain_llama, chat):
    tokenizer, model = plain_llama(chat)
    for text, found in zip(TEXTS, llama(chat).perplexities(TEXTS), strict=True):
        tokens = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        every = log_probabilities(model, tokens)[:-1]
        chosen = [float(row[token]) for row, token in zip(every, tokens[1:], strict=True)]
        assert found == pytest.approx(math.exp(-sum(chosen) / len(chosen)), rel=1e-4)
        assert found >= 1
    assert math.isnan(llama(chat).perplexities([""])[0])


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


def test_of_a_text_too_long_for_the_model_the_end_counts(llama):
    end = "the film was good " * (LIMIT // 4)
    long, other, fitting = llama(False).predict_next(
        ["ann saw " * 50 + end, "zoé " * 50 + end, "the film"]
    )
    assert (long.truncated, other.truncated, fitting.truncated) == (True, True, False)
    assert long == other


def test_an_option_too_long_for_the_model_is_cut_at_its_end(llama):
    question = Question(id="0", text="who?", options=("good " * 300, "ann"))
    ((_, answer),) = llama(False).choose([question])
    assert answer.truncated
    assert sum(answer.probabilities) == pytest.approx(1, abs=1e-9)


def test_an_option_without_tokens_is_refused(llama):
    with pytest.raises(ModelError, match="no token for the option ' '"):
        list(llama(True).choose([Question(id="0", text="who?", options=("ann", " "))]))


@pytest.mark.parametrize(
    ("thinking", "reply", "answer", "is_short"),
    [
        ("auto", "<think>so\nann</think>\nbob\nzoé", Answer(text="bob"), False),
        ("auto", "ann saw bob in a film was", Answer(text="ann saw bob in a film", cut=True), True),
        ("auto", "<think>" + "so " * 99, Answer(missing="thought not finished"), False),
        ("off", "<think>" + "so " * 99, Answer(missing="thought not finished"), True),
        ("off", "an answer:\n", Answer(missing="cut off"), True),
        # Silence must not be right about what is not there.
        ("off", "", Answer(missing="empty"), False),
        ("on", "so\nann</think>\nbob\n", Answer(text="bob"), False),
        ("on", "so\nann\n" * 99, Answer(missing="thought not finished"), False),
    ],
)
def test_a_thought_has_room_that_nothing_else_has(
    llama, monkeypatch, thinking, reply, answer, is_short
):
    """Where it is wanted the tiny model's template begins it."""
    model = llama(True, thinking=thinking, max_answer_tokens=8)
    monkeypatch.setattr(model._spelling, "thought", "<think>" if thinking == "on" else "")
    tokens = model._head.tokenizer(reply, add_special_tokens=False)["input_ids"]
    written = []

    def write(starts):
        longest, enough = starts[0].longest, starts[0].is_over
        ends = (end for end in range(1, longest) if enough(tokens[:end]))
        written.append(tokens[: next(ends, longest)])
        return enumerate(written)

    monkeypatch.setattr(model._decoder, "write", write)
    assert list(model.answer(ASKED[:1])) == [(0, answer)]
    assert (len(written[0]) == 8) == is_short
