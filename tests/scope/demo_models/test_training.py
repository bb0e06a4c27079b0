"""Training of all weights, and of the upper layers on what the frozen lower ones give."""

import numpy as np
import pytest
import torch

from scope.demo_models.build import gold_probabilities
from scope.demo_models.training import (
    TrainingRecipe,
    answer,
    answer_from,
    encode_texts,
    read_lower_layers,
    train_classifier,
)

RECIPE = TrainingRecipe(texts=64, epochs=5, learning_rate=1e-2, batch_size=16)


class Counter:
    units = 0

    def __call__(self, units=1, /):
        self.units += units


@pytest.fixture
def base(tiny_base):
    return tiny_base(0)


@pytest.fixture
def encodings(base, examples):
    return encode_texts(base.tokenizer, [example.text for example in examples], 32)


@pytest.fixture
def gold(examples):
    return gold_probabilities(examples)


def train(base, encodings, targets, *, seed=0, recipe=RECIPE, advance=None):
    return train_classifier(
        base.model, encodings, targets, recipe, seed, advance or Counter(), pad_token=0
    )


def ask(model, encodings, batch_size=16):
    return answer(model.eval(), encodings, batch_size, Counter(), pad_token=0)


def test_a_separable_toy_set_is_learned(base, encodings, gold):
    losses = train(base, encodings, gold)
    assert losses[0] == pytest.approx(np.log(2), abs=0.1)
    assert np.mean(losses[-4:]) < 0.2
    assert (ask(base.model, encodings).argmax(axis=1) == gold.argmax(axis=1)).all()


def test_answers_are_those_of_one_text_at_a_time_in_the_order_asked(base, encodings):
    singly = []
    for encoding in encodings:
        with torch.inference_mode():
            logits = base.model.eval()(input_ids=torch.tensor([encoding])).logits
        singly.append(logits.softmax(dim=-1).numpy()[0])
    np.testing.assert_allclose(ask(base.model, encodings, batch_size=7), singly, atol=1e-5)


def read(model, encodings, advance=None):
    return read_lower_layers(
        model, encodings, (1, 2), advance or Counter(), pad_token=0, batch_size=7
    )


@pytest.mark.parametrize("frozen", [1, 2])
def test_answers_from_kept_vectors_are_those_of_the_whole_model(base, encodings, frozen):
    lower = read(base.model, encodings)
    found = answer_from(base.model.eval(), lower.first(9), 16, Counter(), frozen=frozen)
    np.testing.assert_allclose(found, ask(base.model, encodings)[:9], atol=1e-6)
