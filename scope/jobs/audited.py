"""The models of an audit: loaded in one role, named, and their labels brought into one order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scope.errors import ModelError, SpecError
from scope.jobs.audit.request import AuditRequest
from scope.jobs.identity import model_names
from scope.jobs.shared_fields import AuditRole
from scope.models import ModelOptions, load_model
from scope.models.certainty import marked
from scope.models.labels import LabelWordClassifier, align, next_token_classifier, parse_label_map
from scope.models.loading import in_role, require_labels, split_spec
from scope.models.prompts import prompt_of
from scope.models.saved import SavedClassifier
from scope.protocols import Classifier
from scope.records import ModelCard


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedModel:
    """A classifier with the name that tables and reports give it, and its part in the job.

    ``saved``: its answers are looked up, at no cost, and need not be stored again.
    """

    name: str
    role: Literal["reference", "target", "model"]
    classifier: Classifier
    saved: bool = False

    def card(self, truncated: int = 0) -> ModelCard:
        """Its entry in the manifest."""
        return ModelCard(
            name=self.name,
            role=self.role,
            spec=self.classifier.spec,
            fingerprint=self.classifier.fingerprint,
            labels=self.classifier.labels,
            truncated=truncated,
            reproducible=getattr(self.classifier, "reproducible", ""),
            prompts=getattr(self.classifier, "prompts", {}),
            words=getattr(self.classifier, "words", {}),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """A reference, and targets whose labels are in its order."""

    reference: NamedModel
    targets: tuple[NamedModel, ...]


def load_models(request: AuditRequest) -> Models:
    """Load the models in the audit's role; classifiers' labels are brought into one order.

    Tokens need no order: each prediction names its own.

    Raises
    ------
    SpecError
        When there is no target, one is given twice, or no model uses an option that is given.
    ModelError
        When a model does not load or lacks the role, labels do not align, or the reference cannot
        answer new texts.
    """
    role, options = request.role, request.model_options
    if not request.targets:
        raise SpecError(
            "no target",
            expected="at least one model to compare with the reference",
            fix="add --target SPEC",
        )
    names = parse_label_map(request.label_map)
    first = load_audited(request.reference, role, options)
    if isinstance(first, SavedClassifier):
        raise ModelError(
            f"saved predictions, `{first.spec}`, as the reference",
            expected="a reference that can answer new texts: the search generates them",
            fix="give the model itself as the reference; saved predictions can be a target",
        )
    others = [load_audited(target, role, options) for target in request.targets]
    refuse_unused_words([first, *others], options)
    first_name, *other_names = model_names(first.spec, [other.spec for other in others])
    return Models(
        reference=NamedModel(name=first_name, role="reference", classifier=first),
        targets=tuple(
            NamedModel(
                name=name,
                role="target",
                classifier=other if role == "next_token" else align(other, first.labels, names),
                saved=isinstance(other, SavedClassifier),
            )
            for name, other in zip(other_names, others, strict=True)
        ),
    )


def load_audited(model: str | object, role: AuditRole, options: ModelOptions) -> Classifier:
    """The model behind a spec, or the object itself, as a classifier in the audit's role."""
    if isinstance(model, str):
        found = marked(load_model(model, role, options), split_spec(model)[0], options)
    else:
        found = in_role(model, getattr(model, "spec", type(model).__name__), role, options)
    if role == "next_token":
        return next_token_classifier(found, options.next_tokens)
    return require_labels(found)


def refuse_unused_words(models: Sequence[Classifier], options: ModelOptions) -> None:
    """Refuse label words and prompts that no model is asked with.

    Raises
    ------
    SpecError
        When that is so.
    """
    given = options.label_words or options.prompts
    kinds = {getattr(model, "kind", type(model)) for model in models}
    if given and LabelWordClassifier not in kinds:
        raise SpecError(
            "label words or a prompt, and no language model among the classifiers",
            expected="a model that chooses among words, such as a causal language model",
            fix="leave --label-word and --prompt out",
        )


def read_prompts(options: ModelOptions) -> None:
    """Read the prompts of the user.

    Raises
    ------
    SpecError
        When one cannot be used.
    """
    for name in options.prompts:
        prompt_of(name, options)
