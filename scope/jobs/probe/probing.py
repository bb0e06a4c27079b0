"""The probe: how well do the layers of frozen models predict human similarity scores?"""

from __future__ import annotations

from scope.core.request import as_function
from scope.jobs.probe.fitting import prepare_new
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.retesting import prepare_saved
from scope.jobs.runner import carry_out
from scope.records import ProbeResult


def carry_out_probe(request: ProbeRequest) -> ProbeResult:
    """Fit and evaluate probes, or evaluate a saved one."""
    return carry_out(request, prepare_new if request.probe is None else prepare_saved)


probe = as_function(ProbeRequest, carry_out_probe)
