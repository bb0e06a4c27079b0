"""Help pages: four panels at most, required options first, quick, and no error without a hint."""

import re

import pytest

from scope.jobs import JOBS


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_help_page_has_at_most_four_panels_and_an_example(job, command):
    done = command(*job.name.split(), "--help")
    assert done.returncode == 0
    panels = re.findall(r"^╭─ (\w+) ─", done.stdout, re.MULTILINE)
    assert panels
    assert set(panels) <= {"Models", "Data", "Method", "Output"}
    assert len(panels) == len(set(panels))
    assert f"Example: scope {job.name}" in " ".join(done.stdout.split())


def test_required_options_come_first_and_empty_defaults_are_left_out(command):
    page = command("audit", "--help").stdout
    models = page[page.index("─ Models") : page.index("─ Data")]
    assert models.index("--reference") < models.index("--target") < models.index("--role")
    assert "[default: ()]" not in page
    assert "[default: False]" not in page
    assert "[default: synonym, typo]" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("audt",), "Did you mean"),
        (("audit", "--referense", "a"), "Did you mean"),
        (("audit", "--reference", "a", "--target", "b", "--data", "c", "--n", "1.5"), "`1.5`"),
        (("audit", "--reference", "a", "--target", "b", "--data", "c", "--role", "x"), "role"),
        (("report",), "RUN"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_names_what_is_wrong(arguments, said, command):
    done = command(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_of_an_option_given_twice_the_last_counts(command):
    done = command(
        *("audit", "--reference", "python:no:module", "--target", "python:no:other"),
        *("--data", "a.csv", "--n", "0", "--n", "5"),
    )
    assert "--n 0" not in done.stderr
    assert done.returncode == 2


def test_two_references_are_no_reference(command):
    done = command("audit", "--reference", "a", "--reference", "b", "--target", "c", "--data", "d")
    assert done.returncode == 2
    assert "--reference specified multiple times" in done.stderr
