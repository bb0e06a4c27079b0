"""Questions for tiny causal language models, and what plain transformers makes of them."""

import itertools

import pytest

from scope.models.prompts import Prompt
from scope.models.torch_setup import load_torch
from scope.records import Question

BUDGETS = (1, 64, 4096)
PROMPTS = {
    "answer": "{context}\nwho saw {text}\nsay:",
    "cloze": "fill ____: {text}\nword:",
    "choice": "{context} {text}\nsay:",
}
CONTEXTS = ("the film was good", "ann saw bob in paris", None)
ASKED = [
    Question(id=f"{number}", text=text, context=context)
    for number, (text, context) in enumerate(
        itertools.product(("ann?", "the dull film?", "zoé?", "bob in a?"), CONTEXTS)
    )
]
CLOZES = [
    Question(id=str(number), text=text)
    for number, text in enumerate(
        ("the ____ was good", "ann saw ____", "____ saw bob", "who was ____?", "a ____ in paris")
    )
]
CHOICES = [
    Question(id=f"{number}", text=text, context=context, options=options)
    for number, (text, context, options) in enumerate(
        [
            ("who saw?", None, ("ann", "bob", "zoé")),
            ("who was?", None, ("the dull film", "a", "in paris, bob!")),
            ("who saw?", None, ("bob", "paris")),
            ("who saw?", "the film", ("ann", "ann", "good")),
            ("who saw bob in paris?", "a film", ("x", "no film was that dull")),
        ]
    )
]
TEXTS = ["the film was", "ann saw bob in", "a", "who saw the dull film in paris", "é", "who was in"]

OWN = tuple(PROMPTS.items())

chat_or_not = pytest.mark.parametrize("chat", [True, False], ids=["chat", "plain"])


def rendered(name, question):
    return Prompt(name=name, template=PROMPTS[name]).render(question)


def prompt_tokens(tokenizer, text):
    """As transformers makes them."""
    if tokenizer.chat_template is None:
        return tokenizer(text)["input_ids"]
    message = [{"role": "user", "content": text}]
    return tokenizer.apply_chat_template(message, add_generation_prompt=True, return_dict=False)


def log_probabilities(model, tokens):
    torch = load_torch()
    with torch.inference_mode():
        return model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(dim=-1)


def every_answer(model):
    return {
        "answer": dict(model.answer(ASKED)),
        "fill": dict(model.fill(CLOZES)),
        "choose": dict(model.choose(CHOICES)),
        "predict_next": dict(enumerate(model.predict_next(TEXTS))),
        "perplexities": dict(enumerate(model.perplexities(TEXTS))),
    }
