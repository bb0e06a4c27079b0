"""Asks models and stores the answers: predictions, replies, searches, vectors and latents.

`Answers.get` asks a model and keeps its answers in a SQLite table. A run has a table of its own;
runs share another one, and the latents of texts, in SCoPE's cache folder. A run that is killed at
any moment resumes and reuses its stored answers.
"""

from scope.answers.answers import (
    Answers as Answers,
    CachedClassifier as CachedClassifier,
    Memory as Memory,
    Shared as Shared,
)
from scope.answers.asking import (
    answer_questions as answer_questions,
    answer_texts as answer_texts,
    may_change as may_change,
    recognise as recognise,
    recognise_numbers as recognise_numbers,
)
from scope.answers.run import Run as Run
