"""What a fleet is scored on: new questions, or a part of the answers that is held out."""

from __future__ import annotations

from scope.jobs.fleet.exam import PlannedExam
from scope.jobs.fleet.held_out_exam import plan_held_out_exam
from scope.jobs.fleet.requests import ForecastRequest
from scope.jobs.fleet.stored_exam import plan_stored_exam


def plan_exam(request: ForecastRequest) -> PlannedExam:
    """Read and check everything before any work."""
    return (plan_held_out_exam if request.fleet is None else plan_stored_exam)(request)
