import pytest

from scope.errors import DataError, SpecError
from scope.models.expansion import expand_spec


def test_a_star_stands_for_every_model_in_the_tables_order(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("b\tAB\na\tBA\n")
    assert expand_spec(f"predictions:{path}#*") == (
        f"predictions:{path}#b",
        f"predictions:{path}#a",
    )
    assert expand_spec(f"predictions:{path}#a") == (f"predictions:{path}#a",)


@pytest.mark.parametrize(
    "spec",
    ["hf:org/name", "org/name", "predictions:a.jsonl", "openai:http://host/v1#*", "python:a:b"],
)
def test_any_other_spec_stands_for_itself(spec):
    assert expand_spec(spec) == (spec,)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="no file"):
        expand_spec(f"predictions:{tmp_path / 'none.tsv.gz'}#*")


def test_an_empty_spec_is_refused():
    with pytest.raises(SpecError):
        expand_spec("predictions:")


def test_a_folder_stands_for_every_file_of_answers_in_it(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.parquet", "notes.txt"):
        (tmp_path / name).write_text("")
    assert expand_spec(f"predictions:{tmp_path}") == tuple(
        f"predictions:{tmp_path / name}" for name in ("a.jsonl.gz", "b.jsonl", "c.parquet")
    )


def test_a_folder_without_answers_is_refused(tmp_path):
    with pytest.raises(DataError, match="no saved answers in the folder"):
        expand_spec(f"predictions:{tmp_path}")
