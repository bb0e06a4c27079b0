"""No group of folders holds more lines of code than ``budgets.toml`` allows, nor far fewer.

``python tests/test_budgets.py`` lowers the budgets to the lines that are there.
"""

import ast
import re
import tomllib
from collections import Counter

import pytest
from source.imports import PACKAGES, ROOT, python_files

FILE = ROOT / "budgets.toml"
BUDGETS = tomllib.loads(FILE.read_text(encoding="utf-8"))
GROUPS = {folder: group for group in BUDGETS for folder in group.split()}
SLACK = 0.02
"""The largest share of a budget that may be left: whoever removes code lowers the budget."""


def code_lines(source):
    """Lines that are neither blank, nor comments, nor docstrings."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", 0), str):
                docstrings.update(range(first.lineno, first.end_lineno + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in docstrings
        for number, line in enumerate(source.splitlines(), start=1)
    )


def lines_by_group():
    """The code lines of each group: a file counts in the group of its innermost listed folder."""
    lines = Counter()
    for file in python_files(*PACKAGES, "tests", "benchmarks"):
        folders = (folder.as_posix() for folder in file.relative_to(ROOT).parents)
        group = next(GROUPS[folder] for folder in folders if folder in GROUPS)
        lines[group] += code_lines(file.read_text(encoding="utf-8"))
    return lines


@pytest.fixture(scope="module")
def lines():
    return lines_by_group()


def test_each_group_keeps_its_budget(lines):
    over = {group: (lines[group], most) for group, most in BUDGETS.items() if lines[group] > most}
    assert over == {}, (
        "group: (code lines, budget). Remove code, or raise the budget in budgets.toml and say "
        "for what in the same change"
    )


def test_a_budget_is_lowered_with_the_code(lines):
    loose = {
        group: lines[group] for group, most in BUDGETS.items() if lines[group] < most * (1 - SLACK)
    }
    assert loose == {}, "lower these budgets: python tests/test_budgets.py"


if __name__ == "__main__":
    text = FILE.read_text(encoding="utf-8")
    for group, count in lines_by_group().items():
        least = min(count, BUDGETS[group])
        text = re.sub(rf'(?m)^"{group}" = .*', f'"{group}" = {least}', text)
    FILE.write_text(text, encoding="utf-8")
