import gzip
import json
import re

import pytest

from scope.errors import DataError, ModelError
from scope.models import ModelOptions
from scope.models.loading import load_model
from scope.models.saved import load
from scope.records import Answer, Question


def write(path, *rows):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def model(folder, *rows):
    return load(str(write(folder / "saved.jsonl", *rows)), ModelOptions())


def ask(**fields):
    return Question(**{"id": "q", "text": "Who came?", **fields})


def answered(folder, row):
    """The answers of a file with this row to one question, with three options or without."""
    saved = model(folder, {"id": "q"} | row)
    options = row.get("options", ("red", "blue", "green"))
    return dict((saved.choose if options else saved.answer)([ask(options=options)]))


@pytest.mark.parametrize("role", ["answerer", "mask_filler", "choice_scorer"])
def test_a_file_of_answers_has_the_three_roles_of_tasks(tmp_path, role):
    path = write(tmp_path / "saved.jsonl", {"id": "q", "answer": "Ann"})
    loaded = load_model(f"predictions:{path}", role)
    assert loaded.spec == f"predictions:{path}"
    assert len(loaded.fingerprint) == 16


def test_answers_are_looked_up_by_id_and_else_by_text(tmp_path):
    saved = model(
        tmp_path,
        {"id": 1, "answer": " Ann "},
        {"text": "Who went? ", "answer": ""},
        {"id": "x", "text": "Who stayed?", "answer": None},
    )
    asked = [
        ask(id="7", text=" Who stayed?"),
        ask(id="1", text="Anything"),
        ask(id="8", text="Who went?"),
    ]
    expected = {0: Answer(), 1: Answer(text="Ann"), 2: Answer(text="")}
    assert dict(saved.answer(asked)) == expected
    assert dict(saved.fill(asked)) == expected


@pytest.mark.parametrize(
    ("row", "choice"),
    [
        *(({"answer": answer}, 1) for answer in (1, "B", "blue", 1.0)),
        ({"probabilities": [0.25, 0.25, 0.5]}, 2),
        # An answer says which of the likeliest options it is.
        ({"answer": "blue", "probabilities": [0.4, 0.4, 0.2]}, 1),
        ({"answer": None}, None),
    ],
)
def test_an_option_is_named_by_number_letter_or_text_or_is_the_likeliest(tmp_path, row, choice):
    probabilities = tuple(row.get("probabilities", ()))
    assert answered(tmp_path, row) == {0: Answer(choice=choice, probabilities=probabilities)}


def test_rows_for_questions_that_are_not_asked_are_counted_and_named(tmp_path):
    rows = [{"id": f"x{place}", "answer": "Ann"} for place in range(4)]
    same_words = {"id": "other", "text": "Who came?", "answer": "Ann"}
    saved = model(tmp_path, same_words, same_words, *rows)
    asked = [ask(), *(ask(id=f"q{place}", text="Who went?") for place in range(4))]
    counted = "no answer to 4 of 5 questions: `q0`, .* and 4 rows under other ids: `x0`, `x1`"
    with pytest.raises(ModelError, match=counted):
        list(saved.answer(asked))


def test_words_that_two_ids_share_answer_neither_by_text(tmp_path):
    saved = model(
        tmp_path,
        {"id": "a", "text": "Who came?", "answer": "Ann"},
        {"id": "b", "text": "Who came?", "answer": "Bob"},
    )
    assert dict(saved.answer([ask(id="b")])) == {0: Answer(text="Bob")}
    with pytest.raises(ModelError):
        list(saved.answer([ask(id="c")]))


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"answer": 3}, "the answer is the option 3, counted from 0, of 3 options"),
        ({"answer": "D"}, "the answer is the option D of 3 options"),
        ({"answer": "pink"}, "the answer is 'pink', which is not one of the options"),
        ({"probabilities": [0.5, 0.5]}, "2 probabilities"),
        ({"answer": 0, "probabilities": [0.1, 0.9, 0]}, "where `probabilities` is [0.1, 0.9, 0.0]"),
        ({"text": "Who went?", "answer": 0}, "`text` is 'Who went?', where the data have"),
        ({"answer": 3, "options": ()}, "the answer 3"),
        ({"probabilities": [0.5, 0.5], "options": ()}, "probabilities without an `answer`"),
        ({"probabilities": [0.5, 0.49]}, "`probabilities` is"),
        ({"probabilities": []}, "`probabilities` is"),
        ({"id": None, "answer": "Ann"}, "neither `id` nor `text`"),
    ],
)
def test_what_is_no_answer_is_named_by_line(tmp_path, row, found):
    with pytest.raises(DataError, match=re.escape(found)) as raised:
        answered(tmp_path, row)
    assert raised.value.found.startswith("line 1 of saved.jsonl: ")


@pytest.mark.parametrize("named", [{"id": "q"}, {"text": "Who?"}])
def test_two_answers_to_one_question_are_refused(tmp_path, named):
    with pytest.raises(DataError, match=r"line 2 of saved\.jsonl: another answer"):
        model(tmp_path, *(named | {"answer": answer} for answer in ("Ann", "Bob")))


def test_a_file_without_answers_is_told_its_columns(tmp_path):
    with pytest.raises(DataError, match=r"no answers in .* its columns are `id`, `prediction`"):
        model(tmp_path, {"id": "q", "prediction": "Ann"})
