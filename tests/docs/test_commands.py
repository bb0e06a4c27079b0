"""The commands in the documentation are accepted by the parser; nothing is run."""

import re
import shlex

import pytest
from source.imports import ROOT

from scope.cli.commands import _spelled, application

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BASH = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"\s[>|].*|\s#.*")


def commands(page):
    """The words of each command of SCoPE in a page's blocks, but for outlines with dots."""
    for block in BASH.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("scope ") and " ... " not in line:
                yield shlex.split(SHELL.sub("", line))[1:]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_are_those_of_the_program(page):
    for words in commands(page):
        application(words[0]).parse_args(_spelled(words))
