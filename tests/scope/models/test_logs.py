"""Answers in logs of lm-evaluation-harness; the oracle is the log's own results."""

import gzip
import json
import math

import pytest
from made_up_logs import (
    accuracy,
    answers,
    asked,
    choice_sample,
    choice_samples,
    documents,
    generated_samples,
    message,
    model_of,
    results_of,
    todays,
    write_log,
)
from shared_data import shared_data

from capabilities.tasks import Generation
from scope.data.log_items import GENERATED
from scope.jobs.configuration import short_names
from scope.models.scheme import expand_spec

DOCS = documents(60)


def log(folder, skill=5, seed=1, task="colours", name="ours", **more):
    samples = choice_samples(DOCS, skill, seed, old=more.get("old", False))
    return write_log(folder, name, {task: samples}, **more)


@pytest.mark.parametrize(
    ("more", "score"), [({}, "acc"), ({"packed": True}, "acc_norm"), ({"old": True}, "acc_norm")]
)
def test_accuracy_is_that_of_the_results(tmp_path, more, score):
    path = log(tmp_path / "a", **more)
    if "old" in more:
        new = log(tmp_path / "new")
        items = asked(f"lm-eval:{path}")
        assert asked(f"lm-eval:{new}") == items
        assert answers(f"lm-eval:{new}", items) == answers(f"lm-eval:{path}", items)
    spec = f"lm-eval:{path}"
    assert accuracy(spec, f"{spec}?score={score}") == results_of(path)["colours"][f"{score},none"]


def test_the_score_says_what_likelihoods_are_divided_by(tmp_path):
    doc = {"question": "Which?", "choices": ["éé", "abc"], "gold": 1}
    for number, (values, score, choice, difference) in enumerate(
        (
            ([-4.0, -4.5], "acc_norm", 1, -4 / 2 + 4.5 / 3),
            ([-4.0, -4.5], "acc", 0, -4 + 4.5),
            ([-4.0, -4.5], "acc_bytes", 0, -4 / 4 + 4.5 / 3),
            ([-1.0, -math.inf], "acc", 0, math.inf),
        )
    ):
        sample = choice_sample(0, doc, values) | {"acc_bytes": 0.0}
        spec = f"lm-eval:{write_log(tmp_path / str(number), 'ours', {'t': [sample]})}"
        (answer,) = answers(spec, asked(f"{spec}?score={score}"))
        assert answer.choice == choice
        assert answer.probabilities[0] == pytest.approx(1 / (1 + math.exp(-difference)), 1e-12)


def test_contexts_that_differ_are_the_options(tmp_path):
    doc = {"sentence": "The trophy is too big for the case, as _ is large.", "gold": 0}
    starts = ["as the trophy", "as the case"]
    fields = {
        "doc_id": 0,
        "doc": doc,
        "target": "is large.",
        "arguments": [[one, " is large."] for one in starts],
        "resps": [[[-3.0, False]], [[-2.0, False]]],
        "filtered_resps": [[-3.0, False], [-2.0, False]],
        "acc": 0.0,
    }
    write_log(tmp_path, "ours", {"winogrande": [todays(fields, starts[0])]})
    (item,) = asked(f"lm-eval:{tmp_path}")
    assert (item.question.text, item.question.options) == ("is large.", tuple(starts))
    assert (item.right, answers(f"lm-eval:{tmp_path}", [item])[0].choice) == (0, 1)


def test_filters_are_told_apart(tmp_path):
    docs = [{"question": f"What is {n}?", "target": f"as it is #### {n}"} for n in range(8)]
    samples = generated_samples(docs, ["so it is 3"] * 8, filter="strict")
    samples += generated_samples(docs, [f"#### {n}" for n in range(8)], filter="flexible")
    spec = f"lm-eval:{write_log(tmp_path / 'a', 'ours', {'gsm8k': samples}, kind=GENERATED)}"
    for words in ("filter flexible", "?task=gsm8k&filter=strict"):
        assert words in message(asked, spec, Generation())
    for name, expected in (("strict", 1 / 8), ("flexible", 1.0)):
        items = asked(f"{spec}?filter={name}", Generation())
        assert sum(answer.score for answer in answers(spec, items)) / 8 == expected


def test_models_of_one_name_are_told_apart_by_their_arguments(tmp_path):
    log(tmp_path / "1", args="pretrained=ours", seed=1)
    log(tmp_path / "2", args="pretrained=ours,load_in_4bit=True", seed=2)
    spec = f"lm-eval:{tmp_path}"
    names = [each.rpartition("#")[2] for each in expand_spec(f"{spec}#*")]
    assert names == ["ours (defaults)", "ours (load_in_4bit=True)"]
    assert "2 models" in message(model_of, spec)
    assert "org/z" in message(model_of, f"{spec}#org/z")
    assert all(accuracy(each, spec) > 0 for each in expand_spec(f"{spec}#*"))


def test_the_only_model_of_a_log_has_its_name_there(tmp_path):
    for folder, name in (("1", "ours"), ("2", "ours"), ("3", "theirs")):
        log(tmp_path / folder, name=name)
    first, second, third = (f"lm-eval:{tmp_path}/{folder}" for folder in "123")
    assert short_names([first, third, f"{third}#*"]) == ("ours", "theirs", "*")
    assert short_names([first, second]) == (first, second)
    assert short_names([f"lm-eval:{tmp_path}/none"]) == ("none",)


def test_two_answers_of_one_model_are_refused(tmp_path):
    log(tmp_path / "1", seed=1)
    log(tmp_path / "2", seed=2)
    said = message(model_of, f"lm-eval:{tmp_path}#ours")
    assert "two answers of lm-eval:" in said
    assert said.count("samples_colours_") == 2


def test_an_item_with_other_options_is_left_out_and_many_are_refused(tmp_path):
    first, second = f"lm-eval:{log(tmp_path / 'a')}", log(tmp_path / "b", name="theirs")
    path, items = next(second.glob("samples*")), asked(first)
    for many in (1, -1):
        path.write_text(path.read_text().replace('" dark blue"', '" navy"', many))
        if many == 1:
            given = answers(f"lm-eval:{second}", items)
            assert [answer.missing for answer in given].count("unusable row") == 1
    assert "other words or options" in message(answers, f"lm-eval:{second}", items)


def test_a_log_without_samples_and_a_file_that_is_cut_off_are_refused(tmp_path):
    path, packed = log(tmp_path / "a"), tmp_path / "b" / "samples_t.jsonl.gz"
    samples = next(path.glob("samples*"))
    samples.write_bytes(samples.read_bytes()[:-40])
    assert len(asked(f"lm-eval:{path}")) == len(DOCS) - 1
    packed.parent.mkdir()
    for most in (10, 200, -8):
        packed.write_bytes(gzip.compress(samples.read_bytes())[:most])
        assert packed.name in message(model_of, f"lm-eval:{packed.parent}")
    samples.unlink()
    for words in ("no logs of lm-evaluation-harness with samples in", "--log_samples"):
        assert words in message(model_of, f"lm-eval:{path}")
    assert "no `" in message(model_of, f"lm-eval:{tmp_path}/nowhere")


def test_one_file_is_one_task(tmp_path):
    samples = {name: choice_samples(DOCS, 5, 1) for name in ("colours", "dark_colours")}
    path = write_log(tmp_path / "a", "ours", samples)
    (dark,) = path.glob("samples_dark*")
    assert {item.category for item in asked(f"lm-eval:{dark}")} == {"dark_colours"}
    assert {item.category for item in asked(f"lm-eval:{path}")} == {"colours", "dark_colours"}
    assert len(asked(f"lm-eval:{path}?task=colours")) == len(DOCS)
    assert "no log in" in message(asked, f"lm-eval:{path}?task=other")
    for query in ("tasks=other", "correct_above=1"):
        assert f"`{query.removesuffix('=other')}` in" in message(asked, f"lm-eval:{path}?{query}")


def test_questions_of_other_data_are_refused(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "7", "question": "Which?", "options": ["a", "b"]}\n')
    spec = f"lm-eval:{log(tmp_path / 'a')}"
    assert "write --data lm-eval:PATH" in message(answers, spec, asked(str(rows)))


def test_a_real_log_gives_its_results():
    path = shared_data("eval_logs/lm_eval")
    items = asked(f"lm-eval:{path}", Generation())
    rows = list(map(json.loads, next(path.glob("samples*")).read_text().splitlines()))
    assert [item.gold for item in items] == [(row["target"],) for row in rows]
    scores = [answer.score for answer in answers(f"lm-eval:{path}", items)]
    assert scores == [row["exact_match"] for row in rows]
    assert len(items) == 10
