"""Every mistake ends in one message that says what was found, what was expected and how to fix it.

A file under ``refused`` is a transcript of commands in a folder that the function of its name
prepares. ``UPDATE_GOLDEN=1 pytest tests/scope/cli/test_refusals.py`` writes the messages anew.
Nothing is kept and no run begins, but where a comment says that the answers are the mistake.
"""

import json
import os
import re
import shlex
from pathlib import Path
from shutil import copytree

import pytest
from made_up_pairs import write_llama
from made_up_suspects import write_table, write_world
from tiny_heads import write_tiny_bert_qa

TRANSCRIPTS = Path(__file__).parent / "refused"
SAVED = {"text": "a fine film", "probabilities": [0.5, 0.5], "labels": ["negative", "positive"]}


def write(folder, **contents):
    """Write files, named with an underscore in place of the dot; rows become JSON lines."""
    for name, content in contents.items():
        rows = (
            [content] if isinstance(content, str) else [f"{json.dumps(row)}\n" for row in content]
        )
        (folder / name.replace("_", ".")).write_text("".join(rows), encoding="utf-8")


def audits(folder):
    """Sentences alone, which every folder holds."""


def options(folder):
    """A prompt, and one that has no place for the text."""
    write(folder, prompt_txt="{text}", words_txt="words")


def unloadable(folder):
    """Models that begin as GGUF files and hold nothing else: who loads one says it is damaged.

    What can be known before a model is loaded is checked before.
    """
    others = "text,label\na fine film,fine\na dull one,dull\n"
    write(
        folder,
        model_gguf="GGUF",
        other_gguf="GGUF",
        data_csv=others.replace(",fine", ",positive").replace(",dull", ",negative"),
        others_csv=others,
        saved_jsonl=[SAVED | {"labels": ["fine", "dull"]}],
        questions_jsonl=[{"id": "q1", "question": "Who?", "options": ["Ann", "Bob"]}],
        answers_jsonl=[{"id": "q2", "answer": 0}],
        pairs_jsonl=[{"premise": "A man sleeps.", "hypothesis": "He dreams.", "label": "yes"}],
        first_txt="{premise} {labels}",
        both_txt="{premise} {hypothesis} {labels}",
        file="",
    )


def questions(folder):
    """Forty questions, tables of fewer answers, and a model that reads passages alone."""
    row = {"options": ["a", "b", "c"], "answer": 0}
    write(
        folder,
        choices_jsonl=[row | {"question": f"Is it {place}?"} for place in range(40)],
        short_tsv="first\tABB\nsecond\tABB\n",
        longer_tsv="first\tABBAB\nsecond\tABBAB\n",
    )
    write_tiny_bert_qa(folder / "reads")


def tables(folder):
    """Tables of made-up answers, one that is too short, and one that is there twice."""
    world = write_world(folder)
    (folder / "nobody").mkdir()
    (folder / "same.tsv").write_bytes((folder / "controls.tsv").read_bytes())
    write_table(folder / "short.tsv", {name: world[name][:399] for name in ("c0", "c1")})
    write(folder, ours_jsonl=[SAVED])


def probes(folder):
    """A saved probe, another model than its own, and a prompt without a place for the text."""
    write(folder, answers_jsonl=[SAVED], prompt_txt="in one word:")
    write_llama(folder / "other", seed=1)


def fleets(folder):
    """Two fleets, and a community of strangers."""
    write(folder, strangers_csv="model,community\nstranger,far\n")


@pytest.fixture
def message_of(command, tmp_path):
    """Runs a command, which must refuse and leave runs and cache as they are; gives its message."""

    def kept():
        paths = (path for name in ("runs", "cache") for path in tmp_path.glob(f"{name}/**/*"))
        return {path: path.read_bytes() for path in paths if path.is_file()}

    def run(line):
        before = kept()
        words, _, remark = line.partition("  # ")
        done = command(*shlex.split(words)[2:])
        assert remark == "keeps answers" or kept() == before
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("found:") == done.stderr.count("fix:") == 1
        assert len(done.stderr.splitlines()) <= 40
        told = done.stderr[done.stderr.index("error:") :].replace(str(tmp_path), "FOLDER")
        hashes = dict.fromkeys(re.findall(r"\b[0-9a-f]{16,}\b", told))
        for number, digits in enumerate(hashes, start=1):
            told = told.replace(digits, f"HASH{number}")
        return told

    return run


@pytest.mark.parametrize(
    "prepare", [audits, options, unloadable, questions, tables, probes, fleets]
)
def test_each_mistake_ends_in_its_message(
    prepare, message_of, tmp_path, sentences_csv, request, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    if prepare in (probes, fleets):
        copytree(request.getfixturevalue(prepare.__name__), tmp_path, dirs_exist_ok=True)
    (tmp_path / "sentences.csv").write_bytes(sentences_csv.read_bytes())
    prepare(tmp_path)
    path = TRANSCRIPTS / f"{prepare.__name__}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.startswith("$ scope ")]
    made = "\n".join(f"{line}\n{message_of(line)}" for line in commands)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made, encoding="utf-8")
    assert made == path.read_text(encoding="utf-8")
