"""Embedding: selects and fits a forecaster on the response matrix, and saves the fleet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from scope.answers import Run
from scope.answers.vectors import question_vectors
from scope.core.request import as_function
from scope.errors import DataError
from scope.jobs.configuration import manifest_of
from scope.jobs.fleet.forecaster import Forecaster, MeanForecaster, NeighbourForecaster, accuracies
from scope.jobs.fleet.map import describe_models, models_of_fleet
from scope.jobs.fleet.matrix import CorrectnessMatrix, load_answers
from scope.jobs.fleet.questions import (
    QuestionLayout,
    make_layout,
    question_table,
    require_texts,
    text_digest,
)
from scope.jobs.fleet.requests import EmbedRequest, FleetRequest
from scope.jobs.fleet.selection import ChosenForecaster, choose, reliability, surprising_questions
from scope.jobs.fleet.stored_fleet import EMBEDDER, FORECASTERS, WRITTEN, Fleet, save_fleet
from scope.jobs.runner import Planned, Prepared, run_job, vectors_work
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.models.scheme import load_encoder
from scope.protocols import Encoder, Progress
from scope.records import DataCard, EmbedResult, FleetResult, Manifest, Setting

_Result = TypeVar("_Result", bound=FleetResult)


def prepared(
    command: str,
    request: FleetRequest,
    compute: Callable[[Manifest, Run], _Result],
    *,
    data: Sequence[DataCard],
    settings: Mapping[str, Setting],
    encoder: Encoder | None = None,
    texts: Sequence[str] = (),
) -> Prepared[_Result]:
    """A prepared job of this command; ``settings`` determine its result.

    ``encoder`` makes vectors of the ``texts``.
    """
    manifest = manifest_of(command, request, settings, data=data)

    def work() -> Iterator[Planned]:
        if encoder is not None:
            yield vectors_work("encoder", "vectors of questions", encoder.encode, texts)

    return Prepared(manifest, partial(compute, manifest), work=work, trains_models=True)


AUTO = "auto"
CHOSEN_AMONG = ("mean", "knn", "factors")
"""The candidates of ``auto``, without matrix factorization, which takes minutes."""

GRIDS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "knn": {"neighbours": (131, 5, 11, 31, 401)},
    "mf": {"epochs": (50, 20), "learning_rate": (1e-4, 1e-3)},
}
"""The parameters that tuning tries; the first of each are EmbedLLM's."""


def encoder_setting(encoder: Encoder | None) -> str | None:
    """The encoder as a setting that determines a result."""
    return f"{encoder.spec} {encoder.fingerprint}" if encoder else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Learning:
    """How a fleet is fitted."""

    forecaster: str = AUTO
    dimensions: int | None = None
    folds: int = 5
    features: bool = True
    seed: int = 0
    tune: bool = False

    @classmethod
    def of(cls, request: FleetRequest) -> Self:
        """As the request says, by default for what it does not offer."""
        names = (field.name for field in fields(cls))
        return cls(**{name: getattr(request, name) for name in names if hasattr(request, name)})

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all candidates."""
        return CHOSEN_AMONG if self.forecaster == AUTO else (self.forecaster,)

    @property
    def reads_texts(self) -> bool:
        """Whether the questions' texts are used."""
        return self.kinds != (MeanForecaster.short_name,)

    def settings(self, encoder: Encoder | None) -> dict[str, Setting]:
        """The settings that determine the result, for the manifest."""
        return {
            "forecaster": self.forecaster,
            "encoder": encoder_setting(encoder),
            "dimensions": self.dimensions,
            "folds": self.folds,
            "features": self.features,
            "seed": self.seed,
            **({"tune": True} if self.tune else {}),
        }

    def candidates(self, layout: QuestionLayout) -> tuple[Forecaster, ...]:
        """The candidate forecasters, not fitted."""
        candidates = tuple(
            FORECASTERS[name](layout=layout, **parameters)
            for name in self.kinds
            for parameters in ParameterGrid(GRIDS.get(name, {}) if self.tune else {})
        )
        named = {"seed": self.seed, "dimensions": self.dimensions}
        for forecaster in candidates:
            known = named.keys() & forecaster.get_params(deep=False).keys()
            forecaster.set_params(**{key: named[key] for key in known if named[key] is not None})
        return candidates


def load_needed_encoder(
    learning: Learning, matrix: CorrectnessMatrix, spec: str | None, options: ModelOptions
) -> Encoder | None:
    """The encoder of the questions; None if no text is used.

    Raises
    ------
    DataError
        If a text is needed and a question has none.
    """
    if not learning.reads_texts:
        return None
    require_texts(matrix.texts, f"the forecaster {learning.forecaster}", matrix.ids)
    return load_encoder(spec or SENTENCE_ENCODER, options)


def load_encoder_of(
    fleet: Fleet, questions: CorrectnessMatrix, spec: str | None, options: ModelOptions
) -> Encoder | None:
    """The encoder of new questions of a fleet; None if the fleet uses no texts.

    Raises
    ------
    DataError
        If the encoder is not the one that the fleet was fitted with, or a question has no text.
    """
    expected = fleet.forecaster.layout.encoder
    if not expected:
        return None
    encoder = load_encoder(spec or fleet.encoder, options)
    if encoder.fingerprint != expected:
        raise DataError(
            f"the encoder `{encoder.spec}` with the fingerprint {encoder.fingerprint}",
            expected=f"the fleet's encoder, `{fleet.encoder}` with the fingerprint {expected}",
            fix="use the fleet's encoder with --encoder and the same --dtype, or embed the fleet "
            "again with this one",
        )
    require_texts(questions.texts, f"the forecaster {fleet.forecaster.short_name}", questions.ids)
    return encoder


def learn(
    matrix: CorrectnessMatrix, learning: Learning, encoder: Encoder | None, progress: Progress
) -> tuple[Fleet, ChosenForecaster]:
    """Encode the questions, select a forecaster by cross-validation, and fit it on all.

    The second value is the cross-validation.
    """
    table, layout = tabulate(
        matrix, encoder, progress, features=learning.features and learning.reads_texts
    )
    choice = choose(
        learning.candidates(layout),
        table,
        matrix.correct,
        folds=learning.folds,
        seed=learning.seed,
        listed_alone=learning.forecaster != AUTO,
        progress=progress,
    )
    known = ~np.isnan(matrix.correct)
    fleet = Fleet(
        forecaster=choice.forecaster,
        models=matrix.models,
        skills=accuracies(matrix.correct),
        answered=known.sum(axis=0).astype(np.int64),
        ids=matrix.ids,
        texts_digest=tuple(map(text_digest, matrix.texts)),
        encoder=encoder.spec if encoder else "",
    )
    return fleet, choice


def means_note(forecasters: Sequence[Forecaster], questions: int) -> tuple[str, ...]:
    """A note on each forecaster that averages all of the training questions.

    Examples
    --------
    >>> from scope.jobs.fleet.forecaster import NeighbourForecaster
    >>> means_note([NeighbourForecaster(layout=QuestionLayout(vector=2))], 57)
    ('knn averages 131 neighbours, all of the 57 training questions: it is each model’s mean',)
    """
    return tuple(
        f"{knn.spelling} averages {knn.neighbours} neighbours, all of the {questions} training "
        "questions: it is each model’s mean"
        for knn in forecasters
        if isinstance(knn, NeighbourForecaster) and knn.neighbours >= questions
    )


def tabulate(
    matrix: CorrectnessMatrix, encoder: Encoder | None, progress: Progress, *, features: bool
) -> tuple[NDArray[np.float32], QuestionLayout]:
    """The questions' vectors, features and categories as a table, and its layout."""
    vectors = vectors_of(matrix, encoder, progress)
    fingerprint = encoder.fingerprint if encoder else ""
    layout = make_layout(
        vectors=vectors, encoder=fingerprint, categories=matrix.categories, features=features
    )
    table = question_table(
        layout, vectors=vectors, texts=matrix.texts, categories=matrix.categories
    )
    return table, layout


def vectors_of(
    questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> NDArray[np.float32]:
    """The questions' vectors; without columns if there is no encoder."""
    if encoder is None:
        return np.zeros((len(questions.ids), 0), dtype=np.float32)
    return question_vectors(questions.texts, encoder, progress)


def run_embed_fleet(request: EmbedRequest) -> EmbedResult:
    """Fit the fleet, or continue its run."""
    return run_job(request, prepare_embed)


embed_fleet = as_function(EmbedRequest, run_embed_fleet)


def prepare_embed(request: EmbedRequest) -> Prepared[EmbedResult]:
    """Read the answers and load the encoder."""
    learning = Learning.of(request)
    matrix, card = load_answers(request.data, request)
    encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return prepared(
        "fleet embed",
        request,
        partial(_compute, matrix, learning, encoder, request.progress),
        data=(card,),
        settings=learning.settings(encoder),
        encoder=encoder,
        texts=matrix.texts,
    )


def _compute(
    matrix: CorrectnessMatrix,
    learning: Learning,
    encoder: Encoder | None,
    progress: Progress,
    manifest: Manifest,
    run: Run,
) -> EmbedResult:
    fleet, choice = learn(matrix, learning, encoder, progress)
    save_fleet(fleet, run.path / EMBEDDER)
    mapped = models_of_fleet(fleet, matrix.correct, matrix.conflicts)
    listed, shown = describe_models(mapped)
    answered = np.flatnonzero(~np.isnan(matrix.correct).all(axis=1))
    return EmbedResult(
        manifest=manifest,
        **mapped.counts,
        fleet=listed,
        scores=choice.scores,
        reliability=reliability(
            choice.probabilities[answered],
            matrix.correct[answered],
            matrix.take(answered).text_names,
        ),
        examples=surprising_questions(
            matrix.ids, matrix.texts, choice.probabilities, matrix.correct
        ),
        notes=(
            *matrix.notes,
            f"scores are from {learning.folds}-fold cross-validation over the questions",
            *means_note(
                learning.candidates(fleet.forecaster.layout),
                len(matrix.ids) - len(matrix.ids) // learning.folds,
            ),
            mapped.note,
            shown,
        ),
        files=WRITTEN,
    )
