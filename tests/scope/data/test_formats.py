import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scope.data import load_data
from scope.data.formats import open_delimited, open_jsonl, open_parquet, open_text
from scope.data.specs import open_source
from scope.errors import DataError


@pytest.fixture
def opened(tmp_path):
    def open_content(content: str, delimiter: str = ","):
        path = tmp_path / "a.csv"
        path.write_bytes(content.encode())
        return open_delimited(path, delimiter)

    return open_content


def test_only_the_columns_asked_for_come_in_the_order_asked_for(opened):
    source = opened("a,b,c\n1,2,3\n4,5,6\n")
    assert [row.values for row in source.read(["c", "a"])] == [("3", "1"), ("6", "4")]


def test_places_are_the_lines_where_rows_begin(opened):
    source = opened('text\r\n"two\r\nlines"\r\n\r\nlast\r\n')
    assert list(source.read(["text"])) == [(2, ("two\r\nlines",)), (5, ("last",))]


def test_tabs_separate_the_fields_of_tsv(opened):
    source = opened('text\tlabel\nsay "no", please\t1\n', "\t")
    assert [row.values for row in source.read(["text"])] == [('say "no", please',)]


def test_a_column_of_numbers_is_no_column_of_strings(opened):
    source = opened("n,score,text,gaps\n1,1e3,good,\n2,nan,5,7\n")
    assert source.string_columns == ("text",)


@pytest.mark.parametrize(("row", "fields"), [("a", 1), ("a,b,c", 3)])
def test_a_ragged_row_is_refused_by_line(opened, row, fields):
    with pytest.raises(DataError) as raised:
        list(opened(f"text,label\ngood,1\n{row}\n").read(["text"]))
    assert f"{fields} fields in line 3 of a.csv" in str(raised.value)
    assert "expected: 2, as in its header" in str(raised.value)


def test_a_ragged_row_far_below_is_refused_while_reading(opened):
    source = opened("text,label\n" + "good,1\n" * 3000 + "bad\n")
    with pytest.raises(DataError, match="1 fields in line 3002"):
        list(source.read(["text"]))


@pytest.mark.parametrize("row", ['"never closed,1\nnext,2\n', '"closed" too early,1\n'])
def test_quotes_that_do_not_match_are_refused_with_the_line_where_the_row_begins(opened, row):
    with pytest.raises(DataError, match=r"the row that begins in line 3 of a\.csv is broken"):
        opened(f"text,label\ngood,1\n{row}")


def test_an_empty_file_is_refused(opened):
    with pytest.raises(DataError, match=r"a\.csv is empty\nexpected: a header line"):
        opened("")


def test_two_columns_of_one_name_are_refused(opened):
    with pytest.raises(DataError, match="column `text` more than once in the header"):
        opened("text,label,text\na,b,c\n")


@pytest.fixture
def opened_json_lines(tmp_path):
    def open_content(content: str):
        path = tmp_path / "a.jsonl"
        path.write_text(content, encoding="utf-8")
        return open_jsonl(path)

    return open_content


def test_keys_may_come_and_go_and_missing_values_are_none(opened_json_lines):
    source = opened_json_lines('{"text": "a"}\n\n{"label": 1, "text": "b"}\n')
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
def test_a_broken_line_is_refused_by_number(opened_json_lines, line, found):
    with pytest.raises(DataError) as raised:
        opened_json_lines('{"text": "a"}\n' + line + "\n")
    assert found in raised.value.found
    assert "one JSON object per line" in raised.value.expected


def test_a_broken_line_far_below_is_refused_while_reading(opened_json_lines):
    source = opened_json_lines('{"text": "a"}\n' * 2000 + "{\n")
    with pytest.raises(DataError, match="line 2001"):
        list(source.read(["text"]))


def test_an_empty_file_of_json_lines_is_refused(opened_json_lines):
    with pytest.raises(DataError, match=r"a\.jsonl is empty"):
        opened_json_lines("\n\n")


def test_line_separators_inside_strings_do_not_end_the_line(opened_json_lines):
    source = opened_json_lines(json.dumps({"text": "a\u2028b\x85c"}, ensure_ascii=False))
    assert list(source.read(["text"])) == [(1, ("a\u2028b\x85c",))]


@pytest.fixture
def written(tmp_path):
    def write(table: pa.Table, **options):
        path = tmp_path / "a.parquet"
        pq.write_table(table, path, **options)
        return path

    return write


def test_columns_of_strings_are_known_by_their_type(written):
    table = pa.table(
        {
            "n": [1],
            "plain": ["a"],
            "large": pa.array(["b"], pa.large_string()),
            "coded": pa.array(["c"]).dictionary_encode(),
            "many": [["d"]],
        }
    )
    source = open_parquet(written(table))
    assert source.string_columns == ("plain", "large", "coded")
    assert list(source.read(["coded", "n"])) == [(0, ("c", 1))]


def test_rows_are_counted_across_batches(written):
    table = pa.table({"text": [f"text {i}" for i in range(5000)], "label": [0.0, None] * 2500})
    data = load_data(str(written(table, row_group_size=700)), n=10)
    assert len({example.text for example in data.examples}) == 10
    assert data.card.rows == 5000
    assert {example.label for example in data.examples} <= {"0", None}


def test_class_names_that_datasets_left_in_the_schema_are_used(written):
    features = {
        "text": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
    }
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table({"text": ["a", "b", "c"], "label": [1, 0, -1]}).replace_schema_metadata(
        metadata
    )
    data = load_data(str(written(table)))
    assert [example.label for example in data.examples] == ["pos", "neg", None]


@pytest.mark.parametrize("foreign", ["no json", "[]", "{}", '{"info": {"features": [1]}}'])
def test_foreign_metadata_means_that_no_names_are_known(written, foreign):
    table = pa.table({"text": ["a"], "label": [1]}).replace_schema_metadata(
        {"huggingface": foreign}
    )
    assert load_data(str(written(table))).examples[0].label == "1"


def test_a_text_that_is_no_string_names_the_row(written):
    with pytest.raises(
        DataError, match=r"row 0 of a\.parquet .*: a list as the text, .* in column `text`"
    ):
        load_data(str(written(pa.table({"text": [["a", "b"]]}))))


@pytest.mark.parametrize("keep", [0, 10, -20])
def test_a_file_that_is_cut_off_is_refused(written, keep):
    path = written(pa.table({"text": ["a", "b"]}))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as parquet"):
        load_data(str(path))


def test_pages_that_are_damaged_are_refused_while_reading(written):
    path = written(pa.table({"text": [f"text {i}" for i in range(3000)]}), use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as parquet"):
        load_data(str(path))


def test_strings_that_are_not_utf8_are_refused(written):
    raw = pa.array([b"caf\xe9"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 1, raw.buffers())
    with pytest.raises(DataError, match="cannot be read as parquet"):
        load_data(str(written(pa.table({"text": broken}))))


def rows(path):
    return [row.values for row in open_text(Path(path)).read(("book", "text"))]


def test_a_row_is_a_paragraph_with_its_line_ends(tmp_path):
    path = tmp_path / "alice.txt"
    path.write_bytes("\ufeffOne\r\ntwo \r\n\r\n \r\n  three\r\n".encode())
    assert rows(path) == [("alice", "One\ntwo"), ("alice", "  three")]


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path):
    for name in ("b.txt", "a.txt", "more/c.TXT", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}.")
    assert rows(tmp_path) == [
        ("a", "Text of a.txt."),
        ("b", "Text of b.txt."),
        ("more/c", "Text of more/c.TXT."),
    ]


def test_what_stands_round_a_book_of_project_gutenberg_is_left_out(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(
        "Licence.\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nBook.\n\n"
        "***END OF THIS PROJECT GUTENBERG EBOOK***\nMore licence.\n"
    )
    assert rows(path) == [("book", "Book.")]


def test_the_scheme_text_and_the_bare_path_of_a_file_open_the_same(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("One.\n\nTwo.\n")
    for spec in (f"text:{path}", str(path)):
        assert open_source(spec).columns == ("text", "book")
        assert [example.text for example in load_data(spec).examples] == ["One.", "Two."]


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "notes.md").touch()
    with pytest.raises(DataError) as raised:
        open_text(tmp_path)
    assert raised.value.found == f"no .txt file in the folder {tmp_path}"


@pytest.mark.parametrize(
    ("name", "found"), [("none.txt", "is not there"), ("data.jsonl", "does not end in .txt")]
)
def test_what_is_no_text_file_is_refused(tmp_path, name, found):
    (tmp_path / "data.jsonl").touch()
    with pytest.raises(DataError) as raised:
        open_text(tmp_path / name)
    assert raised.value.found == f"`{tmp_path / name}` {found}"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"Good.\nCaf\xe9.\n", "line 2 of b.txt is not UTF-8 (byte 0xe9)"),
        ("Text.".encode("utf-16"), "line 1 of b.txt"),
        (b"\x00\x01\x02", "a NUL byte in line 1 of b.txt"),
    ],
)
def test_a_file_in_another_encoding_is_named_with_its_line(tmp_path, content, found):
    (tmp_path / "a.txt").write_text("Good.")
    (tmp_path / "b.txt").write_bytes(content)
    with pytest.raises(DataError) as raised:
        rows(tmp_path)
    assert found in raised.value.found
