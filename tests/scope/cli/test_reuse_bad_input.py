"""Every mistake in a test of reuse ends in one message that says what was found and how to fix it.

All go through the command; what it refuses, it refuses before any model is asked, but where the
answers themselves are the mistake.
"""

import json

import pytest
from made_up_suspects import write_table

ALL = "controls.tsv#*"
PUPILS = ["python:toy_suspects:Pupil1", "python:toy_suspects:Pupil2"]


@pytest.fixture
def of_tables(world):
    """The words of a command on the tables, with these options instead of the usual ones."""

    def words(*more, **changes):
        options = {
            "suspect": "suspects.tsv#copy",
            "reference": "suspects.tsv#ours",
            "control": [ALL],
            **changes,
        }
        named = [
            word
            for name, value in options.items()
            for one in ([value] if isinstance(value, str) else value)
            for word in (f"--{name}", f"predictions:{one}")
        ]
        return ["reuse", *named, "--task", "choice", "--data", "questions.jsonl", *more]

    return words


def of_texts(data, *more, suspect="python:toy_suspects:Copy", controls=PUPILS):
    named = [word for one in controls for word in ("--control", one)]
    reference = () if "--reference" in more else ("--reference", "python:toy_suspects:Pupil0")
    return ["reuse", "--suspect", suspect, *reference, *named, "--data", str(data), *more]


@pytest.mark.parametrize(
    ("changes", "found", "fix"),
    [
        ({"control": [ALL, "suspects.tsv#ours"]}, "is also a control", "leave --control"),
        ({"derivative": ["suspects.tsv#copy"]}, "is also a derivative", "leave --derivative"),
        (
            {"reference": ["suspects.tsv#ours", "suspects.tsv#other"], "derivative": "tuned.tsv#*"},
            "--derivative with 2 references",
            "test each reference with its own",
        ),
        ({"control": ["controls.tsv#c1", "same.tsv#c1"]}, "are the same model", "leave one"),
        ({"control": ["nobody"]}, "no saved answers in the folder `nobody`", "name another folder"),
        ({"control": ["controls.tsv"]}, "without the name of a model", "add #MODEL, or #*"),
        ({"control": ["short.tsv#*"]}, "400 rows in questions.jsonl, and short.tsv", "data"),
        ({"reference": "suspects.tsv#constant"}, "answers option 1 to all of 400", "check that"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_models_in_wrong_places_are_named(refused, of_tables, world, tmp_path, changes, found, fix):
    (tmp_path / "nobody").mkdir()
    (tmp_path / "same.tsv").write_bytes((tmp_path / "controls.tsv").read_bytes())
    write_table(tmp_path / "short.tsv", {name: world[name][:399] for name in ("c0", "c1")})
    message = refused(*of_tables(**changes))
    assert found in message
    assert fix in message
    assert "expected:" in message
    assert "fix:" in message


@pytest.mark.parametrize(
    ("more", "found", "fix"),
    [
        (("--n", "29"), "29 questions, of which the reference `ours` answers 29", "a larger --n"),
        (("--alpha", "1"), "--alpha 1.0", "omit --alpha"),
        (("--capability", "typo"), "--capability with the task `choice`", "--capability"),
        (("--trials", "2"), "--trials with the task `choice`", "omit --trials"),
    ],
)
def test_options_that_cannot_be_are_told(refused, of_tables, more, found, fix):
    message = refused(*of_tables(*more))
    assert found in message
    assert fix in message


def test_capabilities_cannot_search_saved_predictions(refused, tmp_path, sentences_csv):
    saved = {"text": "a", "probabilities": [0.5, 0.5], "labels": ["negative", "positive"]}
    (tmp_path / "ours.jsonl").write_text(json.dumps(saved), encoding="utf-8")
    spec = "predictions:ours.jsonl"
    message = refused(*of_texts(sentences_csv, "--reference", spec, "--capability", "typo"))
    assert f"--capability with saved predictions as a reference: `{spec}`" in message
    assert "--capability none" in message


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (("--capability", "none", "--trials", "2"), "--trials with --capability none"),
        (("--next-tokens", "9"), "--next-tokens in the role classifier"),
    ],
)
def test_options_of_perturbations_are_refused_where_there_are_none(
    refused, sentences_csv, more, found
):
    assert found in refused(*of_texts(sentences_csv, *more))


def test_a_reference_with_one_label_for_everything_is_told_by_that_label(refused, sentences_csv):
    more = ("--reference", "python:toy_suspects:Stubborn", "--capability", "none")
    message = refused(*of_texts(sentences_csv, *more), keeps_answers=True)
    assert "the reference `toy_suspects:Stubborn` answers 'positive' to all of 48" in message


def test_a_model_of_another_role_is_refused(refused, of_tables, sentences_csv):
    message = refused(*of_tables("--control", "python:toy_models:Reference"))
    assert "with the roles: classifier" in message
    talker = of_texts(sentences_csv, suspect="python:toy_suspects:Talker0")
    assert "with the roles: next_token" in refused(*talker)


def test_a_table_without_its_task_is_told_what_is_missing(refused, of_tables):
    words = of_tables()
    place = words.index("--task")
    message = refused(*words[:place], *words[place + 2 :])
    assert "the table of answers `predictions:suspects.tsv#copy` without a task" in message
    assert "add --task choice" in message
