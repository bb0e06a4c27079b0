"""Each test that SECURITY.md names exists."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_beside_a_sentence_exists():
    file, named = None, 0
    for path, test in re.findall(r"`([\w/]+\.py)?(?:::(\w+))?(?: -k [^`]*)?`", PAGE):
        file = TESTS / path if path else file
        if path or test:
            named += 1
            assert file.is_file(), path
            assert not test or f"def {test}(" in file.read_text(encoding="utf-8"), test
    assert named > 15
