import gzip

import pytest

from scope.data.sources import read_lines
from scope.errors import DataError


def test_lines_of_plain_and_gzipped_files_are_the_same(tmp_path):
    content = "\ufefféins\nzwei\r\n\ndrei".encode()
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert list(read_lines(plain)) == ["éins\n", "zwei\r\n", "\n", "drei"]
    assert list(read_lines(packed)) == list(read_lines(plain))


def test_a_file_that_is_not_utf8_is_refused_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text\ngood\ncafé\n".encode("latin-1"))
    with pytest.raises(DataError) as raised:
        list(read_lines(path))
    assert "line 3 of a.csv is not UTF-8 (byte 0xe9)" in str(raised.value)
    assert "iconv -f WINDOWS-1252" in str(raised.value)


def test_a_nul_byte_is_refused_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\ngo\0od\n")
    with pytest.raises(DataError, match=r"a NUL byte in line 2 of a\.csv"):
        list(read_lines(path))


def test_utf16_is_refused_and_the_way_out_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text\ngood\n".encode("utf-16"))
    with pytest.raises(DataError, match="iconv -f UTF-16"):
        list(read_lines(path))


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
    with pytest.raises(
        DataError, match=r"a\.csv\.gz cannot be decompressed after line \d+"
    ) as raised:
        list(read_lines(path))
    assert raised.value.expected == "a complete gzip file"


def test_a_file_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(read_lines(tmp_path))
