import json

import pytest

from scope.data.jsonl import open_jsonl
from scope.errors import DataError


@pytest.fixture
def opened(tmp_path):
    def open_text(content: str):
        path = tmp_path / "a.jsonl"
        path.write_text(content, encoding="utf-8")
        return open_jsonl(path)

    return open_text


def test_keys_may_come_and_go_and_missing_values_are_none(opened):
    source = opened('{"text": "a"}\n\n{"label": 1, "text": "b"}\n')
    assert source.columns == ("text", "label")
    assert source.string_columns == ("text",)
    assert list(source.read(["label", "text"])) == [(1, (None, "a")), (3, (1, "b"))]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"text": "a"', "line 2 of a.jsonl is not JSON: Expecting"),
        ("{'text': 'a'}", "line 2 of a.jsonl is not JSON: Expecting property name"),
        ("[" * 100_000, "line 2 of a.jsonl is not JSON"),
        ("1" * 5000, "line 2 of a.jsonl is not JSON"),
        ('["a"]', 'line 2 of a.jsonl is JSON, but not an object: ["a"]'),
    ],
)
def test_a_broken_line_is_refused_by_number(opened, line, found):
    with pytest.raises(DataError) as raised:
        opened('{"text": "a"}\n' + line + "\n")
    assert found in raised.value.found
    assert "one JSON object per line" in raised.value.expected


def test_a_broken_line_far_below_is_refused_while_reading(opened):
    source = opened('{"text": "a"}\n' * 2000 + "{\n")
    with pytest.raises(DataError, match="line 2001"):
        list(source.read(["text"]))


def test_an_empty_file_is_refused(opened):
    with pytest.raises(DataError, match=r"a\.jsonl is empty"):
        opened("\n\n")


def test_line_separators_inside_strings_do_not_end_the_line(opened):
    source = opened(json.dumps({"text": "a\u2028b\x85c"}, ensure_ascii=False))
    assert list(source.read(["text"])) == [(1, ("a\u2028b\x85c",))]
