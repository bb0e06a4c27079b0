"""Questions in, answers out: what each role makes of the stub's replies.

The same reply is the same answer, whether a server or a model at hand writes it.
"""

import math

import pytest
from stub_server import MODEL, Say, refuse

from scope.errors import ModelError
from scope.models.endpoint import PROMPTS
from scope.models.labels import AlignedClassifier
from scope.models.options import ModelOptions
from scope.models.prompts import prompt_of
from scope.models.scheme import load_classifier
from scope.models.torch_setup import load_torch
from scope.models.writing import Spread, Writer
from scope.records import Answer, Prediction, Question

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


@pytest.mark.parametrize(
    ("said", "text", "word"),
    [("in 1066", "in 1066", "in"), ("...", "...", None), ("", None, None), (None, None, None)],
)
def test_answers_and_fillers_are_read_from_replies(open_model, stub, questions, said, text, word):
    stub.words["when ____?"] = said
    asked = questions("when ____?")
    for ask, wanted in ((open_model().answer, text), (open_model().fill, word)):
        ((answer,),) = [in_order(ask(asked))]
        assert answer == (Answer(text=wanted) if wanted else unread(said or ""))


REFUSED, FILTERED = Answer(missing="refused"), refuse(400, "by policy", code="content_filter")
CUT = Answer(missing="cut off")


def likely(*shares):
    return Answer(choice=1, probabilities=(*shares, *[0] * 7))


def unread(text):
    return Answer(missing="not readable" if text.strip() else "empty", reply=text)


def said(*parts, **choice):
    text = (
        parts[0]
        if len(parts) == 1
        else [dict(zip(("type", "text"), p, strict=True)) for p in parts]
    )
    return {"choices": [{"message": {"content": text}} | choice]}


LONG = {"finish_reason": "length"}


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        (reply("I cannot", {"I": 0.999, "B": 1e-9}, {" cannot": 1.0}), unread("I cannot")),
        (reply("B", {"B": 1.0}, finish_reason="content_filter"), REFUSED),
        (reply("B", {"B": 1.0}, message={"content": "B", "refusal": "B"}), REFUSED),
        (reply("", {"</s>": 0.4, "A": 0.3, "B": 0.3}), unread("")),
        (said("B", finish_reason="SAFETY"), REFUSED),
        (FILTERED, REFUSED),
        (refuse(400, "The prompt triggered our content management policy"), REFUSED),
        (refuse(403, "Input flagged by moderation"), REFUSED),
        (TOO_LONG, Answer(truncated=True, missing="cut off")),
        (said("Let me see", **LONG), CUT),
        (said(("text", "The answer "), ("text", "is B")), Answer(choice=1)),
        (said(None, **LONG), CUT),
        (reply("B", {"B": 0.5, " B": 0.1, "A": 0.2}), likely(0.25, 0.75)),
        # The thought's tokens come first, another letter among them.
        (reply("B", {"A": 0.5, "B": 0.4}, {"?": 1}, {"B": 0.75, "A": 0.25}), likely(0.25, 0.75)),
        (reply("B", {"B": 0.5, "A": 0.4}, {"?": 1}), Answer(choice=1)),
        (reply("B", {"B": 0.75, "A": 0.25}, {"<|im_end|>": 1}), likely(0.25, 0.75)),
    ],
    ids=str,
)
def test_a_reply_names_an_option_or_says_why_it_names_none(
    open_model, stub, questions, step, answer
):
    asked = questions("which?", options=tuple("rstuvwxyz"))
    stub.script.append(step if isinstance(step, Say) else Say(body=step))
    assert in_order(open_model(thinking="off").choose(asked)) == [answer]


@pytest.mark.parametrize(
    "failure",
    [
        {"error": {"code": 502, "message": "upstream"}, "message": {"content": ""}},
        {"finish_reason": "error", "message": {"content": "B"}},
    ],
)
def test_a_failure_inside_a_reply_is_asked_again(open_model, stub, questions, failure):
    stub.script.append(Say(body={"choices": [failure]}))
    assert in_order(open_model().answer(questions("when"))) == [Answer(text="when")]


def test_what_a_server_fails_at_alone_costs_one_item(open_model, stub, questions):
    stub.check = lambda body: refuse(500) if "bad" in str(body) else None
    model, failed = open_model(requests=1), Answer(missing="server")
    with pytest.raises(ModelError, match="answered 0 of 1 questions"):
        list(model.answer(questions("bad")))
    answers = in_order(model.answer(questions("bad", "one", "two", "bad!")))
    assert answers == [failed, Answer(text="one"), Answer(text="two"), failed]
    assert in_order(model.answer(questions("bad"))) == [failed]


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


def test_next_tokens_come_of_the_bare_text(open_model, stub):
    stub.likeliest["the cat sat on the"] = {" mat": 0.5, " floor": 0.25}
    (prediction,) = open_model(next_tokens=7).predict_next(["the cat sat on the"])
    assert prediction.tokens == (" mat", " floor")
    assert prediction.probabilities == (0.5, 0.25)
    asked = {"prompt": "the cat sat on the", "temperature": 0, "max_tokens": 1, "logprobs": 7}
    assert asked.items() <= stub.asked[0].items()


@pytest.mark.parametrize(
    ("refusal", "missing"), [(TOO_LONG, "cut off"), (FILTERED, "refused"), (refuse(500), "server")]
)
def test_a_text_without_next_tokens_costs_one_prediction(open_model, stub, refusal, missing):
    stub.likeliest["a"] = {"b": 0.5}
    stub.check = lambda body: refusal if body["prompt"] == "bad" else None
    bad, other = open_model(retries=0).predict_next(["bad", "a"])
    cut = missing == "cut off"
    assert bad == Prediction(probabilities=(), truncated=cut, missing=missing)
    assert other.tokens == ("b",)


def test_next_tokens_without_log_probabilities_end_in_a_message(open_model, stub):
    stub.logprobs = False
    with pytest.raises(ModelError, match="this server gives no log-probabilities"):
        open_model().predict_next(["text"])


@pytest.mark.parametrize(
    ("refusal", "found"),
    [
        (refuse(404, "This is a chat model"), r"has no /completions .*This is a chat model"),
        (refuse(400, "logprobs must be at most 5"), "logprobs must be at most 5"),
    ],
)
def test_completions_that_are_refused_end_in_a_message(open_model, stub, refusal, found):
    stub.check = lambda body: refusal
    with pytest.raises(ModelError, match=found):
        open_model().predict_next(["a text"])


def test_the_prompts_that_come_with_scope_are_used_unless_others_are_given(open_model, stub):
    question = Question(id="0", text="Who won?", context="Ann won.", options=("Ann", "Bob"))
    model = open_model(prompts={})
    for ask in (model.answer, model.fill, model.choose):
        list(ask([question]))
    expected = [prompt_of(name, model._options).parts(question).message for name in PROMPTS]
    assert [body["messages"][0]["content"] for body in stub.asked] == expected
    assert "A. Ann\nB. Bob" in expected[2]


def test_the_fingerprint_covers_what_decides_the_answers_and_no_more(open_model, monkeypatch):
    usual = open_model().fingerprint
    assert open_model(requests=1, timeout=5, retries=0).fingerprint == usual
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert open_model().fingerprint == usual
    others = {
        open_model("other-model").fingerprint,
        open_model(max_answer_tokens=31).fingerprint,
        open_model(next_tokens=19).fingerprint,
        open_model(thinking="on").fingerprint,
        *(open_model(prompts={name: "{text} {options}"}).fingerprint for name in PROMPTS),
    }
    assert len(others - {usual}) == 7


@pytest.mark.parametrize(
    "reply", ["B", "(B)", "The answer is A, since", "Y", "Both", "I would say B", "<think>A", ""]
)
def test_the_same_question_and_reply_is_the_same_choice_of_a_server_and_of_a_model_at_hand(
    open_model, stub, llama, monkeypatch, reply
):
    local = llama(True, ask="letters", prompts=(("choice_letters", "{text}\n{options}"),))
    question = Question(id="0", text="which?", options=("x", "y"))
    sent = open_model().prompt_as_read("choice_letters", question)
    read = local.prompt_as_read("choice_letters", question)
    assert read == f"<s><|user|>{sent}</s><|reply|>"
    tokens = local._head.tokenizer(reply, add_special_tokens=False)["input_ids"] + [1]
    every = load_torch().eye(len(local._head.tokenizer)) * 99

    def read(texts):
        return [every[[tokens[len(text.written)]]] for text in texts]

    writer = Writer(local._decoder.ends, Spread)
    monkeypatch.setattr(
        local._decoder, "write", lambda starts: writer.write(starts, read, lambda _: read)
    )
    stub.logprobs, stub.words["which?"] = False, reply
    here, there = (in_order(model.choose([question]))[0] for model in (local, open_model()))
    assert (here.choice, here.missing, here.reply) == (there.choice, there.missing, there.reply)
    assert len(here.probabilities) == (2 if here.choice is not None and reply != "Y" else 0)


WORDS = {"positive": "good", "negative": "dull"}
LETTERS = "A. good\nB. dull\nAnswer with the letter of the right option alone.\nAnswer:"


def test_the_id_of_the_model_is_known_through_what_makes_it_a_classifier(classifier, stub):
    model = AlignedClassifier(classifier(), ["negative", "positive"], {})
    assert model.served == ""
    stub.script.append(Say(body=reply("A", {"A": 0.9}) | {"model": "weights-of-may"}))
    model.classify(["a film"])
    assert model.served == "weights-of-may"


@pytest.fixture
def classifier(stub):
    def open_classifier(**prompts):
        options = ModelOptions(label_words=WORDS, prompts=prompts, retries=0)
        return load_classifier(f"openai:{stub.url}#{MODEL}", options)

    return open_classifier


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{text} Is it {labels}?", f"{{}} Is it good, dull?\n{LETTERS}"),
        ("{text} Is it {labels}?\nAnswer:\n", f"{{}} Is it good, dull?\n{LETTERS}"),
        ("{text}\n{options}\n{labels}: which?", "{}\nA. good\nB. dull\ngood, dull: which?"),
    ],
)
def test_the_prompt_ends_in_the_letters_unless_it_tells_them(classifier, stub, template, shown):
    wanted = shown.format("A film. Answer: A")
    stub.words[wanted.partition("\n")[0]] = "A"
    classifier(classify=template).classify(["A film. Answer: A"])
    (asked,) = stub.asked
    assert asked["messages"][0]["content"] == wanted


def test_its_predictions_are_the_probabilities_of_the_letters(classifier, stub):
    stub.likeliest |= {"a good film": {"A": 0.6, "B": 0.2}, "a dull film": {"B": 0.9}}
    model = classifier(classify="{text}\n{labels}")
    assert model.labels == ("positive", "negative")
    predictions = model.classify(["a good film", "a dull film"])
    assert [one.probabilities for one in predictions] == [(0.75, 0.25), (0.0, 1.0)]


def test_two_texts_stand_in_the_prompt_by_their_names(stub):
    options = ModelOptions(label_words=WORDS, retries=0, parts=("premise", "hypothesis"))
    stub.words["Premise: A man sleeps."] = "A"
    load_classifier(f"openai:{stub.url}#{MODEL}", options).classify(["A man sleeps.\x1eHe dreams."])
    (asked,) = stub.asked
    assert "Premise: A man sleeps.\nHypothesis: He dreams.\n" in asked["messages"][0]["content"]
