"""Shards of a job on the workers of Ray: each is done, whatever dies meanwhile.

A worker keeps what it has loaded from shard to shard. One that dies, with its node or alone, costs
the shard that it was at; another takes its place. What is stuck is given up after a time, and a
shard that has ended three workers ends the job. The results go to the driver, in any order.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from scope.errors import ModelError, ResourceError, ScopeError, SpecError
from scope.printing import first_line

Shard = TypeVar("Shard", bound=tuple[int, ...])
Do = Callable[[Any], Any]

TRIES = 3
"""Workers that one shard may end."""

LEAST_SECONDS = 600.0
TIMES_THE_USUAL = 20
"""A shard is stuck after ten minutes, or twenty times the median of those that are done."""

_SECONDS_A_LOOK = 1.0


class Engine(NamedTuple):
    """Where the work is done: on so many workers of the Ray at an address, or of one started here.

    ``threads`` are those of each worker, so that it computes as this process would.

    Examples
    --------
    >>> Engine.parse("ray:10.0.0.1:6379", workers=4)
    Engine(address='10.0.0.1:6379', workers=4, gpus=0.0, threads=1)
    >>> Engine.parse("local", workers=1) is None
    True
    """

    address: str | None
    workers: int
    gpus: float = 0.0
    threads: int = 1

    @classmethod
    def parse(
        cls, text: str, *, workers: int, gpus: float = 0.0, threads: int = 1
    ) -> Engine | None:
        """Read ``local``, which is none, or ``ray[:ADDRESS]``.

        Raises
        ------
        SpecError
            When it is something else.
        """
        name, colon, address = text.partition(":")
        if name == "local" and not colon:
            return None
        if name != "ray" or (colon and not address):
            raise SpecError(
                f"the engine `{text}`",
                expected="local, ray or ray:ADDRESS",
                fix="write for example --engine ray --workers 4",
            )
        return cls(address or None, workers, gpus, threads)


def each_shard(
    make: Callable[[], Do], shards: Sequence[Shard], engine: Engine
) -> Iterator[tuple[Shard, Any]]:
    """Each shard with what a worker makes of it, as they come.

    Parameters
    ----------
    make
        Called once in each worker: loads what it needs, and gives the function that does a shard.
        It is sent to the workers, by its name or with its arguments.
    shards
        Numbers of items, which a message about a shard names.

    Raises
    ------
    ResourceError
        When Ray is not installed or cannot be reached.
    ModelError
        When a shard has ended three workers.
    ScopeError
        Whatever a worker raises that the user can fix.
    """
    with _connected(engine) as ray:
        pool = _Pool(ray, make, shards, engine)
        try:
            yield from pool.results()
        finally:
            pool.close()


@contextmanager
def _connected(engine: Engine) -> Iterator[Any]:
    try:
        import ray
    except ImportError as error:
        raise ResourceError(
            "--engine ray without the package ray",
            expected="Ray on this machine and on all of its nodes",
            fix="pip install 'scope-models[ray]'",
        ) from error
    begins = not ray.is_initialized()
    own = {} if engine.address else {"include_dashboard": False}
    if begins:
        try:
            ray.init(engine.address, log_to_driver=False, logging_level="ERROR", **own)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise ResourceError(
                f"no Ray at `{engine.address or 'this machine'}`: {error}",
                expected="a cluster that runs",
                fix="start it with `ray start --head`, or leave the address out",
            ) from error
    try:
        yield ray
    finally:
        if begins:
            ray.shutdown()


class _Worker:
    """What runs in a process of Ray's."""

    def __init__(self, make: Callable[[], Do]) -> None:
        self._make = make
        self._do: Do | None = None

    def do(self, shard: Any) -> Any:
        # Not when it is made: what fails there says nothing that could be read.
        if self._do is None:
            self._do = self._make()
        return self._do(shard)


class _UnderWay(NamedTuple):
    shard: Any
    worker: Any
    since: float


class _Pool:
    """Workers, and the shards that they are at."""

    def __init__(
        self, ray: Any, make: Callable[[], Do], shards: Sequence[Any], engine: Engine
    ) -> None:
        self._ray, self._engine = ray, engine
        self._kept_make = ray.put(make)
        self._left = deque(shards)
        self._ended: Counter[Any] = Counter()
        self._under_way: dict[Any, _UnderWay] = {}
        self._took: list[float] = []
        self._idle = [self._new() for _ in range(min(engine.workers, len(shards)))]

    def _new(self) -> Any:
        threads = str(self._engine.threads)
        actor = self._ray.remote(_Worker).options(
            # Cores are not counted: whoever asks for so many workers wants them all.
            num_cpus=0,
            num_gpus=self._engine.gpus,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {"OMP_NUM_THREADS": threads}},
        )
        return actor.remote(self._kept_make)

    def results(self) -> Iterator[tuple[Any, Any]]:
        while self._left or self._under_way:
            while self._idle and self._left:
                worker, shard = self._idle.pop(), self._left.popleft()
                self._under_way[worker.do.remote(shard)] = _UnderWay(
                    shard, worker, time.monotonic()
                )
            done, _ = self._ray.wait(list(self._under_way), timeout=_SECONDS_A_LOOK)
            for one in done:
                yield from self._result(one, self._under_way.pop(one))
            self._give_up_stuck()

    def _result(self, one: Any, under_way: _UnderWay) -> Iterator[tuple[Any, Any]]:
        errors = self._ray.exceptions
        try:
            result = self._ray.get(one)
        except errors.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, ScopeError) else error) from None
        except errors.RayError as error:
            self._lost(under_way.shard, error)
            return
        self._took.append(time.monotonic() - under_way.since)
        self._idle.append(under_way.worker)
        yield under_way.shard, result

    def _lost(self, shard: Any, error: Exception) -> None:
        self._ended[shard] += 1
        if self._ended[shard] == TRIES:
            named = ", ".join(str(place + 1) for place in shard[:8])
            raise ModelError(
                f"{TRIES} workers that ended at the same texts, number {named}"
                f"{' and others' if len(shard) > 8 else ''}: {first_line(error)}",
                expected="texts that a worker can be asked about",
                fix="look at these texts and at the memory of the workers; the same command goes "
                "on with the other shards done",
            ) from error
        self._left.append(shard)
        self._idle.append(self._new())

    def _give_up_stuck(self) -> None:
        usual = statistics.median(self._took) if self._took else 0.0
        limit = max(LEAST_SECONDS, TIMES_THE_USUAL * usual)
        for one in self._under_way.values():
            if time.monotonic() - one.since > limit:
                self._ray.kill(one.worker)

    def close(self) -> None:
        """End the workers."""
        for worker in (*self._idle, *(one.worker for one in self._under_way.values())):
            with suppress(Exception):
                self._ray.kill(worker)
