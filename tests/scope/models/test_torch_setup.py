import json
import os
import subprocess
import sys

import pytest

from scope.errors import ModelError
from scope.models import ModelOptions, huggingface, torch_setup
from scope.models.torch_setup import (
    SMALL,
    available_cores,
    choose_device,
    choose_threads,
    load_torch,
    threads_of,
)

BATCHED = """
import json, sys
import torch
from scope.models import ModelOptions, huggingface
huggingface.DECIMALS = 15
classifier = huggingface.load(sys.argv[1], ModelOptions(device="cpu"))
texts = ["a good film", "the plot is", "dull dull dull", "fine is fine", "not the plot"]
alone = [classifier.classify([text])[0].probabilities for text in texts]
together = [prediction.probabilities for prediction in classifier.classify(texts)]
print(json.dumps({"equal": alone == together, "distinct": len(set(alone))}))
"""


@pytest.mark.slow
def test_a_fresh_process_needs_no_setting_for_equal_bits(checkpoints):
    """Even where torch was imported before: the setting is read at its first product."""
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    done = subprocess.run(
        [sys.executable, "-c", BATCHED, str(checkpoints["bert"])],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"equal": True, "distinct": 5}


def test_the_order_of_summation_is_set_and_a_setting_of_the_users_own_stays(monkeypatch):
    monkeypatch.delenv("MKL_CBWR")
    load_torch()
    assert os.environ["MKL_CBWR"] == "AUTO,STRICT"
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    load_torch()
    assert os.environ["MKL_CBWR"] == "COMPATIBLE"


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_fastest_device_there_is(monkeypatch, cuda, mps, chosen):
    torch = load_torch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert choose_device("auto") == torch.device(chosen)
    assert choose_device("cpu") == torch.device("cpu")


def test_an_absent_device_is_named_with_those_present(monkeypatch):
    torch = load_torch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(ModelError) as raised:
        choose_device("cuda")
    assert str(raised.value) == (
        "found:    no cuda device on this machine\n"
        "expected: one of: mps, cpu\n"
        "fix:      leave --device out, or check the driver and the build of torch"
    )


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)


def test_without_a_limit_the_cores_are_those_that_the_process_may_run_on(tmp_path):
    assert available_cores(tmp_path) == 4


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("max 100000", 4), ("200000 100000", 2), ("50000 100000", 1), ("900000 100000", 4), ("x", 4)],
)
def test_the_limit_of_a_container_of_version_2_counts(tmp_path, limit, cores):
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert available_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [(-1, 4), (150_000, 2), (300_000, 3)])
def test_the_limit_of_a_container_of_version_1_counts(tmp_path, quota, cores):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert available_cores(tmp_path) == cores


@pytest.fixture
def threads_spin(monkeypatch):
    monkeypatch.setattr("scope.models.torch_setup.waiting_threads_sleep", lambda: False)


def test_a_model_computes_with_all_threads_where_they_sleep(monkeypatch):
    monkeypatch.setattr("scope.models.torch_setup.waiting_threads_sleep", lambda: True)
    assert threads_of(load_torch().nn.Linear(2, 2)) is None


@pytest.mark.parametrize(
    ("imported", "policy", "sleep"),
    [
        (False, None, True),
        (True, None, False),
        (True, "passive", True),
        (False, "ACTIVE", False),
    ],
)
def test_waiting_threads_sleep_unless_torch_was_imported_before(
    imported, policy, sleep, monkeypatch
):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if policy:
        monkeypatch.setenv("OMP_WAIT_POLICY", policy)
    if not imported:
        monkeypatch.delitem(sys.modules, "torch")
    assert torch_setup.waiting_threads_sleep.__wrapped__() is sleep


@pytest.mark.usefixtures("threads_spin")
def test_where_they_spin_a_small_model_computes_with_one_thread_and_a_large_one_with_all():
    torch = load_torch()
    side = int(SMALL**0.5) + 1
    with torch.device("meta"):
        assert threads_of(torch.nn.Linear(2, 2)) == 1
        assert threads_of(torch.nn.Linear(side, side)) is None


def test_the_number_that_a_user_gives_holds_for_any_model():
    model = load_torch().nn.Linear(2, 2)
    choose_threads(model, 3)
    assert threads_of(model) == 3


@pytest.mark.usefixtures("threads_spin")
@pytest.mark.parametrize(("wanted", "used"), [(None, 1), (2, 2)])
def test_a_checkpoint_answers_with_its_threads_and_to_the_same_bits(checkpoints, wanted, used):
    torch, texts, seen = load_torch(), ["a good film", "dull"], []
    answers = huggingface.load(str(checkpoints["bert"]), ModelOptions(threads=1)).classify(texts)
    loaded = huggingface.load(str(checkpoints["bert"]), ModelOptions(threads=wanted))
    loaded._model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    assert loaded.classify(texts) == answers
    assert set(seen) == {used}
    assert torch.get_num_threads() == before
