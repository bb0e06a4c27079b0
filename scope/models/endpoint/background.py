"""Runs a coroutine in a thread of its own, and gives what it finds to the caller's thread."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

Found = TypeVar("Found")


def in_background(
    work: Callable[[Callable[[Found], None]], Coroutine[Any, Any, None]],
) -> Generator[Found]:
    """What the coroutine gives, as it comes; then raises what the coroutine raised, if anything.

    A thread, since the caller may have an event loop of its own, as notebooks do. Closing the
    iterator cancels the coroutine and waits until its thread has ended.

    Parameters
    ----------
    work
        Makes the coroutine, which calls its argument with each thing that it finds.

    Examples
    --------
    >>> async def count(give):
    ...     for number in range(3):
    ...         give(number)
    >>> list(in_background(count))
    [0, 1, 2]
    """
    found: queue.SimpleQueue[tuple[Found, ...]] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(lambda one: found.put((one,))))
    thread = threading.Thread(
        target=_run, args=(loop, task, found), name="scope-endpoint", daemon=True
    )
    thread.start()
    try:
        # An empty tuple is the last.
        while entry := found.get():
            yield entry[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()
    if not task.cancelled():
        task.result()


def _run(
    loop: asyncio.AbstractEventLoop,
    task: asyncio.Task[None],
    found: queue.SimpleQueue[tuple[Found, ...]],
) -> None:
    try:
        loop.run_until_complete(asyncio.wait([task]))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        found.put(())
