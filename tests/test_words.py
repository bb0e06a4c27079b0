"""Code, messages, help, report templates and pages use the field's words, not private ones."""

import ast
import re
from collections import Counter

import pytest
from source.imports import PACKAGES, ROOT, python_files

PRIVATE = re.compile(
    r"(?<![a-z])(foret\w+|mend|mends|mended|rightly|held against|lineup|casework|everybody)"
    r"(?![a-z])",
    re.IGNORECASE,
)
DOCS = ROOT / "docs"
# Decisions stay as they were taken; a list of common words is no wording of ours.
EXEMPT = {*(DOCS / "decisions").glob("*.md"), ROOT / "scope" / "data" / "function_words.txt"}
SOURCES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *DOCS.rglob("*.md"),
    *(
        file
        for package in PACKAGES
        for kind in ("*.py", "*.j2", "*.txt")
        for file in (ROOT / package).rglob(kind)
    ),
]
OUTPUT = re.compile(r"^```text\n.*?^```", re.MULTILINE | re.DOTALL)


def private_words(file):
    return PRIVATE.findall(OUTPUT.sub("", file.read_text(encoding="utf-8")))


def test_no_file_uses_a_private_word():
    found = {str(file.relative_to(ROOT)): private_words(file) for file in {*SOURCES} - EXEMPT}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("text", ["to mend: x", "was foretold", "Held against it", "_mend_it"])
def test_a_private_word_is_found(text, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(text)
    assert private_words(file)


VAGUE = {"found": 15, "given": 5, "one": 0, "own": 6, "said": 1}
"""Names that do not say what they hold, and how often the product uses them."""


def test_names_that_say_nothing_become_fewer():
    counted = Counter(
        node.id if isinstance(node, ast.Name) else node.arg
        for file in python_files(*PACKAGES)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name | ast.arg)
    )
    # More: say what they hold. Fewer: lower the number here.
    assert {name: counted[name] for name in VAGUE} == VAGUE
