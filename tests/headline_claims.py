"""Random estimates for the tests that compare a page's sentences with its numbers."""

from hypothesis import HealthCheck, Phase, settings, strategies as st

from scope.records import Estimate

drawn = settings(
    max_examples=40,
    deadline=None,
    # Pages take too long to look for the smallest one.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def estimates(low=-0.2, high=0.2, least_n=1):
    """Estimates whose intervals often touch or hold 0, or each other."""

    def build(value, below, above, n):
        return Estimate(value=value, low=value - below, high=value + above, n=n, method="made up")

    halves = st.sampled_from((0.0, 0.0003, 0.01, 0.05, 0.3))
    return st.builds(
        build,
        st.floats(low, high, allow_nan=False),
        halves,
        halves,
        st.sampled_from([n for n in (5, 29, 30, 400) if n >= least_n]),
    )
