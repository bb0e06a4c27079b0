"""Fields that the requests of several jobs have, spelled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from scope.core.options import (
    DATA,
    HIDDEN,
    METHOD,
    MODELS,
    OUTPUT,
    OUTSIDE_IDENTITY,
    Limits,
    option,
    whole_number,
)
from scope.core.request import Request, refuse_unused
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.models.options import ModelOptions


def take_models(request: Any, *names: str) -> None:
    """Make models of the objects that Python passes in these fields of a request."""
    request.take(lambda model: adapted_model(model, request.model_options), *names)


def adapted_model(model: Any, options: ModelOptions) -> Any:
    """The object that Python passes as a model; a spec stays as it is."""
    if isinstance(model, str | Path):
        return str(model)
    # Here and not above: the command line starts sooner.
    from scope.models.python import adapted

    return adapted(model, options)


def ray_address(engine: str) -> str | None:
    """The address in ``ray[:ADDRESS]``, empty if there is none; None for ``local``.

    Raises
    ------
    SpecError
        When it is something else.

    Examples
    --------
    >>> ray_address("ray:10.0.0.1:6379")
    '10.0.0.1:6379'
    """
    name, colon, address = engine.partition(":")
    if name == "local" and not colon:
        return None
    if name != "ray" or (colon and not address):
        raise SpecError(
            f"the engine `{engine}`",
            expected="local, ray or ray:ADDRESS",
            fix="write for example --engine ray --workers 4",
        )
    return address


AuditRole = Literal["classifier", "next_token"]
"""The output of models for a text: its label, or the token that follows it."""


MOST_UNUSABLE = 0.25


@dataclass(frozen=True, kw_only=True)
class LeavesOut(Request):
    """Data of which some rows may be unusable."""

    most_unusable: Annotated[float, option(DATA), Limits(least=0, below=1)] = MOST_UNUSABLE
    """Greatest share of rows that cannot be used, and of questions that a server, or an audit's
    reference, does not answer: all models leave them out, counted; with more the job fails."""


@dataclass(frozen=True, kw_only=True)
class SharesAnswers(LeavesOut):
    """Models whose answers other runs may reuse."""

    cache: Annotated[bool, option(OUTPUT, negative="--no-cache"), OUTSIDE_IDENTITY] = True
    """Share answers and searches of models known by their bytes with other runs; see `scope cache
    show`."""


@dataclass(frozen=True, kw_only=True)
class JudgesAccuracy(Request):
    """A verdict on whether a model may replace another one, by its accuracy."""

    accuracy_margin: Annotated[float, option(METHOD), Limits(above=0, below=1)] = 0.02
    """Verdict: how much less accurate than the reference a target may be."""

    recovery: Annotated[float | None, option(METHOD), Limits(above=0, below=1)] = None
    """Verdict: least share of the reference's accuracy that a target keeps, in place of
    --accuracy-margin: 0.95, 0.97 or 0.99 are usual. All texts need gold labels."""

    cluster: Annotated[str | None, option(DATA, metavar="COLUMN")] = None
    """Column whose values, such as documents, users or passages, have several rows each: the rows
    of a value are one unit of all intervals and tests, and are drawn together. No verdict is given
    on fewer than 10."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.recovery is not None:
            refuse_unused(
                self,
                ("accuracy_margin", "cluster", "recall"),
                "with --recovery",
                "one limit for accuracy alone, on texts that are units of their own",
            )


@dataclass(frozen=True, kw_only=True)
class InShards(Request):
    """Work of which a run may do a part, and other processes or machines the others."""

    shard: Annotated[str | None, option(DATA, metavar="K/N")] = None
    """Take only every N-th text or question, from the K-th on; `scope merge` joins the runs of all
    shards."""

    engine: Annotated[str, option(METHOD, metavar="ENGINE"), OUTSIDE_IDENTITY] = "local"
    """Where models run: local, or on the workers of ray or ray:ADDRESS. Never changes the
    result."""

    workers: Annotated[int, whole_number(METHOD), Limits(least=1), OUTSIDE_IDENTITY] = 1
    """Engine ray: workers, each with models and a shard of its own."""

    gpus_per_worker: Annotated[
        float, option(METHOD, metavar="GPUS"), Limits(least=0), OUTSIDE_IDENTITY
    ] = 0.0
    """Engine ray: GPUs of each worker; may be a part of one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if ray_address(self.engine) is None:
            refuse_unused(
                self,
                ("workers", "gpus_per_worker"),
                "with the engine local",
                "an engine with workers",
                instead="add --engine ray",
            )
            return
        refuse_unused(
            self,
            ("max_requests",),
            f"with --engine {self.engine}",
            "a limit for one process: workers do not know of each other's requests",
            instead="use --engine local",
        )


@dataclass(frozen=True, kw_only=True)
class LabelledTexts(SharesAnswers):
    """Texts with labels, and models that label them."""

    role: Annotated[AuditRole, option(MODELS)] = "classifier"
    """Output that must not change: the label of a text, or the token most likely to follow it.
    With next_token the models are language models, and gold labels are left out."""

    label_map: Annotated[Sequence[str], option(MODELS, metavar="OLD=NEW")] = ()
    """New name for a label of a model or of the data; may be repeated."""

    data: Annotated[str | Any, option(DATA, metavar="DATA")]
    """Texts, with gold labels if there are any: hf:NAME:SPLIT, demo:tweets, or a .csv, .tsv, .jsonl
    or .parquet file.

    In Python also a path, a list of texts or of (text, label), a DataFrame or a Dataset. A text may
    be a tuple of two."""

    n: Annotated[int | None, whole_number(DATA, default="all"), Limits(least=1)] = None
    """Number of texts to sample."""

    text_column: Annotated[Sequence[str] | None, option(DATA, "--text-column", metavar="NAME")] = (
        None
    )
    """Column of the texts; auto-detected if omitted. May be repeated: models read both texts of a
    row, such as premise and hypothesis, in this order."""

    change: Annotated[str | int | None, option(DATA, metavar="NAME", default="the last")] = None
    """Of several text columns the one that capabilities change; the others stay as they are.

    In Python also its number, from 0."""

    label_column: Annotated[str | None, option(DATA, metavar="NAME")] = None
    """Column of the gold labels; auto-detected if omitted; none leaves them out."""

    seed: Annotated[int, whole_number(DATA), Limits(least=0)] = 0
    """Random seed of the sample and of the search."""

    trials: Annotated[int, whole_number(METHOD), Limits(least=1)] = 3
    """Perturbations searched for each text, all different."""

    tolerance: Annotated[float, option(METHOD), Limits(least=0, most=4)] = 0.1
    """Soft-SCoPE: L1 distance of two changes up to which credit is full."""

    cutoff: Annotated[float, option(METHOD), Limits(least=0, most=4)] = 1.0
    """Soft-SCoPE: L1 distance from which there is no credit."""

    model_options: Annotated[ModelOptions, HIDDEN, ModelOptions] = field(
        default_factory=ModelOptions
    )
    """How models are loaded, run and queried."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.take(data_spec, "data")
        if self.role == "classifier":
            refuse_unused(
                self,
                ("next_tokens",),
                "in the role classifier",
                "options of labels: no next token is read",
                instead="use --role next_token",
            )
            return
        columns = () if self.label_column == "none" else ("label_column",)
        refuse_unused(
            self,
            ("label_map", "label_words", "prompts", "ask", "chat", *columns),
            "in the role next_token",
            "no options for labels or prompts: the model predicts the token that follows the bare "
            "text",
            instead="use --role classifier",
        )
