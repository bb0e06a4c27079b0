"""The two ways of a test of reuse: the questions of a task, or texts to label and to perturb."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scope.data.sampling import draw
from scope.errors import ModelError, SpecError
from scope.jobs.audited import AuditRole, check_role, load_audited, refuse_unused_words
from scope.jobs.interviews import Interview, TaskInterview, TextInterview, match_by_answers
from scope.jobs.lineup import Lineup, Member, line_up
from scope.jobs.participants import Participant, check_prompts, load_participant, require_rows
from scope.jobs.perturbing import find_perturbations
from scope.jobs.preparation import ChosenCapability, choose_capabilities, load_labelled
from scope.jobs.probes import ProbeSet, probes_of_items, probes_of_texts
from scope.jobs.reuse_plan import ReusePlan
from scope.jobs.task_choice import choose_tasks
from scope.metrics import Metric
from scope.models import ModelOptions
from scope.models.cached import CachedClassifier
from scope.models.labels import align, parse_label_map
from scope.protocols import Capability, Progress, SearchOptions, Task
from scope.records import Setting
from scope.store import Run

Models = tuple[str | object, Sequence[str | object], Sequence[str | object]]
"""The suspect, the references, the controls."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A test of reuse that is ready to begin.

    ``interview`` gives, for an open run, the way of asking; ``probes`` what is asked for the sake
    of a reference, in a run and showing its progress.
    """

    plan: ReusePlan
    interview: Callable[[Run], Interview]
    probes: Callable[[Member, Run], ProbeSet]


@dataclass(frozen=True, kw_only=True)
class ReuseOptions:
    """What both ways are told alike."""

    data: str
    n: int | None
    seed: int
    alpha: float
    sequence: int | None
    models: ModelOptions
    progress: Progress

    def verbatim(self) -> dict[str, Setting | Sequence[str]]:
        """As the command says it."""
        return {"n": self.n, "sequential": self.sequence is not None, "batch": self.sequence}

    def settings(self) -> dict[str, Setting]:
        """As the manifest says it; nothing where it is as usual."""
        return {} if self.sequence is None else {"batch": self.sequence}


def prepare_task(
    models: Models, task: str | Task, settings: Mapping[str, Setting], options: ReuseOptions
) -> Prepared:
    """Questions of a task, answered by models in its role."""
    chosen = choose_tasks([task], options.data, settings, n=options.n, seed=options.seed)
    role = chosen[0].task.role
    check_prompts([role], options.models)
    lineup = line_up(
        *models,
        load=lambda one: load_participant(one, [role], options.models),
        progress=options.progress,
    )
    require_rows(
        [
            Participant(name=one.name, model=one.model, saved=one.saved, own=one.own)
            for one in lineup.members
        ],
        chosen,
    )
    probes = probes_of_items(chosen[0].data.items)
    plan = ReusePlan(
        lineup=lineup,
        data=chosen[0].data.card,
        asked=(chosen[0].card(),),
        alpha=options.alpha,
        seed=options.seed,
        settings=options.settings(),
        verbatim={
            "task": chosen[0].task.name,
            "setting": [f"{name}={value}" for name, value in settings.items()],
            **options.verbatim(),
        },
        options=options.models,
    )
    return Prepared(
        plan=plan,
        interview=lambda run: TaskInterview(
            task=chosen[0].task, run=run, progress=options.progress
        ),
        probes=lambda reference, run: probes,
    )


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """What concerns texts alone; see `scope.jobs.reuse.reuse`."""

    role: AuditRole
    capabilities: Sequence[str | Capability] | None
    trials: int
    soft_scope: Metric
    text_column: str | None
    label_column: str | None
    label_map: Sequence[str]
    search_suspect: bool
    perturbed: int


def prepare_texts(models: Models, texts: TextOptions, options: ReuseOptions) -> Prepared:
    """Texts to label, or to go on with, and what the search makes of them."""
    check_role(
        texts.role,
        label_map=texts.label_map,
        label_column=texts.label_column,
        options=options.models,
    )
    lineup = line_up(
        *models,
        load=lambda one: load_audited(one, texts.role, options.models),
        progress=options.progress,
    )
    refuse_unused_words([one.model for one in lineup.members], options.models)
    labels = tuple(lineup.references[0].model.labels)
    aligned = lineup.with_models(lambda one: _aligned(one, labels, texts, options))
    search = SearchOptions(trials=texts.trials, seed=options.seed)
    chosen = _capabilities(texts, aligned)
    _check_searched(texts, aligned, chosen, options)
    labelled = load_labelled(
        options.data,
        labels,
        label_map=texts.label_map,
        text_column=texts.text_column,
        label_column="none" if texts.role == "next_token" else texts.label_column,
        n=options.n,
        seed=options.seed,
    )
    of_role = {} if texts.role == "classifier" else {"role": texts.role}
    plan = ReusePlan(
        lineup=aligned,
        data=labelled.card,
        asked=tuple(one.card() for one in chosen),
        alpha=options.alpha,
        seed=options.seed,
        settings={
            "trials": texts.trials,
            "perturbed": texts.perturbed,
            **texts.soft_scope.parameters,
            "label_map": ", ".join(texts.label_map) or None,
            **of_role,
            **({"search_suspect": True} if texts.search_suspect else {}),
            **options.settings(),
        },
        verbatim={
            **of_role,
            "search_suspect": texts.search_suspect,
            "capability": [one.capability.name for one in chosen] or ["none"],
            "trials": texts.trials,
            "perturbed": texts.perturbed,
            **texts.soft_scope.parameters,
            "label_map": texts.label_map,
            "text_column": texts.text_column,
            "label_column": texts.label_column,
            **options.verbatim(),
        },
        options=options.models,
    )

    perturbed = draw(labelled.examples, texts.perturbed, options.seed)

    def probes(reference: Member, run: Run) -> ProbeSet:
        sets = [
            find_perturbations(
                one.capability,
                CachedClassifier(reference.model, run),
                perturbed,
                search,
                run=run,
                progress=options.progress,
                kept_as=f"{one.capability.name} of {reference.model.fingerprint}",
            )
            for one in chosen
        ]
        return probes_of_texts(labelled.examples, sets, labels)

    def interview(run: Run) -> TextInterview:
        originals = [example.text for example in labelled.examples]
        return TextInterview(
            labels=labels,
            examples=labelled.examples,
            run=run,
            progress=options.progress,
            own_labels={one.name: one.model.labels for one in aligned.members},
            matched=match_by_answers(aligned, labels, originals, run, options.progress),
        )

    return Prepared(plan=plan, interview=interview, probes=probes)


def _aligned(
    member: Member, labels: Sequence[str], texts: TextOptions, options: ReuseOptions
) -> object:
    """A model with its labels in the first reference's order, or as it is where no names align.

    References must align, for they say what the labels are; so must all where the suspect is asked
    in batches, for a match needs all its answers, and where the user said what corresponds.
    """
    if texts.role == "next_token":
        return member.model
    try:
        return align(member.model, labels, parse_label_map(texts.label_map))
    except ModelError:
        if member.part == "reference" or options.sequence is not None or texts.label_map:
            raise
        return member.model


def _capabilities(texts: TextOptions, lineup: Lineup) -> tuple[ChosenCapability, ...]:
    """What is asked for; by default *typo*, where every model can answer new texts."""
    if texts.capabilities is None:
        stored = any(one.saved for one in lineup.members)
        return () if stored else choose_capabilities(("typo",), {})
    saved = [one for one in lineup.references if one.saved]
    if texts.capabilities and saved:
        raise SpecError(
            f"capabilities, and saved predictions, `{saved[0].model.spec}`, as a reference",
            expected="a reference that answers new texts: the search cannot know them beforehand",
            mend="name the model itself, or leave the search out: --capability none",
        )
    return choose_capabilities(texts.capabilities, {}) if texts.capabilities else ()


def _check_searched(
    texts: TextOptions,
    lineup: Lineup,
    chosen: Sequence[ChosenCapability],
    options: ReuseOptions,
) -> None:
    """See that the suspect can be searched, where that is asked for."""
    if not texts.search_suspect:
        return
    against = {
        f"saved predictions, `{lineup.suspect.model.spec}`, as the suspect": lineup.suspect.saved,
        "no capability to search with": not chosen,
        "a suspect that is asked in batches, to ask less": options.sequence is not None,
    }
    if wrong := [found for found, is_so in against.items() if is_so]:
        raise SpecError(
            f"a search of the suspect, and {wrong[0]}",
            expected="a suspect that answers new texts, some thousands of them",
            mend="leave --search-suspect out",
        )
