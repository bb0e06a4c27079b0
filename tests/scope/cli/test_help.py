"""Help pages: four panels at most, required options first, then the command's own; no Python."""

import re

import pytest

from scope.jobs import JOBS


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_help_page_has_at_most_four_panels_an_example_and_nothing_of_python(job, command):
    done = command(*job.name.split(), "--help")
    assert done.returncode == 0
    panels = re.findall(r"^╭─ (\w+) ─", done.stdout, re.MULTILINE)
    assert panels
    assert set(panels) <= {"Models", "Data", "Method", "Output"}
    assert len(panels) == len(set(panels))
    page = " ".join(done.stdout.split())
    assert f"Example: scope {job.name}" in page
    assert not re.search(r"\b(STR|CHOICE)\b", page)
    assert "in python" not in page.lower()
    assert "scope.protocols" not in page


def test_required_options_come_first_then_own_ones_and_empty_defaults_are_left_out(command):
    page = command("audit", "--help").stdout
    models = page[page.index("─ Models") : page.index("─ Data")]
    assert models.index("--reference") < models.index("--target") < models.index("--role")
    assert "[default: ()]" not in page
    assert "[default: False]" not in page
    assert "[default: synonym, typo]" in page
    assert page.index("--n INT") < page.index("--text-column") < page.index("--seed")
