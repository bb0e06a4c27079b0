"""Whose answers runs may share, and what is another identity."""

import os

import pytest
from hub.tiny import write_tiny_model

from scope.models.labels import AlignedClassifier
from scope.models.options import ModelOptions
from scope.models.scheme import OneInMemory, load_classifier, mark_cacheable
from scope.models.torch_setup import hash_of_source, identity_of


@pytest.fixture(scope="module")
def folder(heads):
    return str(heads["classifier"])


def load(folder, **options):
    given = ModelOptions(device="cpu", **options)
    return mark_cacheable(load_classifier(folder, given), "hf:x", given)


@pytest.fixture
def model(folder):
    found = load(folder)
    if not found.reproducible.startswith("to the byte"):
        pytest.skip("no number of rows gives equal bits here")
    return found


def test_a_checkpoint_loaded_again_has_the_same_identity(folder, model):
    assert identity_of(model) == identity_of(load(folder))
    assert model.fingerprint in identity_of(model)


def test_precision_and_weights_are_part_of_the_identity(folder, model, tmp_path):
    write_tiny_model(tmp_path / "other", seed=1)
    others = [load(folder, dtype="bfloat16"), load(str(tmp_path / "other"))]
    assert identity_of(model) not in map(identity_of, others)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("scope.models.torch_setup.version", lambda name: "9.9"),
        ("scope.models.torch_setup.processor", lambda: "another one"),
        ("scope.models.torch_setup.hash_of_source", lambda *_: "another release"),
        ("torch.get_num_threads", lambda: 77),
        ("os.environ", {**os.environ, "ONEDNN_MAX_CPU_ISA": "SSE41"}),
    ],
)
def test_what_computes_answers_is_part_of_the_identity(folder, model, place, value, monkeypatch):
    before = identity_of(model)
    monkeypatch.setattr(place, value)
    assert identity_of(load(folder)) not in (before, None)


def test_the_order_of_labels_is_part_of_the_identity(model):
    same, other = (
        AlignedClassifier(model, labels, {}) for labels in (("bad", "good"), ("good", "bad"))
    )
    assert identity_of(same) == identity_of(model)
    assert identity_of(other) not in (identity_of(model), None)


def test_a_parked_model_has_its_own_identity(folder, model):
    assert identity_of(OneInMemory().add(lambda: load(folder))) == identity_of(model)


def test_objects_of_the_users_have_no_identity(model):
    class Proxy:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

    assert identity_of(Proxy(model)) is None
    assert identity_of(AlignedClassifier(Proxy(model), model.labels, {})) is None


@pytest.mark.parametrize("scheme", ["python", "plugin"])
def test_other_schemes_have_no_identity(model, scheme):
    vars(model).pop("computed_by")
    assert identity_of(mark_cacheable(model, f"{scheme}:x", ModelOptions(device="cpu"))) is None


def test_a_checkpoint_that_may_bring_code_has_no_identity(folder):
    assert identity_of(load(folder, trust_remote_code=True)) is None


def test_a_model_whose_answers_depend_on_the_batch_has_no_identity(model, monkeypatch):
    monkeypatch.setattr(type(model), "reproducible", "to about 2e-06")
    assert identity_of(model) is None


def test_the_tables_of_a_package_are_part_of_its_source(tmp_path, monkeypatch):
    package = tmp_path / "package_with_a_table"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    hashes = set()
    for content in ("a\tb", "a\tc"):
        (package / "words.tsv").write_text(content)
        hash_of_source.cache_clear()
        hashes.add(hash_of_source("package_with_a_table"))
    assert len(hashes) == 2
