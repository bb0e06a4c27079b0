"""Shards of a job on the workers of Ray: each is done, whatever dies meanwhile.

A worker loads what it needs before it gets a shard, so that a shard is to blame for its own deaths
alone, and keeps it to the end of the job. One that dies, with its node or alone, costs the shard
that it was at; another takes its place. What is stuck is given up after a time, and what has ended
three workers is left out, and named when all others are done. Results come in any order.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from scope.errors import ModelError, ResourceError, ScopeError
from scope.jobs.ray_connection import Engine, connected
from scope.models.generations import LIBRARIES, release_of
from scope.printing import first_line, shown

Shard = TypeVar("Shard", bound=tuple[Any, ...])
Step = Callable[[Any, Any], Any]
"""A function of a module: makes of what a worker has loaded, and of a shard, the shard's result."""

TRIES = 3
"""Workers that one item may end; and starts that may fail in a row, for each worker."""

MOST_LEFT_OUT = 3
"""Items that are left out before the job ends: then it is not they that are to blame."""

LEAST_SECONDS = 600.0
TIMES_THE_USUAL = 20
"""A shard is stuck after ten minutes, or twenty times what its items usually take."""

SECONDS_TO_START = 1800.0
"""Time in which one of the workers must have loaded what it needs."""

_SECONDS_A_LOOK = 1.0


@contextmanager
def workers(load: Callable[[], Any], engine: Engine) -> Iterator[Workers]:
    """Workers that serve any number of calls; they start with the first shard, and end here.

    Parameters
    ----------
    load
        Called once in each worker. It is sent there by its name, or with its arguments.

    """
    with ExitStack() as resources:
        pool = Workers(load, engine, resources)
        yield pool


def _releases() -> dict[str, str]:
    """What decides on a machine what a model gives, beside its processor."""
    libraries = {one: release_of(one) for one in LIBRARIES}
    return {"scope-models": version("scope-models"), **libraries}


class _Worker:
    """What runs in a process of Ray's."""

    def __init__(self, load: Callable[[], Any]) -> None:
        # Not called here: what fails in `ready` can be read.
        self._load = load

    def ready(self, releases: Mapping[str, str]) -> None:
        for package, own in _releases().items():
            if own != (wanted := releases[package]):
                raise ResourceError(
                    f"a worker with {package} {own}",
                    expected=f"the release {wanted} on all machines",
                    fix="install it there",
                )
        self._loaded = self._load()

    def do(self, step: Step, shard: Any) -> Any:
        return step(self._loaded, shard)


class _UnderWay(NamedTuple):
    """What a worker is at: a shard, or None while it starts."""

    shard: Any
    worker: Any
    since: float


class Workers:
    """The workers of a job, and the shards that they are at; made by `workers`."""

    def __init__(self, load: Callable[[], Any], engine: Engine, resources: ExitStack) -> None:
        self._load, self._engine, self._resources = load, engine, resources
        self._ray: Any = None
        self._kept_load: Any = None
        self._idle: list[Any] = []
        self._under_way: dict[Any, _UnderWay] = {}
        self._failed_starts = 0
        self._latest_life = time.monotonic()

    def each(
        self, step: Step, shards: Sequence[Shard], name: Callable[[Any], str] = str
    ) -> Iterator[tuple[Shard, Any]]:
        """Each shard with what a worker makes of it, as they come.

        A shard that has ended two workers is cut into its items.

        Parameters
        ----------
        shards
            Items that can be hashed.
        name
            What a message calls an item.

        Raises
        ------
        ModelError
            When items have ended three workers; all others are done before.
        ResourceError
            When Ray cannot be reached, no worker starts, or they die as they do.
        ScopeError
            Whatever a worker raises that the user can fix.
        """
        if not shards:
            return
        if self._ray is None:
            self._ray = self._resources.enter_context(connected(self._engine))
            self._resources.callback(self.close)
            self._kept_load = self._ray.put(self._load)
        self._latest_life = time.monotonic()
        call = _Call(step, deque(shards), Counter(), [], [])
        try:
            while call.left or self._at_work():
                self._start_missing(len(call.left))
                while self._idle and call.left:
                    self._send(call)
                yield from self._results(call)
                self._give_up_stuck(call)
                if len(call.left_out) == MOST_LEFT_OUT:
                    break
        finally:
            self._abandon()
        if call.left_out:
            raise _left_out([name(item) for shard in call.left_out for item in shard])

    def _at_work(self) -> int:
        return sum(one.shard is not None for one in self._under_way.values())

    def _start_missing(self, left: int) -> None:
        """Start what is missing, but not more at once than there are cores.

        Sixteen that start on two cores take so long that Ray gives the machine up for dead.
        """
        starting = len(self._under_way) - self._at_work()
        wanted = min(self._engine.workers, left + self._at_work())
        missing = wanted - len(self._under_way) - len(self._idle)
        if missing <= 0:
            return
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        for _ in range(min(missing, cores - starting)):
            worker = self._new()
            ticket = worker.ready.remote(_releases())
            self._under_way[ticket] = _UnderWay(None, worker, time.monotonic())

    def _new(self) -> Any:
        threads = str(self._engine.threads)
        actor = self._ray.remote(_Worker).options(
            # Cores are not counted: whoever asks for so many workers wants them all.
            num_cpus=0,
            num_gpus=self._engine.gpus,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {"OMP_NUM_THREADS": threads}},
        )
        return actor.remote(self._kept_load)

    def _send(self, call: _Call) -> None:
        worker, shard = self._idle.pop(), call.left.popleft()
        ticket = worker.do.remote(call.step, shard)
        self._under_way[ticket] = _UnderWay(shard, worker, time.monotonic())

    def _results(self, call: _Call) -> Iterator[tuple[Any, Any]]:
        """What has come since the last look."""
        tickets = list(self._under_way)
        done, _ = self._ray.wait(tickets, num_returns=1, timeout=_SECONDS_A_LOOK)
        done, _ = self._ray.wait(tickets, num_returns=len(tickets), timeout=0) if done else ([], ())
        for ticket in done:
            # Taken as it stands until it is dealt with: closing ends its worker, too.
            one = self._under_way[ticket]
            errors = self._ray.exceptions
            try:
                result = self._ray.get(ticket)
            except errors.RayTaskError as error:
                cause = error.cause
                raise (cause if isinstance(cause, ScopeError) else error) from None
            except errors.RayError as error:
                del self._under_way[ticket]
                self._lost(one, call, error)
                continue
            del self._under_way[ticket]
            self._idle.append(one.worker)
            self._failed_starts = 0
            if one.shard is not None:
                call.took.append((time.monotonic() - one.since) / len(one.shard))
                if call.left:
                    self._send(call)  # before the result is dealt with, which takes time here
                yield one.shard, result
        if self._idle or self._at_work():
            self._latest_life = time.monotonic()

    def _lost(self, one: _UnderWay, call: _Call, error: Exception) -> None:
        """Give the shard of a worker that has died to others; a new one is started for it."""
        if one.shard is not None:
            call.again(one.shard)
            return
        self._failed_starts += 1
        if self._failed_starts == TRIES * self._engine.workers:
            raise ResourceError(
                f"{self._failed_starts} workers that ended as they started or loaded models: "
                f"{first_line(error)}",
                expected="machines with this Python, these packages and memory for the models",
                fix="give fewer --workers, or leave --engine out to see what is wrong",
            )

    def _give_up_stuck(self, call: _Call) -> None:
        now = time.monotonic()
        for one in self._under_way.values():
            if one.shard is not None and now - one.since > seconds_allowed(
                len(one.shard), call.took
            ):
                self._ray.kill(one.worker)
        if now - self._latest_life > SECONDS_TO_START:
            raise ResourceError(
                f"no worker that has started in {SECONDS_TO_START / 60:.0f} minutes",
                expected="free GPUs if each is to have some, and models that load in this time",
                fix="give fewer --workers or --gpus-per-worker",
            )

    def _abandon(self) -> None:
        """End the workers whose results nobody waits for, after a failure or an interruption."""
        for ticket, one in list(self._under_way.items()):
            if one.shard is not None:
                self._kill(self._under_way.pop(ticket).worker)

    def _kill(self, worker: Any) -> None:
        with suppress(Exception):
            self._ray.kill(worker)

    def close(self) -> None:
        """End the workers."""
        for worker in (*self._idle, *(one.worker for one in self._under_way.values())):
            self._kill(worker)
        self._idle.clear()
        self._under_way.clear()


def seconds_allowed(items: int, took: Sequence[float]) -> float:
    """Seconds after which a shard is stuck: an item may take long where none is known to be quick.

    Parameters
    ----------
    items
        Those of the shard.
    took
        Seconds that an item has taken, for each shard of the same step that is done.

    Examples
    --------
    >>> seconds_allowed(64, []), seconds_allowed(64, [0.1, 0.2, 9.0]), seconds_allowed(64, [9.0])
    (38400.0, 600.0, 11520.0)
    """
    if not took:
        return LEAST_SECONDS * items
    return max(LEAST_SECONDS, TIMES_THE_USUAL * statistics.median(took) * items)


class _Call(NamedTuple):
    """What is still to be done in one call, what has ended workers, and seconds an item took."""

    step: Step
    left: deque[Any]
    ended: Counter[Any]
    left_out: list[Any]
    took: list[float]

    def again(self, shard: Any) -> None:
        """Ask a shard again, in the end each of its items alone, or leave it out."""
        self.ended[shard] += 1
        if self.ended[shard] == TRIES:
            self.left_out.append(shard)
        elif self.ended[shard] == TRIES - 1 and len(shard) > 1:
            alone = [(item,) for item in shard]
            self.ended.update(dict.fromkeys(alone, TRIES - 1))
            self.left.extend(alone)
        else:
            self.left.append(shard)


def _left_out(names: Sequence[str]) -> ModelError:
    return ModelError(
        f"{TRIES} workers that ended, each time at {', '.join(shown(one, 80) for one in names)}",
        expected="texts that a worker can be asked about",
        fix="look at these texts and at the memory of the workers; the same command goes on with "
        "the others done",
    )
