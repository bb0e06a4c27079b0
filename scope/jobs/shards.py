"""A job in shards: each shard of the texts is a run, and the runs are merged to one.

A job on the workers of Ray: each shard is a run of its own, and all of them are merged.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from scope.answers import Run
from scope.errors import (
    ModelError,
    ResourceError,
    RunError,
    ScopeError,
    SpecError,
    counted,
    first_line,
)
from scope.jobs.configuration import InShards, ray_address
from scope.models.torch_setup import LIBRARIES, available_cores, release_of
from scope.paths import expanded
from scope.progress import Silent
from scope.store.files import HOLDER, LOCK, guarded, read_text, write_atomically
from scope.store.folder import RunFolder, run_folder, said_differences

Item = TypeVar("Item")

SETTING = "shard"
"""The setting that names a run's shard."""

RUNS = Path("runs")
"""Folder under which runs are kept by default."""

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


class Shard(NamedTuple):
    """One of several parts of a job's texts or questions, counted from 1.

    Examples
    --------
    >>> Shard.parse("2/3").part(["a", "b", "c", "d", "e"])
    ['b', 'e']
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``K/N``.

        Raises
        ------
        SpecError
            When the text has another form, or there is no such shard.
        """
        read = _SHARD.fullmatch(text)
        shard = cls(int(read[1]), int(read[2])) if read else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise SpecError(
                f"the shard `{text}`",
                expected="K/N: the K-th of N shards, K from 1 to N",
                fix="write for example --shard 3/10",
            )
        return shard

    def part(self, items: Sequence[Item]) -> list[Item]:
        """Every N-th item, from the K-th on.

        Raises
        ------
        SpecError
            When there are fewer items than shards.
        """
        if len(items) < self.of:
            raise SpecError(
                f"{self.of} shards of {counted(len(items), 'item')}",
                expected="at least one for each shard",
                fix=f"choose at most {len(items)} shards",
            )
        return list(items[self.number - 1 :: self.of])

    def __str__(self) -> str:
        """The spelling that `parse` reads."""
        return f"{self.number}/{self.of}"


class Merged(NamedTuple):
    """The run that others were merged into, and the command that makes its result."""

    folder: Path
    command: str


def merge(shards: Sequence[str | Path], *, run: str | Path, runs: str | Path = RUNS) -> Merged:
    """Put the searches and answers of all shards into one run.

    The job's own command under the name of that run then gives the result, to the byte that of a
    run without shards: it searches and asks nothing again. Merging the same runs twice changes
    nothing.

    Parameters
    ----------
    shards
        Names or folders of the runs, one for each shard, in any order.
    run
        Name or folder of the merged run.
    runs
        Folder under which runs are kept.

    Raises
    ------
    RunError
        When a run is none of a shard or is not finished, a shard is missing or there twice, or
        two runs differ in more than the shard.
    """
    folders = [RunFolder(run_folder(path, expanded(runs))) for path in shards]
    by_number: dict[int, RunFolder] = {}
    first, of = _whole(folders[0]) if folders else ({}, 0)
    for folder in folders:
        configuration, count = _whole(folder)
        number = _shard_of(folder).number
        differing = said_differences(
            {**first, "shards": of},
            {**configuration, "shards": count},
            f"in `{folders[0].name}`",
            f"in `{folder.name}`",
        )
        if differing:
            raise _refused(
                f"`{folder.name}` and `{folders[0].name}`, which differ in more than the shard: "
                + differing,
                "runs of one command, with all its shards",
            )
        if number in by_number:
            raise _refused(
                f"shard {number} twice, in `{by_number[number].name}` and `{folder.name}`",
                "every shard once",
            )
        by_number[number] = folder
    missing = sorted(set(range(1, of + 1)) - by_number.keys())
    if missing or not of:
        shown = ", ".join(map(str, missing[:8]))
        raise _refused(f"no run of shard {shown}" if of else "no run", "a run of every shard")
    in_order = [by_number[number] for number in sorted(by_number)]
    notes = in_order[0].read_notes()
    target = run_folder(run, expanded(runs))
    if shard := next((part for part in in_order if part.path.resolve() == target.resolve()), None):
        raise RunError(
            f"`{run}` as the merged run, which is the run of shard {_shard_of(shard).number}",
            expected="a run of another name",
            fix="choose another name with --run; the runs of the shards stay as they are",
        )
    command = _without_shard(str(notes.get("command", "")), run, runs)
    with Run.open(target, first, notes={**notes, "command": command}) as merged:
        for folder in in_order:
            merged.take_from(folder)
    return Merged(target, command)


def _shard_of(folder: RunFolder) -> Shard:
    configuration = folder.read_configuration()
    if configuration is None:
        raise _refused(f"no run `{folder.path}`", "runs with --shard")
    settings: Any = configuration.get("settings")
    shard = settings.get(SETTING) if isinstance(settings, Mapping) else None
    if not isinstance(shard, str):
        raise _refused(f"`{folder.name}`, which is no run of a shard", "runs with --shard")
    return Shard.parse(shard)


def _whole(folder: RunFolder) -> tuple[dict[str, object], int]:
    """The configuration of the run without shards, and how many shards it has."""
    shard = _shard_of(folder)
    if not folder.result_path.exists():
        raise _refused(
            f"`{folder.name}`, shard {shard.number}, which is not finished", "finished runs"
        )
    return without_shard(folder.read_configuration() or {}), shard.of


def without_shard(configuration: Mapping[str, object]) -> dict[str, object]:
    """The configuration of the whole run, from that of a shard."""
    settings: Any = configuration["settings"]
    kept = {key: value for key, value in settings.items() if key != SETTING}
    return {**configuration, "settings": kept}


def _without_shard(command: str, run: str | Path, runs: str | Path) -> str:
    """The command of a shard as that of the whole, which finds the merged run."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word in ("--shard", "--run"):
            next(words, None)
        else:
            kept.append(word)
    # A command of a manifest does not say where its runs are kept.
    if run_folder(run, RUNS) != run_folder(run, Path(runs)):
        kept += ["--runs", str(runs)]
    return shlex.join([*kept, "--run", str(run)])


def _refused(found: str, expected: str) -> RunError:
    return RunError(
        found, expected=expected, fix="run the command of each shard, and give all of their runs"
    )


SHARDS = "shards"
"""Folder of the shards' runs, in that of the whole run."""

TRIES = 5
"""Workers that may die on the same shard."""


def check_engine(request: InShards, sent: Iterable[object]) -> None:
    """Check, before anything is loaded, that workers can carry out the request.

    Parameters
    ----------
    sent
        What workers load: models, capabilities, tasks.

    Raises
    ------
    ResourceError
        When Ray is not installed.
    SpecError
        When an object is to be sent.
    """
    if ray_address(request.engine) is None:
        return
    if find_spec("ray") is None:
        raise ResourceError(
            "--engine ray without the package ray",
            expected="Ray on this machine and on all of its nodes",
            fix="pip install 'scope-models[ray]'",
        )
    if objects := [model for model in sent if not isinstance(model, str)]:
        raise SpecError(
            f"`{getattr(objects[0], 'spec', type(objects[0]).__name__)}`, an object, with --engine "
            "ray",
            expected="models, capabilities and tasks that workers can load",
            fix="name it by a spec, such as python:my_models:sentiment",
        )


@dataclass(frozen=True, kw_only=True)
class ShardTask:
    """The task of a worker: the run of a shard, at a path.

    ``session`` is the content of the file beside the shards' runs: a worker that reads it there
    shares the file system.
    """

    run: Callable[[Any], object]
    request: Any
    path: Path
    working_folder: Path
    session: str
    releases: Mapping[str, str]

    def __call__(self) -> tuple[dict[str, bytes], ScopeError | None]:
        """Run the shard; its files, or none if they are already at the path, and its error."""
        if (releases := releases_here()) != self.releases:
            raise ResourceError(
                f"a worker with {_in_words(releases)}",
                expected=f"the releases of this process: {_in_words(self.releases)}",
                fix="install them on all machines",
            )
        # Specs may be paths that are relative to where the command was given.
        with suppress(OSError):  # another machine may lack it
            os.chdir(self.working_folder)
        if read_text(self.path.parent / "session") == self.session:
            return {}, self._failure(self.path)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.path.name
            failure = self._failure(path)
            return {file.name: file.read_bytes() for file in path.glob("*")}, failure

    def _failure(self, path: Path) -> ScopeError | None:
        try:
            self.run(replace(self.request, run=path))
        except ScopeError as error:
            return error
        return None


def run_shards(
    request: InShards,
    run_shard: Callable[[Any], object],
    configuration: Mapping[str, object],
    most: int,
    run: Run,
) -> None:
    """Have Ray's workers carry out the shards of a request, and merge their runs into its own.

    With the engine local, or when the run is finished, nothing is done. A shard that is finished
    is not carried out again; one whose worker ends is, up to five times, and resumes where it
    shares the file system. When a shard fails, the others are completed before the error.

    Parameters
    ----------
    configuration
        That of the run.
    most
        Largest number of shards.

    Raises
    ------
    ModelError
        When a shard has ended five workers.
    ResourceError
        When Ray cannot be reached, or lacks the GPUs.
    RunError
        When a worker has other models or data.
    ScopeError
        When a worker raises it.
    """
    finished = run.result_path.exists() and run.read_configuration() == configuration
    if finished or ray_address(request.engine) is None:
        return
    folder = run.path.absolute() / SHARDS
    with guarded(folder):
        folder.mkdir(exist_ok=True)
        write_atomically(folder / "session", session := uuid.uuid4().hex)
    task = ShardTask(
        run=run_shard,
        request=replace(request, engine="local", workers=1, gpus_per_worker=0.0, progress=Silent()),
        path=folder,
        working_folder=Path.cwd(),
        session=session,
        releases=releases_here(),
    )
    whole = without_shard(configuration)
    shards = {
        folder / f"{shard.number}-of-{shard.of}": shard for shard in _shards(request, folder, most)
    }
    left = {
        path: replace(task, request=replace(task.request, shard=f"{shard}"), path=path)
        for path, shard in shards.items()
        if not (RunFolder(path).result_path.exists() and _configuration(path) == whole)
    }
    failures = []
    with request.progress.task("shards", len(shards), len(shards) - len(left)) as advance:
        for failure in carried_out(request, left) if left else ():
            failures += [failure] if failure else []
            advance(1)
    for path in shards:
        if (remote := _configuration(path)) is None:
            continue
        if differences := said_differences(whole, remote, "here", "on a worker"):
            shutil.rmtree(path)
            raise RunError(
                f"the run of a shard that differs in more than the shard: {differences}",
                expected="the same models and data on all machines",
                fix="copy them to the same path on all machines; the run of the shard is deleted",
            )
        if RunFolder(path).database_path.exists():
            run.take_from(RunFolder(path))
    # Of saved predictions that lack texts, the job names those of all shards.
    if failures and not any(folder.glob("*/texts-for-*.jsonl")):
        raise failures[0]


def releases_here() -> dict[str, str]:
    """The releases that, besides the processor, decide a model's answers."""
    return {
        "scope-models": version("scope-models"),
        **{library: release_of(library) for library in LIBRARIES},
    }


def _in_words(releases: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {release}" for name, release in releases.items())


def _shards(request: InShards, folder: Path, most: int) -> list[Shard]:
    """A shard for each worker; those of an earlier session stay as they are."""
    requested = Shard.parse(request.shard or "1/1")
    earlier = next(folder.glob("*-of-*"), None)
    count = min(request.workers, most)
    if earlier is not None:
        count = Shard.parse(earlier.name.replace("-of-", "/")).of // requested.of
    return [
        Shard(requested.number + requested.of * place, requested.of * count)
        for place in range(count)
    ]


def _configuration(path: Path) -> Mapping[str, object] | None:
    configuration = RunFolder(path).read_configuration()
    return None if configuration is None else without_shard(configuration)


def carried_out(request: InShards, tasks: Mapping[Path, ShardTask]) -> Iterator[ScopeError | None]:
    """Run the tasks on Ray; for each finished one, its error or None."""
    # Those of this process, so that a worker computes as it would.
    threads = request.model_options.threads or available_cores()  # type: ignore[attr-defined]
    with _connected(request) as ray:
        remote = ray.remote(ShardTask.__call__).options(
            # Cores are not counted: all workers that were asked for are wanted.
            num_cpus=0,
            num_gpus=request.gpus_per_worker,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {"OMP_NUM_THREADS": str(threads)}},
            # Ray would repeat a task that runs out of memory without limit.
            max_retries=0,
        )
        left, under_way, tries = deque(tasks), dict[Any, Path](), Counter[Path]()
        try:
            while left or under_way:
                while left and len(under_way) < request.workers:
                    path = left.popleft()
                    under_way[remote.remote(tasks[path])] = path
                (done,), _ = ray.wait(list(under_way), num_returns=1)
                path = under_way.pop(done)
                try:
                    files, failure = ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    raise (error.cause if isinstance(error.cause, ScopeError) else error) from None
                except ray.exceptions.RayError:
                    tries[path] += 1
                    if tries[path] < TRIES:
                        left.append(path)
                    else:
                        yield _ended(path)
                else:
                    _write(path, files)
                    yield failure
        finally:
            # Nobody waits for these any more, after a failure or an interruption.
            for reference in under_way:
                ray.cancel(reference, force=True)


def _write(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a run from another file system, the result last: then it is finished."""
    result = RunFolder(path).result_path.name
    with guarded(path):
        for name in sorted(files.keys() - {LOCK, HOLDER}, key=lambda name: name == result):
            path.mkdir(exist_ok=True)
            (path / name).write_bytes(files[name])


def _ended(path: Path) -> ModelError:
    return ModelError(
        f"{TRIES} workers that ended at the shard {path.name.replace('-of-', '/')}",
        expected="texts that a worker can be asked about, and memory for the models",
        fix="look at the memory of the workers, or give fewer --workers; the same command goes on "
        "with the other shards done",
    )


@contextmanager
def _connected(request: InShards) -> Iterator[Any]:
    """The module of Ray, connected: as this process has begun it already, or as long as here."""
    # Ray would report its use to its makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    begins = not ray.is_initialized()
    # Ray writes its own warnings on standard output, where a command's result goes.
    with redirect_stdout(sys.stderr):
        if begins:
            address = ray_address(request.engine)
            _begin(ray, address or os.environ.get("RAY_ADDRESS") or "local")
        try:
            resources: Callable[[], dict[str, float]] = ray.cluster_resources
            gpus = resources().get("GPU", 0)
            if request.gpus_per_worker > gpus:
                raise ResourceError(
                    f"{request.gpus_per_worker:g} GPUs for each worker, of {gpus:g}",
                    expected="GPUs for at least one worker",
                    fix="start a node with GPUs, or give fewer --gpus-per-worker",
                )
            yield ray
        finally:
            if begins:
                ray.shutdown()


def _begin(ray: Any, address: str) -> None:
    alone = address == "local"
    options = {"include_dashboard": False, "num_cpus": available_cores()} if alone else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ResourceError(
            f"no Ray at `{'this machine' if alone else address}`: {first_line(error)}",
            expected="a cluster that runs",
            fix="start it with `ray start --head`, or leave the address out",
        ) from error
