import threading

import pytest

from scope.models.latents.side_by_side import side_by_side
from scope.models.torch_setup import load_torch


@pytest.fixture
def threads():
    """Gives torch that many threads, for this test alone."""
    torch = load_torch()
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_work_at_once_as_torch_has_threads_each_on_one(threads, count):
    threads(count)
    # Each waits for the others: it would be stuck with fewer at once.
    together = threading.Barrier(count)

    def work(number):
        together.wait(timeout=60)
        return number, threading.get_ident(), load_torch().get_num_threads()

    found = side_by_side(work, range(count * 2))
    assert [number for number, _, _ in found] == list(range(count * 2))
    assert len({thread for _, thread, _ in found}) == count
    assert {inside for _, _, inside in found} == {1}
    assert load_torch().get_num_threads() == count


def test_no_more_work_at_once_than_is_allowed(threads):
    threads(3)
    found = side_by_side(lambda _: threading.get_ident(), range(6), most=1)
    assert len(set(found)) == 1


def test_an_error_comes_out_and_the_threads_are_as_before(threads):
    threads(2)
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 1 / number, [1, 0, 2])
    assert load_torch().get_num_threads() == 2


def test_nothing_gives_nothing():
    assert side_by_side(str, []) == []
