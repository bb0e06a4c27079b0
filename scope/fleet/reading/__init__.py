"""Reads who answered what correctly, wherever it is kept."""

from scope.fleet.reading.matrices import Questions, read_matrix, read_questions

__all__ = ["Questions", "read_matrix", "read_questions"]
