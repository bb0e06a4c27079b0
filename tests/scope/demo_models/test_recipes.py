from dataclasses import replace

import pytest

from scope.demo_models.recipes import DEMO, TrainingRecipe

KEY = DEMO.key(seed=0, data="abc")


def test_the_key_is_the_same_for_equal_recipes():
    assert replace(DEMO).key(seed=0, data="abc") == KEY
    assert len(KEY) == 12


@pytest.mark.parametrize(
    "changed",
    [
        DEMO.key(seed=1, data="abc"),
        DEMO.key(seed=0, data="abd"),
        replace(DEMO, version=DEMO.version + 1).key(seed=0, data="abc"),
        replace(DEMO, reference=replace(DEMO.reference, longest=47)).key(seed=0, data="abc"),
        replace(DEMO, student=replace(DEMO.student, layers=(0, 1, 2, 4))).key(seed=0, data="abc"),
        replace(DEMO, reference_frozen=3).key(seed=0, data="abc"),
        replace(DEMO, independent=replace(DEMO.independent, width=64)).key(seed=0, data="abc"),
    ],
)
def test_the_key_changes_with_whatever_changes_the_models(changed):
    assert changed != KEY


def test_as_many_texts_are_read_as_the_hungriest_model_takes():
    few = TrainingRecipe(texts=3, epochs=1, learning_rate=1e-3)
    recipe = replace(
        DEMO,
        reference=few,
        student=replace(DEMO.student, training=replace(few, texts=7)),
        independent=replace(DEMO.independent, training=few),
    )
    assert recipe.texts() == 7


@pytest.mark.parametrize("frozen", [0, DEMO.reference_frozen + 1])
def test_a_students_frozen_layers_are_frozen_in_the_reference_too(frozen):
    with pytest.raises(ValueError, match=f"{frozen} frozen of {DEMO.reference_frozen}"):
        replace(DEMO, student_frozen=frozen)


def test_a_students_frozen_layers_are_its_teachers_lowest():
    with pytest.raises(ValueError, match="do not begin with"):
        replace(DEMO, student=replace(DEMO.student, layers=(0, 2, 5)), student_frozen=2)
