"""Answers in logs of lm-evaluation-harness; the oracle is the log's own results."""

import json
import math

import pytest
from made_up_logs import (
    choice_sample,
    choice_samples,
    documents,
    generated_samples,
    results_of,
    todays,
    write_log,
)
from shared_data import shared_data

from capabilities.choice import Choice
from capabilities.generation import Generation
from scope.errors import ModelError, ScopeError
from scope.jobs.identity import short_names
from scope.models.logs import load
from scope.models.options import ModelOptions
from scope.models.scheme import expand_spec

DOCS = documents(60)


def model(rest):
    return load("lm-eval", str(rest), ModelOptions())


def items(rest, task=None):
    return (task or Choice()).load(f"lm-eval:{rest}", n=None, seed=0).items


def chosen(rest, asked):
    return [one for _, one in model(rest).choose([item.question for item in asked])]


def accuracy(rest, data=None):
    asked = items(data or rest)
    answers = chosen(rest, asked)
    pairs = zip(answers, asked, strict=True)
    return sum(answer.choice == item.right for answer, item in pairs) / len(asked)


def log(folder, skill=5, seed=1, task="colours", name="ours", **more):
    samples = choice_samples(DOCS, skill, seed, old=more.get("old", False))
    return write_log(folder, name, {task: samples}, **more)


def message(call, *arguments):
    with pytest.raises(ScopeError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("more", "score"), [({}, "acc"), ({"packed": True}, "acc_norm"), ({"old": True}, "acc_norm")]
)
def test_accuracy_is_that_of_the_results(tmp_path, more, score):
    path = log(tmp_path / "a", **more)
    if "old" in more:
        new = log(tmp_path / "new")
        assert items(new) == items(path)
        assert chosen(new, items(path)) == chosen(path, items(new))
    assert accuracy(path, f"{path}?score={score}") == results_of(path)["colours"][f"{score},none"]


def test_the_score_says_what_likelihoods_are_divided_by(tmp_path):
    doc = {"question": "Which?", "choices": ["éé", "abc"], "gold": 1}
    sample = choice_sample(0, doc, [-4.0, -4.5]) | {"acc_bytes": 0.0}
    path = write_log(tmp_path / "a", "ours", {"t": [sample]})
    for query, choice, difference in (
        ("", 1, -4 / 2 + 4.5 / 3),
        ("?score=acc", 0, -4 + 4.5),
        ("?score=acc_bytes", 0, -4 / 4 + 4.5 / 3),
    ):
        (answer,) = chosen(path, items(f"{path}{query}"))
        assert answer.choice == choice
        assert answer.probabilities[0] == pytest.approx(1 / (1 + math.exp(-difference)), 1e-12)


def test_an_option_of_no_likelihood_has_the_probability_0(tmp_path):
    samples = [choice_sample(0, DOCS[0] | {"choices": ["a", "b"], "gold": 0}, [-1, -math.inf])]
    path = write_log(tmp_path / "a", "ours", {"t": samples})
    assert [one.probabilities for one in chosen(path, items(path))] == [(1.0, 0.0)]


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
    path = write_log(tmp_path / "a", "ours", {"winogrande": [todays(fields, starts[0])]})
    (item,) = items(path)
    assert (item.question.text, item.question.options) == ("is large.", tuple(starts))
    assert (item.right, chosen(path, [item])[0].choice) == (0, 1)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"shots": 5}, ("0-shot", "5-shot")),
        ({"chat_template": "{{x}}"}, ("plain prompt", "chat prompt")),
        ({"system_instruction_sha": "ab12"}, ("templates ", "templates ")),
    ],
)
def test_other_conditions_are_refused_with_both_named(tmp_path, more, named):
    first, second = log(tmp_path / "a"), log(tmp_path / "b", name="theirs", **more)
    for said in (message(accuracy, second, first), message(items, tmp_path)):
        assert all(condition in said for condition in named)
    if "shots" in more:
        assert len(items(f"{tmp_path}?shots=5")) == len(DOCS)


def test_other_prompts_are_refused(tmp_path):
    first = log(tmp_path / "a")
    samples = {"colours": choice_samples(DOCS, 5, 1, prefix="Q: 1+1\nA: 2\n\n")}
    second = write_log(tmp_path / "b", "theirs", samples)
    assert "with other prompts, and the data are colours" in message(accuracy, second, first)


def test_filters_are_told_apart(tmp_path):
    docs = [{"question": f"What is {n}?", "target": f"as it is #### {n}"} for n in range(8)]
    samples = generated_samples(docs, ["so it is 3"] * 8, filter="strict")
    samples += generated_samples(docs, [f"#### {n}" for n in range(8)], filter="flexible")
    path = write_log(tmp_path / "a", "ours", {"gsm8k": samples}, kind="generate_until")
    said = message(items, path, Generation())
    assert "filter flexible" in said
    assert "?task=gsm8k&filter=strict" in said
    for name, expected in (("strict", 1 / 8), ("flexible", 1.0)):
        asked = items(f"{path}?filter={name}", Generation())
        answers = [one for _, one in model(path).answer([one.question for one in asked])]
        assert sum(answer.score for answer in answers) / 8 == expected


def test_models_of_one_name_are_told_apart_by_their_arguments(tmp_path):
    log(tmp_path / "1", args="pretrained=ours", seed=1)
    log(tmp_path / "2", args="pretrained=ours,load_in_4bit=True", seed=2)
    names = [one.rpartition("#")[2] for one in expand_spec(f"lm-eval:{tmp_path}#*")]
    assert names == ["ours (defaults)", "ours (load_in_4bit=True)"]
    assert "2 models" in message(model, tmp_path)
    assert "org/z" in message(model, f"{tmp_path}#org/z")
    for spec in expand_spec(f"lm-eval:{tmp_path}#*"):
        assert accuracy(spec.removeprefix("lm-eval:"), tmp_path) > 0


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
    said = message(model, f"{tmp_path}#ours")
    assert "two answers of lm-eval:" in said
    assert said.count("samples_colours_") == 2


def test_items_that_one_model_lacks_are_named(tmp_path):
    first = log(tmp_path / "a")
    second = write_log(tmp_path / "b", "few", {"colours": choice_samples(DOCS[:50], 5, 1)})
    wanted = "no answer to 10 of 60 items of colours;.*\n.*\nfix: .*--data.*task=colours"
    with pytest.raises(ModelError, match=wanted):
        accuracy(second, first)


def test_other_options_are_refused(tmp_path):
    first, second = log(tmp_path / "a"), log(tmp_path / "b", name="theirs")
    path = next(second.glob("samples*"))
    path.write_text(path.read_text().replace('" dark blue"', '" navy"'))
    assert "other words or options" in message(accuracy, second, first)


def test_a_score_that_is_no_choice_is_refused(tmp_path):
    samples = [one | {"acc_norm": 0.37} for one in choice_samples(DOCS, 5, 1)]
    path = write_log(tmp_path / "a", "ours", {"mc2": samples})
    assert "`acc_norm` is 0.37 where the option" in message(accuracy, path)


def test_a_log_without_samples_and_a_file_that_is_cut_off_are_refused(tmp_path):
    path = log(tmp_path / "a")
    samples = next(path.glob("samples*"))
    samples.write_bytes(samples.read_bytes()[:-40])
    assert len(items(path)) == len(DOCS) - 1
    packed = next(log(tmp_path / "b", packed=True).glob("samples*"))
    packed.write_bytes(packed.read_bytes()[:-40])
    assert "cannot be decompressed" in message(model, packed.parent)
    samples.unlink()
    assert "no logs of lm-evaluation-harness with samples in" in message(model, path)
    assert "--log_samples" in message(model, path)
    assert "no `" in message(model, tmp_path / "nowhere")


def test_results_that_are_missing_or_foreign_are_refused(tmp_path):
    path = log(tmp_path / "a")
    results = next(path.glob("results*"))
    results.write_text(json.dumps({"results": 3}))
    assert f"{results} cannot be read: TypeError" in message(model, path)
    (path / "results_2027-01-01T10-00-00.0.json").write_text(results.read_text())
    results.unlink()  # Those of another date are not those of these samples.
    assert {item.question.id.split(":")[1] for item in items(path)} == {"unknown"}


def test_one_file_is_one_task(tmp_path):
    samples = {name: choice_samples(DOCS, 5, 1) for name in ("colours", "dark_colours")}
    path = write_log(tmp_path / "a", "ours", samples)
    one = next(path.glob("samples_dark*"))
    assert {item.category for item in items(one)} == {"dark_colours"}
    assert {item.category for item in items(path)} == {"colours", "dark_colours"}
    assert len(items(f"{path}?task=colours")) == len(DOCS)
    assert "no log in" in message(items, f"{path}?task=other")
    assert "`tasks` in" in message(items, f"{path}?tasks=other")


def test_questions_of_other_data_are_refused(tmp_path):
    path = log(tmp_path / "a")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "7", "question": "Which?", "options": ["a", "b"]}\n')
    asked = Choice().load(str(rows), n=None, seed=0).items
    with pytest.raises(ModelError, match="write --data lm-eval:PATH"):
        chosen(path, asked)


def test_a_real_log_gives_its_results():
    path = shared_data("eval_logs/lm_eval")
    asked = items(path, Generation())
    answers = [one for _, one in model(path).answer([one.question for one in asked])]
    assert len(asked) == 10
    lines = next(path.glob("samples*")).read_text().splitlines()
    assert [item.gold for item in asked] == [(json.loads(one)["target"],) for one in lines]
    assert [one.score for one in answers] == [json.loads(one)["exact_match"] for one in lines]
