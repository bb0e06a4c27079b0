"""Reads who answered what correctly, wherever it is kept."""

from scope.fleet.reading.matrices import read_matrix, read_questions

__all__ = ["read_matrix", "read_questions"]
