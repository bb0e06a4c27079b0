"""The command on made-up answers of the stored layout: what it reads, counts and prints."""

import gzip
import json
import sys

import numpy as np
import pytest
import reuse_power
from reuse_pairs import BASE_AND_TUNED
from reuse_stored import multiple_choice, right_or_wrong

from scope.errors import DataError
from scope.evidence.answers import NOT_GIVEN

MODELS = [*{one: None for pair in BASE_AND_TUNED for one in pair}, "gemma-7b", "a-model", "b-model"]
RUNS = ("a", "b-1", "b-2", "c", "d", "e", "f", "g")
CHECKPOINTS = [f"{run}_{point}" for run in RUNS for point in ("1", "25", "50", "best")]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_letters(folder, rows, items):
    write(folder / "mmlu_pro_models" / "items.jsonl.gz", map(json.dumps, items))
    lines = [f"{model}\t{row}" for model, row in rows.items()]
    write(folder / "mmlu_pro_models" / "responses.tsv.gz", lines)


def write_bits(folder, sets):
    lines = [f"{name}\t{model}\t{row}" for name, rows in sets for model, row in rows.items()]
    write(folder / "nlu_irt_models" / "responses.tsv.gz", lines)


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
    sets = []
    for name, size in (("one", 50), ("two", 60)):
        of_run = {run: drawn(generator, "01", size) for run in RUNS}
        sets.append((name, {one: of_run[one.rpartition("_")[0]] for one in CHECKPOINTS}))
    write_bits(tmp_path, sets)
    return tmp_path


def printed(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["reuse_power.py", *map(str, arguments)])
    reuse_power.main()
    return capsys.readouterr().out


def test_copies_are_told_from_chance_and_every_figure_is_in_one_flat_object(
    data, monkeypatch, capsys
):
    figures = json.loads(printed(monkeypatch, capsys, "answers", "--data", data, "--json"))
    for key in ("mmlu_pro", "nlu", "nlu_seeds"):
        assert figures[f"{key}_auroc"] == figures[f"{key}_tpr_at_fpr_01"] == 1
        assert figures[f"{key}_auroc_low"] == figures[f"{key}_tpr_at_fpr_01_high"] == 1
    assert {"mmlu_pro_consensus_auroc", "nlu_error_consistency_tpr_at_fpr_01_low"} <= set(figures)
    assert (figures["mmlu_pro_related"], figures["mmlu_pro_stored"]) == (7, len(MODELS))
    assert (figures["nlu_related"], figures["nlu_stored"], figures["nlu_models"]) == (24, 32, 24)
    assert (figures["nlu_unrelated"], figures["nlu_seeds_unrelated"]) == (243, 252)
    assert (figures["nlu_sets"], figures["nlu_items"], figures["mmlu_pro_items"]) == (2, 110, 40)
    assert all(isinstance(value, str | int | float) for value in figures.values())


def test_the_table_holds_every_measure_with_its_interval(data, monkeypatch, capsys):
    monkeypatch.setenv("SCOPE_BENCHMARK_DATA", str(data))
    shown = printed(monkeypatch, capsys, "answers")
    assert shown.count("shared mistakes (ours)      1.000 [1.000, 1.000]") == 3
    assert shown.count("error consistency ") == 2
    assert "MMLU-Pro: sets 1, items 40, stored 16" in shown
    assert "processor" in shown


def test_what_is_none_of_a_questions_options_was_not_given(tmp_path):
    write_letters(tmp_path, {"one": "ABC.", "two": "CD-B"}, items(3, 3, 4, 2))
    found = multiple_choice(tmp_path)
    assert found.models == ("one", "two")
    assert found.answers.answers.tolist() == [[0, 1, 2, NOT_GIVEN], [2, NOT_GIVEN, NOT_GIVEN, 1]]
    assert found.answers.gold.tolist() == [1, 1, 1, 1]


def test_every_set_has_the_models_that_answered_all_sets(tmp_path):
    write_bits(
        tmp_path, [("x", {"b": "01", "a": "11"}), ("y", {"a": "0-1", "b": "111", "c": "000"})]
    )
    found = right_or_wrong(tmp_path)
    assert [pool.models for pool in found.values()] == [("a", "b"), ("a", "b")]
    assert found["y"].answers.answers.tolist() == [[0, NOT_GIVEN, 1], [1, 1, 1]]


def test_a_row_of_another_length_is_named(tmp_path):
    write_letters(tmp_path, {"one": "ABC"}, items(3, 3, 4, 2))
    with pytest.raises(DataError, match="3 answers of one to 4 questions"):
        multiple_choice(tmp_path)


def test_a_folder_without_answers_ends_the_command_with_what_to_do(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit, match="name it with --data or the variable"):
        printed(monkeypatch, capsys, "answers", "--data", tmp_path)
