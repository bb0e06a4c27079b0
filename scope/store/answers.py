"""Answers to questions as they come, in a run's SQLite file, by model, role and question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from scope.checksums import checksum
from scope.protocols import Role
from scope.records import Answer, Question

SCHEMA = """
CREATE TABLE answers (
    model TEXT NOT NULL,
    question BLOB NOT NULL,
    answer TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (model, question)
) WITHOUT ROWID;
"""

# Below the limit on variables of any SQLite, which was 999 before version 3.32.
_QUESTIONS_A_QUERY = 900


class ReadAnswers(NamedTuple):
    """Answers by the question's place, and the keys of those that are damaged."""

    known: dict[int, Answer]
    damaged: list[tuple[str, bytes]]


def known_answers(
    connection: sqlite3.Connection, model: str, role: Role, questions: Sequence[Question]
) -> ReadAnswers:
    """The answers that are known, by the question's place in the sequence.

    Questions are known by what they say, not by their id: the same words have one answer.
    """
    known: dict[int, Answer] = {}
    damaged: list[tuple[str, bytes]] = []
    places = iter(enumerate(questions))
    while batch := [(place, _key(role, one)) for place, one in islice(places, _QUESTIONS_A_QUERY)]:
        stored: dict[bytes, str] = {}
        for key, answer, expected in _look_up(connection, model, [key for _, key in batch]):
            if checksum(model, key, answer) == expected:
                stored[key] = answer
            else:
                damaged.append((model, key))
        known.update({place: _read(stored[key]) for place, key in batch if key in stored})
    return ReadAnswers(known, damaged)


def write_answers(
    connection: sqlite3.Connection,
    model: str,
    role: Role,
    answers: Sequence[tuple[Question, Answer]],
) -> None:
    """Keep answers; a question that has one keeps it."""
    rows = [(model, _key(role, question), _write(answer)) for question, answer in answers]
    connection.executemany(
        "INSERT INTO answers VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(*row, checksum(*row)) for row in rows],
    )


def _look_up(
    connection: sqlite3.Connection, model: str, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, str, int]]:
    marks = ",".join("?" * len(keys))
    query = (
        "SELECT question, answer, checksum FROM answers "  # noqa: S608 - marks only
        f"WHERE model = ? AND question IN ({marks})"
    )
    return connection.execute(query, (model, *keys))


def _key(role: Role, question: Question) -> bytes:
    said = [role, question.text, question.context, question.options]
    return blake2b(json.dumps(said).encode(), digest_size=16).digest()


def _write(answer: Answer) -> str:
    return json.dumps(asdict(answer), ensure_ascii=False)


def _read(stored: str) -> Answer:
    fields = json.loads(stored)
    fields |= {name: tuple(fields[name]) for name in ("probabilities", "others")}
    return Answer(**fields)
