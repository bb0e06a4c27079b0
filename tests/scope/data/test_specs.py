import gzip
import json
from pathlib import Path

import pytest

from scope.data import load_data
from scope.data.specs import open_source, open_text
from scope.errors import DataError, SpecError


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".CSV"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_are_opened_as_their_suffix_says(tmp_path, suffix, packed):
    line = json.dumps({"text": "good"}) if suffix == ".jsonl" else "text\ngood"
    path = tmp_path / f"a{suffix}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(line.encode()) if packed else line.encode())
    assert [example.text for example in load_data(str(path)).examples] == ["good"]


def test_an_unknown_scheme_lists_the_known_ones():
    with pytest.raises(SpecError) as raised:
        open_source("hg:stanfordnlp/sst2:validation")
    assert "unknown scheme `hg` in `hg:stanfordnlp/sst2:validation`" in str(raised.value)
    assert "expected: demo:…, hf:…, text:…, or the path of a file" in str(raised.value)
    assert raised.value.fix == "use one of them"


def test_a_file_whose_name_looks_like_a_scheme_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films:new.csv").write_text("text\ngood\n")
    assert load_data("films:new.csv").card.used == 1


@pytest.mark.parametrize("spec", ["", "  "])
def test_an_empty_spec_is_refused(spec):
    with pytest.raises(SpecError, match="an empty spec for the data"):
        open_source(spec)


def test_a_missing_file_suggests_the_nearest_name(tmp_path):
    (tmp_path / "reviews.csv").write_text("text\n")
    (tmp_path / "other.bin").write_text("")
    with pytest.raises(DataError) as raised:
        open_source(str(tmp_path / "review.csv"))
    assert f"no file `{tmp_path / 'review.csv'}`" in raised.value.found
    assert raised.value.fix == f"did you mean `{tmp_path / 'reviews.csv'}`?"


def test_a_missing_file_without_a_near_name_says_how_the_hub_is_named(tmp_path):
    with pytest.raises(DataError, match="a data set of the hub begins with `hf:`"):
        open_source(str(tmp_path / "review.csv"))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no file `.*/no/a\.csv`, and no folder `.*/no`"):
        open_source(str(tmp_path / "no" / "a.csv"))


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(DataError, match="is not a file but a folder"):
        open_source(str(tmp_path))


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.json", "a.parquet.gz"])
def test_an_unknown_suffix_lists_the_known_ones(tmp_path, name):
    (tmp_path / name).write_text("text\n")
    with pytest.raises(DataError, match=r"ends in \.csv, \.tsv, \.jsonl, .*\.parquet"):
        open_source(str(tmp_path / name))


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
