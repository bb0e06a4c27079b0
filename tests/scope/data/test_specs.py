import gzip
import json

import pytest

from scope.data import load_data
from scope.data.specs import SCHEMES, open_source
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
    schemes = ", ".join(f"{name}:…" for name in sorted(SCHEMES))
    assert f"expected: {schemes}, or the path of a file" in str(raised.value)
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
