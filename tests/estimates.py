"""Picks estimates out of a comparison."""


def main_estimates(comparison, metric):
    return {
        (one.capability, one.target): one.estimate
        for one in comparison.measurements
        if one.metric.startswith(metric) and one.subset is None
    }
