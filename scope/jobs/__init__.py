"""The jobs a user gives, and the steps they are made of."""

from scope.core.job import Job
from scope.jobs.audit.request import JOB as AUDIT
from scope.jobs.compare.request import JOB as COMPARE

JOBS: tuple[Job, ...] = (AUDIT, COMPARE)
"""In the order of the help page."""
