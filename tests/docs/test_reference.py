"""``docs/reference/`` is what ``docs/generate.py`` makes of the program."""

import runpy

import pytest
from source.imports import ROOT

GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"), run_name="generate")


@pytest.fixture(scope="module")
def pages():
    return GENERATE["pages"]()


def test_the_reference_is_current(pages):
    assert GENERATE["stale"](pages) == []


def test_every_command_has_its_help_page(pages):
    headings = [
        line for line in pages["reference/commands.md"].splitlines() if line.startswith("## ")
    ]
    assert {"## scope", "## scope audit", "## scope fleet embed", "## scope report"} <= {*headings}


def test_a_page_that_differs_is_missing_or_too_many_is_named(tmp_path, pages):
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "reference" / "tasks.md").write_text("old", encoding="utf-8")
    (tmp_path / "reference" / "metrics.md").unlink()
    (tmp_path / "reference" / "gone.md").touch()
    names = ["reference/gone.md", "reference/metrics.md", "reference/tasks.md"]
    assert GENERATE["stale"](pages, tmp_path) == names
