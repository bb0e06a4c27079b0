"""The title and the meaning of each metric in a report."""

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
            "Hard-SCoPE in which a kept pair is weighted "
            "by how similarly the two models’ probabilities move",
        ),
    }
)
"""The metrics of an audit by key: title and meaning."""

TASK_METRICS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "word_f1": (
            "Word F1",
            "word overlap of two answers: harmonic mean of precision and recall",
        ),
        "character_f1": (
            "Character F1",
            "the same over characters, so that forms of one word count in part",
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
            "cosine between static word vectors, which do not depend on the sentence",
        ),
        "accuracy": ("Accuracy", "share of questions on which the right option is chosen"),
        "agreement": ("Agreement", "share of questions on which both models choose the same"),
        "cohen_kappa": (
            "Cohen’s κ",
            "agreement beyond chance, given how often each model chooses each option",
        ),
        "capa": (
            "CAPA",
            "agreement of the models’ probabilities beyond what "
            "their accuracies imply; 0 for independent errors",
        ),
        "capa_discrete": (
            "Discrete CAPA",
            "CAPA of the choices, where the models’ probabilities are not used",
        ),
        "error_consistency": (
            "Error consistency",
            "how often both models are right or both wrong, beyond what their accuracies imply",
        ),
        "js_divergence": (
            "JS divergence",
            "distance between the probabilities of two models; 0 is identical",
        ),
    }
)
"""The metrics of tasks by key: title, which may name a parameter, and meaning."""

SEM_SCORE_BY_PROBE = (
    "similarity in meaning of two answers by {probe}, from 0 to 1 (equal "
    "answers); how well the probe predicts human judgement is not measured here"
)
"""What SemScore means where a probe of a model's layers takes the place of an encoder."""
