from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from seeded import contents

from scope.data.sampling import LoadedData, load_data
from scope.demo_models import build
from scope.demo_models.build import (
    build_demo_models,
    build_models,
    gold_probabilities,
    load_base,
    save_base,
    student_of,
)
from scope.demo_models.training import DEMO, answer, encode_texts, train_classifier
from scope.models.scheme import load_classifier
from scope.models.torch_setup import releases
from scope.records import DataCard


def ignore(units=1, /):
    pass


KEY = DEMO.key(seed=0, data="abc")


@pytest.mark.parametrize(
    "changed",
    [
        DEMO.key(seed=1, data="abc"),
        DEMO.key(seed=0, data="abd"),
        replace(DEMO, version=DEMO.version + 1).key(seed=0, data="abc"),
        replace(DEMO, student=replace(DEMO.student, layers=(0, 1, 2, 4))).key(seed=0, data="abc"),
    ],
)
def test_the_key_changes_with_everything_that_changes_the_models(changed):
    assert changed != KEY == replace(DEMO).key(seed=0, data="abc")


def test_a_student_has_the_chosen_layers_of_its_teacher_and_is_a_copy(tiny_base):
    teacher = tiny_base(0).model
    expected = {name: tensor.clone() for name, tensor in teacher.state_dict().items()}
    student = student_of(teacher, (0, 2))
    assert student.config.num_hidden_layers == len(student.bert.encoder.layer) == 2
    for name, tensor in student.state_dict().items():
        origin = name.replace("encoder.layer.1.", "encoder.layer.2.")
        assert torch.equal(tensor, expected[origin]), name
    with torch.no_grad():
        student.classifier.weight.zero_()
    assert torch.equal(teacher.classifier.weight, expected["classifier.weight"])
    assert teacher.config.num_hidden_layers == len(teacher.bert.encoder.layer) == 3


def test_a_student_learns_its_teachers_answers_without_any_label(
    tmp_path, tiny_base, tiny_recipe, examples, build_tiny
):
    teacher = tiny_base(0)
    # A teacher that is wrong everywhere shows that the student follows it and not the truth.
    encodings = encode_texts(teacher.tokenizer, [example.text for example in examples], 32)
    wrong, training = 1 - gold_probabilities(examples), tiny_recipe.reference
    train_classifier(teacher.model, encodings, wrong, training, 0, ignore, pad_token=0)
    save_base(teacher, tmp_path / "reference")
    student = load_base(build_tiny(tmp_path).student)
    answers = answer(student.model.eval(), encodings, 16, ignore, pad_token=0)
    assert (answers.argmax(axis=1) == wrong.argmax(axis=1)).all()


MODELS = ("reference", "student", "independent", "another-seed", "eight-bits", "pruned")
READING = "reading training texts"


class Recorder:
    """Progress that remembers what it was told, and can be killed in a task."""

    def __init__(self, kill_in=None):
        self.totals = {}
        self.done = {}
        self.kill_in = kill_in

    @contextmanager
    def task(self, description, total):
        self.totals[description] = total
        self.done[description] = 0

        def advance(units=1, /):
            self.done[description] += units
            if description == self.kill_in:
                raise KeyboardInterrupt

        yield advance


@pytest.fixture(scope="module")
def build_tiny(examples, tiny_recipe, tiny_base):
    def run(home, *, seed=0, progress=None):
        return build_models(
            home, examples, tiny_recipe, seed=seed, progress=progress, base=tiny_base
        )

    return run


@pytest.fixture(scope="module")
def built(build_tiny, tmp_path_factory):
    """The folder of a build, its models, and the progress it showed."""
    home, progress = tmp_path_factory.mktemp("built"), Recorder()
    return home, build_tiny(home, progress=progress), progress


def test_four_classifiers_of_the_demos_labels_are_built(built, examples):
    _, models, _ = built
    classifiers = [
        load_classifier(str(path))
        for path in (models.reference, models.student, models.independent, models.another_seed)
    ]
    assert [classifier.labels for classifier in classifiers] == [("negative", "positive")] * 4
    found = classifiers[0].classify([example.text for example in examples])
    right = [one.label == (e.label == "positive") for one, e in zip(found, examples, strict=True)]
    assert np.mean(right) > 0.9
    assert len({classifier.fingerprint for classifier in classifiers}) == 4


def test_the_copies_are_the_reference_in_eight_bits_and_without_most_weights(built):
    _, models, _ = built
    layer = "bert.encoder.layer.0.output.dense.weight"
    folders = (models.reference, models.eight_bits, models.pruned)
    exact, rounded, sparse = (load_file(path / "model.safetensors")[layer] for path in folders)
    assert len(rounded[0].unique()) <= 255
    assert (rounded - exact).abs().max() <= exact.abs().max() / 127
    assert (sparse == 0).float().mean().item() == pytest.approx(0.8, abs=0.01)
    left = sparse != 0
    assert (sparse[left] == exact[left]).all()
    assert exact[left].abs().min() >= exact[~left].abs().max()


def test_a_build_that_is_killed_in_each_training_goes_on_and_ends_the_same(
    tmp_path, built, build_tiny
):
    trainings = ["training reference", "distilling student"]
    trainings += ["training independent", "training another seed"]
    for place, task in enumerate(trainings):
        progress = Recorder(kill_in=task)
        with pytest.raises(KeyboardInterrupt):
            build_tiny(tmp_path, progress=progress)
        assert {path.name for path in tmp_path.iterdir()} - {".lock"} == set(MODELS[:place])
        # Nothing is trained again but what the session before was killed in.
        again = trainings[max(0, place - 1) : place + 1]
        assert [one for one in progress.totals if one != READING] == again
    build_tiny(tmp_path)
    assert contents(tmp_path) == contents(built[0])


def test_nothing_is_trained_twice(built, build_tiny):
    home, models, first = built
    assert first.done == first.totals
    again = Recorder()
    assert build_tiny(home, progress=again) == models
    assert again.totals == {}


def test_two_builds_at_once_train_each_model_once(tmp_path, build_tiny):
    watchers = [Recorder(), Recorder()]
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda progress: build_tiny(tmp_path, progress=progress), watchers))
    assert both[0] == both[1]
    assert sorted(len(progress.totals) for progress in watchers) == [0, 5]


def test_another_seed_or_recipe_lies_in_another_folder(
    tmp_path, monkeypatch, examples, tiny_recipe
):
    card = DataCard(spec="demo:tweets-train", fingerprint="f", rows=64, used=64)
    asked = []

    def load(spec, *, n, seed):
        asked.append((spec, n, seed))
        return LoadedData(examples=tuple(examples), card=card)

    monkeypatch.setattr(build, "load_data", load)
    monkeypatch.setattr(build, "DEMO", tiny_recipe)
    monkeypatch.setattr(build, "build_models", lambda home, *_: home)
    first = build_demo_models(tmp_path)
    second = build_demo_models(tmp_path, seed=1)
    monkeypatch.setattr(build, "DEMO", replace(tiny_recipe, version=tiny_recipe.version + 1))
    third = build_demo_models(tmp_path)
    assert len({first, second, third}) == 3
    assert first == tmp_path / f"demo-{tiny_recipe.key(seed=0, data='f')}-{releases()}"
    assert asked == [("demo:tweets-train", 64, seed) for seed in (0, 1, 0)]


@pytest.mark.slow
def test_the_real_models_are_good_and_the_student_takes_after_its_teacher(tmp_path):
    models = build_demo_models(tmp_path)
    examples = load_data("demo:tweets", n=1000, seed=0).examples
    gold = np.array([example.label == "positive" for example in examples])
    texts = [example.text for example in examples]
    answers = {
        name: np.array(
            [
                prediction.probabilities[1]
                for prediction in load_classifier(
                    str(getattr(models, name.replace("-", "_")))
                ).classify(texts)
            ]
        )
        for name in MODELS
    }
    found = {name: answer > 0.5 for name, answer in answers.items()}
    for name, bound in (("reference", 0.86), ("student", 0.85), ("independent", 0.80)):
        # Both labels count alike: seven tweets in ten are negative.
        accuracy = np.mean([np.mean(found[name][gold == side] == side) for side in (True, False)])
        assert accuracy >= bound, (name, accuracy)
    student = np.mean(found["student"] == found["reference"])
    independent = np.mean(found["independent"] == found["reference"])
    assert student > independent + 0.02
