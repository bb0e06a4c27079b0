"""Makes the models of a zoo in processes of one thread each, as soon as their sources are there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import NamedTuple

from scope.errors import RunError, ScopeError
from scope.models.torch_setup import load_torch
from scope.protocols import Advance
from zoo.lineage import ZooModel
from zoo.making import Workshop, make_model
from zoo.storing import save_compactly

_SECONDS_TO_LEAVE = 10.0


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection


class _Mistake(NamedTuple):
    """A ``ScopeError`` of a worker, in parts that go from process to process."""

    kind: type[ScopeError]
    found: str
    expected: str
    fix: str


def make_models(
    missing: Sequence[ZooModel], workshop: Workshop, workers: int, advance: Advance
) -> None:
    """Make all these models, in their order as far as a model's source is there.

    Every model is made with one thread and a seed of its own, so that what comes out does not
    depend on the number of workers. Workers end with this process, however it ends.
    """
    waiting, busy = list(missing), dict[int, tuple[_Worker, ZooModel]]()
    every = [_start(workshop) for _ in range(min(workers, len(missing)))]
    idle = list(every)
    try:
        while waiting or busy:
            pending = {model.name for model in (*waiting, *(model for _, model in busy.values()))}
            ready = [model for model in waiting if model.source not in pending]
            for model in ready[: len(idle)]:
                worker = idle.pop()
                worker.connection.send(model)
                busy[worker.connection.fileno()] = worker, model
                waiting.remove(model)
            for connection in wait([worker.connection for worker, _ in busy.values()]):
                worker, _ = busy.pop(connection.fileno())  # type: ignore[union-attr]
                _collect(worker)
                idle.append(worker)
                advance(1)
    finally:
        _end(every)


def _end(workers: Sequence[_Worker]) -> None:
    """Let workers leave whatever they do, and clean up behind them; or kill them."""
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(_SECONDS_TO_LEAVE)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()


def _start(workshop: Workshop) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, workshop), daemon=True)
    with _interrupts_held():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the context is left, and never reach processes started inside.

    A terminal sends it to all processes at once; the one that was asked for the zoo decides.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _collect(worker: _Worker) -> None:
    """Take a worker's report, and raise what went wrong with its model."""
    try:
        report = worker.connection.recv()
    except EOFError:
        raise RunError(
            "a process that trained a model of the zoo ended before it was done",
            expected="about 1.5 GB of free memory for each worker",
            fix="see what it said above, if anything; then go on with fewer --workers",
        ) from None
    if isinstance(report, _Mistake):
        raise report.kind(report.found, expected=report.expected, fix=report.fix)


def _serve(connection: Connection, workshop: Workshop) -> None:
    """A worker's life: make the models that it is told to, until it is killed."""
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    load_torch().set_num_threads(1)
    while True:
        model: ZooModel = connection.recv()
        try:
            save_compactly(make_model(model, workshop), model.path)
        except ScopeError as error:
            connection.send(_Mistake(type(error), error.found, error.expected, error.fix))
        else:
            connection.send(None)


def _leave(number: int, frame: FrameType | None) -> None:
    """End in good order: a process killed amid its work leaves semaphores of its libraries."""
    sys.exit(0)


def _end_with_parent() -> None:
    """End this process with the one that started it, even if that was killed.

    Else it would go on, and write a model which the next build trains as well.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
