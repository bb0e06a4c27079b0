"""Fits a fleet to a response matrix: question vectors and the selected forecaster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.answers import Run
from scope.answers.vectors import question_vectors
from scope.fleet.forecasters.baselines import MeanForecaster, NeighbourForecaster, accuracies
from scope.fleet.forecasters.choosing import ChosenForecaster, choose
from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.layout import QuestionLayout, Table
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.questions import make_layout, question_table, require_texts
from scope.fleet.saving import FORECASTERS, Fleet
from scope.jobs.fleet.answers import text_digest
from scope.jobs.fleet.requests import FleetRequest
from scope.jobs.identity import manifest_of
from scope.jobs.runner import Prepared
from scope.jobs.work import Planned, vectors_work
from scope.models import ModelOptions, load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.protocols import Encoder, Progress
from scope.records import DataCard, FleetResult, Manifest, Setting

_Found = TypeVar("_Found", bound=FleetResult)


def prepared(
    command: str,
    request: FleetRequest,
    find: Callable[[Manifest, Run], _Found],
    *,
    data: Sequence[DataCard],
    settings: Mapping[str, Setting],
    encoder: Encoder | None = None,
    texts: Sequence[str] = (),
) -> Prepared[_Found]:
    """A prepared job of this command; ``settings`` determine its result.

    ``encoder`` makes vectors of the ``texts``.
    """
    manifest = manifest_of(command, request, settings, data=data)

    def work() -> Iterator[Planned]:
        if encoder is not None:
            yield vectors_work("encoder", "vectors of questions", encoder.encode, texts)

    return Prepared(manifest, partial(find, manifest), work=work, fits=True)


AUTO = "auto"
CHOSEN_AMONG = ("mean", "knn", "factors")
"""The candidates of ``auto``, without matrix factorization, which takes minutes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Learning:
    """How a fleet is fitted."""

    forecaster: str = AUTO
    dimensions: int | None = None
    folds: int = 5
    features: bool = True
    seed: int = 0

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
            "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
            "dimensions": self.dimensions,
            "folds": self.folds,
            "features": self.features,
            "seed": self.seed,
        }

    def candidates(self, layout: QuestionLayout) -> tuple[Forecaster, ...]:
        """The candidate forecasters, not fitted."""
        candidates = tuple(FORECASTERS[name](layout=layout) for name in self.kinds)
        named = {"seed": self.seed, "dimensions": self.dimensions}
        for one in candidates:
            its_own = named.keys() & one.get_params(deep=False).keys()
            one.set_params(**{key: named[key] for key in its_own if named[key] is not None})
        return candidates


class Learned(NamedTuple):
    """A fleet, and the cross-validation that selected its forecaster."""

    fleet: Fleet
    choice: ChosenForecaster


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


def learn(
    matrix: CorrectnessMatrix, learning: Learning, encoder: Encoder | None, progress: Progress
) -> Learned:
    """Encode the questions, select a forecaster by cross-validation, and fit it on all."""
    table, layout = tabulate(
        matrix, encoder, progress, features=learning.features and learning.reads_texts
    )
    choice = choose(
        learning.candidates(layout),
        table,
        matrix.correct,
        folds=learning.folds,
        seed=learning.seed,
        first_anyway=learning.forecaster != AUTO,
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
    return Learned(fleet, choice)


def means_note(forecasters: Sequence[Forecaster], questions: int) -> tuple[str, ...]:
    """A note on each forecaster that averages all training questions, of which there are so many.

    Examples
    --------
    >>> from scope.fleet.forecasters.baselines import NeighbourForecaster
    >>> means_note([NeighbourForecaster(layout=QuestionLayout(vector=2))], 57)
    ('knn averages 131 neighbours, all of the 57 training questions: it is each model’s mean',)
    """
    return tuple(
        f"{one.spelling} averages {one.neighbours} neighbours, all of the {questions} training "
        "questions: it is each model’s mean"
        for one in forecasters
        if isinstance(one, NeighbourForecaster) and one.neighbours >= questions
    )


class Tabulated(NamedTuple):
    """Questions as a table of numbers, and its layout."""

    table: Table
    layout: QuestionLayout


def tabulate(
    matrix: CorrectnessMatrix, encoder: Encoder | None, progress: Progress, *, features: bool
) -> Tabulated:
    """The questions' vectors, features and categories as a table."""
    vectors = vectors_of(matrix, encoder, progress)
    fingerprint = encoder.fingerprint if encoder else ""
    layout = make_layout(
        vectors=vectors, encoder=fingerprint, categories=matrix.categories, features=features
    )
    table = question_table(
        layout,
        vectors=vectors,
        texts=matrix.texts,
        categories=matrix.categories,
        encoder=fingerprint,
    )
    return Tabulated(table, layout)


def vectors_of(
    questions: CorrectnessMatrix, encoder: Encoder | None, progress: Progress
) -> NDArray[np.float32]:
    """The questions' vectors; without columns if there is no encoder."""
    if encoder is None:
        return np.zeros((len(questions.ids), 0), dtype=np.float32)
    return question_vectors(questions.texts, encoder, progress)
