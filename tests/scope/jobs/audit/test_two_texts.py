"""Audits of models of two texts: one part changes, and pages and tables show both apart."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

import scope
from scope.errors import SpecError
from scope.records.text_parts import parts_of

SENTENCES = (
    "Two women are embracing while holding some packages.",
    "A man in a blue shirt is standing on a ladder cleaning a window.",
    "The young boy jumps over a small wooden fence near the river.",
    "A group of people waits for the last train at the old station.",
    "Several children are playing a game of football in the park.",
    "An old woman sells fresh vegetables at the market in town.",
    "The singer performs in front of a large and happy crowd.",
    "A brown dog runs across the sandy beach with a yellow ball.",
)
ROWS = [
    {"premise": first, "hypothesis": second, "label": ("positive", "negative")[place % 2]}
    for place, first in enumerate(SENTENCES)
    for second in SENTENCES[place - 2 : place] + SENTENCES[place + 1 : place + 2]
]
MODELS = {"reference": "python:toy_models:OfTwo", "targets": ["python:toy_models:WeakOfTwo"]}
COLUMNS = ("--text-column", "premise", "--text-column", "hypothesis")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def audit(data, tmp_path):
    def audited(**options):
        settings = {**MODELS, "data": str(data), "text_column": ("premise", "hypothesis")}
        sizes = {"capabilities": ["typo"], "n": 8, "n_search": 6, "candidates": 4}
        return scope.audit(**settings | sizes | {"runs": tmp_path / "runs"} | options)

    return audited


@pytest.mark.parametrize(
    ("change", "place"), [(None, 1), ("hypothesis", 1), ("premise", 0), (1, 1), (0, 0)]
)
def test_one_part_changes_alone(audit, change, place):
    result = audit(change=change)
    originals = {each.example.id: parts_of(each.example.text) for each in result.examples}
    changed = [each.perturbation for each in (*result.perturbations, *result.candidates)]
    texts = [(originals[each.example_id], parts_of(each.text)) for each in changed if each.text]
    assert len(texts) > 30
    assert all(before[1 - place] == after[1 - place] for before, after in texts)
    assert all(before[place] != after[place] for before, after in texts)
    assert result.manifest.settings["change"] == ("premise", "hypothesis")[place]
    assert result.manifest.data[0].parts == ("premise", "hypothesis")


def test_lists_of_two_give_the_same_numbers_as_two_columns(audit):
    pairs = [((row["premise"], row["hypothesis"]), row["label"]) for row in ROWS]
    of_columns, of_lists = audit(), audit(data=pairs, text_column=None, run="lists")
    assert of_lists.measurements == of_columns.measurements
    assert of_lists.manifest.settings["change"] == "text 2"


def test_the_table_of_examples_has_the_part_that_changes_and_each_part(audit):
    frame = audit(change="premise").to_frame("examples")
    assert list(frame["text"]) == list(frame["text_premise"])
    assert set(frame["text_hypothesis"]) <= {row["hypothesis"] for row in ROWS}
    assert not frame.astype(str).apply(lambda column: column.str.contains("\x1e")).any().any()


def test_the_page_shows_parts_by_their_names_and_marks_words_of_one_alone(command, data):
    done = command(
        *("audit", "--reference", MODELS["reference"], "--target", MODELS["targets"][0]),
        *("--data", data, *COLUMNS, "--capability", "typo", "--n", 8, "--run", "pairs"),
    )
    assert done.returncode == 0, done.stderr
    page = Path("runs/pairs/report.html").read_text(encoding="utf-8")
    markdown = command("report", "runs/pairs", "--format", "markdown").stdout
    assert "\x1e" not in page + done.stdout + done.stderr + markdown
    premises = re.findall(r'<p class="text" dir="auto">(.*?premise.*?)</p>', page)
    hypotheses = re.findall(r'<p class="text" dir="auto">(.*?hypothesis.*?)</p>', page)
    assert len(hypotheses) == 2 * len(premises) > 0
    assert not any("<del>" in text or "<ins>" in text for text in premises)
    assert all("<del>" in text or "<ins>" in text for text in hypotheses)
    assert unescape(re.sub(r"<.*?>", "", premises[0])).startswith("premise: ")


@pytest.mark.parametrize(
    ("options", "found", "expected"),
    [
        ({"change": "author"}, "--change author", "one of the parts: `premise`, `hypothesis`"),
        ({"change": 2}, "--change 2", "one of the parts: `premise`, `hypothesis`"),
        (
            {"change": "premise", "text_column": "premise"},
            "--change premise, where texts have one part",
            "texts of several parts",
        ),
        ({"role": "next_token"}, "texts of 2 parts in the role next_token", "one text, which"),
    ],
)
def test_what_does_not_fit_two_texts_is_refused(audit, options, found, expected):
    with pytest.raises(SpecError) as raised:
        audit(label_column="none" if "role" in options else None, **options)
    assert raised.value.found == found
    assert raised.value.expected.startswith(expected)


def test_a_capability_that_changes_another_part_fails_with_its_reason(audit):
    class Swapped:
        name, question = "swapped", "Does the order of the texts matter?"

        def settings(self):
            return {}

        def search(self, classifier, examples, options):
            for example in examples:
                text = "\x1e".join(reversed(parts_of(example.text)))
                yield tuple(
                    scope.records.Perturbation(example_id=example.id, trial=trial, text=text)
                    for trial in range(1, options.trials + 1)
                )

    (outcome,) = audit(capabilities=[Swapped()], candidates=0).outcomes
    assert outcome.status == "failed"
    assert "differs in more than the part that is to change" in outcome.reason


def test_a_pair_and_a_test_of_reuse_read_two_texts_too(data, tmp_path):
    columns = {"data": str(data), "text_column": ("premise", "hypothesis"), "change": "premise"}
    runs = {"runs": tmp_path / "runs"}
    pair = scope.pair(*MODELS["targets"], MODELS["reference"], n=6, **columns, **runs)
    (audit,) = [part for part in pair.audits if part.manifest.settings["change"] == "premise"][:1]
    originals = {each.example.id: parts_of(each.example.text) for each in audit.examples}
    texts = [each.perturbation for each in audit.candidates if each.perturbation.text]
    assert texts
    assert all(parts_of(each.text)[1] == originals[each.example_id][1] for each in texts)


def test_a_dry_run_asks_both_texts(command, data):
    models = ("--reference", MODELS["reference"], "--target", MODELS["targets"][0])
    done = command("audit", *models, "--data", data, *COLUMNS, "--capability", "typo", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "search: typo" in done.stdout
