"""A model card has what releasers publish, each number with its interval and n."""

from dataclasses import replace

import pytest
from huggingface_hub import ModelCard
from kept_results import estimate, kept
from markdown_it import MarkdownIt

from reports.blocks import Preformatted, Table
from reports.model_card import model_card
from reports.prose import plain, written
from reports.text import blocks_as_markdown
from scope.errors import SpecError
from scope.records import FourCells


def card_of(result):
    """The rows of the table by their titles, and the entries of the model index by their model."""
    blocks = model_card(result)
    (table,) = (one for one in blocks if isinstance(one, Table))
    rows = {
        plain(row.cells[0]): [plain(written(one)) for one in row.cells[1:]] for row in table.rows
    }
    entries = {}
    for one in blocks:
        if isinstance(one, Preformatted) and one.text.startswith("model-index"):
            data = ModelCard(f"---\n{one.text}\n---\n", ignore_metadata_errors=False).data
            entries[data.model_name] = data.eval_results
    return rows, entries


def test_numbers_stand_with_interval_and_n_and_undefined_ones_with_their_reason():
    rows, entries = card_of(kept("audit"))
    assert next(iter(rows)) == "Accuracy"
    accuracy, agreement = rows["Accuracy"], rows["Same answers as teacher"]
    assert len(accuracy) == 3
    assert agreement == [
        "",
        "1.000 [0.875, 1.000] (n\u00a0=\u00a04)",
        "0.750 [0.625, 0.875] (n\u00a0=\u00a04)",
    ]
    rival = next(name for name in entries if name.startswith("rival"))
    assert "teacher" not in entries
    values = {one.metric_type: one for one in entries[rival]}
    assert values["same_answers"].metric_value == 0.75
    assert values["same_answers"].metric_args == {"low": 0.625, "high": 0.875, "n": 4}


def test_a_comparison_has_recovery_and_flips_of_each_model_after_the_first():
    result = kept("compare")
    first, second, third = (card.name for card in result.manifest.models[:3])
    shares = dict.fromkeys(
        ("both", "only_first", "only_second", "neither", "difference", "recovery"), estimate(0.8)
    )
    cells = tuple(
        FourCells(task="extractive_qa", first=before, second=after, flips=estimate(0.1), **shares)
        for before, after in ((first, second), (second, third))
    )
    rows, _ = card_of(replace(result, cells=cells))
    recovered = [rows[title] for title in rows if title.startswith("Recovery")]
    assert f"Recovery of accuracy on extractive_qa against {first}" in rows
    flips = rows[f"Flips on extractive_qa against {first}"]
    assert [cell.partition(" ")[0] for cell in flips[:3]] == ["", "0.100", ""]
    assert [[cell.partition(" ")[0] for cell in row[:3]] for row in recovered] == [
        ["", "0.800", ""]
    ]


def test_hostile_names_are_text_in_the_table_and_in_yaml():
    result = kept("audit")
    hostile = "a: [b]\n```\n- |<script>alert(1)</script>"
    cards = tuple(
        replace(one, name=hostile) if one.name == "student" else one
        for one in result.manifest.models
    )
    rows = tuple(
        replace(one, target=hostile) if one.target == "student" else one
        for one in result.measurements
    )
    renamed = replace(result, manifest=replace(result.manifest, models=cards), measurements=rows)
    _, entries = card_of(renamed)
    assert hostile in entries
    text = blocks_as_markdown(model_card(renamed))
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    kinds = [one.type for token in tokens for one in (token, *(token.children or []))]
    assert not [kind for kind in kinds if "html" in kind]
    assert kinds.count("fence") == 1 + len(entries)


def test_a_run_without_such_numbers_has_no_model_card():
    with pytest.raises(SpecError, match="accuracy, same answers or same reaction"):
        model_card(kept("probe"))
