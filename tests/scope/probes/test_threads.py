import pytest

from scope.models.torch_setup import load_torch
from scope.probes.threads import one_thread


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
