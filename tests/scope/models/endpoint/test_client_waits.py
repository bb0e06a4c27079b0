import asyncio

import pytest

from scope.models.endpoint.client import Pause, WaitClock, delay


def test_delays_double_up_to_a_minute():
    assert [delay(failures) for failures in range(1, 10)] == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert delay(10_000) == 60


def test_the_real_clock_waits_and_is_woken():
    async def waited(*, stopped):
        clock, stop = WaitClock(), asyncio.Event()
        if stopped:
            stop.set()
        began = clock.now()
        await clock.wait(stop, 0.05 if not stopped else 60)
        return clock.now() - began

    assert asyncio.run(waited(stopped=False)) >= 0.04
    assert asyncio.run(waited(stopped=True)) < 30


def test_spread_stays_between_a_half_and_the_whole():
    clock = WaitClock()
    values = [clock.spread() for _ in range(100)]
    assert 0.5 <= min(values) < max(values) <= 1


@pytest.mark.parametrize(("holds", "waited"), [((), []), ((5, 3), [5]), ((3, 5), [5])])
def test_of_several_pauses_the_longest_counts(clock, holds, waited):
    async def pause():
        pause = Pause(clock, asyncio.Event())
        for seconds in holds:
            pause.hold(seconds)
        await pause.over()

    asyncio.run(pause())
    assert clock.waits == waited


def test_a_pause_ends_when_all_is_stopped(clock):
    async def pause():
        stop = asyncio.Event()
        stop.set()
        pause = Pause(clock, stop)
        pause.hold(100)
        await pause.over()

    asyncio.run(pause())
    assert clock.waits == []
