"""Shared mistakes straight from the formulas: one pair, one question and one option at a time.

Independent of `scope.jobs.reuse` on purpose: lists and loops, and where numbers must be found and
not computed, a general solver instead of Newton's method. An answer that was not given is -1, and a
question that a model was not asked None.
"""

import math
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from scipy.optimize import root


class Questions(NamedTuple):
    answers: list
    options: list
    right: list

    @property
    def models(self):
        return range(len(self.answers))

    def both(self, one, other):
        """The questions put to both, of models that answer any."""
        return [
            item
            for item in range(len(self.options))
            if self.answered(one) and self.answers[one][item] is not None
            if self.answered(other) and self.answers[other][item] is not None
        ]

    def answered(self, model):
        given = enumerate(self.answers[model])
        return [item for item, answer in given if answer not in (None, -1)]

    def wrong(self, model, items):
        return [item for item in items if self.answers[model][item] != self.right[item]]


def skills(questions):
    return [
        fmean(questions.answers[model][item] == questions.right[item] for item in given)
        if (given := questions.both(model, model))
        else None
        for model in questions.models
    ]


def kappa(questions, one, other):
    items = questions.both(one, other)
    if not items:
        return None
    a = 1 - len(questions.wrong(one, items)) / len(items)
    b = 1 - len(questions.wrong(other, items)) / len(items)
    observed = fmean(questions.answers[one][i] == questions.answers[other][i] != -1 for i in items)
    alike = fmean(1 / (questions.options[item] - 1) for item in items)
    expected = a * b + alike * (1 - a) * (1 - b)
    return (observed - expected) / (1 - expected) if 1 - expected > 1e-9 else 0.0


def robust(values):
    return max(1.4826 * median(abs(value) for value in values), 1e-6)


def kin(questions):
    """The related pairs, each as a set of two."""
    skill = skills(questions)
    present = [one for one in skill if one is not None]
    if len(present) < 8:
        return []
    mean = fmean(present)
    spread = math.sqrt(fmean((one - mean) ** 2 for one in present)) + 1e-9
    scaled = [None if one is None else (one - mean) / spread for one in skill]
    seen = {}
    for one in questions.models:
        for other in range(one):
            if (value := kappa(questions, one, other)) is not None:
                seen[one, other] = value
    known = {(a, b): [1, scaled[a] + scaled[b], scaled[a] * scaled[b]] for a, b in seen}
    weights = dict.fromkeys(seen, 1.0)
    for _ in range(15):
        # A ridge is three more equations, that each coefficient is nearly 0.
        left = [[math.sqrt(weights[pair]) * x for x in known[pair]] for pair in seen]
        told = [math.sqrt(weights[pair]) * seen[pair] for pair in seen]
        fit = np.linalg.lstsq(
            np.array(left + (1e-3 * np.eye(3)).tolist()), np.array([*told, 0, 0, 0]), rcond=None
        )[0]
        rest = {
            pair: seen[pair] - sum(c * x for c, x in zip(fit, known[pair], strict=True))
            for pair in seen
        }
        scale = 2 * robust(rest.values())
        for pair, value in rest.items():
            far = abs(value) / scale
            weights[pair] = 1 / max(1.0, far**2 if value > 0 else far)
    middle = median(rest.values())
    spread = robust([value - middle for value in rest.values()])
    return [{*pair} for pair, value in rest.items() if (value - middle) / spread > 3]


def weight(questions, related, model, control):
    """How much a control says of a model, whoever else is looked at."""
    skill = skills(questions)
    if model == control or {model, control} in related or skill[control] is None:
        return 0.0
    present = sorted(one for one in skill if one is not None)

    def rank(one):
        places = [place for place, other in enumerate(present) if other == skill[one]]
        return fmean(places) / max(len(present) - 1, 1)

    near = math.exp(-(((rank(model) - rank(control)) / 0.3) ** 2) / 2)
    return near / (1 + sum(control in pair for pair in related))


def frequencies(questions, weights, item):
    """The smoothed weighted frequency of each option; ``weights`` by model."""
    sums, squares = sum(weights.values()), sum(one**2 for one in weights.values())
    scale = sums / squares if squares else 0.0
    options = questions.options[item]
    counts = [1 / options] * options
    for model, one in weights.items():
        if item in questions.answered(model):
            counts[questions.answers[model][item]] += one * scale
    return [count / sum(counts) for count in counts]


def probabilities(shares, right, consensus, above):
    weights = [
        share**consensus * math.exp(above * (option == right))
        for option, share in enumerate(shares)
    ]
    return [one / sum(weights) for one in weights]


def fitted(questions, weights, model):
    """The s and t at which the penalised likelihood is level."""
    items = questions.answered(model)
    shares = {item: frequencies(questions, weights, item) for item in items}

    def slope(point):
        s, t = point
        of_s, of_t = 1 - s, -t
        for item in items:
            right, answer = questions.right[item], questions.answers[model][item]
            chances = probabilities(shares[item], right, s, t)
            logs = [math.log(share) for share in shares[item]]
            of_s += logs[answer] - sum(p * q for p, q in zip(chances, logs, strict=True))
            of_t += (answer == right) - chances[right]
        return [of_s, of_t]

    found = root(slope, [1.0, 0.0], tol=1e-13)
    assert max(abs(one) for one in slope(found.x)) < 1e-8
    return found.x


def expected(questions, related, fits, whose, model):
    """How probable the model is to give each answer of another, by question."""
    weights = {
        control: 0.0
        if control == whose or {control, whose} in related
        else weight(questions, related, model, control)
        for control in questions.models
    }
    return {
        item: min(
            max(
                probabilities(
                    frequencies(questions, weights, item), questions.right[item], *fits[model]
                )[questions.answers[whose][item]],
                0.005,
            ),
            0.995,
        )
        for item in questions.answered(whose)
    }


def excess(questions):
    """A number for every pair, or None; and s and t of each model, and the pairs of kin."""
    related = kin(questions)
    fits = [
        fitted(
            questions,
            {other: weight(questions, related, model, other) for other in questions.models},
            model,
        )
        for model in questions.models
    ]
    found = [[None for _ in questions.models] for _ in questions.models]
    for one in questions.models:
        for other in range(one):
            items = questions.both(one, other)
            total, mistakes = 0.0, 0
            for whose, model in ((one, other), (other, one)):
                chances = expected(questions, related, fits, whose, model)
                given = [item for item in items if questions.answers[whose][item] != -1]
                for item in questions.wrong(whose, given):
                    alike = questions.answers[one][item] == questions.answers[other][item]
                    total += alike - chances[item]
                    mistakes += 1
            if mistakes:
                found[one][other] = found[other][one] = total / (2 * len(items))
    return found, fits, related


def standing_out(values):
    """Half-way between a scale for all models and each model's own; None where there is none."""
    rows = [[value for value in row if value is not None] for row in values]
    flat = [value for row in rows for value in row]
    if not flat:
        return values
    spreads = [
        math.sqrt(fmean((value - fmean(row)) ** 2 for value in row)) if len(row) > 1 else None
        for row in rows
    ]
    wide = [one for one in spreads if one is not None]
    common = math.sqrt(fmean(one**2 for one in wide)) if wide else 0.0
    if common < 1e-12:
        return [[None if value is None else 0.0 for value in row] for row in values]
    own = [common if one is None else max(one, common / 10) for one in spreads]
    return [
        [
            None
            if value is None
            else (value - fmean(flat))
            * fmean([1 / math.sqrt(own[row] * common), 1 / math.sqrt(own[column] * common)])
            for column, value in enumerate(line)
        ]
        for row, line in enumerate(values)
    ]
