"""Reads who answered what correctly, wherever it is kept."""

from scope.fleet.reading.matrices import (
    read_matrix as read_matrix,
    read_questions as read_questions,
)
