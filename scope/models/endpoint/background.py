"""A thread with an event loop, in which requests are made."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

Found = TypeVar("Found")


class Background:
    """A thread with an event loop, in which coroutines run until it is closed.

    A thread, since the caller may have an event loop of its own, as notebooks do. Connections that
    one coroutine has opened serve the next.

    Examples
    --------
    >>> async def count(give):
    ...     for number in range(3):
    ...         give(number)
    >>> background = Background()
    >>> list(background.results(count))
    [0, 1, 2]
    >>> background.close()
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scope-endpoint", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def results(
        self, work: Callable[[Callable[[Found], None]], Coroutine[Any, Any, None]]
    ) -> Generator[Found]:
        """What the coroutine gives, as it comes; then raises what it raised, if anything.

        Closing the iterator cancels the coroutine and waits until it has ended.

        Parameters
        ----------
        work
            Makes the coroutine, which calls its argument with each thing that it finds.
        """
        found: queue.SimpleQueue[tuple[Found, ...]] = queue.SimpleQueue()

        async def until_done() -> None:
            try:
                await work(lambda one: found.put((one,)))
            finally:
                found.put(())  # the last

        running = asyncio.run_coroutine_threadsafe(until_done(), self._loop)
        entry: tuple[Found, ...] | None = None
        try:
            while entry := found.get():
                yield entry[0]
        finally:
            if entry != ():
                running.cancel()
                while found.get():
                    pass
        running.result()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """End the thread, after a last coroutine if there is one; closing twice does nothing.

        It returns at once: whoever waited for the thread might hold what the thread waits for, as
        an import does when the collector closes what it finds there.
        """
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(last), self._loop)

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        try:
            if last is not None:
                await last()
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()
        finally:
            self._loop.stop()
