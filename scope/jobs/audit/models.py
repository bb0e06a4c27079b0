"""The models of an audit: loaded in one role, named, and their labels brought into one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from scope.data.sampling import LoadedData
from scope.errors import ModelError, SpecError
from scope.jobs.answering_models import (
    is_saved,
    load_answering_model,
    refuse_same_models,
    require_one_form,
    require_own_fingerprints,
    with_reading,
)
from scope.jobs.audit.request import AuditRequest, whole_spec
from scope.jobs.configuration import AuditRole, LabelledTexts, model_names, short_names
from scope.models.labels import (
    AlignedClassifier,
    LabelWordClassifier,
    NextTokenClassifier,
    align_examples,
    label_order,
    parse_label_map,
)
from scope.models.options import ModelOptions
from scope.models.questions import KINDS
from scope.models.scheme import (
    KnownLabels,
    Model,
    checked_spec,
    expand_spec,
    find_scheme,
    require_labels,
)
from scope.models.written import WrittenClassifier
from scope.progress import remark_once
from scope.protocols import Classifier
from scope.records import Example, ModelCard, Question


def classifier_card(classifier: Model) -> ModelCard:
    """A classifier's entry in the manifest, with its labels, prompts and label words."""
    model = classifier.adapter
    return replace(
        classifier.card(),
        labels=model.labels,
        prompts=getattr(model, "prompts", {}),
        words=getattr(model, "words", {}),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """A reference, and targets whose labels are in its order."""

    reference: Model
    targets: tuple[Model, ...]


def check_models(request: AuditRequest, examples: Sequence[Example]) -> None:
    """Check the models before any is loaded.

    Raises
    ------
    SpecError
        When there is no target, one is given twice, or baseline or floor is the reference.
    ModelError
        When the reference cannot answer new texts; and see `check_labels`.
    """
    if not request.targets:
        raise SpecError(
            "no target",
            expected="at least one model to compare with the reference",
            fix="add --target SPEC",
        )
    references = request.parts().references if request.is_matrix else request.references
    if saved := next(filter(is_saved, references), None):
        raise ModelError(
            f"saved predictions, `{saved}`, as the reference",
            expected="a reference that can answer new texts: the search generates them",
            fix="give the model itself as the reference; saved predictions can be a target",
        )
    asked = (*request.targets, *request.compared.values())
    if request.fill and (saved := next(filter(is_saved, asked), None)):
        raise ModelError(
            f"--fill {request.fill} with saved predictions, `{saved}`",
            expected="models that can answer further texts, which no file has answers to",
            fix="give the model itself, or leave out --fill",
        )
    measured = request.measured
    for role, model in request.compared.items():
        if whole_spec(model) == whole_spec(references[0]):
            raise _is_reference(role, whole_spec(model))
    short_names([whole_spec(model) for model in measured if isinstance(model, str)])
    for members in request.groups.values():
        short_names(list(map(whole_spec, members)))
    if request.is_matrix:
        measured = tuple(request.parts().models.values())[1:]
    models = (request.references[0], *measured)
    check_labels(models, request, examples, aligned=len(models))


def _is_reference(role: str, spec: str) -> SpecError:
    return SpecError(
        f"the reference itself as the {role}, `{spec}`",
        expected="another model to compare targets with, such as the reference trained with "
        "another seed: a model is always like itself",
        fix=f"choose another --{role}, or omit it",
    )


class AuditModels(NamedTuple):
    """The models of an audit: one entry per reference, and the names in each group."""

    each: tuple[Models, ...]
    groups: Mapping[str, tuple[str, ...]]


def load_models(request: AuditRequest, data: LoadedData) -> AuditModels:
    """Load the models in the audit's role; classifiers' labels are brought into one order.

    Tokens need no order: each prediction names its own.

    Raises
    ------
    SpecError
        When no model uses an option that is given, or baseline or floor is the reference.
    ModelError
        When a model does not load or lacks the role, or labels do not align.
    """
    if request.is_matrix:
        return _load_matrix(request, data)
    first, *others = _loaded(request, (*request.references, *request.measured), data)
    first_name, *other_names = model_names(first.spec, [other.spec for other in others])
    targets = [
        _target(name, other, first, request)
        for name, other in zip(other_names, others, strict=True)
    ]
    for place, role in enumerate(request.compared, start=len(targets) - len(request.compared)):
        if targets[place].fingerprint == first.fingerprint:
            raise _is_reference(role, others[place].spec)
        targets[place] = replace(targets[place], role=role)
    for target in targets:
        if target.fingerprint == first.fingerprint:
            same = " and ".join(sorted((first_name, target.name)))
            remark_once(f"{same} are the same model: they cannot differ")
    reference = Model(name=first_name, role="reference", adapter=first)
    models = Models(reference=reference, targets=tuple(targets))
    return AuditModels((models,), {})


def _load_matrix(request: AuditRequest, data: LoadedData) -> AuditModels:
    """The models of a matrix, each loaded once."""
    parts = request.parts()
    loaded = _loaded(request, tuple(parts.models.values()), data)
    by_spec = dict(zip(parts.models, loaded, strict=True))
    for members in request.groups.values():
        refuse_same_models([by_spec[whole_spec(member)] for member in members])
    names = short_names([model.spec for model in loaded])
    targets = {
        spec: _target(name, model, loaded[0], request)
        for spec, name, model in zip(parts.models, names, loaded, strict=True)
    }
    each = tuple(
        Models(
            reference=replace(targets[reference], role="reference"),
            targets=tuple(targets[target] for target in parts.targets if target != reference),
        )
        for reference in parts.references
    )
    groups = {
        group: tuple(targets[whole_spec(member)].name for member in members)
        for group, members in request.groups.items()
    }
    return AuditModels(each, groups)


def _loaded(
    request: AuditRequest, models: Sequence[str | object], data: LoadedData
) -> list[Classifier]:
    classifiers: list[Any] = []
    role, options = request.role, request.model_options
    with request.progress.task("loading models", len(models)) as advance:
        for model in models:
            if role == "answer":
                classifiers.append(_load_writer(model, options, data))
            else:
                classifiers.append(load_audited(model, role, options, data.examples))
            advance()
    require_own_fingerprints(classifiers)
    writes = request.role == "answer"
    refuse_unused_words(request.model_options, used=writes or asked_with_words(classifiers))
    require_one_form(classifiers)
    return classifiers


def _target(name: str, model: Classifier, first: Classifier, request: AuditRequest) -> Model:
    """A target, with its labels in the order of the first model's."""
    if model is not first and request.role == "classifier":
        model = AlignedClassifier(model, first.labels, parse_label_map(request.label_map))
    return Model(name=name, role="target", adapter=model)


def check_labels(
    models: Sequence[str | object],
    request: LabelledTexts,
    examples: Sequence[Example],
    *,
    aligned: int,
) -> None:
    """Compare the labels known before any model is loaded, and check that files exist.

    Parameters
    ----------
    models
        The reference first; ``aligned`` of them must have its labels.

    Raises
    ------
    ScopeError
        When a file is missing or damaged, a label word is missing or unused, or labels of models
        or of the data do not align with the reference's.
    """
    if request.role != "classifier":
        for model in models:
            if isinstance(model, str):
                checked_spec(model)
        return
    known = [
        _known_labels(model, request.model_options, read=place < aligned)
        for place, model in enumerate(models)
    ]
    sure = [labels for labels in known if labels is not None]
    if len(sure) == len(known):
        refuse_unused_words(request.model_options, used=any(labels.by_words for labels in sure))
    reference = known[0]
    if reference is None:
        return
    label_map = parse_label_map(request.label_map)
    for other in known[1:aligned]:
        if other is not None and other.labels:
            label_order(other.spec, other.labels, reference.labels, label_map)
    align_examples(examples, reference.labels, label_map)


def _known_labels(model: str | object, options: ModelOptions, *, read: bool) -> KnownLabels | None:
    """A model's labels; those of saved predictions only with ``read``."""
    if not isinstance(model, str):
        return None
    scheme, rest = find_scheme(model)
    if not scheme.saved:
        checked_spec(model)
        return scheme.labels(rest, options)
    if not read or expand_spec(model) != (model,):
        return KnownLabels(model, ())
    saved = require_labels(load_answering_model(model, ["classifier"], options))
    return KnownLabels(saved.spec, saved.labels)


def load_audited(
    model: str | object, role: AuditRole, options: ModelOptions, examples: Sequence[Example] = ()
) -> Classifier:
    """The model behind a spec, or the object itself, as a classifier in the audit's role.

    It notes how it reads its prompt with the first of the examples.
    """
    if role == "next_token":
        return NextTokenClassifier(
            load_answering_model(model, [role], options), options.next_tokens
        )
    loaded = load_answering_model(model, ["classifier"], options)
    if examples:
        with_reading(loaded, {"classify": Question(id="0", text=examples[0].text)})
    return require_labels(loaded)


def _load_writer(model: str | object, options: ModelOptions, data: LoadedData) -> WrittenClassifier:
    """The model behind a spec, or the object itself, in the role of a classifier."""
    if "prompt" in data.card.parts:
        # A whole message is put to a model as it stands.
        bare = dict.fromkeys(KINDS["answerer"].prompts, "{text}")
        options = replace(options, prompts=bare | dict(options.prompts))
    loaded = load_answering_model(model, ["answerer"], options)
    writer = WrittenClassifier(loaded, data.card.parts)
    asked = [writer.question(each.text) for each in data.examples]
    if hasattr(loaded, "require_chats"):
        loaded.require_chats([question.messages for question in asked])
    with_reading(loaded, {"answer": asked[0]})
    writer.reading = getattr(loaded, "reading", None)
    writer.most_tokens = options.max_answer_tokens
    return writer


def asked_with_words(models: Sequence[Classifier]) -> bool:
    """Whether one of the models chooses among label words."""
    return LabelWordClassifier in {getattr(model, "kind", type(model)) for model in models}


def refuse_unused_words(options: ModelOptions, *, used: bool) -> None:
    """Refuse label words and prompts that no model uses.

    Raises
    ------
    SpecError
        When no model uses them.
    """
    if (options.label_words or options.prompts) and not used:
        raise SpecError(
            "label words or a prompt, and no language model among the classifiers",
            expected="a model that chooses among words, such as a causal language model",
            fix="leave --label-word and --prompt out",
        )
