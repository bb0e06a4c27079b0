"""The first examples of Markdown are of different texts."""

from made_up_comparison import build_comparison

from scope.jobs.pages import markdown_of


def test_the_first_examples_of_markdown_are_of_different_texts():
    quoted = [line for line in markdown_of(build_comparison()).split("\n") if line[:1] == ">"]
    plain = [line.replace("~", "").replace("*", "") for line in quoted]
    assert len(plain) == len(set(plain))
