"""Files of rows and plain text: what is read, and the line or row that an error names."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scope.data.formats import open_delimited, open_parquet, open_text
from scope.data.sampling import load_data
from scope.data.sources import read_lines
from scope.errors import DataError


def test_lines_of_plain_and_gzipped_files_are_the_same(tmp_path):
    content = "\ufefféins\nzwei\r\n\ndrei".encode()
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert list(read_lines(plain)) == ["éins\n", "zwei\r\n", "\n", "drei"]
    assert list(read_lines(packed)) == list(read_lines(plain))


@pytest.mark.parametrize(
    ("content", "found", "encoding"),
    [
        ("text\ngood\ncafé\n".encode("latin-1"), "line 3 of a.csv is not UTF-8 (byte 0xe9)", "WIN"),
        (b"text\ngo\0od\n", "a NUL byte in line 2 of a.csv", "UTF-16"),
        ("text\ngood\n".encode("utf-16"), "line 1 of a.csv", "UTF-16"),
    ],
)
def test_a_file_in_another_encoding_is_refused_by_line(tmp_path, content, found, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as raised:
        list(read_lines(path))
    assert found in raised.value.found
    assert f"iconv -f {encoding}" in raised.value.fix


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:40] + bytes(20) + packed[60:],
        lambda packed: b"no gzip at all",
    ],
)
def test_a_gzip_file_that_is_cut_off_or_broken_is_refused(tmp_path, damage):
    path = tmp_path / "a.csv.gz"
    packed = gzip.compress("".join(f"line {i * 7919 % 1000}\n" for i in range(2000)).encode())
    path.write_bytes(damage(packed))
    with pytest.raises(DataError, match=r"a\.csv\.gz cannot be decompressed after line \d+"):
        list(read_lines(path))


def test_a_file_that_unpacks_to_far_more_than_texts_do_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress((b"a" * 1023 + b"\n") * 40_000))
    with pytest.raises(DataError, match="decompresses to more than 200 times its size"):
        for _ in read_lines(path):
            pass


def test_places_are_the_lines_where_rows_begin(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'text\r\n"two\r\nlines"\r\n\r\nlast\r\n')
    source = open_delimited(tmp_path / "a.csv", ",")
    assert list(source.read(["text"])) == [(2, ("two\r\nlines",), None), (5, ("last",), None)]


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
    assert [row.values for row in source.read(["coded", "n"])] == [("c", 1)]


FEATURES = {
    "text": {"dtype": "string", "_type": "Value"},
    "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
}
LISTS = {"label": {"names": [["a"], ["b"]], "_type": "ClassLabel"}}
FOREIGN = (
    "no json",
    "[]",
    "{}",
    '{"info": {"features": [1]}}',
    json.dumps({"info": {"features": LISTS}}),
)


@pytest.mark.parametrize(
    ("metadata", "labels"),
    [
        (json.dumps({"info": {"features": FEATURES}}), ["pos", "neg", None]),
        *((foreign, ["1", "0", "-1"]) for foreign in FOREIGN),
    ],
)
def test_class_names_are_used_where_datasets_left_them_in_the_schema(written, metadata, labels):
    table = pa.table({"text": ["a", "b", "c"], "label": [1, 0, -1]})
    data = load_data(str(written(table.replace_schema_metadata({"huggingface": metadata}))))
    assert [example.label for example in data.examples] == labels


@pytest.mark.parametrize(
    "damage",
    [lambda content: content[:-20], lambda content: content[:40] + bytes(360) + content[400:]],
)
def test_a_file_that_is_cut_off_or_damaged_is_refused(written, damage):
    path = written(pa.table({"text": [f"text {i}" for i in range(3000)]}), use_dictionary=False)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as parquet"):
        load_data(str(path))


def paragraphs(path):
    return [row.values for row in open_text(path).read(("book", "text"))]


def test_a_row_is_a_paragraph_with_its_line_ends(tmp_path):
    path = tmp_path / "alice.txt"
    path.write_bytes("\ufeffOne\r\ntwo \r\n\r\n \r\n  three\r\n".encode())
    assert paragraphs(path) == [("alice", "One\ntwo"), ("alice", "  three")]


def test_the_licence_around_a_book_of_project_gutenberg_is_left_out(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(
        "Licence.\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nBook.\n\n"
        "***END OF THIS PROJECT GUTENBERG EBOOK***\nMore licence.\n"
    )
    assert paragraphs(path) == [("book", "Book.")]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("none.txt", "`{}` is not there"),
        ("data.jsonl", "`{}` does not end in .txt"),
        ("empty", "no .txt file in the folder {}"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, name, found):
    (tmp_path / "data.jsonl").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError) as raised:
        open_text(tmp_path / name)
    assert raised.value.found == found.format(tmp_path / name)
