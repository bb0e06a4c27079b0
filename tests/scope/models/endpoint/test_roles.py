"""Questions in, answers out: what each role makes of the stub's replies."""

import math

import pytest
from stub_server import Say, refuse

from scope.errors import ModelError
from scope.models.endpoint.roles import PROMPTS
from scope.models.prompts import prompt_of
from scope.protocols import Answerer, ChoiceScorer, Classifier, Encoder, MaskFiller, NextToken
from scope.records import Answer, Question

TOO_LONG = refuse(400, "too much", code="context_length_exceeded")


def reply(text, *likeliest, **choice):
    """A chat's reply of tokens, the first of the likeliest at each position."""
    content = [
        {
            "token": next(iter(tokens)),
            "top_logprobs": [
                {"token": token, "logprob": math.log(share)} for token, share in tokens.items()
            ],
        }
        for tokens in likeliest
    ]
    message = {"message": {"content": text}, "logprobs": {"content": content}}
    return {"choices": [message | choice]}


def in_order(answers):
    return [answer for _, answer in sorted(answers)]


def test_the_model_has_four_roles(open_model):
    model = open_model()
    assert all(isinstance(model, role) for role in (Answerer, ChoiceScorer, MaskFiller, NextToken))
    assert not any(isinstance(model, role) for role in (Classifier, Encoder))


def test_the_id_that_the_server_gives_its_model_is_known_after_a_reply(open_model, stub, questions):
    model = open_model()
    assert model.served == ""
    stub.script.append(Say(body=reply("yes") | {"model": "weights-of-may"}))
    assert in_order(model.answer(questions("when ____?"))) == [Answer(text="yes")]
    assert model.served == "weights-of-may"


@pytest.mark.parametrize(
    ("said", "text", "word"),
    [
        ("in 1066", "in 1066", "in"),
        ('\n\n  "in 1066"  \nas every child knows', "in 1066", "in"),
        ('The word is "garden".', 'The word is "garden".', "garden"),
        ("...", "...", None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_answers_and_fillers_are_read_from_replies(open_model, stub, questions, said, text, word):
    stub.words["when ____?"] = said
    asked = questions("when ____?")
    assert in_order(open_model().answer(asked)) == [Answer(text=text)]
    assert in_order(open_model().fill(asked)) == [Answer(text=word)]


def test_a_choice_has_probabilities_where_the_server_gives_them(open_model, stub, questions):
    stub.likeliest["which?"] = {"B": 0.5, " B": 0.1, "A": 0.2}
    (answer,) = in_order(open_model().choose(questions("which?", options=("x", "y", "z"))))
    assert answer == Answer(choice=1, probabilities=(0.25, 0.75, 0.0))


def test_a_choice_is_read_where_the_letter_is_written(open_model, stub, questions):
    positions = [{"I": 0.9}, {" say": 0.9}, {": the answer is": 0.9}, {" A": 0.5, " B": 0.3}]
    stub.script.append(Say(body=reply("I say: the answer is A", *positions)))
    (answer,) = in_order(open_model().choose(questions("which?", options=tuple("abcdefghi"))))
    assert answer == Answer(choice=0, probabilities=(0.625, 0.375, *[0.0] * 7))


@pytest.mark.parametrize(
    "body",
    [
        reply("I cannot answer", {"I": 0.999, "B": 1e-9}, {" cannot": 1.0}, {" answer": 1.0}),
        reply("B", {"B": 1.0}, finish_reason="content_filter"),
        reply("", {"</s>": 0.4, "A": 0.3, "B": 0.3}),
        reply("I would say B", {"I": 0.9, "B": 0.05}, {" would say": 1.0}, {" B": 1.0}),
    ],
    ids=["refusal", "filter", "silence", "letters in words"],
)
@pytest.mark.parametrize("options", ["xy", "rstuvwxyz"])
def test_a_refusal_is_no_choice_however_sure(open_model, stub, questions, body, options):
    stub.script.append(Say(body=body))
    (answer,) = in_order(open_model().choose(questions("which?", options=tuple(options))))
    assert answer == Answer()
    assert not answer.given


@pytest.mark.parametrize(
    ("said", "choice"),
    [("(B)", 1), ("The answer is A", 0), ("Y.", 1), ("Both", None), ("I would say B", None)],
)
def test_without_log_probabilities_the_letter_is_read(open_model, stub, questions, said, choice):
    stub.logprobs = False
    stub.words["which?"] = said
    (answer,) = in_order(open_model().choose(questions("which?", options=("x", "y"))))
    assert answer == Answer(choice=choice)


def test_a_server_that_refuses_log_probabilities_is_asked_without(open_model, stub, questions):
    stub.words["which?"] = "B"
    stub.check = lambda body: refuse(400, "no logprobs here") if "logprobs" in body else None
    model = open_model()
    asked = questions("which?", options=("x", "y"))
    assert in_order(model.choose(asked)) == [Answer(choice=1)]
    assert [body.get("top_logprobs") for body in stub.asked] == [20, 5, None]
    assert in_order(model.choose(asked)) == [Answer(choice=1)]
    assert len(stub.asked) == 4


def test_more_options_than_letters_are_refused_before_anything_is_asked(open_model, stub):
    few = Question(id="few", text="which?", options=("x", "y"))
    many = Question(id="many", text="which?", options=tuple(map(str, range(27))))
    with pytest.raises(ModelError, match="'many' has 27 options"):
        open_model().choose([few, many])
    assert stub.asked == []


def test_26_options_have_a_letter_each(open_model, stub, questions):
    stub.likeliest["which?"] = {"Z": 0.9}
    asked = questions("which?", options=tuple(map(str, range(26))))
    assert in_order(open_model().choose(asked))[0].choice == 25


def test_next_tokens_come_of_the_bare_text(open_model, stub):
    stub.likeliest["the cat sat on the"] = {" mat": 0.5, " floor": 0.25}
    (prediction,) = open_model(next_tokens=7).predict_next(["the cat sat on the"])
    assert prediction.tokens == (" mat", " floor")
    assert prediction.probabilities == (0.5, 0.25)
    assert stub.asked[0]["prompt"] == "the cat sat on the"
    assert stub.asked[0]["logprobs"] == 7


def test_next_tokens_stand_in_the_order_of_the_texts(open_model, stub):
    texts = [f"text {number}" for number in range(20)]
    predictions = open_model(requests=8).predict_next([*texts, "text 3"])
    assert [one.tokens[0] for one in predictions] == [*map(str, range(20)), "3"]
    assert len(stub.asked) == 20


def test_next_tokens_without_log_probabilities_end_in_a_message(open_model, stub):
    stub.logprobs = False
    with pytest.raises(ModelError, match="this server gives no log-probabilities"):
        open_model().predict_next(["text"])


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_completions_ends_in_a_message(open_model, stub, status):
    stub.check = lambda body: refuse(status, "This is a chat model")
    with pytest.raises(ModelError, match=r"has no /completions .*This is a chat model"):
        open_model().predict_next(["text"])


def test_other_failures_of_completions_are_told_as_they_are(open_model, stub):
    stub.check = lambda body: refuse(400, "logprobs must be at most 5")
    with pytest.raises(ModelError, match="logprobs must be at most 5"):
        open_model().predict_next(["text"])


def test_a_question_beyond_the_context_has_no_answer_and_is_counted(open_model, stub, questions):
    stub.check = lambda body: TOO_LONG if "long" in str(body) else None
    answers = in_order(open_model().answer(questions("short", "long", "brief")))
    assert answers == [Answer(text="short"), Answer(truncated=True), Answer(text="brief")]
    assert not answers[1].given
    assert len(stub.asked) == 3


def test_a_text_beyond_the_context_has_no_next_token(open_model, stub):
    stub.check = lambda body: TOO_LONG
    with pytest.raises(ModelError, match="finds 'a text', 6 characters, too long"):
        open_model().predict_next(["a text"])


def test_the_limit_is_renamed_for_servers_that_want_it_so(open_model, stub, questions):
    said = "Use 'max_completion_tokens' instead."
    stub.check = lambda body: refuse(400, said) if "max_tokens" in body else None
    answers = open_model(max_answer_tokens=9, requests=1).answer(questions("one", "two"))
    assert in_order(answers) == [Answer(text="one"), Answer(text="two")]
    assert [body.get("max_completion_tokens") for body in stub.asked] == [None, 9, 9]


@pytest.mark.parametrize("requests", [1, 8])
def test_answers_do_not_hang_on_how_many_are_asked_at_once(open_model, stub, questions, requests):
    texts = [f"which of {number}" for number in range(20)]
    stub.words.update({text: "AB"[place % 2] for place, text in enumerate(texts)})
    model = open_model(requests=requests)
    asked = questions(*texts, options=("x", "y"))
    assert [one.choice for one in in_order(model.choose(asked))] == [0, 1] * 10
    assert [one.text for one in in_order(model.answer(asked))] == ["A", "B"] * 10


def test_the_prompts_that_come_with_scope_are_used_unless_others_are_given(open_model, stub):
    question = Question(id="0", text="Who won?", context="Ann won.", options=("Ann", "Bob"))
    model = open_model(prompts={})
    for ask in (model.answer, model.fill, model.choose):
        list(ask([question]))
    expected = [prompt_of(name, model._options).parts(question).message for name in PROMPTS]
    assert [body["messages"][0]["content"] for body in stub.asked] == expected
    assert "A. Ann\nB. Bob" in expected[2]


def test_answers_that_came_are_given_before_the_failure(open_model, stub, questions):
    stub.check = lambda body: refuse(503, "loading") if "two" in str(body) else None
    came = []
    with pytest.raises(ModelError, match="answered 1 of 3 questions"):
        came.extend(open_model(requests=1, retries=1).answer(questions("one", "two", "3")))
    assert came == [(0, Answer(text="one"))]


def test_the_fingerprint_covers_what_decides_the_answers_and_no_more(open_model, monkeypatch):
    usual = open_model().fingerprint
    assert open_model(requests=1, timeout=5, retries=0).fingerprint == usual
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert open_model().fingerprint == usual
    others = {
        open_model("other-model").fingerprint,
        open_model(max_answer_tokens=31).fingerprint,
        open_model(next_tokens=19).fingerprint,
        *(open_model(prompts={name: "{text} {options}"}).fingerprint for name in PROMPTS),
    }
    assert len(others - {usual}) == 6


def test_a_servers_own_fingerprint_is_no_part_of_the_answer(open_model, stub, questions):
    choice = {"message": {"content": "yes"}}
    stub.script.append(Say(body={"choices": [choice], "system_fingerprint": "fp_1"}))
    assert in_order(open_model().answer(questions("?"))) == [Answer(text="yes")]
