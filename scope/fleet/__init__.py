"""Compact vectors for many models: forecasts of correct answers, routing and similarity.

A forecaster of these learns from a matrix of who answered which question correctly, in the
manner of scikit-learn; questions are rows of a table that `question_table`
makes, laid out as `make_layout` says.
"""

from scope.fleet.forecasters.baselines import (
    MeanForecaster as MeanForecaster,
    NeighbourForecaster as NeighbourForecaster,
)
from scope.fleet.forecasters.choosing import ChosenForecaster as ChosenForecaster, choose as choose
from scope.fleet.forecasters.forecaster import (
    Forecaster as Forecaster,
    VectorForecaster as VectorForecaster,
)
from scope.fleet.forecasters.matrix_factorization import MatrixFactorization as MatrixFactorization
from scope.fleet.forecasters.text_factors import TextFactors as TextFactors
from scope.fleet.layout import QuestionLayout as QuestionLayout
from scope.fleet.matrix import CorrectnessMatrix as CorrectnessMatrix
from scope.fleet.questions import make_layout as make_layout, question_table as question_table
from scope.fleet.reading import read_matrix as read_matrix
from scope.fleet.saving import Fleet as Fleet, load_fleet as load_fleet, save_fleet as save_fleet
