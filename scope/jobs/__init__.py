"""The jobs a user gives, and the steps they are made of."""

from scope.core.job import Job
from scope.jobs.audit.request import JOB as AUDIT
from scope.jobs.compare.request import JOB as COMPARE
from scope.jobs.fleet.requests import JOBS as FLEET
from scope.jobs.probe.request import JOB as PROBE
from scope.jobs.reuse.request import JOB as REUSE

JOBS: tuple[Job, ...] = (AUDIT, COMPARE, REUSE, PROBE, *FLEET)
"""In the order of the help page."""
