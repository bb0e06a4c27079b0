import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scope.data import load_data
from scope.data.parquet import open_parquet
from scope.errors import DataError


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
        DataError, match=r"a list as the text in column `text`, row 0 of a\.parquet"
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
