"""The jobs a user gives, and the steps they are made of."""

from scope.core.job import Job
from scope.jobs.audit.request import JOB as AUDIT

JOBS: tuple[Job, ...] = (AUDIT,)
"""In the order of the help page."""
