"""The same reply is the same answer, whether a server or a model at hand writes it."""

import pytest

from scope.records import BLANK, Answer, Question

REPLIES = (
    "in 1066",
    '\n\n  "in 1066"  \nas every child knows',
    "“‘in 1066’”",
    '"Go" and "Come"',
    'The missing word is "river", I think.',
    '"the" river',
    'river". The next is "sea".',
    "**river**.",
    "____ river\n\nIt is wet.",
    '""\nriver',
    "¿río?",
    "unanswerable",
    "...",
    "\n \n",
    "",
)


def spoken(model, reply, monkeypatch):
    """What the model at hand answers and fills where it would write this reply."""
    tokens = model._head.tokenizer(reply, add_special_tokens=False)["input_ids"]

    def write(rows, longest, is_over):
        ends = (end for end in range(1, len(tokens) + 1) if is_over(tokens[:end]))
        return [tokens[: next(ends, len(tokens))] for _ in rows]

    monkeypatch.setattr(model._decoder, "write", write)
    return asked(model)


def asked(model):
    question = Question(id="0", text=f"which {BLANK}?")
    return [next(iter(ask([question])))[1] for ask in (model.answer, model.fill)]


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_is_the_same_answer_of_a_server_and_of_a_model_at_hand(
    open_model, stub, llama, monkeypatch, reply
):
    stub.words[f"which {BLANK}?"] = reply
    assert spoken(llama(True), reply, monkeypatch) == asked(open_model())


def test_silence_is_given_by_neither(open_model, stub, llama, monkeypatch):
    stub.words[f"which {BLANK}?"] = ""
    assert spoken(llama(True), "", monkeypatch) == asked(open_model()) == [Answer(), Answer()]
