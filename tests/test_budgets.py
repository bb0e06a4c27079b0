"""No folder holds more lines of code than ``budgets.toml`` allows, nor far fewer."""

import ast
import tomllib
from collections import Counter

import pytest
from source.imports import PACKAGES, ROOT, python_files

BUDGETS = tomllib.loads((ROOT / "budgets.toml").read_text(encoding="utf-8"))
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


def folder(file):
    """The innermost folder of a file that has a budget."""
    folders = [one.as_posix() for one in file.relative_to(ROOT).parents]
    return next((one for one in folders if one in BUDGETS), folders[-2])


@pytest.fixture(scope="module")
def lines():
    counted = Counter()
    for file in python_files(*PACKAGES, "tests", "benchmarks"):
        counted[folder(file)] += code_lines(file.read_text(encoding="utf-8"))
    return counted


def test_each_folder_keeps_its_budget(lines):
    over = {name: (count, BUDGETS.get(name, 0)) for name, count in lines.items()}
    assert {name: pair for name, pair in over.items() if pair[0] > pair[1]} == {}, (
        "folder: (code lines, budget). Remove code, or raise the budget in budgets.toml and say "
        "for what in the same change"
    )


def test_a_budget_is_lowered_with_the_code(lines):
    loose = {
        name: lines[name] for name, most in BUDGETS.items() if lines[name] < most * (1 - SLACK)
    }
    assert loose == {}, "budgets.toml: lower these budgets to the lines that are left"
