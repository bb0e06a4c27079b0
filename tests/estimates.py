"""Picks estimates out of a comparison."""


def main_estimates(comparison, metric):
    return {
        (one.capability, one.target): one.estimate
        for one in comparison.measurements
        if one.metric.startswith(metric) and one.subset is None
    }


def answers_on_pairs(comparison, capability, position, shares):
    """The text of each kept pair, and the shares of the reference, then of a target, in it."""
    clean = {one.example.id: one for one in comparison.examples}
    pairs = [
        (clean[one.perturbation.example_id], one)
        for one in comparison.perturbations
        if one.capability == capability and one.reference
    ]
    texts = [before.example.id for before, _ in pairs]
    return texts, (
        *([shares(pair[place].reference) for pair in pairs] for place in (0, 1)),
        *([shares(pair[place].targets[position]) for pair in pairs] for place in (0, 1)),
    )
