"""Compact vectors for many models: forecasts of correct answers, routing and similarity.

A forecaster of these learns from a matrix of who answered which question correctly, in the
manner of scikit-learn; questions are rows of a table that `question_table`
makes, laid out as `make_layout` says.
"""

from scope.fleet.forecasters.baselines import MeanForecaster, NeighbourForecaster
from scope.fleet.forecasters.choosing import ChosenForecaster, choose
from scope.fleet.forecasters.forecaster import Forecaster, VectorForecaster
from scope.fleet.forecasters.item_response import ItemResponse
from scope.fleet.forecasters.matrix_factorization import MatrixFactorization
from scope.fleet.forecasters.text_factors import TextFactors
from scope.fleet.layout import QuestionLayout
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.questions import make_layout, question_table
from scope.fleet.reading import read_matrix
from scope.fleet.saving import Fleet, load_fleet, save_fleet

__all__ = [
    "ChosenForecaster",
    "CorrectnessMatrix",
    "Fleet",
    "Forecaster",
    "ItemResponse",
    "MatrixFactorization",
    "MeanForecaster",
    "NeighbourForecaster",
    "QuestionLayout",
    "TextFactors",
    "VectorForecaster",
    "choose",
    "load_fleet",
    "make_layout",
    "question_table",
    "read_matrix",
    "save_fleet",
]
