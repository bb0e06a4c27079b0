"""The configuration of a run: the fields that several jobs share, its name and its manifest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
from scope.core.request import Request, refuse_unused, reproduce
from scope.data.sources import data_spec
from scope.errors import SpecError
from scope.models.options import ModelOptions
from scope.models.scheme import scheme_of, split_name, split_spec
from scope.models.torch_setup import software_versions
from scope.records import (
    COMPARED,
    GOLD,
    MEMORY,
    OBJECT,
    CapabilityCard,
    DataCard,
    Manifest,
    ModelCard,
    Setting,
)


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


AuditRole = Literal["classifier", "next_token", "answer"]
"""The output of models for a text: its label, the token that follows it, or a written answer."""


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
        if self.role == "answer":
            refuse_unused(
                self,
                ("label_map", "label_words", "ask", "label_column", "text_column", "next_tokens"),
                "in the role answer",
                "questions with right answers if there are any, in columns found by their names",
                instead="name the columns question or prompt, context and answers",
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


@dataclass(frozen=True, kw_only=True)
class AuditedTexts(LabelledTexts):
    """Texts whose labels or written answers are audited."""

    samples: Annotated[int | None, whole_number(METHOD, default="none"), Limits(least=2)] = None
    """Role answer: answers to each unchanged text that are sampled from the reference, at
    temperature 1. How often two of them are the same is the yardstick of same answers, unless
    there is a --baseline."""


NULL = "null"
"""The setting that gives the null hypothesis of a test in words; not part of the configuration."""

WHOSE = "semscore"
"""The setting that names the model of the probe behind SemScore. It is not part of the
configuration: a model that was moved has the same fingerprint."""

PROBES = "probes for "
"""Prefix of settings that hold a hash computed during the run, not part of the configuration."""


_NUMBERED = re.compile(rf"{MEMORY}(.+)#[0-9a-f]{{8}}|{OBJECT}(.+)#\d+")
"""The spec of an object whose name others may have; see `scope.models.python`."""


def short_names(specs: Sequence[str]) -> tuple[str, ...]:
    """A short name for each model: what tables and reports show. All differ.

    Raises
    ------
    SpecError
        When a model is given twice.

    Examples
    --------
    >>> short_names(["hf:google-bert/bert-base-uncased", "v1/student", "v2/student"])
    ('google-bert/bert-base-uncased', 'v1/student', 'v2/student')
    >>> short_names(["openai:http://localhost:8000/v1#ours", "gguf:models/theirs.Q4.gguf"])
    ('ours', 'theirs.Q4')
    >>> short_names(["memory:Pipeline#777aab03", "memory:Pipeline#1f0c6e55"])
    ('Pipeline', 'Pipeline (2)')
    >>> short_names(["predictions:answers.tsv#(gold)"])
    ('predictions:answers.tsv#(gold)',)
    >>> short_names(["mine=hf:org/a", "hf:org/b"])
    ('mine', 'org/b')
    """
    named, alone = zip(*map(split_name, specs), strict=True) if specs else ((), ())
    if name := next((name for name in named if name and named.count(name) > 1), None):
        raise SpecError(
            f"two models with the name `{name}`",
            expected="a name of its own for each model",
            fix="choose another NAME in NAME=SPEC",
        )
    if twice := next((spec for spec in alone if alone.count(spec) > 1), None):
        raise SpecError(
            f"the model `{twice}` is listed twice",
            expected="each model once",
            fix="leave one of them out"
            + (", or give each its own `fingerprint`" if twice.startswith(MEMORY) else ""),
        )
    short = [_short_name(spec) for spec in specs]
    return tuple(
        _whole(spec, name, short[:place].count(name) + 1)
        if (short.count(name) > 1 and not named[place]) or name == GOLD
        else name
        for place, (spec, name) in enumerate(zip(specs, short, strict=True))
    )


def _whole(spec: str, name: str, number: int) -> str:
    """The spec, which must not read like the column of the right answers; of an object a number."""
    if _NUMBERED.fullmatch(spec):
        return name if number == 1 else f"{name} ({number})"
    return f"hf:{spec}" if spec == GOLD else spec


def model_names(reference: str, targets: Sequence[str]) -> tuple[str, ...]:
    """A short name for each model of an audit, the reference first.

    All differ, though the reference may be its own target, unless it is an object.

    Raises
    ------
    SpecError
        When a target or an object is given twice.

    Examples
    --------
    >>> model_names("python:mine:model", ["python:mine:model"])
    ('mine:model', 'mine:model (target)')
    """
    is_object = reference.startswith((MEMORY, OBJECT))
    short_names((reference, *targets) if is_object else targets)  # refuses one that is there twice
    specs = tuple(dict.fromkeys((reference, *targets)))
    names = dict(zip(specs, short_names(specs), strict=True))
    as_target = names | {reference: f"{names[reference]} (target)"}
    return (names[reference], *(as_target[target] for target in targets))


def _short_name(spec: str) -> str:
    if numbered := _NUMBERED.fullmatch(spec):
        return numbered[1] or numbered[2]
    return split_name(spec)[0] or scheme_of(spec).short_name(split_spec(spec)[1])


def configuration_of(manifest: Manifest) -> dict[str, object]:
    """The part of a manifest that decides the result: two runs with equal configurations agree."""
    capabilities = {
        card.name: {"origin": card.origin, **_rounded(card.settings)}
        for card in manifest.capabilities
    }
    return {
        "job": manifest.job,
        **_parts(manifest),
        "data": [card.fingerprint for card in manifest.data],
        "capabilities": capabilities,
        "settings": _rounded(
            {
                key: value
                for key, value in manifest.settings.items()
                if key not in (NULL, WHOSE) and not key.startswith(PROBES)
            }
        ),
    }


def _parts(manifest: Manifest) -> dict[str, object]:
    """Every model by its part in the job."""
    if not manifest.models:
        # A job on stored answers: who gave them is part of the data.
        return {}
    if manifest.job == "reuse":
        by_part = {
            part: [card for card in manifest.models if card.role == part]
            for part in ("reference", "suspect", "control", "derivative")
        }
        return {
            "reference": ", ".join(card.name for card in by_part["reference"]),
            "references": list(map(_identity, by_part["reference"])),
            "targets": list(map(_identity, by_part["suspect"])),
            # The order of the controls and of the derivatives plays no part.
            **{
                f"{part}s": sorted(map(_identity, by_part[part]), key=lambda card: card["name"])
                for part in ("control", "derivative")
            },
        }
    equals = {card.role for card in manifest.models} == {"model"}
    if manifest.job == "audit" and len(manifest.references) > 1 and not equals:
        return {
            "reference": ", ".join(card.name for card in manifest.references),
            "references": list(map(_identity, manifest.references)),
            "targets": [
                _identity(card) for card in manifest.models if card.role in ("target", "model")
            ],
        }
    if any(card.role == "model" for card in manifest.models):
        # All answers are there when a comparison begins: another file is another question.
        return {
            "models": [
                {"name": card.name, "fingerprint": card.fingerprint} for card in manifest.models
            ]
        }
    return {
        "reference": _identity(manifest.reference),
        "targets": [_identity(card) for card in manifest.targets if card.role == "target"],
        **{card.role: _identity(card) for card in manifest.models if card.role in COMPARED},
    }


def _identity(card: ModelCard) -> dict[str, str]:
    # Saved labels are looked up anew each time: their file grows while its run goes on, by the
    # texts that the search has found. Saved answers to questions are there from the beginning.
    saved = scheme_of(card.spec).saved and bool(card.labels)
    return {"name": card.name, "fingerprint": "looked up" if saved else card.fingerprint}


def _rounded(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings as a stored comparison holds them, with six decimals."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in settings.items()
    }


def default_run_name(manifest: Manifest) -> str:
    """A name computed from the configuration, so that the same command resumes the run."""
    text = json.dumps(configuration_of(manifest), sort_keys=True)
    return f"{manifest.job}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def notes_of(manifest: Manifest) -> dict[str, object]:
    """The part of a manifest that explains a run without deciding its result."""
    return {
        "command": manifest.command,
        "versions": dict(manifest.versions),
        "data": [asdict(card) for card in manifest.data],
        "models": [asdict(card) for card in manifest.models],
    }


def manifest_of(
    command: str,
    request: Request,
    settings: Mapping[str, Setting],
    *,
    models: Sequence[ModelCard] = (),
    data: Sequence[DataCard] = (),
    capabilities: Sequence[CapabilityCard] = (),
    encoder_reproducible: str = "",
) -> Manifest:
    """The manifest of a job's result; ``settings`` are what its numbers depend on."""
    options = getattr(request, "model_options", None)
    # Words are the form of runs without this setting.
    form = {"ask": "letters"} if getattr(options, "ask", None) == "letters" else {}
    return Manifest(
        job=command.replace(" ", "-"),
        models=tuple(models),
        data=tuple(data),
        capabilities=tuple(capabilities),
        settings={**settings, **form},
        versions=software_versions(),
        command=reproduce(command, request),
        encoder_reproducible=encoder_reproducible,
    )
