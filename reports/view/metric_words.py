"""What each metric is called in a report, and what it means in one line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

AUDIT_METRICS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "iid_agreement": (
            "IID agreement",
            "share of the original texts to which target and reference give the same label",
        ),
        "iid_accuracy_gap": (
            "Gap in IID accuracy",
            "absolute difference of the two models’ accuracies on the labelled original texts",
        ),
        "ood_agreement": (
            "OOD agreement",
            "share of the reference’s invariant pairs on whose changed text target and reference "
            "give the same label",
        ),
        "hard_scope": (
            "Hard-SCoPE",
            "share of the reference’s invariant pairs on which the target keeps its label too",
        ),
        "soft_scope": (
            "Soft-SCoPE",
            "Hard-SCoPE in which a kept pair counts the less, the more the two models’ "
            "probabilities move apart",
        ),
    }
)
"""The metrics of an audit by key: title and meaning."""

TASK_METRICS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "word_f1": (
            "Word F1",
            "how far two answers share their words: harmonic mean of precision and recall",
        ),
        "character_f1": (
            "Character F1",
            "the same over single characters, so that forms of one word count as partly alike",
        ),
        "exact_match": (
            "Exact match",
            "share of answers made of the same words and the same characters",
        ),
        "zero_f1": (
            "Answers with word F1 of 0",
            "share of answers that have no word in common",
        ),
        "sem_score": (
            "SemScore",
            "cosine between the sentence embeddings of two answers; 1 is the same direction",
        ),
        "sem_score_at_least": (
            "SemScore ≥ {threshold}",
            "share of answers whose SemScore reaches the threshold",
        ),
        "word_cosine": (
            "Static cosine",
            "cosine between the words’ own vectors, which know nothing of the sentence",
        ),
        "accuracy": ("Accuracy", "share of questions on which the right option is chosen"),
        "agreement": ("Agreement", "share of questions on which both models choose the same"),
        "cohen_kappa": (
            "Cohen’s κ",
            "agreement above what two models with the same habits of choosing reach by chance",
        ),
        "capa": (
            "CAPA",
            "agreement of the models’ probabilities above what their accuracies alone bring "
            "about; 0 for models whose errors have nothing to do with each other",
        ),
        "capa_discrete": (
            "Discrete CAPA",
            "CAPA of the choices, where the models’ probabilities are not used",
        ),
        "error_consistency": (
            "Error consistency",
            "how often both models are right or both wrong, above what their accuracies alone "
            "bring about",
        ),
        "js_divergence": (
            "JS divergence",
            "how far the probabilities of two models lie apart; 0 is the same",
        ),
    }
)
"""The metrics of tasks by key: title, which may name a parameter, and meaning."""

SEM_SCORE_BY_PROBE = (
    "how alike two answers are in meaning to {probe}, from 0 to 1, which equal answers have; how "
    "well the probe follows people’s judgement is not measured here"
)
"""What SemScore means where a probe of a model's layers takes the place of an encoder."""
