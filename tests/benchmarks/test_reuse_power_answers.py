"""The command on made-up answers of the stored layout: what it reads, counts and prints."""

import gzip
import json
import sys

import numpy as np
import pytest
import reuse_power
from reuse_pairs import BASE_AND_TUNED
from reuse_power_metabench import base_of
from stored_answers import multiple_choice

from scope.jobs.reuse.pool import NOT_GIVEN

MODELS = [*{one: None for pair in BASE_AND_TUNED for one in pair}, "gemma-7b", "a-model", "b-model"]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_letters(folder, rows, items):
    write(folder / "mmlu_pro_models" / "items.jsonl.gz", map(json.dumps, items))
    lines = [f"{model}\t{row}" for model, row in rows.items()]
    write(folder / "mmlu_pro_models" / "responses.tsv.gz", lines)


def items(*options):
    return [{"options": ["-"] * count, "answer": "B"} for count in options]


def drawn(generator, letters, size):
    return "".join(generator.choice(list(letters), size=size))


@pytest.fixture
def data(tmp_path):
    """Related models give the same answers, all others what chance has given them."""
    generator = np.random.default_rng(0)
    rows = {model: drawn(generator, "ABCD.", 40) for model in MODELS}
    rows |= {tuned: rows[base] for base, tuned in BASE_AND_TUNED}
    write_letters(tmp_path, rows, items(*[4] * 40))
    return tmp_path


def printed(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["reuse_power.py", *map(str, arguments)])
    reuse_power.main()
    return capsys.readouterr().out


def test_every_verdict_is_counted(data, monkeypatch, capsys):
    figures = json.loads(printed(monkeypatch, capsys, "answers", "--data", data, "--json"))
    called = {
        truth: sum(value for key, value in figures.items() if f"_all_{truth}_called_" in key)
        for truth in ("related", "unrelated")
    }
    assert called["related"] == 2 * len(BASE_AND_TUNED)
    assert 50 < called["unrelated"] <= 100


def test_what_is_none_of_a_questions_options_was_not_given(tmp_path):
    write_letters(tmp_path, {"one": "ABC.", "two": "CD-B"}, items(3, 3, 4, 2))
    found = multiple_choice(tmp_path)
    assert found.models == ("one", "two")
    assert found.answers.answers.tolist() == [[0, 1, 2, NOT_GIVEN], [2, NOT_GIVEN, NOT_GIVEN, 1]]
    assert found.answers.gold.tolist() == [1, 1, 1, 1]


def test_a_folder_without_answers_ends_the_command_with_what_to_do(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit, match="name it with --data or the variable"):
        printed(monkeypatch, capsys, "answers", "--data", tmp_path)


def test_a_base_is_known_by_architecture_and_size_but_not_of_merges():
    row = {"arch": "LlamaForCausalLM", "nparams": "6.74B", "merged": "False", "moe": "False"}
    assert base_of(row) == "llama 7B"
    assert base_of(row | {"nparams": "8.0B"}) == "llama3"
    for changes in ({"nparams": "9B"}, {"nparams": "?"}, {"merged": "True"}, {"arch": "Other"}):
        assert base_of(row | changes) is None
