"""One thread for what must be the same to the byte on any number of cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from scope.models.torch_setup import one_torch_thread


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and NumPy compute with one thread inside, and as before afterwards.

    Sums that several threads share are added in an order that depends on their number.
    """
    with one_torch_thread(), threadpool_limits(1):
        yield
