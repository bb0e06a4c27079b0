"""The metrics of tasks, described: those of answers in words, then those of choices.

All are symmetric, so between two models no answer counts as the right one. Accuracy is measured
against the right option only.
"""

from typing import Final, Literal

from scope.metrics.description import Metric

_CLOZE_AND_QA = "How similar are two LLMs (IIT Guwahati)"
_CAPA = "Goel et al., ICML 2025, arXiv 2502.04313"

_ONE_DIFFICULTY = (
    "; 0 is what chance gives where all items are equally difficult: where they are not, models of "
    "equal skill that err independently given the difficulty easily reach 0.1 to 0.25, so "
    "compare with the median of other pairs."
)


def _of_answers(
    key: str,
    title: str,
    paper: str,
    explanation: str,
    *,
    low: float = 0.0,
    more_similar: Literal["higher", "lower"] = "higher",
    threshold: float | None = None,
) -> Metric:
    return Metric(
        key=key,
        title=title,
        parameters={} if threshold is None else {"threshold": threshold},
        low=low,
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
        "zero_f1",
        "Answers with word F1 of 0",
        _CLOZE_AND_QA,
        "How often two answers share no word at all.",
        more_similar="lower",
    ),
    _of_answers(
        "sem_score",
        "SemScore",
        f"{_CLOZE_AND_QA}, after Aynetdinov & Akbik 2024, arXiv 2401.17072",
        "How near in meaning two answers are: the cosine of their sentence embeddings; or, from 0 "
        "to 1, what a probe of a model of your own makes of them.",
        low=-1.0,
    ),
    _of_answers(
        "sem_score_at_least",
        "SemScore ≥ {threshold}",
        f"{_CLOZE_AND_QA}, which counts answers from 0.9 on",
        "How often two answers mean nearly the same: a SemScore of the threshold or more, where it "
        "is a cosine: a probe's scores have no such threshold.",
        threshold=0.9,
    ),
    _of_answers(
        "word_cosine",
        "Word cosine",
        # The paper averages a cosine without saying of which vectors; ours are static ones.
        f"{_CLOZE_AND_QA}, Figure 2, which leaves the vectors open",
        "How near two fillers of a blank are as words outside any sentence: the cosine of "
        "their static embeddings.",
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
        "How often the right option is chosen.",
    ),
    _of_answers(
        "agreement",
        "Agreement",
        f"{_CAPA}, which compares it with CAPA",
        "How often both models choose the same option.",
    ),
    _of_answers(
        "cohen_kappa",
        "Cohen’s κ",
        "Cohen 1960, Educational and Psychological Measurement 20(1)",
        "Agreement above what chance gives two models that choose each option as often: 1 is "
        "full agreement, 0 is chance.",
        low=-1.0,
    ),
    _of_answers(
        "capa",
        "CAPA",
        f"{_CAPA}, κ_p",
        "Agreement of the two models' probabilities above what chance gives two models of the "
        "same accuracies; full agreement, 1, only where both are sure" + _ONE_DIFFICULTY,
        low=-1.0,
    ),
    _of_answers(
        "capa_discrete",
        "Discrete CAPA",
        f"{_CAPA}, κ_p of one-hot choices",
        "Agreement of the two models' choices above what chance gives two models of the same "
        "accuracies; 1 for the same choices" + _ONE_DIFFICULTY,
        low=-1.0,
    ),
    _of_answers(
        "error_consistency",
        "Error consistency",
        "Geirhos, Meding & Wichmann 2020, arXiv 2006.16736",
        "How often both models are right, or both wrong, above what chance gives two models of "
        "the same accuracies; which wrong option was chosen does not count" + _ONE_DIFFICULTY,
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

TASK_METRICS: Final = (*TEXT_METRICS, *CHOICE_METRICS)
