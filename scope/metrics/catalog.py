"""Every metric of SCoPE described: its name, what it is measured on, how to read its number.

Metrics of tasks are symmetric: between two models no answer counts as the right one. A metric is
found by its key or its spelling: `soft_scope(tolerance=0.1, cutoff=1.0)` is the same in the command
line, the JSON and the report; `str` of a metric writes it and `parse_metric` reads it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from scope.errors import SpecError, did_you_mean, shown
from scope.metrics.arrays import Values
from scope.metrics.invariance import hard_scope_values, ood_agreement_values, soft_scope_values
from scope.protocols import UntrustedCode
from scope.registry import find, origins


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
        `scope.metrics.invariance.soft_scope_values`: with ``open_vocabulary``, too, which says that
        the last column is no label. The metric is the mean of its values.
    on_texts
        Of a scorer of answers in words: the function from two lists of texts to one value a pair.

    Examples
    --------
    >>> from scope.metrics.catalog import METRICS
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
        >>> from scope.metrics.catalog import METRICS
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


_PAPER = "Rawal & Toneva, Findings of ACL 2024, arXiv 2311.04166"

AUDIT_METRICS: Final = (
    Metric(
        key="iid_agreement",
        title="Same answers",
        directed=False,
        clean=True,
        paper=f"{_PAPER}, which compares it with the SCoPE measures",
        explanation="How often both models give the same answer to an unchanged text.",
    ),
    Metric(
        key="iid_accuracy_gap",
        title="Gap in accuracy",
        more_similar="lower",
        directed=False,
        clean=True,
        paper=f"{_PAPER}, which compares it with the SCoPE measures",
        explanation="How far apart the two models' accuracies on unchanged texts are.",
    ),
    Metric(
        key="ood_agreement",
        title="Same answers on changed texts",
        paper=f"{_PAPER}, which compares it with the SCoPE measures",
        explanation="How often both models give the same answer to a changed text that left the "
        "reference's answer as it was.",
        on_pairs=ood_agreement_values,
    ),
    Metric(
        key="hard_scope",
        title="Hard-SCoPE",
        paper=f"{_PAPER}, definition of Hard-SCoPE",
        explanation="How often the target keeps its own answer where the change of the text left "
        "the reference's answer as it was.",
        on_pairs=hard_scope_values,
    ),
    Metric(
        key="soft_scope",
        title="Soft-SCoPE",
        # Our values: the paper names both parameters and gives neither.
        parameters={"tolerance": 0.1, "cutoff": 1.0},
        paper=f"{_PAPER}, definition of Soft-SCoPE",
        explanation="Hard-SCoPE with less credit the more differently the change moves the two "
        "models: full up to the tolerance, none from the cutoff (L1 distance).",
        on_pairs=soft_scope_values,
    ),
    Metric(
        key="concordance",
        title="Same reaction",
        paper="ours: concordance of pairs (Kendall, Biometrika 1938), of changes of the log odds",
        explanation="Of two random changes of a text, how often the same one pushes target and "
        "reference further from the reference's answer: 1 for the reference itself, ½ for a coin "
        "or a model that never moves; unrelated models usually lie above ½.",
    ),
    Metric(
        key="reach",
        title="Strength of reaction",
        low=-math.inf,
        high=math.inf,
        paper="ours: the slope of the target's changes of the log odds on the reference's",
        explanation="How strongly random changes push the target where they push the reference: 1 "
        "is as strongly as the reference, 0 not at all. The greatest moves have less weight.",
    ),
    Metric(
        key="flip_scope",
        title="Flip-SCoPE",
        paper="ours: the complement of Hard-SCoPE, on random candidates",
        explanation="How often the target gives the reference's new answer where a random "
        "change gives the reference another one, on texts to which both gave the same. A missing "
        "answer follows none.",
    ),
    Metric(
        key="informedness",
        title="SCoPE informedness",
        low=-1.0,
        paper="ours: Youden's J (Youden, Cancer 1950)",
        explanation="Of a text's random changes that leave the reference's answer, the share that "
        "leaves the target's, plus Flip-SCoPE, minus 1: 1 for the reference itself, 0 for a model "
        "that never moves.",
    ),
    Metric(
        key="excess",
        title="Excess",
        low=-1.0,
        paper="ours: Hard-SCoPE minus the base rate of the target",
        explanation="How much more often the target keeps its answer on kept pairs than on random "
        "changes of the same texts; 0 for a model that never moves.",
    ),
    Metric(
        key="base_rate",
        title="Keeps its answer",
        paper="ours: Hard-SCoPE on random candidates, whatever the reference does",
        explanation="How often a random change of the text leaves the model's answer as it was.",
    ),
    Metric(
        key="changed_accuracy",
        title="Accuracy on changed texts",
        paper="ours: accuracy on random candidates, which keep their gold label",
        explanation="How often the model is right on randomly changed texts.",
    ),
)
"""From the shallowest question to the deepest."""

_CLOZE_AND_QA = "How similar are two LLMs (IIT Guwahati)"
_CAPA = "Goel et al., ICML 2025, arXiv 2502.04313"

_ONE_DIFFICULTY = (
    " 0 is chance if all items are equally difficult; otherwise unrelated models of equal skill "
    "easily have 0.1 to 0.25: compare with the median of other pairs."
)


def _of_answers(
    key: str,
    title: str,
    paper: str,
    explanation: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    more_similar: Literal["higher", "lower"] = "higher",
    threshold: float | None = None,
) -> Metric:
    return Metric(
        key=key,
        title=title,
        parameters={} if threshold is None else {"threshold": threshold},
        low=low,
        high=high,
        more_similar=more_similar,
        directed=False,
        clean=True,
        measured_in="tasks",
        paper=paper,
        explanation=explanation,
    )


TEXT_METRICS: Final = (
    _of_answers(
        "word_f1",
        "Word F1",
        f"{_CLOZE_AND_QA}, method 1; SQuAD's F1, without its normalization unless asked for",
        "How many of their words two answers share, whatever the order of the words.",
    ),
    _of_answers(
        "character_f1",
        "Character F1",
        f"{_CLOZE_AND_QA}, method 2",
        "How many of their characters two answers share, whatever the order, so that "
        "`Remarkably` counts nearly as much as `Remarkable`; white space is left out.",
    ),
    _of_answers(
        "exact_match",
        "Exact match",
        _CLOZE_AND_QA,
        "How often both F1 are 1: the same words as often, in any order.",
    ),
    _of_answers(
        "share_f1_zero",
        "Answers with word F1 of 0",
        _CLOZE_AND_QA,
        "How often two answers share no word at all.",
        more_similar="lower",
    ),
    _of_answers(
        "sem_score",
        "SemScore",
        f"{_CLOZE_AND_QA}, after Aynetdinov & Akbik 2024, arXiv 2401.17072",
        "How similar two answers are in meaning: the cosine of their sentence embeddings, or a "
        "score from 0 to 1 by a probe of a model of your own.",
        low=-1.0,
    ),
    _of_answers(
        "sem_score_at_least",
        "SemScore ≥ {threshold}",
        f"{_CLOZE_AND_QA}, which counts answers from 0.9 on",
        "How often two answers mean nearly the same: a SemScore of the threshold or more. Only a "
        "cosine has such a threshold, a probe's scores have none.",
        threshold=0.9,
    ),
    _of_answers(
        "word_cosine",
        "Word cosine",
        f"{_CLOZE_AND_QA}, Figure 2, which leaves the vectors open",
        "How similar two words for a blank are outside any sentence: the cosine of their static "
        "embeddings.",
        low=-1.0,
    ),
)
"""Of answers in words, against the right answers or another model's."""

# -1 is the least that any of the chance-corrected ones can reach: two options, of which one model
# chooses each half the time, and the other always the opposite.
CHOICE_METRICS: Final = (
    _of_answers(
        "accuracy",
        "Accuracy",
        "the share of right choices; an item without an answer counts as wrong",
        "How often the right option is chosen; the mean score where a tool scored the answers.",
    ),
    _of_answers(
        "agreement",
        "Same answers",
        f"{_CAPA}, which compares it with CAPA",
        "How often both models choose the same option.",
    ),
    _of_answers(
        "cohen_kappa",
        "Cohen’s κ",
        "Cohen 1960, Educational and Psychological Measurement 20(1)",
        "Same answers above what chance gives two models that choose each option as often: 1 is "
        "all, 0 is chance.",
        low=-1.0,
    ),
    _of_answers(
        "capa",
        "CAPA",
        f"{_CAPA}, κ_p",
        "How alike the two models' probabilities are, above what chance gives two models of the "
        "same accuracies; 1 only where both are sure: compare it with a model's CAPA with itself."
        + _ONE_DIFFICULTY,
        low=-1.0,
    ),
    _of_answers(
        "capa_discrete",
        "Discrete CAPA",
        f"{_CAPA}, κ_p of one-hot choices",
        "Same answers above what chance gives two models of the same accuracies: 1 for all the "
        "same." + _ONE_DIFFICULTY,
        low=-1.0,
    ),
    _of_answers(
        "error_consistency",
        "Error consistency",
        "Geirhos, Meding & Wichmann 2020, arXiv 2006.16736",
        "How often both models are right, or both wrong, above what chance gives two models of "
        "the same accuracies; which wrong option was chosen does not count." + _ONE_DIFFICULTY,
        low=-1.0,
    ),
    _of_answers(
        "js_divergence",
        "JS divergence",
        f"{_CAPA}, which compares it with CAPA; Lin 1991",
        "How far apart the two models' probabilities are, in bits: 0 where they are the same, "
        "1 where no option has a chance with both.",
        more_similar="lower",
    ),
)
"""Of choices between options, against the right option or another model's choices."""

OF_TWO_RUNS: Final = (
    _of_answers(
        "recovery",
        "Recovery of accuracy",
        "as releasers of quantized models report it",
        "The model's accuracy as a share of the first model's on the same questions.",
        high=math.inf,
    ),
    _of_answers(
        "flips",
        "Flips",
        "Dutta et al. 2024, arXiv 2407.09141",
        "How often exactly one of the model and the first model is right.",
        more_similar="lower",
    ),
)
"""Metrics of replacing the first model, from right and wrong answers."""

_KL = (
    "How far the model's next token is distributed otherwise than the first model's, in nats; 0 "
    "where they are the same. Near the first model less does not mean a better model."
)
_RATIO = "The perplexity that the texts have for the model, over that for the first model"

DRIFT_METRICS: Final = tuple(
    _of_answers(
        key,
        title,
        "as llama.cpp prints it; less is not better: arXiv 2606.19558",
        explanation,
        low=-high if key.endswith("correlation") else 0.0,
        high=high,
        more_similar="higher" if high == 1 else "lower",
    )
    for key, title, high, explanation in (
        ("perplexity_ratio", "Perplexity ratio", math.inf, f"{_RATIO}."),
        ("byte_perplexity_ratio", "Perplexity ratio by byte", math.inf, f"{_RATIO}, by byte."),
        ("kl", "KL divergence a token", math.inf, _KL),
        ("kl_median", "KL divergence a token, median", math.inf, _KL),
        ("kl_99", "KL divergence a token, 99\u00a0%", math.inf, _KL),
        ("kl_max", "KL divergence a token, maximum", math.inf, _KL),
        (
            "kl_lower_bound",
            "KL divergence of the next token, lower bound",
            math.inf,
            "The KL divergence is at least as great: of the tokens that both models name among "
            "their likeliest, all others as one.",
        ),
        (
            "same_top_token",
            "Same top token",
            1.0,
            "How often the likeliest next token is the same.",
        ),
        (
            "log_probability_correlation",
            "Correlation of log-probabilities",
            1.0,
            "How far both models find the same tokens likely: Pearson's correlation.",
        ),
    )
)
"""Of two language models along the same texts."""

TASK_METRICS: Final = (*TEXT_METRICS, *CHOICE_METRICS, *OF_TWO_RUNS, *DRIFT_METRICS)


METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {metric.key: metric for metric in (*AUDIT_METRICS, *TASK_METRICS)}
)
"""The metrics by key: those of an audit, then those of tasks."""

SELF_AGREEMENT: Final = _of_answers(
    "self_agreement",
    "Same answers when asked twice",
    "ours: of all pairs of sampled answers to a text, those that are the same",
    "How often two sampled answers of the reference to an unchanged text are the same: 1 where "
    "it is sure.",
)
"""Of the reference alone, so that no gate or option takes it."""


@cache
def find_metric(key: str) -> Metric | None:
    """The metric of that key: one of ours, else one of an installed plugin; None without either.

    A plugin offers a `Metric` with ``on_pairs`` under the entry point ``scope.metrics``.

    Raises
    ------
    SpecError
        When its plugin does not load, or offers something other than a metric.
    """
    if key == SELF_AGREEMENT.key:
        return SELF_AGREEMENT
    if key in METRICS or key not in origins("metrics"):
        return METRICS.get(key)
    entry = find("metrics", key)
    if not isinstance(entry.target, Metric):
        raise SpecError(
            f"the metric `{key}` of {entry.origin}: {shown(entry.target)}",
            expected=f"a `scope.metrics.Metric` with the key `{key}`",
            fix="change the entry point",
        )
    metric: Metric = entry.target
    if metric.key != key:
        raise SpecError(
            f"the metric `{key}` of {entry.origin}: its key is `{metric.key}`; the entry point "
            "must have the same name",
            expected=f"an entry point with the name `{metric.key}`",
            fix="rename the entry point, or change the key",
        )
    return replace(
        metric,
        on_pairs=metric.on_pairs and _guarded(metric, entry.origin, metric.on_pairs),
        on_texts=metric.on_texts and _guarded(metric, entry.origin, metric.on_texts),
    )


def _guarded(metric: Metric, origin: str, function: Callable[..., Values]) -> Callable[..., Values]:
    """The function of a plugin's metric, behind the boundary of foreign code."""
    code = UntrustedCode(f"{metric.key} of {origin}")

    def values_of(*compared: Any, **parameters: float) -> Values:
        with code.entered(getattr(function, "__name__", "its function")):
            values = np.array(function(*compared, **parameters), dtype=np.float64)
        if values.shape != (len(compared[0]),):
            raise SpecError(
                f"the metric `{metric.key}` of {origin} gives an array of shape {values.shape}",
                expected=f"one number a pair, of shape ({len(compared[0])},)",
                fix="correct its function",
            )
        # A number slightly out of range is a rounding error at its end.
        inside = (values >= metric.low - 1e-9) & (values <= metric.high + 1e-9)
        if not inside.all():
            raise SpecError(
                f"the metric `{metric.key}` of {origin} gives {values[~inside][0]:g}",
                expected=f"numbers from {metric.low:g} to {metric.high:g}",
                fix="correct its function, or set `low` and `high` of the Metric",
            )
        return values.clip(metric.low, metric.high)

    return values_of


def known_metrics(measured_in: Literal["audits", "tasks"] | None = None) -> list[str]:
    """The spellings of our metrics and plugins' keys, of audits or of tasks alone if asked."""
    ours = [str(metric) for metric in METRICS.values() if measured_in in (None, metric.measured_in)]
    plugins = origins("metrics")
    return [*ours, *(key for key in plugins if measured_in in (None, _measured_in(key)))]


def _measured_in(key: str) -> str:
    """Where a plugin's metric is measured; nowhere if it does not load."""
    try:
        metric = find_metric(key)
    except SpecError:
        return ""
    return metric.measured_in if metric else ""


_SPELLING = re.compile(r"\s*(?P<key>\w+)\s*(?:\((?P<parameters>[^()]*)\)\s*)?")


def parse_metric(text: str, measured_in: Literal["audits", "tasks"] | None = None) -> Metric:
    """Return the metric that a spelling means; parameters left out have their defaults.

    The message on an unknown one lists those of audits or of tasks alone if asked.

    Raises
    ------
    SpecError
        If the metric or a parameter is unknown, or a value is no number or not allowed.

    Examples
    --------
    >>> parse_metric("soft_scope(cutoff=0.5)").parameters["cutoff"]
    0.5
    >>> print(parse_metric("soft_scope"))
    soft_scope(tolerance=0.1, cutoff=1.0)
    """
    match = _SPELLING.fullmatch(text)
    metric = find_metric(match["key"]) if match else None
    if match is None or metric is None:
        known = known_metrics(measured_in)
        keys = [spelling.partition("(")[0] for spelling in known]
        otherwise = "write one of these; parameters in parentheses may be left out"
        raise SpecError(
            f"the metric `{text}`",
            expected=f"one of {', '.join(known)}",
            fix=did_you_mean(text.partition("(")[0].strip(), keys, otherwise),
        )
    try:
        return metric.at(**_read_parameters(match["parameters"] or ""))
    except ValueError as problem:
        names = ", ".join(metric.parameters) or "no parameters"
        raise SpecError(
            f"the metric `{text}`: {problem}",
            expected=f"{metric.key} with {names}",
            fix=f"write `{metric}`, or with other numbers",
        ) from problem


def _read_parameters(text: str) -> dict[str, float]:
    parameters: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise ValueError(f"`{part.strip()}` is not written as name=number")
        if name in parameters:
            raise ValueError(f"{name} is given twice")
        try:
            parameters[name] = float(written)
        except ValueError:
            raise ValueError(f"{name}={written} is not a number") from None
    return parameters


@dataclass(frozen=True, kw_only=True)
class MetricName:
    """A spelling taken apart: what to call the metric, what it means, and its parameters.

    ``meaning`` is None for a number that is no metric of ours.
    """

    spelling: str
    head: str
    label: str
    meaning: str | None
    parameters: Mapping[str, str]


def metric_name(spelling: str) -> MetricName:
    """Take a metric's spelling apart, to be shown; never fails.

    Examples
    --------
    >>> name = metric_name("soft_scope(tolerance=0.1, cutoff=1.0)")
    >>> name.label, name.parameters["cutoff"]
    ('Soft-SCoPE', '1.0')
    >>> metric_name("sem_score_at_least(threshold=0.9)").label
    'SemScore ≥ 0.9'
    >>> metric_name("my_metric").label
    'my_metric'
    """
    head = spelling.partition("(")[0]
    parameters = dict(re.findall(r"(\w+)=([^,)]+)", spelling))
    try:
        metric = find_metric(head)
    except SpecError:  # of a plugin that no longer loads, in a stored result
        metric = None
    if metric is None:
        return MetricName(
            spelling=spelling, head=head, label=spelling, meaning=None, parameters=parameters
        )
    label = metric.title
    for name, value in {"threshold": "a threshold", **parameters}.items():
        label = label.replace(f"{{{name}}}", value)
    return MetricName(
        spelling=spelling, head=head, label=label, meaning=metric.explanation, parameters=parameters
    )
