"""Where a job's work is done: in this process, or on the workers of a Ray."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from typing import Any, NamedTuple

from scope.errors import ResourceError, SpecError
from scope.models.threads import available_cores
from scope.printing import first_line


class Engine(NamedTuple):
    """So many workers of the Ray at an address, or of one that is started here.

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


def require_ray() -> None:
    """Check that Ray is installed.

    Raises
    ------
    ResourceError
        When it is not.
    """
    if find_spec("ray") is None:
        raise ResourceError(
            "--engine ray without the package ray",
            expected="Ray on this machine and on all of its nodes",
            fix="pip install 'scope-models[ray]'",
        )


@contextmanager
def connected(engine: Engine) -> Iterator[Any]:
    """The module of Ray, connected: with what this process has begun already, or as long as here.

    Raises
    ------
    ResourceError
        When Ray cannot be reached.
    """
    # Ray would report its use to its makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    begins = not ray.is_initialized()
    # Ray writes its own warnings on standard output, where a command's result goes.
    with redirect_stdout(sys.stderr):
        if begins:
            _begin(ray, engine.address or os.environ.get("RAY_ADDRESS") or "local")
        try:
            yield ray
        finally:
            if begins:
                ray.shutdown()


def _begin(ray: Any, address: str) -> None:
    alone = address == "local"
    own = {"include_dashboard": False, "num_cpus": available_cores()} if alone else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **own)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ResourceError(
            f"no Ray at `{'this machine' if alone else address}`: {first_line(error)}",
            expected="a cluster that runs",
            fix="start it with `ray start --head`, or leave the address out",
        ) from error
