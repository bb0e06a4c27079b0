"""Numbers of numpy and scipy computed on one thread, so that they are the same on any machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_numpy_thread() -> AbstractContextManager[Any]:
    """The libraries of linear algebra compute on one thread inside, and as before afterwards."""
    limited: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _controller(_modules: int) -> ThreadpoolController:
    """The libraries loaded by now; only an import loads more, and each look takes milliseconds."""
    return ThreadpoolController()
