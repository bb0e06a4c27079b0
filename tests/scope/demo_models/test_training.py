import numpy as np
import pytest
import torch

from scope.demo_models.build import gold_probabilities
from scope.demo_models.recipes import TrainingRecipe
from scope.demo_models.training import (
    answer,
    count_steps,
    encode_texts,
    pad,
    seeded_torch,
    train_classifier,
)

RECIPE = TrainingRecipe(texts=64, epochs=5, learning_rate=1e-2, batch_size=16)


class Counter:
    def __init__(self):
        self.units = 0

    def __call__(self, units=1, /):
        self.units += units


def learn(base, examples, *, seed=0, recipe=RECIPE, targets=None, advance=None):
    encodings = encode_texts(base.tokenizer, [example.text for example in examples], 32)
    targets = gold_probabilities(examples) if targets is None else targets
    return encodings, train_classifier(
        base.model,
        encodings,
        targets,
        recipe,
        pad_token=base.tokenizer.pad_token_id,
        seed=seed,
        advance=advance or Counter(),
    )


def weights_of(model):
    return torch.cat([tensor.flatten() for tensor in model.state_dict().values()])


def ask(base, encodings, *, batch_size=16):
    return answer(
        base.model,
        encodings,
        pad_token=base.tokenizer.pad_token_id,
        batch_size=batch_size,
        advance=Counter(),
    )


def test_a_separable_toy_set_is_learned(tiny_base, examples):
    base = tiny_base(0)
    encodings, losses = learn(base, examples)
    assert losses[0] == pytest.approx(np.log(2), abs=0.1)
    assert np.mean(losses[-4:]) < 0.2
    found = ask(base, encodings).argmax(axis=1)
    assert (found == gold_probabilities(examples).argmax(axis=1)).all()


def test_soft_targets_are_learned_as_probabilities_and_not_as_labels(tiny_base, examples):
    base = tiny_base(0)
    targets = np.where(gold_probabilities(examples) == 1, 0.7, 0.3).astype(np.float32)
    encodings, _ = learn(base, examples, targets=targets)
    assert np.abs(ask(base, encodings) - targets).max() < 0.1


def test_the_same_seed_gives_the_same_weights_whatever_was_drawn_before(tiny_base, examples):
    first, second = tiny_base(0), tiny_base(0)
    learn(first, examples, seed=3)
    torch.rand(17)
    learn(second, examples, seed=3)
    assert torch.equal(weights_of(first.model), weights_of(second.model))


def test_another_seed_gives_other_weights(tiny_base, examples):
    first, second = tiny_base(0), tiny_base(0)
    learn(first, examples, seed=3)
    learn(second, examples, seed=4)
    assert not torch.equal(weights_of(first.model), weights_of(second.model))


def test_training_leaves_the_callers_generator_alone(tiny_base, examples):
    base = tiny_base(0)
    before = torch.random.get_rng_state()
    learn(base, examples)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_seeded_torch_draws_the_same_numbers_again():
    with seeded_torch(5):
        first = torch.rand(3)
    with seeded_torch(5):
        assert torch.equal(torch.rand(3), first)


def test_every_step_is_counted_and_the_last_batch_may_be_small(tiny_base, examples):
    recipe = TrainingRecipe(texts=50, epochs=3, learning_rate=1e-3, batch_size=16)
    counter = Counter()
    _, losses = learn(tiny_base(0), examples[:50], recipe=recipe, advance=counter)
    assert counter.units == len(losses) == count_steps(50, recipe) == 12


def test_a_learning_rate_of_zero_changes_nothing(tiny_base, examples):
    base = tiny_base(0)
    before = weights_of(base.model).clone()
    learn(base, examples, recipe=TrainingRecipe(texts=64, epochs=1, learning_rate=0.0))
    assert torch.equal(weights_of(base.model), before)


def test_answers_are_those_of_one_text_at_a_time_in_the_order_asked(tiny_base, examples):
    base = tiny_base(0)
    encodings, _ = learn(base, examples)
    singly = []
    for encoding in encodings:
        with torch.inference_mode():
            logits = base.model(input_ids=torch.tensor([encoding])).logits
        singly.append(logits.softmax(dim=-1).numpy()[0])
    np.testing.assert_allclose(ask(base, encodings, batch_size=7), singly, atol=1e-5)


def test_long_texts_are_cut_and_keep_their_end_mark(tiny_base):
    tokenizer = tiny_base(0).tokenizer
    (encoding,) = encode_texts(tokenizer, ["good " * 40], 6)
    assert tokenizer.convert_ids_to_tokens(encoding) == ["[CLS]", *["good"] * 4, "[SEP]"]


def test_padding_is_masked():
    batch = pad([[4], [5, 6, 7]], pad_token=9)
    assert batch["input_ids"].tolist() == [[4, 9, 9], [5, 6, 7]]
    assert batch["attention_mask"].tolist() == [[1, 0, 0], [1, 1, 1]]
