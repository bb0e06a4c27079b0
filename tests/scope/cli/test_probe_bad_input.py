"""Every mistake about a probe ends in one screen that says what was found and how to fix it."""

import json
import shutil

import pytest

from scope.jobs.probe.saving import DESCRIPTION

LAID_OUT = "probes"
SPLIT = "split,sentence1,sentence2,score"


@pytest.fixture
def refused(refused, laid_out):
    """Runs the command, which must refuse and leave the run that is there; gives its message."""

    def run(*arguments):
        before = (laid_out / "runs/saved/result.json").read_bytes()
        message = refused("probe", *arguments)
        assert (laid_out / "runs/saved/result.json").read_bytes() == before
        return message

    return run


@pytest.fixture
def table(laid_out):
    """Writes a table of pairs with a column split."""

    def write(*rows, columns=SPLIT):
        path = laid_out / "given.csv"
        path.write_text("\n".join((columns, *rows)) + "\n", encoding="utf-8")
        return path.name

    return write


LLAMA = ("--model", "./llama")
ASKED = (*LLAMA, "--data", "pairs.csv")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("--data pairs.csv", "no model to probe"),
        ("--model ./llama", "no pairs"),
        ("--model ./llama --data pairs.csv --test test.csv", "--data pairs.csv with --test test"),
        ("--model ./llama --train train.csv", "--train train.csv alone"),
        ("--model ./llama --data pairs.csv --step finale", "the step `finale` of a probe"),
        ("--model ./llama --data pairs.csv --readout first", "a readout called `first`"),
        ("--model ./llama --data pairs.csv --task cloze", "the task `cloze`"),
        ("--model ./llama --data pairs.csv --low 5 --high 1", "scores from 5.0 to 1.0"),
        ("--model ./llama --data pairs.csv --prompt gone.txt", "the prompt's file `gone.txt`"),
        ("--model ./llama --data pairs.csv --unlabelled test.csv", "two columns of texts"),
        ("--model ./llama --model ./llama --data pairs.csv", "`./llama` is listed twice"),
        ("--model ./llama --model hf:./llama --data pairs.csv", "is listed twice"),
        ("--model ./llama --model ./bert --data pairs.csv --save new", "2 models with --save"),
        ("--model ./bert --data pairs.csv --save kept", "contains a probe of `hf:./llama`"),
        ("--model ./llama --data pairs.csv --high 99", "5 in a range of 0 to 99"),
        ("--model openai:http://127.0.0.1:9/v1#m --data pairs.csv", "runs on a server"),
        ("--model predictions:answers.jsonl --data pairs.csv", "in the role of latent_reader"),
        ("--model python:toy_models:Reference --data pairs.csv", "with the roles: classifier"),
    ],
)
def test_what_cannot_be_asked_is_refused(refused, laid_out, asked, found):
    saved = {"text": "a", "probabilities": [0.5, 0.5], "labels": ["x", "y"]}
    (laid_out / "answers.jsonl").write_text(json.dumps(saved) + "\n", encoding="utf-8")
    assert found in refused(*asked.split())


def test_a_prompt_without_a_place_for_the_text_is_refused(refused, laid_out):
    (laid_out / "prompt.txt").write_text("in one word:", encoding="utf-8")
    message = refused(*ASKED, "--prompt", "prompt.txt")
    assert "a prompt with 0 slots: 'in one word:'" in message
    message = refused(*ASKED, "--prompt", "prompt.txt", "--readout", "mean")
    assert "a prompt for the readout mean" in message


def test_empty_sentences_are_left_out_and_counted_and_one_word_is_enough(command, laid_out, table):
    lines = (laid_out / "pairs.csv").read_text(encoding="utf-8").splitlines()[1:]
    data = table(*lines, "test,,the film,1", "test, ,a,2", "test,paris,ann,0", "test,x,x,5")
    done = command("probe", *LLAMA, "--data", data, "--step", "raw")
    assert done.returncode == 0, done.stderr
    assert "left out: 2 (empty); 42 of 44 used" in done.stdout


@pytest.mark.parametrize("more", ["--model ./bert", "--model ./other"])
def test_a_probe_of_another_model_is_refused_with_both_fingerprints(refused, laid_out, more):
    from made_up_pairs import write_llama

    write_llama(laid_out / "other", seed=1)
    kept = json.loads((laid_out / "kept" / DESCRIPTION).read_text(encoding="utf-8"))["source"]
    message = refused("--probe", "kept", "--test", "test.csv", *more.split())
    assert f"`hf:./llama` with fingerprint `{kept['fingerprint']}`" in message
    assert f"latents of `hf:{more.split()[1]}` with fingerprint `" in message


def test_a_probe_whose_model_is_gone_or_changed_is_refused(refused, laid_out):
    path = laid_out / "llama/config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, "rms_norm_eps": 0.5}), encoding="utf-8")
    message = refused("--probe", "kept", "--test", "test.csv")
    assert message.count("with fingerprint `") == 2
    shutil.rmtree(laid_out / "llama")
    message = refused("--probe", "kept", "--test", "test.csv")
    assert "of the probe in `kept`" in message
    assert "give its current location: --model SPEC" in message


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", "a saved probe and no test pairs"),
        ("--test test.csv --data pairs.csv", "--data pairs.csv with --test test.csv"),
        ("--test test.csv --train train.csv", "--train with --probe `kept`"),
        ("--test test.csv --readout last", "--readout with --probe"),
        ("--test test.csv --save new", "--save with --probe"),
        ("--test test.csv --model ./llama --model ./bert", "2 models with --probe"),
    ],
)
def test_what_a_saved_probe_has_settled_is_not_asked_again(refused, more, found):
    assert found in refused("--probe", "kept", *more.split())


@pytest.mark.parametrize("folder", ["/proc/probe", "train.csv/probe"])
def test_a_folder_that_cannot_be_made_is_refused_before_any_text_is_read(refused, laid_out, folder):
    assert "choose another folder with --save" in refused(*ASKED, "--save", folder)
    assert not (laid_out / "cache").exists()
