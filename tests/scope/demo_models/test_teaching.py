from dataclasses import replace

import numpy as np
import pytest
import torch

from scope.demo_models.recipes import StudentRecipe, TrainingRecipe
from scope.demo_models.teaching import (
    count_distillation,
    distil,
    gold_probabilities,
    student_of,
    teach_labels,
)
from scope.demo_models.training import answer, encode_texts
from scope.demo_models.upper_layers import read_lower_layers
from scope.errors import DataError
from scope.records import Example

TEACHING = TrainingRecipe(texts=64, epochs=5, learning_rate=1e-2, batch_size=16)


def ignore(units=1, /):
    pass


def ask(base, examples):
    encodings = encode_texts(base.tokenizer, [example.text for example in examples], 32)
    return answer(base.model.eval(), encodings, pad_token=0, batch_size=16, advance=ignore)


def test_a_student_has_the_chosen_layers_of_its_teacher_and_all_else(tiny_base):
    teacher = tiny_base(0).model
    student = student_of(teacher, (0, 2))
    assert student.config.num_hidden_layers == len(student.bert.encoder.layer) == 2
    expected = teacher.state_dict()
    for name, tensor in student.state_dict().items():
        origin = name.replace("encoder.layer.1.", "encoder.layer.2.")
        assert torch.equal(tensor, expected[origin]), name


def test_changing_a_student_leaves_its_teacher_alone(tiny_base):
    teacher = tiny_base(0).model
    before = teacher.classifier.weight.clone()
    student = student_of(teacher, (0,))
    with torch.no_grad():
        student.classifier.weight.add_(1.0)
        student.bert.encoder.layer[0].output.dense.weight.add_(1.0)
    assert torch.equal(teacher.classifier.weight, before)
    assert teacher.config.num_hidden_layers == len(teacher.bert.encoder.layer) == 3


def test_a_student_learns_its_teachers_answers_without_any_label(tiny_base, tiny_recipe, examples):
    teacher = tiny_base(0)
    # A teacher that is wrong everywhere shows that the student follows it and not the truth.
    wrong = [
        Example(id=e.id, text=e.text, label="negative" if e.label == "positive" else "positive")
        for e in examples
    ]
    teach_labels(teacher, wrong, TEACHING, seed=0, advance=ignore)
    recipe = replace(tiny_recipe, student=StudentRecipe(layers=(0, 2), training=TEACHING))
    encodings = encode_texts(teacher.tokenizer, [example.text for example in examples], 32)
    lower = read_lower_layers(
        teacher.model,
        encodings,
        (recipe.student_frozen, recipe.reference_frozen),
        pad_token=0,
        batch_size=16,
        advance=ignore,
    )
    counted = []
    student = distil(
        teacher,
        lower,
        recipe,
        seed=1,
        advance=lambda units=1, /: counted.append(units),
    )
    assert np.abs(ask(student, examples) - ask(teacher, examples)).mean() < 0.05
    found = ask(student, examples).argmax(axis=1)
    assert (found != gold_probabilities(examples).argmax(axis=1)).all()
    assert sum(counted) == count_distillation(64, TEACHING) == 4 + 20


def test_a_label_that_the_demo_does_not_know_is_an_error():
    with pytest.raises(DataError) as error:
        gold_probabilities([Example(id="9", text="so so", label="neutral")])
    assert error.value.found == "example '9' has the label 'neutral'"
    assert error.value.expected == "one of: negative, positive"


def test_a_missing_label_is_an_error():
    with pytest.raises(DataError, match="the label None"):
        gold_probabilities([Example(id="9", text="so so")])
