"""The oracle is a plain loop over windows and spans; chosen logits show the rules one by one."""

import types

import pytest
from tiny_heads import LIMIT

from scope.errors import ModelError
from scope.models import heads as extractive
from scope.models.checkpoint import Head
from scope.models.heads import ExtractiveModel
from scope.models.inference import AS_GIVEN
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch
from scope.records import Answer, Question

LONGEST = 4
LONG = "bob saw ann in paris. the film was a dull film, who saw bob? ann was good, zebra. " * 4
QUESTIONS = (
    Question(id="0", text="who saw ann?", context="Bob saw Ann in Paris. The film was dull."),
    Question(id="1", text="who was dull?", context=LONG),
    Question(id="2", text="was the film good?", context="ann"),
    Question(id="3", text="who?", context="A film,  \n  in Paris"),
)


@pytest.fixture(scope="session")
def loaded(heads, adapter):
    """Gives the model with a token budget."""
    return lambda token_budget=4096: adapter(heads["bert_qa"], options(token_budget=token_budget))


@pytest.fixture(scope="session")
def plain(heads, as_transformers):
    """Gives the answer by plain transformers, window by window."""
    torch, (tokenizer, model) = load_torch(), as_transformers(heads["bert_qa"], "QuestionAnswering")

    def answer(question):
        asked = tokenizer.tokenize(question.text)
        context = tokenizer(
            question.context, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        # [CLS] question [SEP] passage [SEP]
        room, ahead = LIMIT - len(asked) - 3, len(asked) + 2
        nulls, spans, start = [], [], 0
        while True:
            part = context["input_ids"][start : start + room]
            tokens = [
                tokenizer.cls_token_id,
                *tokenizer.convert_tokens_to_ids(asked),
                tokenizer.sep_token_id,
                *part,
                tokenizer.sep_token_id,
            ]
            types = [0] * ahead + [1] * (len(part) + 1)
            with torch.inference_mode():
                out = model(input_ids=torch.tensor([tokens]), token_type_ids=torch.tensor([types]))
            first, last = out.start_logits[0].tolist(), out.end_logits[0].tolist()
            nulls.append(first[0] + last[0])
            for i in range(len(part)):
                for j in range(i, min(i + LONGEST, len(part))):
                    begin = context["offset_mapping"][start + i][0]
                    end = context["offset_mapping"][start + j][1]
                    spans.append((first[ahead + i] + last[ahead + j], begin, end))
            if start + room >= len(context["input_ids"]):
                break
            start += room - room // 2
        score, begin, end = max(spans)
        return "" if min(nulls) > score else question.context[begin:end]

    return answer


def options(**changed):
    return ModelOptions(**{"device": "cpu", "max_answer_tokens": LONGEST, **changed})


def ask(model, *questions):
    answers = dict(model.answer(questions))
    assert sorted(answers) == list(range(len(questions)))
    return [answers[number] for number in range(len(questions))]


def test_answers_are_the_best_spans_over_all_windows(loaded, plain):
    answers = ask(loaded(), *QUESTIONS)
    assert [answer.text for answer in answers] == [plain(question) for question in QUESTIONS]
    assert len({answer.text for answer in answers}) == len(QUESTIONS)
    for question, answer in zip(QUESTIONS, answers, strict=True):
        assert answer.text in question.context
        assert not answer.truncated


@pytest.mark.bits
def test_logits_are_bit_for_bit_the_same_in_any_budget(loaded, monkeypatch):
    kept = {}
    reading = extractive._reading

    def keep(window, starts, ends, longest):
        key = (window.question, window.offsets[0])
        kept.setdefault(key, set()).add((*starts.tolist(), *ends.tolist()))
        return reading(window, starts, ends, longest)

    monkeypatch.setattr(extractive, "_reading", keep)
    for budget in (1, 64, 4096):
        ask(loaded(budget), *QUESTIONS)
    assert len(kept) > len(QUESTIONS)
    assert all(len(values) == 1 for values in kept.values())


class Chosen:
    """Answers each token with the logits that its id was given."""

    device = "cpu"

    def __init__(self, tokenizer, starts, ends):
        self._tokenizer, self._starts, self._ends = tokenizer, starts, ends

    def modules(self):
        return ()

    def __call__(self, input_ids, token_type_ids):
        def look_up(logits):
            rows = [
                [logits.get(self._tokenizer.convert_ids_to_tokens(token), 0.0) for token in row]
                for row in input_ids.tolist()
            ]
            return load_torch().tensor(rows)

        return types.SimpleNamespace(
            start_logits=look_up(self._starts), end_logits=look_up(self._ends)
        )


def chosen(loaded, starts, ends):
    tokenizer = loaded()._tokenizer
    head = Head(Chosen(tokenizer, starts, ends), tokenizer, "print", LIMIT)
    model = ExtractiveModel(head, "hf:chosen", options())
    vars(model._inference)["_found"] = AS_GIVEN  # nothing is multiplied
    return model


@pytest.mark.parametrize(
    ("starts", "ends", "text"),
    [
        ({"saw": 3}, {"in": 3}, "saw Ann,  in"),
        ({"saw": 3}, {"paris": 3, "in": 1}, "saw Ann,  in"),  # five tokens are one too many
        ({"in": 3, "ann": 1}, {"saw": 3, "paris": 2}, "in Paris"),  # no end before the start
        ({"who": 9}, {"who": 9}, "Bob"),  # the question's own words are no answer
        ({"[CLS]": 2}, {"[CLS]": 2}, ""),
        ({"[CLS]": 2, "bob": 4}, {"[CLS]": 2}, "Bob"),  # as likely as none is an answer
        ({"[SEP]": 9}, {"[SEP]": 9}, "Bob"),
    ],
)
def test_the_best_span_lies_in_the_passage_and_is_short_enough(loaded, starts, ends, text):
    question = Question(id="0", text="who?", context="Bob saw Ann,  in Paris")
    assert ask(chosen(loaded, starts, ends), question) == [Answer(text=text)]


def test_no_answer_is_given_only_where_every_window_says_so():
    """The score of none is the least over the windows."""
    reading = extractive._Reading
    sure, unsure = reading(2.0, (0, 3), 5.0), reading(1.0, (4, 7), 1.5)
    assert extractive._best_text([sure, unsure], "bob saw ann") == "bob"
    none = reading(1.0, (4, 7), 2.5)
    assert extractive._best_text([sure, none], "bob saw ann") == ""


def test_a_long_question_is_cut_at_half_the_limit(loaded):
    half = LIMIT // 2
    exact, over = ask(
        loaded(),
        Question(id="0", text=" ".join(["film"] * half), context=LONG),
        Question(id="1", text=" ".join(["film"] * half + ["zebra"]), context=LONG),
    )
    assert (exact.truncated, over.truncated) == (False, True)
    assert over.text == exact.text


def test_a_question_without_a_passage_is_refused(loaded):
    with pytest.raises(ModelError, match="has no context for the question 'q7'"):
        ask(loaded(), QUESTIONS[0], Question(id="q7", text="who?", context=" \n"))


def test_a_passage_of_nothing_that_the_tokenizer_knows_holds_no_answer(loaded):
    assert ask(loaded(), Question(id="0", text="who?", context="\x07")) == [Answer(text="")]


def test_a_slow_tokenizer_is_refused():
    tokenizer = type("Tokenizer", (), {"is_fast": False})()
    head = Head(model=None, tokenizer=tokenizer, fingerprint="", limit=9)
    with pytest.raises(ModelError, match=r"the tokenizer of `x` \(Tokenizer\) gives no offsets"):
        ExtractiveModel(head, "hf:x", options())
