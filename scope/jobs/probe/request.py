"""The request of a probe, with checks of impossible and unused options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from scope.core.options import (
    DATA,
    HIDDEN,
    METHOD,
    MODELS,
    OUTPUT,
    Limits,
    option,
    settings_option,
    whole_number,
)
from scope.core.request import Job, refuse_unused
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.jobs.configuration import LeavesOut, take_models
from scope.jobs.probe.network import PRETRAINED, STEPS, Step, checked_step
from scope.models.options import DType, ModelOptions, Running
from scope.records import Setting

if TYPE_CHECKING:
    from scope.jobs.probe.estimator import SimilarityProbe

USUAL_STEPS = ("raw", "final")

UNLABELLED_N = 4000
"""Default number of sampled sentences without scores; more change little."""

OF_TESTING = ("models", "data", "test", "n", "seed", "task", "probe", "model_options")
"""Fields that apply to a saved probe; all others of a probe apply only to a new one."""


@dataclass(frozen=True, kw_only=True)
class ProbeRequest(LeavesOut):
    """Measure how well the layers of frozen models predict human semantic-similarity scores.

    Each model reads every sentence once; a light probe is fitted on its layers to score pairs of
    sentences. The result contains each step's correlation with human scores on the test pairs, the
    contribution of each layer, and misjudged pairs; with several models also their differences and
    the similarity of their layers. An interrupted run continues when the same command is given
    again, with the same result. The report is `report.html` in the run's folder.

    Example: scope probe --model hf:openai-community/gpt2-medium --data pairs.csv
    --unlabelled text:books/ --save gpt2-probe
    """

    models: Annotated[Sequence[str | Any], option(MODELS, "--model", metavar="MODEL")] = ()
    """Model with hidden states: hf:NAME, a folder, hf:FILE.gguf or python:MODULE:NAME; repeat
    to compare.

    In Python also an object with the members of `scope.protocols.LatentReader`."""

    dtype: Annotated[DType | Literal["auto"], option(MODELS, metavar="CHOICE")] = "auto"
    """Precision; auto is bfloat16 if the processor is fast in it."""

    readout: Annotated[
        str | None,
        option(MODELS, metavar="READOUT", default="prompt for causal models, mean for others"),
    ] = None
    """Readout: last token of a prompt (prompt), last token of the text (last), or mean."""

    prompt: Annotated[Path | str | None, option(MODELS, metavar="FILE")] = None
    """Prompt with one {text} in it: the path of its file.

    In Python also its text."""

    data: Annotated[str | Any | None, option(DATA, metavar="PAIRS")] = None
    """Scored pairs of sentences: a table with a column `split` of train, dev and test, or
    hf:NAME.

    In Python this and the four that follow take a list of (sentence, sentence, score) or of dicts,
    a DataFrame or a Dataset, too."""

    train: Annotated[str | Any | None, option(DATA, metavar="PAIRS")] = None
    """In place of --data: training pairs, a table with two sentences and a score, or
    hf:NAME:SPLIT."""

    development: Annotated[
        str | Any | None, option(DATA, metavar="PAIRS", default="a tenth of the training pairs")
    ] = None
    """Pairs for model selection and early stopping."""

    test: Annotated[str | Any | None, option(DATA, metavar="PAIRS")] = None
    """Test pairs."""

    unlabelled: Annotated[str | Any | None, option(DATA, metavar="DATA")] = None
    """Sentences without scores, used for layer statistics and pretraining."""

    unlabelled_n: Annotated[
        int | None, whole_number(DATA, default=str(UNLABELLED_N)), Limits(least=1)
    ] = None
    """Number of these sentences to sample."""

    text_column: Annotated[Sequence[str] | None, option(DATA, "--text-column", metavar="NAME")] = (
        None
    )
    """Column of these sentences; auto-detected if omitted; may be repeated."""

    n: Annotated[int | None, whole_number(DATA, default="all"), Limits(least=1)] = None
    """Number of pairs to sample for each part."""

    low: Annotated[float | None, option(DATA, default="that of the task, 0")] = None
    """Score of pairs with nothing in common."""

    high: Annotated[float | None, option(DATA, default="that of the task, 5")] = None
    """Score of pairs that mean the same."""

    seed: Annotated[int, whole_number(DATA), Limits(least=0)] = 0
    """Random seed of the samples and of the first fit."""

    task: Annotated[str | object, option(DATA, metavar="TASK")] = "similarity"
    """Task of pairs, see `scope list tasks`.

    In Python also an object with the members of `scope.protocols.PairTask`."""

    settings: Annotated[Mapping[str, Setting], settings_option(DATA, "high=1")] = field(
        default_factory=dict
    )
    """Setting of the task: [NAME.]FIELD=VALUE; may be repeated."""

    steps: Annotated[Sequence[str], option(METHOD, "--step", metavar="STEP")] = USUAL_STEPS
    """Step: raw, mlp, siamese, autoencoder, published (as FREEZE has it) or final; may be
    repeated."""

    seeds: Annotated[int, whole_number(METHOD), Limits(least=1)] = 1
    """Number of seeds for each random step, starting at --seed. Intervals, gains and the saved
    probe are those of the first."""

    hidden: Annotated[int | None, whole_number(METHOD, default="16 in final"), Limits(least=1)] = (
        None
    )
    """Units of the head's hidden layer; fewer need fewer training pairs. The steps raw and
    published have no such layer."""

    ablate: Annotated[int | None, whole_number(METHOD, default="no ablation"), Limits(least=1)] = (
        None
    )
    """Layers in a block: leave each block out, and fit the last step again; 1 for single layers."""

    save: Annotated[str | Path | None, option(OUTPUT, metavar="FOLDER")] = None
    """Folder to save the last step's probe in; requires a single model."""

    probe: Annotated[str | Path | None, option(METHOD, metavar="FOLDER")] = None
    """Saved probe to evaluate on --test, or on the test rows of --data; nothing is fitted. --model
    is the current location of its model, required for a Python model."""

    model_options: Annotated[ModelOptions, HIDDEN, Running] = field(default_factory=ModelOptions)
    """How models are loaded and run, except the precision, which is ``dtype``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        take_models(self, "models")
        self.take(data_spec, "data", "train", "development", "test", "unlabelled")
        if self.probe is None:
            self._check_new()
        else:
            self._check_saved(self.probe)

    @property
    def ordered_steps(self) -> tuple[Step, ...]:
        """The distinct steps in the paper's order.

        Raises
        ------
        SpecError
            If a step is unknown.
        """
        named = {checked_step(step) for step in self.steps or USUAL_STEPS}
        return tuple(step for step in STEPS if step in named)

    @property
    def most_unlabelled(self) -> int:
        """The number of sampled sentences without scores."""
        return UNLABELLED_N if self.unlabelled_n is None else self.unlabelled_n

    def new_probe(self, step: Step, low: float, high: float) -> SimilarityProbe:
        """A probe of that step, not fitted."""
        from scope.jobs.probe.estimator import SimilarityProbe

        return SimilarityProbe(step=step, seed=self.seed, low=low, high=high, hidden=self.hidden)

    def _check_saved(self, folder: str | Path) -> None:
        """Reject options that a saved probe determines."""
        refuse_unused(
            self,
            [name for name in ProbeRequest.__annotations__ if name not in OF_TESTING],
            f"with --probe `{folder}`",
            "only test pairs, --test or --data: a saved probe is already fitted",
            instead="omit --probe to fit a new probe",
        )
        if len(self.models) > 1:
            raise SpecError(
                f"{len(self.models)} models with --probe `{folder}`",
                expected="no model, or the one that the probe was fitted on",
                fix="omit --model",
            )

    def _check_new(self) -> None:
        from scope.jobs.configuration import short_names

        if not self.models:
            raise SpecError(
                "no model to probe",
                expected="one model or several, of the scheme hf or python",
                fix="write for example --model hf:openai-community/gpt2-medium",
            )
        short_names([getattr(model, "spec", model) for model in self.models])
        if self.save is not None and len(self.models) > 1:
            raise SpecError(
                f"{len(self.models)} models with --save `{self.save}`",
                expected="one model: a probe belongs to the model that it is fitted on",
                fix="omit --save, or probe one model at a time",
            )
        if self.unlabelled is None:
            refuse_unused(
                self,
                ("text_column", "unlabelled_n"),
                "without --unlabelled",
                "options of pairs, whose columns are auto-detected and which --n samples",
                instead="add --unlabelled, sentences without scores",
            )
        steps = self.ordered_steps
        if self.unlabelled is not None and not set(PRETRAINED) & set(steps):
            raise SpecError(
                f"--unlabelled {self.unlabelled} with only the steps {' and '.join(steps)}",
                expected=f"a step that uses it: {', '.join(PRETRAINED)}",
                fix=f"add --step {PRETRAINED[-1]}, or omit --unlabelled",
            )


JOB = Job(
    name="probe",
    request=ProbeRequest,
    run="scope.jobs.probe.run:run_probe",
    prepare="scope.jobs.probe.run:prepare",
    result="scope.records:ProbeResult",
    page="scope.jobs.probe.page:page",
)
