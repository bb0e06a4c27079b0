"""Coroutines in a thread of their own."""

import asyncio
import threading

import pytest

from scope.models.endpoint.background import Background


def results(work):
    """What a coroutine gives in a thread of its own, which ends with it."""
    background = Background()
    try:
        yield from background.results(work)
    finally:
        background.close()


def test_what_is_found_comes_before_what_is_raised():
    async def fail_late(give):
        give("first")
        give("second")
        raise LookupError("late")

    found = []
    with pytest.raises(LookupError, match="late"):
        found.extend(results(fail_late))
    assert found == ["first", "second"]


def test_closing_cancels_the_work_and_waits_for_it_to_clean_up():
    cleaned = threading.Event()

    async def forever(give):
        try:
            give(1)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            cleaned.set()

    found = results(forever)
    assert next(found) == 1
    found.close()
    assert cleaned.is_set()


def test_it_works_where_an_event_loop_runs_already():
    async def three(give):
        for number in range(3):
            await asyncio.sleep(0)
            give(number)

    async def as_in_a_notebook():
        return list(results(three))

    assert asyncio.run(as_in_a_notebook()) == [0, 1, 2]


def test_what_is_false_is_found_too():
    async def nothings(give):
        give(None)
        give(())
        give(0)

    assert list(results(nothings)) == [None, (), 0]
