"""A badge is public and short; examples of a comment are of different texts."""

from dataclasses import replace

from made_up_comparison import build_comparison

from scope.jobs.exports import badge_of
from scope.jobs.pages import markdown_of


def test_a_badge_of_a_comparison_has_a_label_and_a_number(tasks_comparison):
    assert "choice: median Discrete CAPA −0.125 of 3 pairs" in badge_of(tasks_comparison)


def test_a_badge_names_no_folder_of_the_machine():
    result = build_comparison()
    manifest = result.manifest
    data = (replace(manifest.data[0], spec="/srv/secret/rows.csv"), *manifest.data[1:])
    shown = badge_of(replace(result, manifest=replace(manifest, data=data)))
    assert "rows.csv, n = " in shown
    assert "/srv" not in shown


def test_the_first_examples_of_markdown_are_of_different_texts():
    quoted = [line for line in markdown_of(build_comparison()).split("\n") if line[:1] == ">"]
    plain = [line.replace("~", "").replace("*", "") for line in quoted]
    assert len(plain) == len(set(plain))
