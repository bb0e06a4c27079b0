"""May one run replace another? By accuracy, on made-up and on published answers."""

import gzip
import json
from dataclasses import replace

import pytest
from claims_corpus import comparison, runs
from shared_data import shared_data

import scope
from scope.errors import SpecError
from scope.estimation.tasks import measure_task
from scope.jobs.compare.run import MeasuredTask, comparison_verdicts
from scope.jobs.pages import model_card_of, to_short_json
from scope.records import Answer, Item, Question, TaskAnswers


def measured(right, *rows):
    result = comparison(right, *rows)
    return result.cells, result.verdicts


def judged_on(tasks, recovery=None):
    """The verdict on the second of two models."""
    numbers = [measure_task(task, ["m0", "m1"], normalize=False, seed=0) for task in tasks]
    made = list(map(MeasuredTask, tasks, numbers))
    (verdict,) = comparison_verdicts(made, ["m0", "m1"], 0.02, recovery)
    return verdict


def test_flips_are_counted_by_their_kind():
    (cells,), _ = measured(*runs(lost=30, gained=10, other=5))
    counts = (cells.only_first, cells.only_second, cells.other_wrong, cells.flips)
    assert [cells.count(one) for one in counts] == [30, 10, 5, 40]
    assert cells.recovery.value == pytest.approx(780 / 800)
    assert cells.difference.value == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("lost", "gone", "decision"),
    [(0, 20, "may replace"), (0, 21, "not shown"), (200, 20, "may not"), (200, 21, "not shown")],
)
def test_where_models_cost_more_questions_than_the_margin_nothing_is_shown(lost, gone, decision):
    (answers,) = comparison(*runs(n=980, lost=lost)).tasks
    numbers = measure_task(answers, ["m0", "m1"], normalize=False, seed=0)
    task = MeasuredTask(answers, numbers, {"m2": gone}, 980 + gone)
    assert comparison_verdicts([task], ["m0", "m1"], 0.02)[0].decision == decision


@pytest.mark.parametrize(("drop", "decision"), [(0.0, "may replace"), (0.1, "may not")])
def test_scores_between_0_and_1_are_compared_by_their_means(drop, decision):
    items = tuple(Item(question=Question(id=f"i{n}", text=f"Sum up {n}")) for n in range(500))
    scores = [0.2 + n % 7 / 10 for n in range(500)]
    rows = scores, [score - drop * (n % 3 > 0) for n, score in enumerate(scores)]
    answers = tuple(
        tuple(Answer(text=f"text {n}", score=score) for n, score in enumerate(row)) for row in rows
    )
    verdict = judged_on([TaskAnswers(task="generation", items=items, answers=answers)])
    assert (verdict.decision, verdict.endpoints[0].name) == (decision, "mean score")
    assert verdict.endpoints[0].estimate.value == pytest.approx(-drop * 333 / 500)


def test_nothing_is_said_of_guessing_where_answers_are_free_text():
    items = tuple(
        Item(question=Question(id=f"i{n}", text=f"Who is {n}?"), gold=(f"name {n}",))
        for n in range(200)
    )
    answers = (tuple(Answer(text=f"not {n}", score=0.0) for n in range(200)),) * 2
    verdict = judged_on([TaskAnswers(task="generation", items=items, answers=answers)])
    assert "accuracy of m0 on generation is 0.000" in verdict.sentence
    assert "guess" not in verdict.sentence


def test_thoughts_that_a_limit_cuts_do_not_speak_against_a_model():
    asked = [Question(id=f"i{n}", text=f"Which {n}?", options=("a", "b")) for n in range(200)]
    items = tuple(Item(question=question, right=n % 2) for n, question in enumerate(asked))
    cut = (Answer(missing="thought not finished"),) * 200
    rows = tuple(Answer(choice=item.right) for item in items), cut
    verdict = judged_on([TaskAnswers(task="choice", items=items, answers=rows)])
    assert verdict.decision == "not shown"
    assert "of m1 on choice, 200 of 200 replies end inside a thought: " in verdict.sentence


FEW = "80 questions count, at least 189 are needed"
EQUAL = "if m1 is as good as m0"


@pytest.mark.parametrize(
    ("lost", "gained", "shape", "parts"),
    [
        (1, 1, {"n": 80, "wrong": 16}, ("It is too early to say", FEW, "plan 1,100 questions")),
        (36, 20, {"other": 40}, ("To decide on m1, plan 29,000 ", f"{EQUAL}, 1,200 are")),
        (48, 20, {}, ("More questions will hardly bring m1 a ✓", f"Only {EQUAL} are")),
        (5, 90, {}, ("m1 is more accurate than m0: ",)),
        (90, 5, {}, ("2 points less accurate than m0: accuracy may differ by −10.5 to −6.8 p",)),
    ],
)
def test_the_sentence_says_what_is_shown_or_how_many_questions_show_it(lost, gained, shape, parts):
    _, (verdict,) = measured(*runs(lost=lost, gained=gained, **shape))
    assert not [part for part in parts if part not in verdict.sentence], verdict.sentence


@pytest.mark.parametrize(
    ("least", "lost", "gold", "decision", "part"),
    [
        (0.97, 5, 1000, "may replace", ": recovery may be 98.5 to 99.9\u00a0%, 97 is needed"),
        (0.97, 90, 1000, "may not", "less than 97\u00a0% of the accuracy of m0: recovery may be 8"),
        (0.97, 20, 1000, "not shown", "To decide on m1, plan "),
        (0.99, 5, 1000, "not shown", "; if m1 is as good as m0, "),
        (0.97, 0, 999, "not shown", "a right answer to every text, and 999 of 1,000 have one"),
        (0.97, 0, 0, "not shown", "recovery is undefined (it takes a right answer to every text"),
    ],
)
def test_recovery_is_judged_in_place_of_points(least, lost, gold, decision, part):
    right, first, second = runs(lost=lost)
    right = [*right[:gold], *[None] * (len(right) - gold)]
    (answers,) = comparison(right, first, second).tasks
    verdict = judged_on([answers], least)
    (end,) = verdict.endpoints
    assert (verdict.decision, end.name, end.limit) == (decision, "recovery", least)
    assert part in verdict.sentence


@pytest.mark.parametrize(
    ("losses", "decision", "fails", "part"),
    [
        ((16, 0), "may replace", (), "0 on average over a and b: mean accuracy may differ by −1.3"),
        (
            (30, -30),
            "not shown",
            ("accuracy on a",),
            "beyond its limit before, not after, correction",
        ),
        ((80, 0), "may not", ("accuracy", "accuracy on a"), "accuracy on a may differ by −9.8"),
        ((20, 20), "not shown", ("accuracy",), "mean accuracy may differ by −2.7"),
    ],
)
def test_several_benchmarks_are_one_number_and_none_may_fail_alone(losses, decision, fails, part):
    of_tasks = [comparison(*runs(lost=max(n, 0), gained=max(-n, 0))).tasks[0] for n in losses]
    verdict = judged_on(
        [replace(task, task=name) for task, name in zip(of_tasks, "ab", strict=True)]
    )
    assert [end.name for end in verdict.endpoints] == ["accuracy", "accuracy on a", "accuracy on b"]
    assert verdict.endpoints[0].estimate.value == pytest.approx(-sum(losses) / 2000)
    assert (verdict.decision, verdict.open) == (decision, fails)
    assert part in verdict.sentence


def test_a_model_that_was_asked_half_of_the_questions_is_not_shown_to_replace():
    right, first, second = runs()
    _, (verdict,) = measured(right, first, second[:500] + [-1] * 500)
    assert verdict.decision == "not shown"
    assert "only 500 of 1,000 questions of choice were put to both models" in verdict.sentence


@pytest.mark.parametrize(
    ("right", "second", "told"),
    [
        ([None] * 60, [0, 1] * 30, "Accuracy is not judged: no question has a known right answer"),
        ([0, 1] * 30, [-1] * 60, "only 0 of 60 questions of choice were put to both models"),
    ],
)
def test_without_evidence_a_model_is_not_shown_to_replace(right, second, told):
    _, (verdict,) = measured(right, [0, 1] * 30, second)
    assert verdict.decision == "not shown"
    assert told in verdict.sentence


def test_a_reference_that_guesses_is_not_shown_to_be_replaced():
    right, first, second = runs(wrong=745)
    _, (verdict,) = measured(right, first, second)
    assert verdict.decision == "not shown"


def compared(right, models):
    """A comparison; ``models`` has the numbers of options, -1 for not asked."""
    return comparison(right, *models.values(), names=[*models])


def test_a_reason_that_holds_for_several_models_is_told_once():
    guesses = [place % 4 for place in range(80)]
    result = compared([0] * 80, {"m0": guesses, "m1": guesses, "m2": guesses})
    told = " ".join(str(result).split())
    assert told.count("m0 is degenerate on choice; put another model first") == 1
    assert "It is too early to say whether m1 and m2 are at worst 2 points less" in told


def test_the_short_json_and_the_model_card_hold_what_the_later_model_has():
    right, first, second = runs(n=100, wrong=20, lost=60)
    result = compared(right, {"m0": first, "m1": second})
    (verdict,) = json.loads(to_short_json(result))["verdicts"]
    assert (verdict["target"], verdict["decision"]) == ("m1", "may not")
    assert verdict["endpoints"][0]["value"] == pytest.approx(-0.6)
    agreement = next(
        line for line in model_card_of(result).splitlines() if line.startswith("| Same answers")
    )
    assert agreement.startswith("| Same answers on choice as m0 |")


FLIPS = {"arc": (86, 19), "mmlu": (129, 42)}
"""Flips of Qwen2.5-1.5B by int4 and int8, counted by hand from the published answers."""


def stored(name):
    text = gzip.decompress(shared_data(f"quantization_flips/{name}.jsonl.gz").read_bytes())
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", FLIPS)
def test_published_quantized_models_have_their_known_flips(name):
    right = ["ABCD".index(row["answer"]) for row in stored(f"{name}_items")]
    models = {
        row["precision"]: list(map("ABCD".index, "".join(row["preds"])))
        for row in stored(f"{name}_answers")
        if row["model"] == "Qwen/Qwen2.5-1.5B-Instruct"
    }
    result = compared(right, models)
    flips = {(cells.first, cells.second): cells.count(cells.flips) for cells in result.cells}
    assert (flips["fp16", "int4"], flips["fp16", "int8"]) == FLIPS[name]
    assert len(result.verdicts) == 2


def test_gates_judge_recovery_and_flips_of_each_later_model():
    right, first, second = runs(lost=30, gained=10)
    result = compared(right, {"whole": first, "quantized": second, "perfect": right})
    gates = ("recovery[quantized]>=0.95", "flips[quantized]<=0.06", "recovery[perfect]>=1.2")
    assert scope.failed_gates(result, gates) == ()
    (line,) = scope.failed_gates(result, ["recovery[quantized]>=0.97"])
    assert line.startswith("recovery of quantized ~ whole on choice is 0.975 [0.9")
    assert line.endswith("not at least 0.97 by its lower bound")
    assert scope.failed_gates(result, ["recovery[quantized]>=0.97"], judged_on="value") == ()
    with pytest.raises(SpecError, match="recovery"):
        scope.failed_gates(result, ["recover>=0.9"])


@pytest.mark.parametrize(
    ("count", "reason"), [(2, "put to both models"), (11, "not measured for more than 10 models")]
)
def test_a_model_without_a_number_passes_no_gate(count, reason):
    right, first, _ = runs(n=100, wrong=20)
    halves = {"early": [*first[:50], *[-1] * 50], "late": [*[-1] * 50, *first[50:]]}
    models = {**halves, **{f"m{n}": first for n in range(count - 2)}}
    result = compared(right, models)
    lines = scope.failed_gates(result, ["recovery>=0.1", "flips<=0.9"])
    assert len(lines) == 2 * (count - 1)
    assert all(reason in line or "degenerate" in line for line in lines)


@pytest.mark.parametrize(
    ("pages", "decision"), [(9, "not shown"), (40, "not shown"), (200, "may replace")]
)
def test_questions_on_one_page_are_one_unit(tmp_path, pages, decision):
    answers = "".join("AAAB"[n % 4] for n in range(400))
    (tmp_path / "all.tsv").write_text(f"first\t{answers}\nsecond\t{answers}\n")
    rows = (
        {
            "id": f"q{n}",
            "question": f"{n}?",
            "A": "yes",
            "B": "no",
            "answer": "A",
            "page": n % pages,
        }
        for n in range(400)
    )
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = {
        "models": [f"predictions:{tmp_path}/all.tsv#*"],
        "data": f"{tmp_path}/data.jsonl",
        "runs": tmp_path / "runs",
        "cluster": "page",
    }
    result = scope.compare(**asked, tasks=["choice"])
    (verdict,), (cells,) = result.verdicts, result.cells
    assert verdict.decision == decision
    assert ("lie in 9 clusters, and a verdict needs 10" in verdict.sentence) == (pages == 9)
    assert (cells.count(cells.both), cells.p_value) == (300, None)
    with pytest.raises(SpecError, match="--cluster page for the tasks cloze"):
        scope.compare(**asked, tasks=["cloze"])
