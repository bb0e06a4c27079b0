"""Picks estimates out of a comparison."""


def main_estimates(comparison, metric):
    return {
        (one.capability, one.target): one.estimate
        for one in comparison.measurements
        if one.metric.startswith(metric) and one.subset is None
    }


def answers_on_pairs(comparison, capability, position, shares):
    """The shares of the reference, then of a target, before and after each kept pair."""
    clean = {one.example.id: one for one in comparison.examples}
    pairs = [
        (clean[one.perturbation.example_id], one)
        for one in comparison.perturbations
        if one.capability == capability and one.reference
    ]
    return (
        *([shares(pair[place].reference) for pair in pairs] for place in (0, 1)),
        *([shares(pair[place].targets[position]) for pair in pairs] for place in (0, 1)),
    )
