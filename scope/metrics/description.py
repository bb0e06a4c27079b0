"""The description of a metric: its name, parameters and range, and what it is measured on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from numpy.typing import ArrayLike

from scope.metrics.arrays import Values


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One metric with its parameters filled in.

    Attributes
    ----------
    key, title
        Its name in spellings and in the report's headings; ``{threshold}`` in a title stands for
        the parameter of that name.
    parameters
        What its values depend on besides the predictions, in the order they are written.
    low, high, more_similar
        The range of its value, and which end of it says that the models are alike.
    directed
        Whether exchanging the two models, or model and right answer, may change the value.
    clean, measured_in
        Whether it is measured on unperturbed texts alone; in audits, on labels and perturbations,
        or in tasks, on answers.
    paper, explanation
        Where it is defined, and what a reader of the report needs to know, in few words.
    on_pairs
        Of a metric on kept pairs: the function from four arrays of probabilities, of reference and
        target, before and after, each of shape (pairs, labels), to one value a pair, called as
        `scope.metrics.soft_scope_values`. The metric is the mean of its values.
    on_texts
        Of a scorer of answers in words: the function from two lists of texts to one value a pair.

    Examples
    --------
    >>> from scope.metrics import METRICS
    >>> print(METRICS["soft_scope"].at(cutoff=0.5))
    soft_scope(tolerance=0.1, cutoff=0.5)
    """

    key: str
    title: str
    # A mapping has no hash; metrics with equal keys but other parameters are still unequal.
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)
    low: float = 0.0
    high: float = 1.0
    more_similar: Literal["higher", "lower"] = "higher"
    directed: bool = True
    clean: bool = False
    measured_in: Literal["audits", "tasks"] = "audits"
    paper: str
    explanation: str
    on_pairs: Callable[..., Values] | None = field(default=None, compare=False, repr=False)
    on_texts: Callable[[Sequence[str], Sequence[str]], Values] | None = field(
        default=None, compare=False, repr=False
    )

    def __str__(self) -> str:
        if not self.parameters:
            return self.key
        written = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.key}({written})"

    def pair_values(
        self,
        reference_clean: ArrayLike,
        reference_perturbed: ArrayLike,
        target_clean: ArrayLike,
        target_perturbed: ArrayLike,
        *,
        open_vocabulary: bool = False,
    ) -> Values:
        """Return one value a pair, with this metric's parameters.

        Raises
        ------
        ValueError
            If it is not measured on pairs, or as its own function raises.

        Examples
        --------
        >>> from scope.metrics import METRICS
        >>> same = [[0.9, 0.1]]
        >>> METRICS["soft_scope"].at(cutoff=0.5).pair_values(same, same, same, same).tolist()
        [1.0]
        """
        if self.on_pairs is None:
            raise ValueError(f"{self} is not measured on pairs of an original and a perturbed text")
        return self.on_pairs(
            reference_clean,
            reference_perturbed,
            target_clean,
            target_perturbed,
            open_vocabulary=open_vocabulary,
            **self.parameters,
        )

    def at(self, **parameters: float) -> Metric:
        """Return this metric with some parameters changed.

        Raises
        ------
        ValueError
            If it has no such parameter, or a value is not allowed.
        """
        unknown = parameters.keys() - self.parameters.keys()
        if unknown:
            raise ValueError(f"{self.key} has no parameter {', '.join(sorted(unknown))}")
        changed = {**self.parameters, **{name: float(v) for name, v in parameters.items()}}
        for name, value in changed.items():
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name}={value} is not a finite number from 0 on")
        tolerance, cutoff = changed.get("tolerance", 0.0), changed.get("cutoff", math.inf)
        if tolerance > cutoff:
            raise ValueError(f"tolerance={tolerance} is greater than cutoff={cutoff}")
        if changed.get("threshold", 0.0) > self.high:
            raise ValueError(f"threshold={changed['threshold']} is greater than {self.high:g}")
        return replace(self, parameters=changed)
