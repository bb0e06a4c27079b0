"""Makes the models of a zoo in processes of one thread each, as soon as their sources are there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from scope.demo_models.build import save_base
from scope.errors import ScopeError
from scope.models.torch_setup import load_torch
from scope.protocols import Advance
from zoo.lineage import ZooModel
from zoo.making import Workshop, make_model


def make_models(
    missing: Sequence[ZooModel], workshop: Workshop, workers: int, advance: Advance
) -> None:
    """Make all these models, in their order as far as a model's source is there.

    Every model is made with one thread and a seed of its own, so that what comes out does not
    depend on the number of workers. Workers end with this process, however it ends.
    """
    waiting, making = list(missing), dict[Future[None], ZooModel]()
    pool = ProcessPoolExecutor(
        min(workers, len(missing)),
        multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(workshop,),
    )
    try:
        while waiting or making:
            pending = {model.name for model in (*waiting, *making.values())}
            for model in [one for one in waiting if one.source not in pending]:
                making[pool.submit(_make, model)] = model
                waiting.remove(model)
            for future in wait(making, return_when=FIRST_COMPLETED).done:
                del making[future]
                future.result()
                advance(1)
    finally:
        for process in multiprocessing.active_children():
            process.terminate()
        pool.shutdown(cancel_futures=True)


_HELD: list[Workshop] = []
"""What a worker makes models with, which it gets once."""


def _begin(workshop: Workshop) -> None:
    """Prepare a worker: the process that started it decides when it ends."""
    _HELD.append(workshop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    load_torch().set_num_threads(1)


def _end_with_parent() -> None:
    """End this process with the one that started it, even if that was killed.

    Else it would go on, and write a model which the next build trains as well.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make(model: ZooModel) -> None:
    try:
        save_base(make_model(model, _HELD[0]), model.path)
    except ScopeError as error:  # its keywords do not go from process to process
        raise RuntimeError(str(error)) from None
