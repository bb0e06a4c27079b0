"""A fitted fleet as a folder: its numbers as safetensors, all else as JSON; no pickle."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from scope.errors import RunError, SpecError
from scope.fleet.forecasters.baselines import MeanForecaster, NeighbourForecaster
from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.forecasters.matrix_factorization import MatrixFactorization
from scope.fleet.forecasters.text_factors import TextFactors
from scope.fleet.layout import QuestionLayout
from scope.store.saved_parts import SavedParts, Scalar, plain_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping


NUMBERS, DESCRIPTION = "embedder.safetensors", "embedder.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope fleet embed`",
    first="embed a fleet first",
    again="embed the fleet again",
)


FORMAT: Literal[2] = 2
"""Changes whenever an older release could no longer read what this one writes."""

FORECASTERS: Mapping[str, type[Forecaster]] = MappingProxyType(
    {
        kind.short_name: kind
        for kind in (
            MeanForecaster,
            NeighbourForecaster,
            TextFactors,
            MatrixFactorization,
        )
    }
)
"""All forecasters by name, for fitting and for reading: a file names no other code."""

_WIDEST = 1_000_000
"""More columns than any encoder has; a layout of more is not believed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fleet:
    """A fitted forecaster with the names of what it was fitted on.

    ``models`` are its columns, the ``added`` ones last; ``skills`` and ``answered``, shape
    (models,), are each one's accuracy and number of known answers. ``ids`` and ``texts_digest``
    name the questions that it was fitted on, in the order of the rows. ``encoder`` is the spec
    of what made their vectors, whose fingerprint stands in the forecaster's layout.
    """

    forecaster: Forecaster
    models: tuple[str, ...]
    skills: NDArray[np.float32]
    answered: NDArray[np.int64]
    ids: tuple[str, ...]
    texts_digest: tuple[str, ...]
    encoder: str
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.models)
        lengths = {len(self.skills), len(self.answered), len(self.forecaster.skills_)}
        ids, answered = len(self.ids), self.answered
        names = len(set(self.models)) + len(set(self.ids))
        for correct, otherwise in (
            (lengths == {count}, f"skills of {sorted(lengths)} models in place of {count}"),
            (ids == len(self.texts_digest), f"{ids} ids and {len(self.texts_digest)} texts"),
            (self.models[count - len(self.added) :] == self.added, "added models are not last"),
            (names == count + ids, "a name stands twice among the models, or among the ids"),
            (((self.skills >= 0) & (self.skills <= 1)).all(), "a skill is not from 0 to 1"),
            (
                ((answered >= 0) & (answered <= ids)).all(),
                f"a count of answers is not from 0 to {ids}",
            ),
        ):
            if not correct:
                raise ValueError(otherwise)


@dataclass(frozen=True, kw_only=True)
class _Description:
    """What stands in the JSON file."""

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "allow_inf_nan": False}
    format: Literal[2]
    forecaster: str
    parameters: dict[str, Scalar | tuple[Scalar, ...]]
    layout: QuestionLayout
    models: tuple[str, ...]
    added: tuple[str, ...]
    ids: tuple[str, ...]
    texts_digest: tuple[str, ...]
    encoder: str
    sha256: str


def save_fleet(fleet: Fleet, folder: Path) -> None:
    """Write a fleet into a folder, which is made where there is none.

    Each of the two files is replaced in one step, and the JSON holds the other's digest: a kill
    between the two is noticed on loading.

    Raises
    ------
    SpecError
        When the forecaster is of a class that is not SCoPE's own.
    RunError
        When the folder cannot be written.
    """
    forecaster = fleet.forecaster
    if FORECASTERS.get(forecaster.short_name) is not type(forecaster):
        raise SpecError(
            f"a forecaster of the class {type(forecaster).__name__}",
            expected=f"one of {', '.join(FORECASTERS)}, as SCoPE has them",
            fix="keep your own forecaster by other means",
        )
    numbers = {f"forecaster.{name}": array for name, array in forecaster.state_arrays().items()}
    numbers["fleet.skills"] = np.asarray(fleet.skills, dtype=np.float32)
    numbers["fleet.answered"] = np.asarray(fleet.answered, dtype=np.int64)
    parameters = forecaster.get_params(deep=False)
    del parameters["layout"]
    description = _Description(
        format=FORMAT,
        forecaster=forecaster.short_name,
        parameters=plain_parameters(parameters),
        layout=forecaster.layout,
        models=fleet.models,
        added=fleet.added,
        ids=fleet.ids,
        texts_digest=fleet.texts_digest,
        encoder=fleet.encoder,
        sha256=FILES.write(folder, numbers),
    )
    FILES.describe(folder, description)


def load_fleet(folder: Path) -> Fleet:
    """Read what `save_fleet` wrote; its forecasts are the same to the byte.

    Raises
    ------
    RunError
        When there is no fleet, or its files are damaged, changed, or of another format.
    """
    description = FILES.described(folder, _Description, FORMAT)
    if description.forecaster not in FORECASTERS:
        raise RunError(
            f"`{folder / DESCRIPTION}` holds a forecaster `{description.forecaster}`",
            expected=f"one of {', '.join(FORECASTERS)}",
            fix="read it with the release of SCoPE that wrote it",
        )
    numbers = FILES.read(folder, description.sha256)
    with FILES.restoring(folder):
        return _restored(description, numbers)


def _restored(description: _Description, numbers: dict[str, NDArray[Any]]) -> Fleet:
    """The fleet, once all of it is found to go together."""
    if not 0 <= description.layout.vector <= _WIDEST:
        raise ValueError(f"a layout with vectors of {description.layout.vector} numbers")
    forecaster = FORECASTERS[description.forecaster](
        layout=description.layout, **description.parameters
    )
    forecaster.check_parameters()
    forecaster.restore({name: numbers[f"forecaster.{name}"] for name in forecaster.state})
    _try_out(forecaster)
    return Fleet(
        forecaster=forecaster,
        models=description.models,
        skills=numbers["fleet.skills"],
        answered=numbers["fleet.answered"],
        ids=description.ids,
        texts_digest=description.texts_digest,
        encoder=description.encoder,
        added=description.added,
    )


def _try_out(forecaster: Forecaster) -> None:
    """Check that a question can be forecast: finite numbers may still be invalid."""
    nothing = np.zeros((1, forecaster.layout.width), dtype=np.float32)
    with warnings.catch_warnings():
        # Of numbers too great, by whichever thread meets them.
        warnings.simplefilter("ignore", RuntimeWarning)
        chances, scores = forecaster.predict_proba(nothing), forecaster.routing_scores(nothing)
    if not (((chances >= 0) & (chances <= 1)).all() and np.isfinite(scores).all()):
        raise ValueError("a forecast that is no probability")
