"""The audit: does a target keep the invariances of a reference?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from scope.errors import ModelError, SpecError
from scope.estimation import measure, shares_of_models
from scope.jobs.audited import AuditRole, check_role, load_models
from scope.jobs.canaries import recognise_classifier
from scope.jobs.finishing import finish
from scope.jobs.identity import default_run_name, notes_of, question_of
from scope.jobs.perturbing import changed_texts, find_perturbations
from scope.jobs.plan import AuditPlan
from scope.jobs.preparation import (
    choose_capabilities,
    load_labelled,
    soft_scope_metric,
)
from scope.jobs.scoring import (
    Answers,
    answer_all,
    answer_texts,
    score_examples,
    score_perturbations,
)
from scope.models import ModelOptions, load_encoder
from scope.models.cached import CachedClassifier
from scope.models.options import SENTENCE_ENCODER
from scope.progress import Silent
from scope.protocols import Capability, Classifier, NextToken, Progress, SearchOptions
from scope.records import AnswerShares, Comparison
from scope.store import Run, run_folder


def audit(
    *,
    reference: str | Classifier | NextToken,
    targets: Sequence[str | Classifier | NextToken],
    data: str,
    role: AuditRole = "classifier",
    capabilities: Sequence[str | Capability] = ("synonym", "typo"),
    n: int | None = None,
    seed: int = 0,
    trials: int = 3,
    preset: str | None = None,
    max_words: float | None = None,
    distance: Literal["l1", "kl"] = "l1",
    tolerance: float = 0.1,
    cutoff: float = 1.0,
    min_similarity: float | None = None,
    encoder: str = SENTENCE_ENCODER,
    text_column: str | None = None,
    label_column: str | None = None,
    label_map: Sequence[str] = (),
    slots: int = 64,
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Search perturbations that leave the reference invariant, and score the targets on them.

    The run is kept on disk: killed and called again alike, it goes on where it was and gives the
    same result. The report lies in the run's folder, ``runs/NAME/report.html``.

    Parameters
    ----------
    reference, targets
        Model specs, or objects with the members of `scope.protocols.Classifier`. The targets'
        labels are brought into the reference's order by name. A language model is a classifier
        when ``model_options`` give it label words.
    data
        A data spec; see `scope.data.load_data`, as for ``n`` and the columns;
        ``label_column="none"`` leaves the gold labels out.
    role
        With ``next_token`` the models are language models, objects with the members of
        `scope.protocols.NextToken`: the label of a text is the token most likely to follow it,
        and distances are taken over the tokens that either answer names and the mass of all
        others. Gold labels are left out.
    capabilities
        Names, or objects with the members of `scope.protocols.Capability`.
    trials
        Perturbations sought for each example, each different.
    preset, max_words
        Settings of the capabilities that have them, such as *synonym*.
    distance
        How far the reference's answer moves: L1 norm or KL divergence.
    tolerance, cutoff
        Of Soft-SCoPE: full credit up to the one, none from the other, in L1 distance.
    min_similarity, encoder
        Admit only texts whose sentence vector has this cosine with the original's.
    label_map
        ``OLD=NEW`` names, for labels that do not align by themselves.
    slots
        Examples searched at once: speed and memory, never the result.
    model_options
        Device, precision and batch size; of language models the prompt, the label words, and how
        many next tokens are read.
    run, runs
        The run's name under the folder ``runs``, or its path; by default a name that follows
        from what is asked.
    progress
        Where to show progress; nowhere by default.

    Returns
    -------
    Comparison
        Prints as a table; ``to_frame``, ``to_json`` and ``to_html`` convert it.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    began = time.monotonic()
    model_options = model_options or ModelOptions()
    metric = soft_scope_metric(tolerance, cutoff)
    check_role(role, label_map=label_map, label_column=label_column, options=model_options)
    if min_similarity is None and encoder != SENTENCE_ENCODER:
        raise SpecError(
            f"the encoder `{encoder}` and no least similarity",
            expected="an encoder with the similarity that it measures",
            mend="add --min-similarity, such as 0.8, or leave --encoder out",
        )
    options = SearchOptions(
        trials=trials,
        seed=seed,
        distance=distance,
        slots=slots,
        min_similarity=min_similarity,
        encoder=None if min_similarity is None else load_encoder(encoder, model_options),
    )
    chosen = choose_capabilities(capabilities, {"preset": preset, "max_words": max_words})
    models = load_models(reference, targets, role=role, label_map=label_map, options=model_options)
    labelled = load_labelled(
        data,
        models.reference.classifier.labels,
        label_map=label_map,
        text_column=text_column,
        label_column="none" if role == "next_token" else label_column,
        n=n,
        seed=seed,
    )
    plan = AuditPlan(
        role=role,
        models=models,
        model_options=model_options,
        data=labelled,
        capabilities=chosen,
        soft_scope=metric,
        options=options,
        label_map=tuple(label_map),
        verbatim={
            "text_column": text_column,
            "label_column": label_column,
            "n": n,
            "preset": preset,
            "max_words": max_words,
        },
    )
    folder = run_folder(run or default_run_name(plan.manifest()), runs)
    with Run.open(folder, question_of(plan.manifest()), notes=notes_of(plan.manifest())) as opened:
        comparison = _conduct(plan, opened, progress or Silent())
        return finish(comparison, opened, seconds=time.monotonic() - began)


def _conduct(plan: AuditPlan, run: Run, progress: Progress) -> Comparison:
    """Search, predict, measure; every answer that the run knows already is taken from it."""
    _recognise_models(plan, run, progress)
    _refuse_degenerate_reference(plan, run, progress)
    reference = CachedClassifier(plan.models.reference.classifier, run)
    sets = [
        find_perturbations(
            one.capability,
            reference,
            plan.data.examples,
            plan.options,
            run=run,
            progress=progress,
        )
        for one in plan.capabilities
    ]
    reference_answers, *target_answers = answers = [
        answer_all(model, plan.data.examples, sets, run=run, progress=progress)
        for model in (plan.models.reference, *plan.models.targets)
    ]
    examples = score_examples(plan.data.examples, reference_answers, target_answers)
    perturbations = score_perturbations(sets, reference_answers, target_answers)
    targets = [target.name for target in plan.models.targets]
    numbers = measure(
        examples,
        perturbations,
        capabilities=[one.outcome.capability for one in sets if one.outcome.status == "measured"],
        targets=targets,
        labels=plan.models.reference.classifier.labels,
        soft_scope=plan.soft_scope,
        seed=plan.options.seed,
    )
    return Comparison(
        manifest=plan.manifest([_count_truncated(known) for known in answers]),
        outcomes=tuple(one.outcome for one in sets),
        measurements=numbers.measurements,
        differences=numbers.differences,
        curves=numbers.curves,
        examples=examples,
        perturbations=perturbations,
        answer_shares=_shares(plan, answers),
    )


def _recognise_models(plan: AuditPlan, run: Run, progress: Progress) -> None:
    """See that models whose bytes cannot be hashed are those whose answers the run holds."""
    texts = [example.text for example in plan.data.examples]
    for one in plan.capabilities:
        texts += changed_texts(run, one.capability.name)
    for model in (plan.models.reference, *plan.models.targets):
        recognise_classifier(model, texts, run, progress)


def _refuse_degenerate_reference(plan: AuditPlan, run: Run, progress: Progress) -> None:
    """End the audit before any search where the reference's answers carry no evidence."""
    texts = [example.text for example in plan.data.examples]
    answers = answer_texts(plan.models.reference, texts, run=run, progress=progress)
    found = _shares(plan, [answers])[0]
    if found.degenerate is not None:
        raise ModelError(
            f"the reference `{found.model}` is degenerate: {found.degenerate}",
            expected="a reference whose answers depend on the texts, so that it has invariances "
            "worth keeping",
            mend="check that the model, its labels and the data belong together (`--label-map` "
            "renames labels), or name another reference",
        )


def _shares(plan: AuditPlan, answers: Sequence[Answers]) -> tuple[AnswerShares, ...]:
    """How the reference and the targets that have answered answer the unchanged texts."""
    labels = plan.models.reference.classifier.labels
    examples = plan.data.examples
    choices = [{one.id: known[one.text].choice for one in examples} for known in answers]
    named = [
        {
            key: choice if isinstance(choice, str) else labels[choice]
            for key, choice in of_one.items()
        }
        for of_one in choices
    ]
    gold = {one.id: one.label for one in examples if one.label is not None and one.label in labels}
    names = [plan.models.reference.name, *(target.name for target in plan.models.targets)]
    return shares_of_models(names[: len(answers)], named, gold)


def _count_truncated(answers: Answers) -> int:
    return sum(prediction.truncated for prediction in answers.values())
