"""Small fleets to be saved, and ways to spoil what was written of them."""

import json

import numpy as np
import pytest
import toy_fleet

from scope.checksums import unsealed
from scope.errors import RunError
from scope.jobs.fleet.forecaster import MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.stored_fleet import DESCRIPTION, FILES, Fleet, load_fleet
from scope.jobs.fleet.text_factors import TextFactors

MADE = {
    "mean": (MeanForecaster, {}),
    "knn": (NeighbourForecaster, {"neighbours": 9}),
    "mf": (MatrixFactorization, {"dimensions": 8, "epochs": 3}),
    "factors": (TextFactors, {"dimensions": 3, "guard": np.float64(0.25)}),
}


def fleet_of(name="knn", *, added=False):
    table, answers = toy_fleet.fleet()
    kind, parameters = MADE[name]
    forecaster = kind(layout=toy_fleet.LAYOUT, **parameters).fit(table, answers)
    models = [f"hf:model/{number}" for number in range(6)]
    if added:
        forecaster = forecaster.added(np.arange(60), answers[:, :1])
        answers, models = np.column_stack([answers, answers[:, :1]]), [*models, "«neu»"]
    return Fleet(
        forecaster=forecaster,
        models=tuple(models),
        skills=np.nanmean(answers, axis=0).astype(np.float32),
        answered=(~np.isnan(answers)).sum(axis=0),
        ids=tuple(f"q{row}" for row in range(60)),
        texts_digest=tuple(f"{row:016x}" for row in range(60)),
        encoder="hf:some/encoder",
        added=tuple(models[6:]),
    )


def change(folder, **changes):
    path = folder / DESCRIPTION
    path.write_text(
        json.dumps(json.loads(unsealed(path.read_text("utf-8")).text) | changes), "utf-8"
    )


def refusal(folder):
    with pytest.raises(RunError) as caught:
        load_fleet(folder)
    return str(caught.value)


def craft(folder, name, array):
    """Change one of the numbers, and the digest with them."""
    numbers = FILES.read(
        folder, json.loads(unsealed((folder / DESCRIPTION).read_text("utf-8")).text)["sha256"]
    )
    assert name in numbers
    numbers[name] = np.asarray(array(numbers[name]))
    change(folder, sha256=FILES.write(folder, numbers))
