"""Given answers: by hand on a model of ten tokens, else beside plain transformers."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from causal_cases import ASKED, chat_or_not, log_probabilities, prompt_tokens, rendered
from ten_tokens import ten_tokens
from tiny_language import LIMIT

from scope.answers.answers import AnswerStore, content_of
from scope.answers.table import Table
from scope.errors import ModelError
from scope.models.questions import KINDS, ask, difference_of_scores, in_order
from scope.models.torch_setup import load_torch
from scope.models.writing import Spread
from scope.models.written import WrittenClassifier
from scope.records import GivenAnswer, Question, ScoredAnswer
from scope.records.text_parts import joined

WHO = Question(id="0", text="who saw")


def drafted(answer, question=WHO):
    return GivenAnswer(question=replace(question, draft=answer), answer=answer)


def scores(model, items):
    by_index = dict(ask(model, "answer_scorer", items))
    return [by_index[index] for index in range(len(items))]


@pytest.mark.parametrize(
    ("answer", "probability", "tokens", "same"),
    [
        # The end counts as a token, and as part of the answer.
        ("ann in paris", 0.5 * 0.6 * 0.8 * 0.9, 4, True),
        ("ann in a film", 0.5 * 0.6 * 0.2 * 1 * 0.5, 5, False),
        ("ann", 0.5 * 0.3, 2, False),
        ("bob", 0.25, 2, False),
    ],
)
def test_the_probability_of_an_answer_is_that_of_its_tokens_and_its_end(
    answer, probability, tokens, same
):
    (score,) = scores(ten_tokens(), [drafted(answer)])
    assert score.log_probability == pytest.approx(math.log(probability), abs=1e-5)
    assert (score.tokens, score.same, score.truncated) == (tokens, same, False)


def test_an_answer_at_the_limit_is_the_same_without_its_end():
    """Greedy decoding is cut after two tokens, wherever the model would have ended."""
    items = [drafted(text) for text in ("ann in", "ann in paris", "ann")]
    limited = scores(ten_tokens(max_answer_tokens=2), items)
    assert [score.same for score in limited] == [True, False, False]
    assert all(score.written.cut for score in limited)
    assert [answer.cut for _, answer in ten_tokens(max_answer_tokens=2).answer([WHO])] == [True]
    assert [answer.cut for _, answer in ten_tokens().answer([WHO])] == [False]
    assert limited[0].tokens == 2
    assert limited[0].log_probability == pytest.approx(math.log(0.5 * 0.6), abs=1e-5)
    assert [score.same for score in scores(ten_tokens(), items)] == [False, True, False]


def test_where_two_tokens_are_too_near_the_answer_is_written_alone(monkeypatch):
    model = ten_tokens()
    monkeypatch.setattr(type(model._decoder), "at_once", Spread(share=0.05))
    # Of logits up to 30, those of "ann" and "bob" are nearer than 1.5, as are "in" and the end.
    came = scores(model, [drafted(text) for text in ("ann in paris", "bob", "a")])
    assert [score.same for score in came] == [True, False, False]
    assert model.written_alone == (3, 3)


@chat_or_not
@pytest.mark.parametrize("longest", [1, 2, 8])
def test_scores_are_those_of_one_pass_over_prompt_and_answer(
    llama, as_transformers, llama_folders, chat, longest
):
    tokenizer, plain = as_transformers(llama_folders[chat], "CausalLM")
    model = llama(chat, max_answer_tokens=longest)
    written = dict(model.answer(ASKED))
    items = [
        GivenAnswer(question=question, answer=answer)
        for index, question in enumerate(ASKED)
        for answer in (written[index].text, "ann in paris", "zoé?", written[index].text[:2])
        if answer
    ]
    for item, score in zip(items, scores(model, items), strict=True):
        prompt = prompt_tokens(tokenizer, rendered("answer", item.question))
        spelled = item.answer if chat else f" {item.answer}"
        answer = tokenizer(spelled, add_special_tokens=False)["input_ids"]
        logs = log_probabilities(plain, [*prompt, *answer])[len(prompt) - 1 :]
        # No end is written after the most tokens.
        tokens = [*answer, 1] if len(answer) < longest else answer
        total = sum(float(logs[place, token]) for place, token in enumerate(tokens))
        assert score.log_probability == pytest.approx(total, abs=1e-4)
        assert score.tokens == len(tokens)
        assert (score.same, score.written) == (None, None)


@chat_or_not
def test_scores_do_not_depend_on_company_or_order(llama, chat):
    items = [
        GivenAnswer(question=question, answer=answer)
        for question in ASKED
        for answer in ("ann", "bob in paris", "zoé saw a film")
    ]
    together = scores(llama(chat, max_answer_tokens=8), items)
    assert scores(llama(chat, 64, max_answer_tokens=8), items[::-1])[::-1] == together
    assert [scores(llama(chat, max_answer_tokens=8), [item])[0] for item in items] == together


@chat_or_not
@pytest.mark.parametrize("longest", [2, 8])
def test_what_is_written_comes_with_the_score_of_a_draft(llama, chat, longest):
    plain = llama(chat, max_answer_tokens=longest)
    written = dict(plain.answer(ASKED))
    items = [
        GivenAnswer(question=question, answer=answer)
        for index, question in enumerate(ASKED)
        for answer in ("ann", "bob", "zoé?", written[index].text or "")
    ]
    model = llama(chat, max_answer_tokens=longest)
    before = model.written_alone[1]
    came = scores(model, [drafted(each.answer, each.question) for each in items])
    at_once = [each for each in came if each.written]
    assert len(at_once) == model.written_alone[1] - before > 12
    for item, score, alone in zip(items, came, scores(plain, items), strict=True):
        assert replace(score, written=None, same=None) == alone
        if score.written:
            assert score.written == written[ASKED.index(item.question)]
            assert score.same == (score.written.text == item.answer)


def test_a_given_answer_is_read_once_and_written_on_from_where_it_fails(monkeypatch):
    model, read = ten_tokens(), []
    after = model._decoder._after
    monkeypatch.setattr(model._decoder, "_after", lambda *rows: read.append(rows) or after(*rows))
    texts = [joined(["who saw", "ann in a film"]), joined(["a", "film"])]
    first, second = in_order(model, texts, WrittenClassifier(model, ["question"]).stream(texts))
    assert (first.reply, second.reply) == ("ann in paris", "film")
    assert first.support == pytest.approx(math.log(0.5 * 0.6 * 0.2 * 1 * 0.5), abs=1e-5)
    assert second.support == pytest.approx(math.log(0.5), abs=1e-5)
    # Both drafts with their ends, then what follows "paris".
    assert [last for _, last in read] == [[5, 2], [1]]


def test_a_search_stops_where_an_answer_is_another_one_and_its_score_is_the_same(llama):
    writer = WrittenClassifier(llama(False, max_answer_tokens=40), ["question"])
    texts = [joined([question.text, "ann in paris"]) for question in ASKED]
    whole, searched = writer.classify(texts), writer.in_search.classify(texts)
    assert [each.support for each in searched] == [each.support for each in whole]
    lengths = [
        (len(full.reply), len(part.reply)) for full, part in zip(whole, searched, strict=True)
    ]
    assert all(full >= part for full, part in lengths)
    assert any(full > part for full, part in lengths)
    assert writer.in_search.fingerprint != writer.fingerprint


def test_a_long_prompt_is_cut_and_so_is_a_long_answer(llama):
    model = llama(True)
    passage = Question(id="0", text="who?", context="ann saw bob " * LIMIT)
    long = GivenAnswer(question=WHO, answer="ann saw bob " * LIMIT)
    of_passage, of_answer = scores(model, [GivenAnswer(question=passage, answer="ann"), long])
    assert of_passage.truncated
    assert of_answer.truncated
    assert of_answer.same is None
    assert of_answer.tokens <= LIMIT // 2


def test_a_model_without_numbers_gives_no_score():
    model = ten_tokens()
    with load_torch().no_grad():
        model._head.model.lm_head.weight.fill_(math.nan)
    (score,) = scores(model, [GivenAnswer(question=WHO, answer="ann")])
    assert math.isnan(score.log_probability)
    assert (score.missing, score.same) == ("no number", None)


def test_scores_are_kept_as_any_other_answers(tmp_path):
    model, asked = ten_tokens(), []
    items = [GivenAnswer(question=WHO, answer=text) for text in ("ann", "bob", "ann")]
    ours = model.score_answers
    model.score_answers = lambda items: asked.append(len(items)) or ours(items)
    with Table(Path(tmp_path / "answers.sqlite")) as table:
        store = AnswerStore(table)
        first = store.get(model, "answer_scorer", items)
        again = AnswerStore(table).get(model, "answer_scorer", items)
    assert first == again == scores(ten_tokens(), items)
    assert asked == [2]


def test_the_content_of_a_given_answer_is_the_question_and_the_answer():
    one, other = (GivenAnswer(question=WHO, answer=text) for text in ("ann", "bob"))
    renamed = GivenAnswer(question=Question(id="7", text=WHO.text), answer="ann")
    keys = [content_of("answer_scorer", item) for item in (one, other, renamed)]
    assert keys[0] == keys[2] != keys[1]
    assert content_of("answerer", WHO) == '["answerer", "who saw", null, []]'


@pytest.mark.parametrize(
    "given",
    [
        0.5,
        ScoredAnswer(log_probability=0.5, tokens=1),
        ScoredAnswer(log_probability=-0.5, tokens=0),
        ScoredAnswer(log_probability=math.nan, tokens=1),
        ScoredAnswer(log_probability=None, tokens=1),
        ScoredAnswer(log_probability=-0.5, tokens=1, written="ann"),
    ],
)
def test_what_is_no_score_is_refused(given):
    class Model:
        spec = fingerprint = "python:mine:model"

        def score_answers(self, items):
            return enumerate([given] * len(items))

    with pytest.raises(ModelError, match="'who saw' with"):
        scores(Model(), [GivenAnswer(question=WHO, answer="ann")])


def test_scores_differ_by_the_log_probability_of_a_token():
    one = ScoredAnswer(log_probability=-3.0, tokens=2)
    missing = ScoredAnswer(log_probability=math.nan, tokens=2, missing="no number")
    assert KINDS["answer_scorer"].difference is difference_of_scores
    assert difference_of_scores(one, ScoredAnswer(log_probability=-3.0, tokens=3)) == math.inf
    assert difference_of_scores(one, missing) == math.inf
    assert difference_of_scores(missing, missing) == 0
