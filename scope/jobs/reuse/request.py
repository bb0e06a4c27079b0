"""The options of a test of reuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from scope.core.options import DATA, METHOD, MODELS, Limits, option, settings_option, whole_number
from scope.core.request import Job, refuse_unused
from scope.errors import SpecError
from scope.jobs.configuration import LabelledTexts, take_models
from scope.jobs.gates import VerdictGates
from scope.models.scheme import split_spec
from scope.records import Setting
from scope.registry import expand_groups

USUAL_CONTROLS = 19
"""Default number of controls to choose: with fewer the test finds fewer related models."""

OF_SEARCH = ("trials", "n_perturbed", "tolerance", "cutoff", "change")
"""Fields that apply only to perturbations."""


@dataclass(frozen=True, kw_only=True)
class ReuseRequest(LabelledTexts):
    """Test whether a suspect is related to a reference, at a stated error rate.

    Related is derived, or of a common source. Asks the suspect, the references, independent
    controls and known derivatives the same questions, and gives a verdict for each reference. An
    interrupted run continues when the same command is given again, with the same result. The report
    is `report.html` in the run's folder.

    Example: scope reuse --suspect 'predictions:answers.tsv#theirs'
    --reference 'predictions:answers.tsv#ours' --control 'predictions:answers.tsv#*'
    --task choice --data questions.jsonl
    """

    suspect: Annotated[str | object, option(MODELS, metavar="MODEL", once=True)]
    """Model under suspicion: hf:NAME, a folder, or another spec.

    In Python also a function with `labels`, a transformers pipeline or (model, tokenizer), a
    scikit-learn classifier, or an object with the methods of the role."""

    references: Annotated[Sequence[str | object], option(MODELS, "--reference", metavar="MODEL")]
    """Model that the suspect may be related to; may be repeated."""

    controls: Annotated[Sequence[str | object], option(MODELS, "--control", metavar="MODEL")] = ()
    """Model independent of both; repeat. 5 can decide at an error rate of 0.05, 19 find more.
    predictions:FILE.tsv#* is all models of a table except those with another part."""

    derivatives: Annotated[
        Sequence[str | object], option(MODELS, "--derivative", metavar="MODEL")
    ] = ()
    """Known derivative of the reference of the kind to be excluded, such as a fine-tuned or
    distilled model; repeat, 19 times for `not related` at an error rate of 0.05. Rounded and noisy
    copies do not serve: they are nearer to the reference than what was trained from it."""

    controls_from: Annotated[
        Sequence[str], option(MODELS, "--controls-from", metavar="MODELS")
    ] = ()
    """Stored answers of many models, such as lm-eval:LOGS#*, to choose controls from: none of the
    family of the suspect or a reference by name, and one of any relatives; may be repeated."""

    like_suspect: Annotated[bool, option(MODELS)] = False
    """Choose the models of --controls-from that are nearest to the suspect in accuracy."""

    n_controls: Annotated[
        int | None, whole_number(MODELS, default="19, or what --alpha needs"), Limits(least=2)
    ] = None
    """Number of controls, with those of --control; implies --like-suspect."""

    exclude_controls: Annotated[
        Sequence[str], option(MODELS, "--exclude-control", metavar="NAME")
    ] = ()
    """Control to exclude, by its name or a pattern such as 'llama-*'; may be repeated."""

    data: Annotated[str | Any, option(DATA, metavar="DATA")]
    """Texts or questions: hf:NAME:SPLIT, demo:tweets, or a .csv, .tsv, .jsonl or .parquet file.
    With right answers the test finds more.

    In Python also a path, a list, a DataFrame or a Dataset."""

    task: Annotated[str | object | None, option(DATA, metavar="TASK")] = None
    """Task of the questions, see `scope list tasks`; default: texts are classified."""

    settings: Annotated[Mapping[str, Setting], settings_option(DATA)] = field(default_factory=dict)
    """Setting of every task or capability that has it (FIELD=VALUE) or of one (NAME.FIELD=VALUE),
    such as min_words=10 or typo.min_letters=5; may be repeated."""

    n: Annotated[int | None, whole_number(DATA, default="all"), Limits(least=1)] = None
    """Number of texts or questions to sample."""

    alpha: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.05
    """Error rate: how often an unrelated model is called related to any reference, and a derivative
    like those of --derivative not related."""

    capabilities: Annotated[
        Sequence[str | object] | None,
        option(
            METHOD, "--capability", metavar="NAME", default="typo, where models answer new texts"
        ),
    ] = None
    """Capability whose perturbations of the reference are added, a group such as robustness, or
    none; see `scope list capabilities`. Not with a task or saved answers."""

    n_perturbed: Annotated[int, whole_number(METHOD), Limits(least=1)] = 200
    """Number of texts to search for perturbations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        take_models(self, "suspect", "references", "controls", "derivatives")
        if self.role == "answer":
            raise SpecError(
                "--role answer in a test of reuse",
                expected="classifier or next_token",
                fix="add --task generation: suspect and reference answer its questions",
            )
        if self.derivatives and len(self.references) > 1:
            raise SpecError(
                f"--derivative with {len(self.references)} references",
                expected="one reference, of which the derivatives are",
                fix="test each reference with its own derivatives",
            )
        choice = ("controls_from", "like_suspect", "n_controls")
        if not self.controls_from:
            refuse_unused(
                self,
                choice,
                "without --controls-from",
                "stored models to choose from",
                instead="add --controls-from PATH",
            )
        elif self.task is None:
            refuse_unused(self, choice, "without a task", "answers to a task", instead="use --task")
        if list(map(str, self.capabilities or ())) == ["none"]:
            object.__setattr__(self, "capabilities", ())
        elif self.capabilities:
            object.__setattr__(self, "capabilities", expand_groups(self.capabilities))
        capabilities = ("capabilities",) if self.capabilities else ()
        if self.task is not None:
            refuse_unused(
                self,
                ("role", "text_column", "label_column", "label_map", *capabilities, *OF_SEARCH),
                f"with the task `{getattr(self.task, 'name', self.task)}`",
                "the questions of a task without these options, or texts without a task",
                instead="--task",
            )
            return
        self._refuse_tables()
        if self.capabilities == ():
            refuse_unused(
                self, OF_SEARCH, "with --capability none", "a search", instead="name a capability"
            )

    @property
    def chosen(self) -> int | None:
        """How many of the stored models to choose by the suspect's accuracy; None for all."""
        # Here and not above: help pages load no NumPy.
        from scope.statistics.between_models import controls_needed

        needed = controls_needed(self.alpha / max(len(self.references), 1))
        return self.n_controls or (max(USUAL_CONTROLS, needed) if self.like_suspect else None)

    def _refuse_tables(self) -> None:
        """Refuse tables of answers, which only a task reads."""
        # Here and not above: help pages load no NumPy.
        from scope.models.saved import parse_table_name

        for spec in (self.suspect, *self.references, *self.controls, *self.derivatives):
            scheme, rest = split_spec(spec) if isinstance(spec, str) else ("", "")
            if scheme == "predictions" and parse_table_name(rest):
                raise SpecError(
                    f"the table of answers `{spec}` without a task",
                    expected="the task whose questions the table answers",
                    fix="add --task choice",
                )


JOB = Job(
    name="reuse",
    request=ReuseRequest,
    run="scope.jobs.reuse.run:run_reuse",
    prepare="scope.jobs.reuse.run:prepare",
    result="scope.records:ReuseResult",
    page="scope.jobs.reuse.page:page",
    gates=VerdictGates,
)
