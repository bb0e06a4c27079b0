import numpy as np
import pytest
import torch

from scope.demo_models.build import gold_probabilities
from scope.demo_models.recipes import TrainingRecipe
from scope.demo_models.training import (
    answer,
    answer_from,
    encode_texts,
    pad,
    read_lower_layers,
    train_upper_layers,
)

RECIPE = TrainingRecipe(texts=64, epochs=4, learning_rate=1e-2, batch_size=16)


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


def read(model, encodings, depths=(1, 2), advance=None):
    return read_lower_layers(
        model, encodings, depths, pad_token=0, batch_size=7, advance=advance or Counter()
    )


def learn(model, lower, examples, frozen, advance=None):
    train_upper_layers(
        model,
        lower,
        gold_probabilities(examples),
        RECIPE,
        frozen=frozen,
        seed=0,
        advance=advance or Counter(),
    )


def weights_of(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def test_kept_vectors_are_those_of_the_whole_model_and_one_text(base, encodings):
    lower = read(base.model, encodings)
    for rows, encoding in zip(lower.rows, encodings, strict=True):
        with torch.inference_mode():
            expected = base.model(**pad([encoding], 0), output_hidden_states=True).hidden_states
        for depth in (1, 2):
            torch.testing.assert_close(lower.after[depth][rows], expected[depth][0])


@pytest.mark.parametrize("frozen", [1, 2])
def test_answers_from_kept_vectors_are_those_of_the_whole_model(base, encodings, frozen):
    lower = read(base.model, encodings)
    found = answer_from(base.model.eval(), lower, frozen=frozen, batch_size=16, advance=Counter())
    expected = answer(base.model.eval(), encodings, pad_token=0, batch_size=16, advance=Counter())
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("frozen", [1, 2])
def test_training_changes_the_upper_layers_and_nothing_below(base, encodings, examples, frozen):
    before = weights_of(base.model)
    learn(base.model, read(base.model, encodings), examples, frozen)
    kept = ("bert.embeddings.", *(f"bert.encoder.layer.{index}." for index in range(frozen)))
    for name, tensor in base.model.state_dict().items():
        assert torch.equal(tensor, before[name]) == name.startswith(kept), name


def test_what_was_trained_on_kept_vectors_has_learned_texts(base, encodings, examples):
    learn(base.model, read(base.model, encodings), examples, 1)
    found = answer(base.model, encodings, pad_token=0, batch_size=16, advance=Counter())
    assert (found.argmax(axis=1) == gold_probabilities(examples).argmax(axis=1)).all()


def test_the_first_texts_are_read_from_the_same_vectors(base, encodings):
    lower = read(base.model, encodings)
    few = lower.first(3)
    assert few.rows == lower.rows[:3]
    assert few.after is lower.after


def test_a_killed_training_leaves_the_model_with_all_its_layers(base, encodings, examples):
    def kill(units=1, /):
        raise KeyboardInterrupt

    names = list(base.model.state_dict())
    with pytest.raises(KeyboardInterrupt):
        learn(base.model, read(base.model, encodings), examples, 1, advance=kill)
    assert list(base.model.state_dict()) == names


def test_every_batch_and_every_step_is_counted(base, encodings, examples):
    reading, training = Counter(), Counter()
    lower = read(base.model, encodings, advance=reading)
    learn(base.model, lower, examples, 1, advance=training)
    assert (reading.units, training.units) == (10, 16)
