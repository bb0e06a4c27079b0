"""A saved probe put to the test on new pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scope.errors import SpecError
from scope.jobs.frame import Surroundings, bare_comparison, do_in_run
from scope.jobs.latent_store import recognise_reader
from scope.jobs.probe.ladder import FittedStep, latents_of
from scope.jobs.probe.opening import OpenedProbe, open_probe
from scope.jobs.probe.pairs import PairSpecs, read_test_alone
from scope.jobs.probe.plan import ChosenPairTask, ProbePlan
from scope.jobs.probe.readers import read_texts
from scope.jobs.probe.scoring import judge_model, with_models
from scope.jobs.probe.ties import ties_of
from scope.probes import SimilarityProbe
from scope.protocols import LatentReader, PairTask, Progress
from scope.records import Comparison, Setting
from scope.store import Run


@dataclass(frozen=True, kw_only=True)
class Retest:
    """A saved probe and new pairs, as they were asked for.

    ``others`` are the options that belong to the fitting of a new probe, None where not given.
    """

    folder: Path
    models: tuple[str, ...]
    pairs: PairSpecs
    n: int | None
    seed: int
    task: str | PairTask
    others: Mapping[str, object]

    def check(self) -> None:
        """See that nothing is asked that a saved probe has settled already.

        Raises
        ------
        SpecError
            When something is.
        """
        given = [name for name, value in self.others.items() if value is not None]
        if given:
            raise SpecError(
                f"--{given[0]} with --probe `{self.folder}`",
                expected="test pairs alone, --test or --data: a saved probe is fitted already",
                mend=f"leave --{given[0]} out, or leave --probe out to fit a new probe",
            )
        if len(self.models) > 1:
            raise SpecError(
                f"{len(self.models)} models with --probe `{self.folder}`",
                expected="no model, or the one that the probe was fitted on",
                mend="leave --model out",
            )


def judge_saved(retest: Retest, around: Surroundings) -> Comparison:
    """Hold a saved probe against people's scores of new pairs.

    Raises
    ------
    ScopeError
        Whatever the user can mend: see `scope.errors`.
    """
    retest.check()
    plan, probe, readers = _opened(retest, around)
    find = partial(_find, plan, probe, readers, around.progress)
    return do_in_run(plan.manifest(), around, find)


def _opened(
    retest: Retest, around: Surroundings
) -> tuple[ProbePlan, SimilarityProbe, list[LatentReader]]:
    """What is to be done, the probe, and the reader of its model, which the list alone holds."""
    opened = open_probe(retest.folder, around.models, next(iter(retest.models), None))
    chosen = _chosen(retest, opened)
    plan = ProbePlan(
        chosen=chosen,
        pairs=read_test_alone(chosen.task, retest.pairs, n=retest.n, seed=retest.seed),
        sources=(opened.source,),
        settings={"probe": opened.digest, "steps": opened.probe.step},
        asked=_asked(retest),
        options=around.models,
    )
    return plan, opened.probe, [opened.reader]


def _chosen(retest: Retest, opened: OpenedProbe) -> ChosenPairTask:
    """The task in the range of the probe's scores."""
    own = ChosenPairTask.of(retest.task)
    ends = (opened.probe.low, opened.probe.high)
    return own if own.ends == ends else ChosenPairTask.of(retest.task, *ends)


def _asked(retest: Retest) -> dict[str, Setting | Sequence[str]]:
    task = retest.task
    return {
        "probe": str(retest.folder),
        "model": list(retest.models),
        **retest.pairs._asdict(),
        "n": retest.n,
        "seed": retest.seed,
        "task": task if isinstance(task, str) else task.name,
    }


def _find(
    plan: ProbePlan,
    probe: SimilarityProbe,
    readers: list[LatentReader],
    progress: Progress,
    run: Run,
) -> Comparison:
    recognise_reader(plan.texts, readers[0], progress)
    # Once the model has read all, nobody holds it any more: it may be large.
    model = read_texts(plan.names[0], readers.pop(), plan.texts, progress)
    test = latents_of(model.table, plan.pairs.test)
    fitted = FittedStep(probe=probe, given=(probe.predict(test.first, test.second),))
    judged = judge_model(model, [fitted], plan.pairs.test, ties_of(plan.pairs))
    found = with_models(plan.findings(), [judged])
    manifest = plan.manifest([model.table])
    return replace(bare_comparison(manifest), probe=found)
