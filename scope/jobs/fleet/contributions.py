"""The contribution of each benchmark's questions to forecasts on held-out questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scope.fleet.findings.forecasting import contributions
from scope.fleet.forecasters.forecaster import Probabilities
from scope.fleet.forecasters.text_factors import TextFactors
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.questions import require_texts
from scope.jobs.fleet.answers import benchmarks_of, held_out_rows, same_texts
from scope.jobs.fleet.learning import tabulate
from scope.jobs.fleet.requests import TEST_SHARE, MapRequest
from scope.models import load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.protocols import Encoder, Progress
from scope.records import Contribution, Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedContributions:
    """Answers to questions of several benchmarks, and the encoder of their texts."""

    matrix: CorrectnessMatrix
    held_out: NDArray[np.bool_]
    encoder: Encoder
    seed: int
    progress: Progress

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The settings that decide the result."""
        return {
            "encoder": f"{self.encoder.spec} {self.encoder.fingerprint}",
            "test_share": TEST_SHARE,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the method."""
        return (
            f"contributions: {int(self.held_out.sum())} of {len(self.held_out)} questions are held "
            "out and predicted by factors fitted with and without each benchmark's other questions",
        )

    def find(self) -> tuple[Contribution, ...]:
        """Fit without each benchmark in turn, and score the forecasts on every benchmark."""
        known = replace(self.matrix.take(np.flatnonzero(~self.held_out)), part=False)
        test = self.matrix.take(np.flatnonzero(self.held_out))
        learned = tabulate(self.matrix, self.encoder, self.progress, features=True)
        table, questions = learned.table[~self.held_out], learned.table[self.held_out]

        def fit_predict(rows: NDArray[np.bool_]) -> Probabilities:
            forecaster = TextFactors(layout=learned.layout, seed=self.seed)
            return forecaster.fit(table[rows], known.correct[rows]).predict_proba(questions)

        fits = len({one for one in known.categories if one is not None}) + 1
        with self.progress.task("contributions of benchmarks", fits) as advance:
            return contributions(
                fit_predict,
                known.categories,
                test.correct,
                same_texts(test),
                test.categories,
                advance=advance,
            )


def plan_contributions(matrix: CorrectnessMatrix, request: MapRequest) -> PlannedContributions:
    """Check the benchmarks and texts, and load the encoder.

    Raises
    ------
    DataError
        If there are fewer than two benchmarks, or a question has no text.
    """
    benchmarks_of(matrix, "contributions are from one benchmark to another")
    require_texts(matrix.texts, f"the forecaster {TextFactors.short_name}", matrix.ids)
    return PlannedContributions(
        matrix=matrix,
        held_out=held_out_rows(matrix.texts, TEST_SHARE, request.seed),
        encoder=load_encoder(request.encoder or SENTENCE_ENCODER, request.model_options),
        seed=request.seed,
        progress=request.progress,
    )
