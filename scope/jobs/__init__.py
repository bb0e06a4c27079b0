"""The jobs a user gives, and the steps they are made of."""

import re
from dataclasses import replace

from scope.core.request import Job, Request
from scope.errors import SpecError
from scope.jobs.audit.request import JOB as AUDIT
from scope.jobs.compare.request import JOB as COMPARE
from scope.jobs.demo.request import JOB as DEMO
from scope.jobs.fleet.requests import JOBS as FLEET
from scope.jobs.pair.request import JOB as PAIR
from scope.jobs.probe.request import JOB as PROBE
from scope.jobs.reuse.request import JOB as REUSE
from scope.jobs.study.requests import JOBS as STUDY
from scope.registry import Entry, built_in, entries, find, origins, usable

JOBS: tuple[Job, ...] = (PAIR, AUDIT, COMPARE, REUSE, PROBE, *FLEET, *STUDY, DEMO)
"""Those of SCoPE, in the order of the help page."""

TAKEN = frozenset(
    {"cache", "list", "logs", "merge", "report", *(job.name.split()[0] for job in JOBS)}
)
"""Names of commands, which no plugin can have."""


def job_entries() -> tuple[Entry, ...]:
    """All jobs, those of plugins last; with the reason where one cannot be a command."""
    ours = (built_in(job.name, job) for job in JOBS)
    return (*ours, *(_checked(entry) for entry in entries("jobs")))


def job_named(key: str) -> Job:
    """The job that a manifest names.

    Raises
    ------
    SpecError
        When there is none, or the plugin that has it does not load.
    """
    known = {job.key: job for job in JOBS}
    if key not in known and key not in plugin_jobs():
        raise SpecError(
            f"no job is called `{key}`",
            expected=f"one of: {', '.join((*known, *plugin_jobs()))}",
            fix="install the plugin that offers it",
        )
    return known[key] if key in known else plugin_job(key)


def plugin_jobs() -> dict[str, str]:
    """The package and version of each plugin's job by its name; none of them is imported."""
    return {name: origin for name, origin in origins("jobs").items() if not _misnamed(name)}


def plugin_job(name: str) -> Job:
    """The job that a plugin calls by this name.

    Raises
    ------
    SpecError
        When it does not load, or cannot be a command.
    """
    job: Job = usable("jobs", _checked(find("jobs", name))).target
    return job


def _checked(entry: Entry) -> Entry:
    """The entry of a plugin, with the reason where it cannot be a command."""
    reason = _misnamed(entry.name) or entry.error or _unfit(entry.target, entry.name)
    return replace(entry, error=reason or None)


def _misnamed(name: str) -> str:
    if name.partition(" ")[0] in TAKEN:
        return f"`scope {name}` is a command of SCoPE's own"
    return "" if re.fullmatch(r"\w[\w-]*", name) else "the name of a command is one word"


def _unfit(job: object, name: str) -> str:
    if not isinstance(job, Job):
        return f"a {type(job).__name__}, not a `scope.core.request.Job`"
    if not (isinstance(job.request, type) and issubclass(job.request, Request)):
        return "its request is no subclass of `scope.core.request.Request`"
    if not re.fullmatch(r"[\w.]+:\w+", str(job.result)):
        return "its result is not named as `module:name`"
    return "" if job.name == name else f"the job's own name is `{job.name}`"
