"""A job of a third party, whole: how sure are models of their answers?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from reports.blocks import Bullets, Column, Page, Row, Section, Table, paragraph
from reports.estimates import strips_table
from reports.prose import prose
from reports.sections import asked, reproduce
from reports.wording import Cell
from scope.answers import Run, answer_texts
from scope.core.options import DATA, HIDDEN, METHOD, MODELS, Limits, option, whole_number
from scope.core.request import Job, Request, as_function
from scope.data.sampling import load_data
from scope.jobs.audit.models import classifier_card, load_audited
from scope.jobs.configuration import manifest_of, short_names
from scope.jobs.runner import Prepared, run_job, texts_work
from scope.models.options import Labelling, ModelOptions
from scope.models.scheme import Model
from scope.records import Estimate, Example, Result, Undefined
from scope.statistics.intervals import mean_estimate


@dataclass(frozen=True, kw_only=True)
class ConfidenceRequest(Request):
    """Measure how sure models are of their answers.

    Example: scope confidence --model ours --model theirs --data texts.csv
    """

    models: Annotated[Sequence[str], option(MODELS, "--model", metavar="MODEL")]
    """Model; may be repeated."""

    data: Annotated[str, option(DATA, metavar="DATA")]
    """Texts."""

    n: Annotated[int, whole_number(DATA), Limits(least=1)] = 200
    """Number of texts to sample."""

    sure_from: Annotated[float, option(METHOD), Limits(least=0, most=1)] = 0.9
    """Probability of the answer from which a model counts as sure."""

    model_options: Annotated[ModelOptions, HIDDEN, Labelling] = field(default_factory=ModelOptions)
    """How models are loaded and run."""


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """How sure one model is: its mean probability, and the share of texts on which it is sure."""

    model: str
    mean: Estimate | Undefined
    sure: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, repr=False)
class ConfidenceResult(Result):
    """How sure each model is of its answers."""

    models: tuple[Confidence, ...]


def run_confidence(request: ConfidenceRequest) -> ConfidenceResult:
    """Run the job, or resume it: answers are kept in the run's folder."""
    return run_job(request, prepare)


confidence = as_function(ConfidenceRequest, run_confidence)


def prepare(request: ConfidenceRequest) -> Prepared[ConfidenceResult]:
    """Load the models and the texts, and name the run."""
    data = load_data(request.data, n=request.n, seed=0)
    options = request.model_options
    models = [
        Model(name=name, role="model", adapter=load_audited(spec, "classifier", options))
        for name, spec in zip(short_names(request.models), request.models, strict=True)
    ]
    settings = {"sure_from": request.sure_from, "n": request.n}
    cards = [classifier_card(model) for model in models]
    manifest = manifest_of("confidence", request, settings, models=cards, data=[data.card])

    def measure(run: Run) -> ConfidenceResult:
        found = (_of_model(one, data.examples, request, run) for one in models)
        return ConfidenceResult(manifest=manifest, models=tuple(found))

    work = (texts_work(one, data.examples, 0) for one in models)
    return Prepared(manifest, measure, work=lambda: work)


def _of_model(
    model: Model, examples: Sequence[Example], request: ConfidenceRequest, run: Run
) -> Confidence:
    ids = [one.id for one in examples]
    answers = answer_texts(model, [one.text for one in examples], run, request.progress)
    greatest = [max(answers[one.text].probabilities) for one in examples]
    sure = [float(value >= request.sure_from) for value in greatest]
    mean, share = mean_estimate(greatest, ids), mean_estimate(sure, ids)
    return Confidence(model=model.name, mean=mean, sure=share)


def page(result: ConfidenceResult) -> Page:
    """The report: one table and one chart."""
    manifest = result.manifest
    table = Table(
        columns=(
            Column("Model", "name"),
            Column("Mean probability", "estimate"),
            Column("Share of sure answers", "estimate"),
        ),
        rows=tuple(
            Row(cells=(one.model, Cell.of(one.mean), Cell.share(one.sure))) for one in result.models
        ),
    )
    names = tuple(one.model for one in result.models)
    drawn = [(one.model, one.mean) for one in result.models]
    strips = strips_table("Mean probability", drawn)
    findings = [prose("**{m}** is sure to {p}.", m=one.model, p=one.mean) for one in result.models]
    answer = Section(
        anchor="answer",
        title="Answer",
        blocks=(
            Bullets(tuple(findings), findings=True),
            table,
            *([strips] if strips else []),
            paragraph("A model that is sure is not therefore right. Brackets show intervals."),
        ),
    )
    return Page(
        title=f"SCoPE confidence: {', '.join(names)}",
        sections=(answer, asked(manifest), reproduce(manifest, result.clock)),
        brief=(table,),
    )


JOB = Job(
    name="confidence",
    request=ConfidenceRequest,
    run="scope_confidence:run_confidence",
    prepare="scope_confidence:prepare",
    result="scope_confidence:ConfidenceResult",
    page="scope_confidence:page",
)
