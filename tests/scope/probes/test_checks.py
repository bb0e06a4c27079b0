import numpy as np
import pytest

from scope.errors import DataError
from scope.models.torch_setup import load_torch
from scope.probes.checks import (
    checked_groups,
    checked_latents,
    checked_pairs,
    checked_scores,
    one_thread,
)


def test_latents_on_disk_stay_there(tmp_path):
    np.save(tmp_path / "latents.npy", np.ones((5, 3, 8), dtype=np.float32))
    mapped = np.load(tmp_path / "latents.npy", mmap_mode="r")
    assert checked_latents(mapped) is mapped


@pytest.mark.parametrize("shape", [(0, 3, 8), (4, 0, 8), (4, 3, 0), (4, 8)])
def test_latents_that_lack_an_axis_are_refused(shape):
    with pytest.raises(DataError, match="three axes"):
        checked_latents(np.zeros(shape))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named_by_row_and_layer(wrong):
    latents = np.zeros((1030, 3, 8))
    latents[1027, 2, 5] = wrong
    with pytest.raises(DataError, match=r"not finite in row 1027, layer 2"):
        checked_latents(latents)


def test_pairs_of_unequal_numbers_are_refused():
    with pytest.raises(DataError, match=r"shape \(4, 3, 8\) beside latents of shape \(5, 3, 8\)"):
        checked_pairs(np.zeros((4, 3, 8)), np.zeros((5, 3, 8)))


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0, 1], "scores of shape (2,) for 3 pairs"),
        ([0, 5.1, 1], "the score 5.1 of pair 1"),
        ([0, 1, -0.5], "the score -0.5 of pair 2"),
        ([np.nan, 1, 2], "the score nan of pair 0"),
        ([2, 2, 2], "3 pairs that all have the score 2"),
    ],
)
def test_scores_that_cannot_be_are_refused(scores, told):
    with pytest.raises(DataError) as caught:
        checked_scores(scores, 3, 0.0, 5.0)
    assert told in str(caught.value)


@pytest.mark.parametrize("groups", [[1, 2], [[1], [2], [3]], [0.5, 1, 2], ["a", "b", "c"]])
def test_groups_that_cannot_be_are_refused(groups):
    with pytest.raises(DataError, match="for 3 sentences"):
        checked_groups(groups, 3, "sentence")


def fail_inside(torch):
    with one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError


def test_torch_has_one_thread_inside_and_as_many_as_before_afterwards_even_after_an_error():
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyError):
            fail_inside(torch)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
