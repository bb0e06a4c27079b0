"""Kind: property; any result, however odd its texts and numbers, reads back."""

from hypothesis import HealthCheck, given, settings, strategies as st

from scope.jobs import JOBS
from scope.registry import imported
from scope.serialization import from_json, to_json


def test_every_result_reads_back_as_it_was(any_of):
    @settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.one_of([any_of(imported(name)) for name in sorted({job.result for job in JOBS})]))
    def reads_back(result):
        kind, text = type(result), to_json(result)
        assert from_json(text, kind=kind) == result
        assert to_json(from_json(text, kind=kind)) == text

    reads_back()
