"""The README: short, and its commands are there for ``.ci/run``."""

import re

from source.imports import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_WORDS = 900


def test_the_readme_has_at_most_900_words():
    assert len(README.split()) <= MOST_WORDS


def test_the_readme_has_one_command_that_installs_and_runs_the_demo():
    commands = [line for line in fenced_lines(README) if line.endswith("scope demo")]
    assert len(commands) == 1
    assert "pip install" in commands[0]


def test_the_readme_has_one_command_that_runs_the_tests_as_ci_does():
    assert len([line for line in fenced_lines(README) if "python -m pytest" in line]) == 1


def test_the_readme_links_to_every_job():
    for page in (ROOT / "docs" / "jobs").glob("*.md"):
        assert f"(docs/jobs/{page.name})" in README


def fenced_lines(text):
    return "\n".join(re.findall(r"^```.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)).splitlines()
