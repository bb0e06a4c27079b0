"""The mean over a group of models, by loops and the formula alone."""

import math

from scipy.stats import t as student


def group_interval(values, example_ids, low=0.0, high=1.0):
    """Mean and bounds, from one list of values a model and the example of each column."""
    scaled = [[(value - low) / (high - low) for value in row] for row in values]
    models, columns = len(scaled), len(example_ids)
    means = [sum(row) / columns for row in scaled]
    mean = sum(means) / models
    between = sum((one - mean) ** 2 for one in means) / (models - 1) / models
    within = 0.0
    for example in set(example_ids):
        own = [place for place, one in enumerate(example_ids) if one == example]
        common = sum(sum(row[place] for row in scaled) / models for place in own)
        within += (common - mean * len(own)) ** 2
    size = columns / len(set(example_ids))
    # Two made-up examples, one all low and one all high.
    within += (size * (0 - mean)) ** 2 + (size * (1 - mean)) ** 2
    of_models = student.ppf(0.975, models - 1) ** 2 * between
    of_examples = student.ppf(0.975, len(set(example_ids))) ** 2 * within / columns**2
    half = math.sqrt(of_models + of_examples)
    bounds = (mean, max(0.0, mean - half), min(1.0, mean + half))
    return tuple(low + (high - low) * one for one in bounds)
