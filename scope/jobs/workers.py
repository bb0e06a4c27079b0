"""Shards of a job on the workers of Ray: each is done, whatever dies meanwhile.

A worker is an actor of Ray's, which loads what it needs once and does one shard at a time. Ray
starts another in place of one that dies, with its node or alone, and repeats its shard. A shard
that has ended five workers is cut into its items; an item that does so is left out, and named when
all others are done. Results come in any order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from typing import Any, TypeVar

from scope.errors import ModelError, ResourceError, ScopeError
from scope.jobs.ray_connection import Engine, connected
from scope.models.generations import LIBRARIES, release_of
from scope.printing import shown

Shard = TypeVar("Shard", bound=tuple[Any, ...])
Step = Callable[[Any, Any], Any]
"""A function of a module: makes of what a worker has loaded, and of a shard, the shard's result."""

TRIES = 5
"""Workers that one shard, and then each of its items, may end."""

MOST_LEFT_OUT = 3
"""Items that are left out before the job ends: then it is not they that are to blame."""

MOST_SECONDS = 7200.0
"""Longest time in which no shard is done: to start workers, load models and do a shard."""


@contextmanager
def workers(load: Callable[[], Any], engine: Engine) -> Iterator[Workers]:
    """Workers that serve any number of calls; they start with the first shard, and end here.

    Parameters
    ----------
    load
        Called once in each worker. It is sent there by its name, or with its arguments.

    """
    with ExitStack() as resources:
        yield Workers(load, engine, resources)


def _releases() -> dict[str, str]:
    """What decides on a machine what a model gives, beside its processor."""
    libraries = {one: release_of(one) for one in LIBRARIES}
    return {"scope-models": version("scope-models"), **libraries}


class _Worker:
    """What runs in a process of Ray's."""

    def __init__(self, load: Callable[[], Any], releases: Mapping[str, str]) -> None:
        # Not called here: what fails with a shard can be read.
        self._load, self._releases = load, releases
        self._loaded: list[Any] = []

    def do(self, step: Step, shard: Any) -> Any:
        if not self._loaded:
            self._require_releases()
            self._loaded.append(self._load())
        return step(self._loaded[0], shard)

    def _require_releases(self) -> None:
        for package, own in _releases().items():
            if own != (wanted := self._releases[package]):
                raise ResourceError(
                    f"a worker with {package} {own}",
                    expected=f"the release {wanted} on all machines",
                    fix="install it there",
                )


class Workers:
    """The workers of a job; made by `workers`."""

    def __init__(self, load: Callable[[], Any], engine: Engine, resources: ExitStack) -> None:
        self._load, self._engine, self._resources = load, engine, resources
        self._ray: Any = None
        self._idle: list[Any] = []
        self._count = 0

    def each(
        self, step: Step, shards: Sequence[Shard], name: Callable[[Any], str] = str
    ) -> Iterator[tuple[Shard, Any]]:
        """Each shard with what a worker makes of it, as they come.

        Parameters
        ----------
        name
            What a message calls an item.

        Raises
        ------
        ModelError
            When items have ended five workers; all others are done before.
        ResourceError
            When Ray cannot be reached, or no worker does a shard in two hours.
        ScopeError
            Whatever a worker raises that the user can fix.
        """
        if not shards:
            return
        self._start(len(shards))
        left, left_out = deque(shards), list[Shard]()
        under_way: dict[Any, tuple[Any, Shard]] = {}
        try:
            while (left or under_way) and len(left_out) < MOST_LEFT_OUT:
                while self._idle and left:
                    worker, shard = self._idle.pop(), left.popleft()
                    under_way[worker.do.remote(step, shard)] = worker, shard
                ticket = self._next(list(under_way))
                worker, shard = under_way.pop(ticket)
                self._idle.append(worker)
                try:
                    result = self._ray.get(ticket)
                except self._ray.exceptions.RayTaskError as error:
                    cause = error.cause
                    raise (cause if isinstance(cause, ScopeError) else error) from None
                except self._ray.exceptions.RayError:
                    alone = [(item,) for item in shard]
                    (left if len(shard) > 1 else left_out).extend(alone)  # type: ignore[arg-type]
                    continue
                yield shard, result
        finally:
            # Nobody waits for these results any more, after a failure or an interruption.
            for worker, _ in under_way.values():
                self._kill(worker)
        if left_out:
            raise _left_out([name(item) for shard in left_out for item in shard])

    def _start(self, shards: int) -> None:
        """Start as many workers as there is work for."""
        if self._ray is None:
            self._ray = self._resources.enter_context(connected(self._engine))
        while self._count < min(self._engine.workers, shards):
            self._count += 1
            self._idle.append(self._new())
            self._resources.callback(self._kill, self._idle[-1])

    def _new(self) -> Any:
        actor = self._ray.remote(_Worker).options(
            # Cores are not counted: whoever asks for so many workers wants them all.
            num_cpus=0,
            num_gpus=self._engine.gpus,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {"OMP_NUM_THREADS": str(self._engine.threads)}},
            max_restarts=-1,
            max_task_retries=TRIES - 1,
        )
        return actor.remote(self._load, _releases())

    def _next(self, tickets: list[Any]) -> Any:
        done, _ = self._ray.wait(tickets, num_returns=1, timeout=MOST_SECONDS)
        if not done:
            raise ResourceError(
                f"no shard that a worker has done in {MOST_SECONDS / 3600:.0f} hours",
                expected="free GPUs if each is to have some, and models that load and answer",
                fix="give fewer --workers or --gpus-per-worker, or leave --engine out to see what "
                "is wrong",
            )
        return done[0]

    def _kill(self, worker: Any) -> None:
        with suppress(Exception):
            self._ray.kill(worker)


def _left_out(names: Sequence[str]) -> ModelError:
    return ModelError(
        f"{TRIES} workers that ended, each time at {', '.join(shown(one, 80) for one in names)}",
        expected="texts that a worker can be asked about, and memory for the models",
        fix="look at these texts and at the memory of the workers, or give fewer --workers; the "
        "same command goes on with the others done",
    )
