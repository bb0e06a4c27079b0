"""The request of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from scope.core.job import Job
from scope.core.options import (
    HIDDEN,
    METHOD,
    MODELS,
    OUTSIDE_IDENTITY,
    Limits,
    option,
    settings_option,
    whole_number,
)
from scope.core.request import refuse_unused
from scope.jobs.gates import AuditGates
from scope.jobs.shared_fields import LabelledTexts, take_models
from scope.models.options import SENTENCE_ENCODER, Labelling, ModelOptions
from scope.records import AuditResult, Setting


@dataclass(frozen=True, kw_only=True)
class AuditRequest(LabelledTexts):
    """Audit whether targets keep the invariances of a reference.

    Searches perturbations that leave the reference's answers unchanged, and scores the targets on
    them. An interrupted run continues when the same command is given again, with the same result.
    The report is `report.html` in the run's folder.

    Example: scope audit --reference hf:textattack/bert-base-uncased-SST-2
    --target hf:distilbert-base-uncased-finetuned-sst-2-english --allow-pickle
    --data hf:stanfordnlp/sst2:validation --label-map LABEL_0=negative --label-map LABEL_1=positive
    """

    reference: Annotated[str | object, option(MODELS, metavar="MODEL", once=True)]
    """Reference model: hf:NAME, a folder, or another spec.

    In Python also a function with `labels`, a transformers pipeline or (model, tokenizer), a
    scikit-learn classifier, or an object with the members of `scope.protocols.Classifier` or
    `NextToken`."""

    targets: Annotated[Sequence[str | object], option(MODELS, "--target", metavar="MODEL")]
    """Target model, in the same way; may be repeated. Labels are aligned by name."""

    ceiling: Annotated[str | object | None, option(MODELS, metavar="MODEL", once=True)] = None
    """Model that shows how alike a target can be expected to be, such as the reference trained with
    another seed or in another precision; measured like a target."""

    capabilities: Annotated[
        Sequence[str | object], option(METHOD, "--capability", metavar="NAME")
    ] = (
        "synonym",
        "typo",
    )
    """Capability, see `scope list capabilities`; may be repeated.

    In Python also an object with the members of `scope.protocols.Capability`."""

    settings: Annotated[Mapping[str, Setting], settings_option(METHOD, "typo.min_letters=5")] = (
        field(default_factory=dict)
    )
    """Setting of every capability that has it (FIELD=VALUE) or of one (NAME.FIELD=VALUE), such as
    preset=strong or typo.min_letters=5; see `scope list capabilities`; may be repeated."""

    metrics: Annotated[Sequence[str], option(METHOD, "--metric", metavar="METRIC")] = ()
    """Further metric on the perturbed texts: one of a plugin, or one with other parameters, such as
    "soft_scope(cutoff=0.5)"; see `scope list metrics`; may be repeated."""

    distance: Annotated[Literal["l1", "kl"], option(METHOD)] = "l1"
    """How far an answer moves: L1 norm or KL divergence."""

    goal: Annotated[Literal["formula", "released"], option(METHOD)] = "formula"
    """How the search scores a kept pair: by the paper's formula, or as the paper's published code,
    which applies a second softmax on the perturbed side."""

    flips: Annotated[bool, option(METHOD, negative="--no-flips")] = True
    """Also search pairs that change the reference's answer and draw random candidates: for
    Flip-SCoPE, informedness and base rate. --no-flips is the paper's audit."""

    min_similarity: Annotated[float | None, option(METHOD)] = None
    """Least cosine similarity of a perturbed text with its original."""

    encoder: Annotated[str | Any, option(METHOD, metavar="MODEL")] = SENTENCE_ENCODER
    """Sentence encoder of --min-similarity.

    In Python also a SentenceTransformer."""

    slots: Annotated[int, whole_number(METHOD), Limits(least=1), OUTSIDE_IDENTITY] = 64
    """Texts searched at once; changes speed and memory, never the result."""

    model_options: Annotated[ModelOptions, HIDDEN, Labelling] = field(default_factory=ModelOptions)
    """How models are loaded, run and queried."""

    def __post_init__(self) -> None:
        super().__post_init__()
        take_models(self, "reference", "targets", "ceiling", "encoder")
        if self.role == "next_token":
            refuse_unused(
                self,
                ("goal",),
                "in the role next_token",
                "the formula: the published code knows labels alone",
                instead="leave it out",
            )
        if self.min_similarity is None:
            refuse_unused(
                self,
                ("encoder",),
                "without --min-similarity",
                "an encoder with the similarity that it measures",
                instead="add --min-similarity, such as 0.8",
            )


JOB = Job(
    name="audit",
    request=AuditRequest,
    carry_out="scope.jobs.audit.run:carry_out_audit",
    prepare="scope.jobs.audit.run:prepare",
    result=AuditResult,
    page="scope.jobs.audit.sections:page",
    gates=AuditGates,
)
