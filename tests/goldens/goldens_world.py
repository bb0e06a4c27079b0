"""What the goldens' commands read: texts, questions, answers and pairs, made up from one seed.

Drawn with the standard library's generator and whole numbers, so that each machine writes the same
bytes.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from goldens_toys import BAD, GOOD

OPENINGS = ("the film", "this story", "a long play", "her new book", "that old song")
MIDDLES = ("seems", "remains", "turns out", "feels", "becomes")
ENDINGS = ("from start to finish", "after the second scene", "for every listener", "in its own way")
COLOURS = ("red", "green", "blue", "white", "black", "brown")
LETTERS = "ABCDE"
TOPICS = ("sums", "birds", "laws", "tides")
SYLLABLES = ("zor", "bli", "mak", "tep", "lun", "fri", "gos", "vad", "kel", "nup")
TOPIC_WORDS = {
    topic: tuple(f"{topic[:2]}{one}{other}" for one in SYLLABLES for other in SYLLABLES[place:][:2])
    for place, topic in enumerate(TOPICS)
}
FLEET = tuple(f"model-{letter}" for letter in "abcdefghijkl")
QUESTIONS = 120
TRAINING = 90
PARTS = {"train": 60, "dev": 20, "test": 30}
PAIR_WORDS = ("the", "film", "was", "good", "dull", "who", "saw", "ann", "bob", "paris", "in", "a")


def make_world(folder: Path) -> None:
    """Write all data and the module `toys` into an empty folder."""
    shutil.copy(Path(__file__).with_name("goldens_toys.py"), folder / "toys.py")
    _write_texts(folder)
    _write_questions(folder)
    _write_answers(folder)
    _write_fleet(folder)
    _write_pairs(folder)


def _write_texts(folder: Path) -> None:
    every = [
        (f"{opening} {middle} {judgement} {ending}", ("negative", "positive")[judgement in GOOD])
        for opening in OPENINGS
        for middle in MIDDLES
        for judgement in (*GOOD, *BAD)
        for ending in ENDINGS
    ]
    rows = random.Random(1).sample(every, 60)
    _write_table(folder / "texts.csv", ("text", "label"), rows)
    _write_table(folder / "numbers.csv", ("first", "second"), [(1, 2), (3, 4)])
    _write_table(folder / "stars.csv", ("text", "label"), [("a fine film", 5), ("a dull film", 1)])


def _write_questions(folder: Path) -> None:
    _write_lines(
        folder / "choices.jsonl",
        (
            {
                "id": f"c{place}",
                "question": f"Which colour has house {place}?",
                "options": [COLOURS[(place + step) % 6] for step in range(3 + place % 2)],
                "answer": place % 3,
                "category": ("town", "village")[place % 2],
            }
            for place in range(30)
        ),
    )
    paragraphs = [_paragraph(place) for place in range(20)]
    squad = {"version": "v2.0", "data": [{"title": "Houses", "paragraphs": paragraphs}]}
    (folder / "passages.json").write_text(json.dumps(squad), encoding="utf-8")
    draw = random.Random(2)
    sentences = (
        f"The {draw.choice(COLOURS)} house by the river was sold to a {draw.choice(TRADES)} who "
        f"kept {draw.choice(ANIMALS)} in the garden behind the {draw.choice(PLACES)}."
        for _ in range(30)
    )
    (folder / "book.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")


TRADES = ("painter", "teacher", "baker", "sailor", "doctor")
ANIMALS = ("horses", "chickens", "rabbits", "goats")
PLACES = ("church", "school", "station", "market")


def _paragraph(place: int) -> dict[str, Any]:
    answers = [{"text": COLOURS[place % 6], "answer_start": len(f"House {place} is ")}]
    asked = {"id": f"q{place}", "question": f"What colour is house {place}?"}
    impossible = place % 4 == 3
    return {
        "context": f"House {place} is {COLOURS[place % 6]} and stands by road {place + 7}",
        "qas": [{**asked, "is_impossible": impossible, "answers": [] if impossible else answers}],
    }


class Exam:
    """Questions with five options, models that answer them, and how much each option misleads."""

    def __init__(self, items: int = 240) -> None:
        self.draw = random.Random(3)
        self.gold = [self.draw.randrange(5) for _ in range(items)]
        self.appeal = [[self.draw.randint(1, 6) for _ in range(5)] for _ in range(items)]

    def independent(self, skill: int = 60) -> list[int]:
        """Knows so many answers in a hundred, and is misled in others."""
        return [
            gold
            if self.draw.randrange(100) < skill
            else self.draw.choices(range(5), cum_weights=_running(appeal))[0]
            for gold, appeal in zip(self.gold, self.appeal, strict=True)
        ]

    def mixed(self, first: Sequence[int], second: Sequence[int], share: int) -> list[int]:
        """The second's answers, so many in a hundred of them taken from the first."""
        return [
            one if self.draw.randrange(100) < share else other
            for one, other in zip(first, second, strict=True)
        ]


def _running(weights: Sequence[int]) -> list[int]:
    return [sum(weights[: place + 1]) for place in range(len(weights))]


def _write_answers(folder: Path) -> None:
    """A reference, suspects of each kind, 24 controls, some of the reference's base, 19 tuned."""
    exam = Exam()
    base = exam.independent()
    ours = exam.mixed(base, exam.independent(), 40)
    suspects = {
        "ours": ours,
        "theirs": exam.independent(),
        "copy": exam.mixed(ours, exam.independent(), 90),
        "partly": exam.mixed(ours, exam.independent(), 30),
        "other": exam.independent(),
        "constant": [0 for _ in ours],
    }
    controls = {f"k{place}": exam.mixed(base, exam.independent(), 2 * place) for place in range(24)}
    tuned = {f"t{place}": exam.mixed(ours, exam.independent(), 70) for place in range(19)}
    _write_letters(folder / "suspects.tsv", suspects)
    _write_letters(folder / "controls.tsv", controls)
    _write_letters(folder / "tuned.tsv", tuned)
    _write_letters(folder / "some.tsv", {**suspects, **dict(list(controls.items())[:2])})
    _write_lines(
        folder / "exam.jsonl",
        (
            {
                "id": f"q{place}",
                "question": f"What is the number of house {place}?",
                "options": [f"number {place + step}" for step in range(5)],
                "answer": gold,
            }
            for place, gold in enumerate(exam.gold)
        ),
    )


def _write_letters(path: Path, models: dict[str, list[int]]) -> None:
    """A line a model; every eleventh answer of the second is missing."""
    lines = []
    for number, (name, answers) in enumerate(models.items()):
        letters = [LETTERS[one] for one in answers]
        if number == 1:
            letters[::11] = ["." for _ in letters[::11]]
        lines.append(f"{name}\t{''.join(letters)}\n")
    path.write_text("".join(lines), encoding="utf-8")


def _write_fleet(folder: Path) -> None:
    """Models that know two topics of four, and new questions."""
    draw = random.Random(4)
    rows = [
        (model, f"q{place}", text, TOPICS[place % 4], int(draw.randrange(100) < share))
        for place, text in enumerate(_topic_texts(draw))
        for number, model in enumerate(FLEET)
        for share in [(85 if (number % 2 == 0) == (place % 4 < 2) else 25) + number]
    ]
    columns = ("model", "id", "question", "category", "correct")
    _write_table(folder / "answers.csv", columns, rows)
    _write_table(folder / "new.csv", columns, [r for r in rows if int(r[1][1:]) >= TRAINING])
    right = [(model, "q0", "one?", "sums", 1) for model in FLEET[:2]]
    _write_table(folder / "all_right.csv", columns, right)


def _topic_texts(draw: random.Random) -> list[str]:
    return [
        f"{' '.join(draw.choice(TOPIC_WORDS[TOPICS[place % 4]]) for _ in range(6))} {place}"
        for place in range(QUESTIONS)
    ]


def _write_pairs(folder: Path) -> None:
    """Pairs scored by the words in common."""
    draw = random.Random(5)
    rows = [(part, *_pair(draw, place)) for part, count in PARTS.items() for place in range(count)]
    _write_table(folder / "pairs.csv", ("split", "sentence1", "sentence2", "score"), rows)


def _pair(draw: random.Random, place: int) -> tuple[str, str, float]:
    first = _sentence(draw)
    second = f"{first} {draw.choice(PAIR_WORDS)}" if place % 3 == 0 else _sentence(draw)
    one, other = set(first.split()), set(second.split())
    return first, second, round(5 * len(one & other) / len(one | other), 2)


def _sentence(draw: random.Random) -> str:
    return " ".join(draw.choice(PAIR_WORDS) for _ in range(draw.randint(1, 6)))


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
