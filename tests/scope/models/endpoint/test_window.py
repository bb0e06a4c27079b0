"""A server is given as many requests at once as it answers as quickly as a few."""

import pytest
from hypothesis import given, strategies as st

from scope.models.endpoint.window import MOST_AT_ONCE, Window


def rounds(window, latency, count):
    """The sizes after so many rounds of answers; ``latency`` is that at a size."""
    sizes = []
    for _ in range(count):
        for _ in range(window.size):
            window.answered(latency(window.size))
        sizes.append(window.size)
    return sizes


def test_it_doubles_while_answers_are_as_quick():
    assert rounds(Window(), lambda size: 0.05, 7) == [16, 32, 64, 128, 256, 256, 256]


def test_it_never_exceeds_the_users_bound():
    window = Window(3)
    assert window.size == 3
    assert rounds(window, lambda size: 0.05, 4) == [3, 3, 3, 3]
    assert rounds(Window(20), lambda size: 0.05, 3) == [16, 20, 20]


def test_a_server_with_twenty_places_is_given_about_twice_as_many():
    # Of more than 20 requests some wait: the latency is that of a queue.
    sizes = rounds(Window(), lambda size: 0.05 * max(1, size / 20), 60)
    assert all(20 <= size <= 64 for size in sizes[3:])


def test_slow_answers_alone_leave_it_as_it_began():
    window = Window()
    rounds(window, lambda size: 0.05, 1)
    assert min(rounds(window, lambda size: 5.0, 30)) == 8
    # What is quick is forgotten: these questions take longer, and the window grows again.
    assert rounds(window, lambda size: 5.0, 60)[-1] > 8


def test_refusals_of_one_round_count_once_and_only_the_first_takes_half():
    window = Window()
    rounds(window, lambda size: 0.05, 2)
    sent_in = window.rounds
    for _ in range(20):
        window.refused(sent_in)
    assert window.size == 16
    window.refused(window.rounds)
    assert window.size == 14


def test_a_server_that_takes_twenty_at_once_is_given_nearly_as_many():
    window, sizes = Window(), []
    for _ in range(60):
        if window.size > 20:
            window.refused(window.rounds)
        rounds(window, lambda size: 0.05, 1)
        sizes.append(window.size)
    assert sum(sizes[5:]) / len(sizes[5:]) > 0.92 * 20
    assert max(sizes[5:]) <= 21


def test_refusals_leave_at_least_one_and_growth_goes_on_by_one():
    window = Window()
    for _ in range(10):
        window.refused(window.rounds)
    assert window.size == 1
    assert rounds(window, lambda size: 0.05, 4) == [2, 3, 4, 5]


events = st.lists(st.one_of(st.floats(0, 100), st.just(None)), max_size=300)


@given(events, st.one_of(st.none(), st.integers(1, 500)))
def test_it_stays_within_its_bounds_whatever_happens(events, most):
    window = Window(most)
    for event in events:
        if event is None:
            window.refused(window.rounds)
        else:
            window.answered(event)
        assert 1 <= window.size <= (most or MOST_AT_ONCE)


@pytest.mark.parametrize("most", [None, 1, 8])
def test_it_begins_with_eight_or_the_users_bound(most):
    assert Window(most).size == (most or 8)
