"""The test of reuse: is a suspect derived from a reference, at a stated error rate?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from scope.decision.case import Case
from scope.decision.judging import find
from scope.decision.verdicts import conclude
from scope.errors import SpecError
from scope.jobs.audited import AuditRole
from scope.jobs.casework import InBatches, make_case
from scope.jobs.finishing import finish
from scope.jobs.identity import default_run_name, notes_of, question_of
from scope.jobs.lineup import Lineup
from scope.jobs.preparation import soft_scope_metric
from scope.jobs.reuse_numbers import measurements, outcomes
from scope.jobs.reuse_texts import TextOptions, prepare_texts
from scope.jobs.reuse_ways import Prepared, ReuseOptions, prepare_task
from scope.metrics import Metric
from scope.models import ModelOptions
from scope.models.answer_table import parse_table_name
from scope.models.loading import split_spec
from scope.progress import Silent
from scope.protocols import Capability, Progress, Task
from scope.records import Comparison, Look, Setting
from scope.store import Run, run_folder

BATCH = 100
"""Questions between two looks of a sequential test, unless said otherwise."""


def reuse(
    *,
    suspect: str | object,
    references: str | object | Sequence[str | object],
    controls: str | object | Sequence[str | object],
    data: str,
    task: str | Task | None = None,
    role: AuditRole = "classifier",
    capabilities: Sequence[str | Capability] | None = None,
    n: int | None = None,
    alpha: float = 0.05,
    exclude_controls: str | Sequence[str] = (),
    assume_no_label_training: bool = False,
    sequential: bool = False,
    batch: int | None = None,
    seed: int = 0,
    trials: int = 3,
    perturbed: int = 200,
    tolerance: float = 0.1,
    cutoff: float = 1.0,
    settings: Mapping[str, Setting] | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    label_map: Sequence[str] = (),
    model_options: ModelOptions | None = None,
    run: str | Path | None = None,
    runs: Path = Path("runs"),
    progress: Progress | None = None,
) -> Comparison:
    """Ask a suspect, its possible sources and independent models the same, and give a verdict.

    The run is kept on disk: killed and called again alike, it goes on where it was and gives the
    same result. The report lies in the run's folder, ``runs/NAME/report.html``.

    Parameters
    ----------
    suspect, references, controls
        Model specs, or objects in the role that is asked for. The suspect may be derived from any
        of the references; the controls are known to be independent of them all, and a model that
        was made of the same public base should be among them. ``predictions:FILE.tsv#*`` stands
        for all models of a table but the suspect and the references.
    data
        What the probes are made of: a data spec. Right answers make the test stronger.
    task
        A task's name or object, such as *choice*; None asks for the labels of texts.
    role
        Of the models when no task is named: by their label for a text, or ``next_token``.
    capabilities
        With which the reference is searched for texts that leave it invariant, which are asked
        too; *typo* by default, none for a task, in a sequential test, and where any model is a file
        of answers.
    n
        How many questions or texts to draw; all of them if None.
    alpha
        The error rate of all verdicts together: how often an independent model is called related.
    exclude_controls
        Controls to leave out, by their names or by patterns such as ``llama-*``.
    assume_no_label_training
        That the suspect was not trained on answers of a reference, which the test may miss.
        Without this assumption no suspect is called *not related*.
    sequential, batch
        Ask the suspect in batches of so many, 100 unless said otherwise, and stop as soon as it is
        found to be related; ``batch`` alone implies ``sequential``.
    trials
        Perturbations sought for each text.
    perturbed
        Of how many of the texts perturbations are sought.
    tolerance, cutoff
        Of Soft-SCoPE.
    settings
        Of the task.
    label_map
        ``OLD=NEW`` names of labels; what does not align by name is matched by the answers.
    model_options
        How models are loaded, run and asked.
    run, runs
        The run's name under the folder ``runs``, or its path.
    progress
        Where to show progress; nowhere by default.

    Returns
    -------
    Comparison
        With one of ``verdicts`` for each reference. Prints as a table.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    began = time.monotonic()
    metric = soft_scope_metric(tolerance, cutoff)
    _check(alpha, batch)
    _check_search(trials, perturbed)
    options = ReuseOptions(
        data=data,
        n=n,
        seed=seed,
        alpha=alpha,
        sequence=(batch or BATCH) if sequential or batch else None,
        models=model_options or ModelOptions(),
        progress=progress or Silent(),
        excluded=tuple(map(str, _listed(exclude_controls))),
        assume_no_label_training=assume_no_label_training,
    )
    models = (suspect, _listed(references), _listed(controls))
    if task is None:
        _refuse_without_a_task(settings or {}, [suspect, *models[1], *models[2]])
        texts = TextOptions(
            role=role,
            capabilities=capabilities,
            trials=trials,
            soft_scope=metric,
            text_column=text_column,
            label_column=label_column,
            label_map=label_map,
            perturbed=perturbed,
        )
        prepared = prepare_texts(models, texts, options)
    else:
        of_texts = {
            "--role": role != "classifier",
            "--capability": capabilities,
            "--text-column": text_column,
            "--label-column": label_column,
            "--label-map": label_map,
        }
        _refuse_for_a_task(task, [name for name, given in of_texts.items() if given])
        prepared = prepare_task(models, task, settings or {}, options)
    manifest = prepared.plan.manifest()
    folder = run_folder(run or default_run_name(manifest), runs)
    with Run.open(folder, question_of(manifest), notes=notes_of(manifest)) as opened:
        comparison = _conduct(prepared, options, metric, opened)
        return finish(comparison, opened, seconds=time.monotonic() - began)


def _listed(models: str | object | Sequence[str | object]) -> Sequence[str | object]:
    """One model as a sequence of one; a spec is no sequence of letters."""
    several = isinstance(models, Sequence) and not isinstance(models, str)
    return models if several else [models]  # type: ignore[return-value]


def _check(alpha: float, batch: int | None) -> None:
    if not 0 < alpha < 1:
        raise SpecError(
            f"an error rate of {alpha:g}",
            expected="a share between 0 and 1",
            mend="write for example --alpha 0.05",
        )
    if batch is not None and batch < 1:
        raise SpecError(
            f"batches of {batch} questions",
            expected="at least 1",
            mend=f"write --batch {BATCH}, or leave it out",
        )


def _check_search(trials: int, perturbed: int) -> None:
    if trials < 1 or perturbed < 1:
        raise SpecError(
            f"{trials} perturbations of each of {perturbed} texts",
            expected="at least one of one text",
            mend="leave the search out with --capability none",
        )


def _refuse_for_a_task(task: str | Task, given: Sequence[str]) -> None:
    """What concerns texts to label and to perturb would change nothing about questions."""
    if given:
        named = " and ".join(given)
        raise SpecError(
            f"{named} with the task `{task if isinstance(task, str) else task.name}`",
            expected="the questions of a task, as they are; or texts to label, without a task",
            mend=f"leave {named} out, or --task",
        )


def _refuse_without_a_task(settings: Mapping[str, Setting], models: Sequence[str | object]) -> None:
    if settings:
        raise SpecError(
            f"--setting {next(iter(settings))} without a task",
            expected="settings of a task: see `scope list tasks`",
            mend="add --task, or leave --setting out",
        )
    for one in models:
        scheme, rest = split_spec(one) if isinstance(one, str) else ("", "")
        if scheme == "predictions" and parse_table_name(rest):
            raise SpecError(
                f"the table of answers `{one}`, and no task",
                expected="the task whose questions the table answers",
                mend="add --task choice",
            )


def _conduct(prepared: Prepared, options: ReuseOptions, metric: Metric, run: Run) -> Comparison:
    """Fix the probes, ask, weigh the evidence; what the run knows already is taken from it."""
    prepared.recognise(run)
    lineup = prepared.plan.lineup
    share = options.alpha / len(lineup.references)
    sets = {one.name: prepared.probes(one, run) for one in lineup.references}
    # After the probes are fixed: where labels differ, an interview begins with a question to all.
    interview = prepared.interview(run)
    judge = partial(find, alpha=share, soft_scope=metric, seed=options.seed)

    def relates(case: Case, looks: tuple[Look, ...]) -> bool:
        (verdict,) = conclude([judge(case, looks)], share)
        return verdict.decision == "related"

    size = options.sequence
    batches = InBatches(size=size, alpha=share, relates=relates) if size else None
    findings = [
        judge(*make_case(lineup, one, sets[one.name], interview, batches=batches))
        for one in lineup.references
    ]
    verdicts = conclude(
        findings,
        options.alpha,
        assume_no_label_training=options.assume_no_label_training,
        available=prepared.plan.available(options.n),
    )
    failed = [line for name, probes in sets.items() for line in probes.failures(name)]
    return Comparison(
        manifest=prepared.plan.manifest(
            interview.truncated(), {name: probes.hash for name, probes in sets.items()}
        ),
        outcomes=outcomes(sets, verdicts, [one.name for one in prepared.plan.asked]),
        measurements=measurements(verdicts, labelled=prepared.plan.data.labelled > 0),
        differences=(),
        curves=(),
        examples=(),
        perturbations=(),
        verdicts=tuple(
            replace(one, warnings=(*_same(lineup), *failed, *interview.warnings(), *one.warnings))
            for one in verdicts
        ),
    )


def _same(lineup: Lineup) -> list[str]:
    """That the suspect is a reference itself, which a test of reuse is not needed for."""
    return [
        f"the suspect and {one.name} are the same model: their fingerprints are equal"
        for one in lineup.references
        if one.model.fingerprint == lineup.suspect.model.fingerprint
    ]
