"""What is left out, and why there is no answer: counted, shown, and refused if too much."""

import json
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest
from toy_writers import ROWS, Writer, audited

import scope
from scope.answers.asking import REPEATED
from scope.errors import DataError
from scope.jobs.answering_models import refuse_unusable
from scope.records import Answer, DataCard, LeftOut

QUESTIONS, SERVER = 60, "no answer of poor: server"


class Planned:
    """Chooses the right option of three, but as planned on some questions."""

    def __init__(self, name, **planned):
        self.name = self.fingerprint = name
        self.spec, self.planned, self.asked = f"memory:{name}", planned, []

    def choose(self, questions):
        for place, question in enumerate(questions):
            number = question.text.split()[-1]
            self.asked.append(number)
            yield place, self.planned.get(f"n{number}", Answer(choice=int(number) % 3))


CUT, FAILED = Answer(missing="cut off"), Answer(missing="server")
UNREAD = Answer(missing="not readable", reply="Well, B or C")


@pytest.fixture
def asked(tmp_path):
    rows = (
        {"question": f"Number {n}", "options": ["a", "b", "c"], "answer": "ABC"[n % 3]}
        for n in range(QUESTIONS)
    )
    data = tmp_path / "q.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    return {"data": str(data), "runs": tmp_path, "run": "one"}


def test_answers_that_are_missing_are_counted_by_reason_and_failures_of_servers_asked_again(asked):
    good = Planned("good", n4=Answer(choice=0))
    poor = Planned("poor", n0=CUT, n1=UNREAD, n2=UNREAD, n3=FAILED)
    result = scope.compare(models=[good, poor], tasks=["choice"], **asked)
    assert {left.reason: left.examples for left in result.manifest.models[1].missing} == {
        **{"not readable": ("Well, B or C",), "cut off": ("0",)}
    }
    (data,) = result.manifest.data
    assert (data.used, data.left_out) == (59, (LeftOut(reason=SERVER, count=1, examples=("3",)),))
    assert result.outcomes[0].failures == {"cut off": 1, "not readable": 2}
    (cells,) = result.cells
    assert [cells.count(of) for of in (cells.only_first, cells.only_second)] == [3, 1]
    assert "2 (not readable), 1 (cut off), such as `Well" in str(result)
    assert "| poor | not readable | 2 | Well, B or C |" in result.to_markdown(verbose=True)
    poor.asked.clear()
    poor.planned.pop("n3")
    again = scope.compare(models=[good, poor], tasks=["choice"], **asked)
    assert (poor.asked.count("3"), len(poor.asked)) == (1, 1 + REPEATED)  # It is recognised.
    assert again.manifest.data[0].left_out == ()


def test_a_question_that_one_server_fails_to_answer_is_left_out_of_a_test_of_reuse(asked):
    wrong = [{f"n{n + k}": Answer(choice=n % 3) for k in range(20)} for n in range(9)]
    suspect, *others = (Planned(f"m{n}", **planned) for n, planned in enumerate(wrong))
    suspect.planned["n50"] = FAILED
    models = {"suspect": suspect, "references": others[:1], "controls": others[1:]}
    result = scope.reuse(**models, task="choice", **asked)
    assert result.verdicts[0].shared == QUESTIONS - 1
    assert result.manifest.data[0].left_out[0].examples == ("50",)


@pytest.mark.parametrize(
    ("rows", "used", "reason", "count", "most", "refused"),
    [
        (8, 6, "no gold", 2, 0.25, None),
        (8, 5, "no gold", 3, 0.25, "3 of 8 rows .* no gold .3.: row 1"),
        (1000, 6, SERVER, 2, 0.25, None),
        (1000, 5, SERVER, 3, 0.25, "3 of 8 rows asked .*server and rows; --most"),
        (3, 1, "no gold", 2, 0.67, None),
    ],
)
def test_too_many_left_out_are_refused(rows, used, reason, count, most, refused):
    left = LeftOut(reason=reason, count=count, examples=("row 1",))
    card = DataCard(spec="d.csv", fingerprint="", rows=rows, used=used, left_out=(left,))
    with pytest.raises(DataError, match=f"(?s){refused}") if refused else nullcontext():
        refuse_unusable([card], most)


def test_empty_rows_are_unusable_but_not_the_sentences_of_a_cloze():
    card = DataCard(spec="d.csv", fingerprint="", rows=20, used=10, empty=10)
    with pytest.raises(DataError, match=r"10 of 20 rows of `d.csv` cannot be used; empty .10.\n"):
        refuse_unusable([card], 0.25)
    refuse_unusable([replace(card, capability="cloze")], 0.25)


@pytest.mark.parametrize("how", [scope.audit, partial(scope.dry_run, "audit")])
def test_an_audit_of_questions_of_which_half_are_null_is_refused(how, tmp_path):
    lost = [row | {"question": None} for row in ROWS[::2]]
    with pytest.raises(DataError, match=f"{len(lost)} of {len(ROWS)} rows"):
        audited(tmp_path, Writer("copy"), audit=how, data=[*lost, *ROWS[1::2]])
