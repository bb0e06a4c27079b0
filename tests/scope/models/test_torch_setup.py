import os
import sys

import pytest

from scope.errors import ModelError
from scope.models import huggingface, torch_setup
from scope.models.options import ModelOptions
from scope.models.torch_setup import (
    SMALL,
    available_cores,
    choose_device,
    choose_threads,
    load_torch,
    threads_of,
)


def test_the_order_of_summation_is_set_and_a_setting_of_the_users_own_stays(monkeypatch):
    monkeypatch.delenv("MKL_CBWR")
    load_torch()
    assert os.environ["MKL_CBWR"] == "AUTO,STRICT"
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    load_torch()
    assert os.environ["MKL_CBWR"] == "COMPATIBLE"


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
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
    with pytest.raises(ModelError, match=r"no cuda device .*\nexpected: one of: mps, cpu\n"):
        choose_device("cuda")


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)


@pytest.mark.parametrize(
    ("limit", "cores"),
    [(None, 4), ("max 1000", 4), ("2000 1000", 2), ("500 1000", 1), ("9000 1000", 4), ("x", 4)],
)
def test_the_limit_of_a_container_of_version_2_counts(tmp_path, limit, cores):
    if limit:
        (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert available_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [(-1, 4), (150_000, 2), (300_000, 3)])
def test_the_limit_of_a_container_of_version_1_counts(tmp_path, quota, cores):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert available_cores(tmp_path) == cores


@pytest.mark.parametrize(
    ("imported", "policy", "sleep"),
    [(False, None, True), (True, None, False), (True, "passive", True), (False, "ACTIVE", False)],
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


def test_where_threads_spin_a_small_model_computes_with_one_unless_the_user_says_otherwise(
    monkeypatch,
):
    torch = load_torch()
    side = int(SMALL**0.5) + 1
    with torch.device("meta"):
        small, large = torch.nn.Linear(2, 2), torch.nn.Linear(side, side)
    monkeypatch.setattr(torch_setup, "waiting_threads_sleep", lambda: True)
    assert threads_of(small) is None
    monkeypatch.setattr(torch_setup, "waiting_threads_sleep", lambda: False)
    assert (threads_of(small), threads_of(large)) == (1, None)
    choose_threads(large, 3)
    assert threads_of(large) == 3


@pytest.mark.parametrize(("wanted", "used"), [(None, 1), (2, 2)])
def test_a_checkpoint_answers_with_its_threads_and_to_the_same_bits(
    checkpoints, wanted, used, monkeypatch
):
    monkeypatch.setattr(torch_setup, "waiting_threads_sleep", lambda: False)
    torch, texts, seen = load_torch(), ["a good film", "dull"], []
    answers = huggingface.load(str(checkpoints["bert"]), ModelOptions(threads=1)).classify(texts)
    loaded = huggingface.load(str(checkpoints["bert"]), ModelOptions(threads=wanted))
    loaded._model.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    assert loaded.classify(texts) == answers
    assert set(seen) == {used}
    assert torch.get_num_threads() == before
