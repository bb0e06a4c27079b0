"""``scope compare --semscore probe:FOLDER`` as a user meets it."""

import json
import shutil

import pytest
from parsed_page import parse
from tiny_language import write_tiny_llama
from tiny_probe import write_probe

from scope.models.options import Readout

ASKED = (
    *("compare", "--model", "python:toy_answerers:Reader"),
    *("--model", "python:toy_answerers:Skimmer", "--task", "extractive_qa"),
    *("--data", "questions.jsonl", "--device", "cpu"),
)


@pytest.fixture(autouse=True)
def probed(command, tmp_path, monkeypatch):
    """Questions and a probe with its model, all in the command's folder."""
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    rows = [
        {"id": f"q{place}", "question": "Who?", "context": context, "answers": [gold]}
        for place, (context, gold) in enumerate(
            [("ann saw bob", "bob"), ("the film was good", "the film"), ("dull paris", "paris")]
        )
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "questions.jsonl").write_text(lines, encoding="utf-8")
    write_tiny_llama(tmp_path / "model", chat=False)
    return write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))


def measured_by(command, tmp_path, *options):
    """What the result and its page say of the probe, and the run's folder."""
    done = command(*ASKED, *options)
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert any(one["metric"].startswith("sem_score") for one in result["measurements"])
    page = " ".join(parse((run / "report.html").read_text(encoding="utf-8")).text.split())
    said = result["manifest"]["settings"]["semscore"]
    assert f"similarity in meaning of two answers by {said}, from 0 to 1" in page
    assert "word_cosine" not in page
    return said, run


@pytest.mark.parametrize("option", ["--semscore", "--encoder"])
def test_a_probe_measures_semscore_by_either_name_of_the_option(command, option, probed, tmp_path):
    said, _ = measured_by(command, tmp_path, option, "probe:probe")
    assert said == f"a probe of {probed.reader.spec}"


def test_a_model_that_was_moved_is_named_behind_the_probe_and_is_the_same_run(command, tmp_path):
    _, run = measured_by(command, tmp_path, "--semscore", "probe:probe")
    (tmp_path / "model").rename(tmp_path / "moved")
    said, again = measured_by(command, tmp_path, "--semscore", "probe:probe#hf:moved")
    assert (said, again) == ("a probe of hf:moved", run)


def no_folder(folder):
    shutil.rmtree(folder / "probe")


def damaged(folder):
    path = folder / "probe/probe.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def no_model(folder):
    shutil.rmtree(folder / "model")


def another_model(folder):
    write_tiny_llama(folder / "model", chat=False, seed=1)


OUT = "or leave SemScore out: --semscore none"
NAMED = "give its current location: --semscore probe:probe#SPEC"


@pytest.mark.parametrize(
    ("spoil", "found", "fix"),
    [
        (no_folder, "no `probe.json` in `probe`", OUT),
        (damaged, "is damaged: its digest is not the one", OUT),
        (no_model, "no folder `", f"{NAMED}, {OUT}"),
        (another_model, "with fingerprint `", f"{NAMED}, {OUT}"),
    ],
)
def test_what_is_wrong_with_a_probe_ends_in_one_message_with_a_way_out(
    refused, tmp_path, spoil, found, fix
):
    spoil(tmp_path)
    message = refused(*ASKED, "--semscore", "probe:probe")
    assert found in message
    assert all(way in " ".join(message.split()) for way in fix.split(", "))
