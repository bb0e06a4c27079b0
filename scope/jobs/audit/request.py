"""The request of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, cast

from scope.core.options import (
    DATA,
    HIDDEN,
    METHOD,
    MODELS,
    OUTSIDE_IDENTITY,
    Limits,
    named_values,
    option,
    repeated,
    settings_option,
    whole_number,
)
from scope.core.request import Job, refuse_unused
from scope.errors import SpecError
from scope.jobs.configuration import (
    AuditedTexts,
    InShards,
    JudgesAccuracy,
    adapted_model,
    take_models,
)
from scope.jobs.gates import AuditGates
from scope.models.options import ModelOptions
from scope.models.scheme import split_spec, with_name
from scope.records import REGION_MARGIN, Setting
from scope.registry import expand_groups

MOST_LOOKS = 4
"""Most parts of the texts at which verdicts are looked at."""


def _members(listed: str) -> tuple[str, ...]:
    """The specs of a group, which commas separate."""
    return tuple(word.strip() for word in listed.split(",") if word.strip())


def whole_spec(model: Any) -> str:
    """The whole spec of a model, with its scheme, and its name if it has one."""
    spec = model if isinstance(model, str) else str(model.spec)
    return with_name(":".join(split_spec(spec)), spec)


class MatrixParts(NamedTuple):
    """The models of a matrix by their specs, each once; some are both reference and target."""

    models: Mapping[str, str | object]
    references: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AuditRequest(AuditedTexts, InShards, JudgesAccuracy):
    """Audit whether targets keep the invariances of a reference.

    Searches perturbations that leave the reference's answers unchanged, and scores the targets on
    them; with several references a matrix shows every direction. An interrupted run continues when
    the same command is given again, with the same result. The report is `report.html` in the run's
    folder.

    Example: scope audit --reference hf:textattack/bert-base-uncased-SST-2
    --target hf:distilbert-base-uncased-finetuned-sst-2-english --allow-pickle
    --data hf:stanfordnlp/sst2:validation --label-map LABEL_0=negative --label-map LABEL_1=positive
    """

    reference: Annotated[
        str | object | Sequence[str | object], repeated(MODELS, "--reference", metavar="MODEL")
    ]
    """Reference model: hf:NAME, a folder, or another spec; may be repeated.

    In Python also a function with `labels`, a transformers pipeline or (model, tokenizer), a
    scikit-learn classifier, or an object with the members of `scope.protocols.Classifier` or
    `NextToken`; or a list of references."""

    targets: Annotated[Sequence[str | object], option(MODELS, "--target", metavar="MODEL")]
    """Target model, in the same way; may be repeated. Labels are aligned by name."""

    baseline: Annotated[
        str | object | None,
        option(MODELS, ("--baseline", "--yardstick"), metavar="MODEL", once=True),
    ] = None
    """Yardstick: a model that may replace the reference, such as the reference trained with another
    seed or in another precision. A verdict asks whether targets are less like the reference than
    this model."""

    floor: Annotated[str | object | None, option(MODELS, metavar="MODEL", once=True)] = None
    """Independently trained model, which shows how alike unrelated models are."""

    both_directions: Annotated[bool, option(MODELS)] = False
    """Make every model, references and targets, a reference of all others."""

    groups: Annotated[
        Mapping[str, Sequence[str | object]],
        named_values(
            MODELS,
            "--group",
            metavar="NAME=MODEL,MODEL",
            example="student=models/seed1,models/seed2",
            value=_members,
        ),
    ] = field(default_factory=dict, hash=False)
    """Targets that differ by a seed alone, whose mean is reported; may be repeated. They become
    targets if they are not."""

    capabilities: Annotated[
        Sequence[str | object], option(METHOD, "--capability", metavar="NAME")
    ] = ("synonym", "typo")
    """Capability, or a group of them: all, robustness, meaning, fairness or format; see `scope list
    capabilities`; may be repeated.

    In Python also an object with the members of `scope.protocols.Capability`."""

    settings: Annotated[Mapping[str, Setting], settings_option(METHOD, "typo.min_letters=5")] = (
        field(default_factory=dict)
    )
    """Setting of every capability that has it (FIELD=VALUE) or of one (NAME.FIELD=VALUE), such as
    synonym.preset=strong or min_letters=5; see `scope list capabilities`; may be repeated."""

    metrics: Annotated[Sequence[str], option(METHOD, "--metric", metavar="METRIC")] = ()
    """Further metric on the perturbed texts: one of a plugin, or one with other parameters, such as
    "soft_scope(cutoff=0.5)"; see `scope list metrics`; may be repeated."""

    distance: Annotated[Literal["l1", "kl"], option(METHOD)] = "l1"
    """How far an answer moves: L1 norm or KL divergence."""

    goal: Annotated[Literal["formula", "released"], option(METHOD)] = "formula"
    """How the search scores a kept pair: by the paper's formula, or as the paper's published code,
    which applies a second softmax on the perturbed side."""

    n: Annotated[int | None, whole_number(DATA, default="300"), Limits(least=1)] = 300
    """Number of texts that capabilities change at random."""

    n_most: Annotated[int | None, whole_number(DATA, default="twice --n"), Limits(least=1)] = None
    """Greatest number of such texts for a capability of which fewer than 100 count."""

    n_search: Annotated[int | None, whole_number(DATA, default="100"), Limits(least=1)] = 100
    """Number of these texts for which kept pairs are searched, which takes most of the time."""

    n_unchanged: Annotated[int | None, whole_number(DATA, default="5000"), Limits(least=1)] = 5000
    """Number of texts to sample: all give accuracy and the share of same answers, unchanged."""

    slices: Annotated[Sequence[str], option(DATA, "--slice", metavar="COLUMN")] = ()
    """Column of the data whose values may be regions where a target differs; may be repeated."""

    region_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = REGION_MARGIN
    """By how much a target differs in a region beyond the yardstick, and beyond other texts."""

    fill: Annotated[int | None, whole_number(DATA, default="none"), Limits(least=1)] = None
    """Texts that confirm a suspected region: those that the sample lacks are drawn from the rest of
    the data, by the region's words, length or columns, and answered too."""

    recall: Annotated[Sequence[str], option(METHOD, "--recall", metavar="CLASS")] = ()
    """Verdict: gold label of whose texts a target may not recognise fewer than the reference, but
    for the margin of accuracy; may be repeated."""

    agreement_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.02
    """Verdict: how much less often than the yardstick a target may give the reference's answer."""

    keeps_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.05
    """Verdict: how much less often than the reference a target may keep its answer under random
    changes."""

    concordance_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.05
    """Verdict: how much less often than the yardstick a target may show the same reaction: of two
    random changes, the same one moves target and reference more."""

    least_agreement: Annotated[float | None, option(METHOD), Limits(above=0, below=1)] = None
    """Verdict: least share of unchanged texts to which a target gives the reference's answer, in
    place of the yardstick's share."""

    least_concordance: Annotated[float | None, option(METHOD), Limits(above=0, below=1)] = None
    """Verdict: least share of same reaction of a target, in place of the yardstick's."""

    least_reach: Annotated[
        float | None, option(METHOD, default="0.7 with --baseline"), Limits(above=0, below=1)
    ] = None
    """Verdict: least strength of reaction of a target; 1 is as strong as the reference's, and the
    greatest is the inverse."""

    candidates: Annotated[int, whole_number(METHOD), Limits(least=0)] = 8
    """Random candidates a text, drawn whatever a model answers and answered by all models: for
    same reaction, strength of reaction, matched flips and how often a model keeps its answer. The
    paper's audit has --candidates 0 and preset=paper."""

    looks: Annotated[
        int | None,
        whole_number(METHOD, default="4 with an endpoint as target, else 1"),
        Limits(least=1, most=MOST_LOOKS),
    ] = None
    """Verdict: at how many equal parts of the texts it is looked at. Targets are asked no further
    once all are decided; the error is that of one look."""

    gap: Annotated[float, option(METHOD), Limits(above=0)] = 0.1
    """Least difference of the reference's log odds at two random candidates that form a pair for
    same reaction."""

    min_similarity: Annotated[float | None, option(METHOD), Limits(least=-1, most=1)] = None
    """Least cosine similarity of a perturbed text with its original."""

    encoder: Annotated[
        str | Any | None, option(METHOD, metavar="MODEL|none", default="the first at hand")
    ] = None
    """Sentence encoder, which compares synonyms in their place. If omitted: all-mpnet-base-v2, or
    else MiniLM of the extra `demo`. With one that is named, examples can be ordered by how
    far apart they are in meaning.

    In Python also a SentenceTransformer."""

    parallel_texts: Annotated[int, whole_number(METHOD), Limits(least=1), OUTSIDE_IDENTITY] = 64
    """Texts searched at once; changes speed and memory, never the result."""

    model_options: Annotated[ModelOptions, HIDDEN, ModelOptions] = field(
        default_factory=ModelOptions
    )
    """How models are loaded, run and queried."""

    @property
    def references(self) -> tuple[str | object, ...]:
        """The models that are searched for invariances; with both directions further ones are."""
        return cast(tuple[str | object, ...], self.reference)

    @property
    def reach_limit(self) -> float | None:
        """The least strength of reaction; None where it is not judged."""
        return 0.7 if self.least_reach is None and self.baseline is not None else self.least_reach

    @property
    def marks_similarity(self) -> bool:
        """Whether the similarity of each pair of texts is measured."""
        return self.encoder not in (None, "none") or self.min_similarity is not None

    @property
    def is_matrix(self) -> bool:
        """Whether the result is a matrix: of several references, or with groups."""
        return len(self.references) > 1 or self.both_directions or bool(self.groups)

    @property
    def measured(self) -> tuple[str | object, ...]:
        """The targets, those that groups add, and last the models to compare them with."""
        members = {whole_spec(model): model for group in self.groups.values() for model in group}
        known = set(map(whole_spec, self.targets))
        added = [model for spec, model in members.items() if spec not in known]
        return (*self.targets, *added, *self.compared.values())

    @property
    def compared(self) -> dict[Literal["baseline", "floor"], str | object]:
        """The baseline and the floor, by their roles."""
        roles: dict[Literal["baseline", "floor"], str | object | None]
        roles = {"baseline": self.baseline, "floor": self.floor}
        return {role: model for role, model in roles.items() if model is not None}

    def parts(self) -> MatrixParts:
        """The models of a matrix: every target is compared with every reference but itself.

        Raises
        ------
        SpecError
            When a reference is given twice, or has no target.
        """
        from scope.jobs.configuration import short_names

        models = {whole_spec(model): model for model in (*self.references, *self.measured)}
        references = tuple(map(whole_spec, self.references))
        short_names(references)  # refuses a reference that is given twice
        if self.both_directions:
            return MatrixParts(models, tuple(models), tuple(models))
        targets = tuple(map(whole_spec, self.measured))
        if len(set(targets)) == 1 and targets[0] in references:
            raise SpecError(
                f"the reference `{targets[0]}` as its only target",
                expected="another model to compare with each reference",
                fix="add --target SPEC, or --both-directions",
            )
        return MatrixParts(models, references, targets)

    def names(self) -> tuple[str, ...]:
        """Names of targets, baseline and floor, or of all models of a matrix; gates name them."""
        from scope.jobs.configuration import model_names, short_names

        if self.is_matrix:
            return short_names(tuple(self.parts().models))
        first, *others = map(whole_spec, (*self.references, *self.measured))
        return model_names(first, others)[1:]

    def __post_init__(self) -> None:
        if _is_pair(self.reference):
            object.__setattr__(self, "reference", (self.reference,))
        super().__post_init__()
        object.__setattr__(self, "capabilities", expand_groups(self.capabilities))
        take_models(self, "reference", "targets", "baseline", "floor", "encoder")
        self._take_groups()
        if self.is_matrix:
            refuse_unused(
                self,
                ("baseline", "floor", "looks", "recall"),
                "with several references, both directions or groups",
                "one reference, with which it is compared",
                instead="give the model as a --target",
            )
        if self.cluster is not None and self.looks != 1:
            refuse_unused(
                self, ("looks",), "with --cluster", "one look: several were not simulated there"
            )
        if not self.candidates:
            refuse_unused(
                self, ("looks",), "with --candidates 0", "random candidates: verdicts rest on them"
            )
        self._refuse_what_the_role_lacks()

    def _refuse_what_the_role_lacks(self) -> None:
        """Refuse options that have no effect in the role."""
        if self.role != "classifier":
            refuse_unused(
                self,
                ("goal",),
                f"in the role {self.role}",
                "the formula: the published code knows labels alone",
                instead="leave it out",
            )
        if self.role == "answer":
            refuse_unused(
                self,
                ("slices", "recall", "fill", "distance", "tolerance", "cutoff", "gap", "metrics"),
                "in the role answer",
                "written answers, which have no labels and no probabilities of labels",
                instead="leave it out",
            )
            if self.is_matrix:
                raise SpecError(
                    "several references, both directions or groups in the role answer",
                    expected="one reference: each target's reaction is that of its answers",
                    fix="audit against one reference at a time",
                )
        else:
            refuse_unused(
                self,
                ("score", "max_answer_tokens", "samples"),
                f"in the role {self.role}",
                "labels or tokens, right or wrong",
            )

    def _take_groups(self) -> None:
        """Make models of the objects in groups, and refuse an empty group."""
        taken = {
            name: tuple(adapted_model(model, self.model_options) for model in _listed(some))
            for name, some in self.groups.items()
        }
        if empty := next((name for name, some in taken.items() if not some), None):
            raise SpecError(
                f"the group `{empty}` without a model",
                expected="the models of the group",
                fix=f"write for example --group {empty or 'NAME'}=models/seed1,models/seed2",
            )
        object.__setattr__(self, "groups", taken)


def _listed(some: object) -> Sequence[object]:
    return some if isinstance(some, list | tuple) and not _is_pair(some) else (some,)


def _is_pair(model: object) -> bool:
    """Whether this is one model: a pair of a model of transformers and its tokenizer."""
    if not isinstance(model, list | tuple) or any(isinstance(part, str) for part in model):
        return False
    # Imported here, so that the command line starts faster.
    from scope.models.python import is_known

    return is_known(model)


JOB = Job(
    name="audit",
    request=AuditRequest,
    run="scope.jobs.audit.run:run_audit",
    prepare="scope.jobs.audit.run:prepare",
    result="scope.records:AuditResult",
    page="scope.jobs.audit.page:page",
    gates=AuditGates,
)
