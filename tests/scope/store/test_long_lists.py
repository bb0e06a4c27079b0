"""The long lists of a result lie in files beside it, and read back as they were."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kept_results import kept

from scope.answers import Run
from scope.errors import DamagedError, RunError
from scope.paths import sealed, unsealed
from scope.records import Answer, Item
from scope.records.results import ScoredExample, ScoredPerturbation
from scope.serialization import from_json, plain, to_json
from scope.store.files import ROWS_AT_ONCE, ListFile, StoredList, list_files, long_lists
from scope.store.folder import RunFolder


def stored(folder, entry, *lists):
    """The lists as they read back, all in one file."""
    with long_lists(folder, plain) as files:
        places = [files.put("entries", entry, one)["rows"] for one in lists]
        named = files.close()
    file = list_files(folder, named)
    return [StoredList(file("entries", entry), *one) for one in places]


@pytest.mark.parametrize(
    "entry",
    [ScoredPerturbation, ScoredExample, Item, Answer, float, str],
    ids=lambda one: one.__name__,
)
def test_every_list_reads_back_as_it_was(entry, any_of):
    @settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.lists(any_of(entry), max_size=4).map(tuple), min_size=1, max_size=3))
    def reads_back(lists):
        with TemporaryDirectory() as folder:
            for read, given_list in zip(stored(Path(folder), entry, *lists), lists, strict=True):
                assert read == given_list
                assert tuple(read) == given_list

    reads_back()


@pytest.fixture
def numbers(tmp_path):
    """Lists that lie in several groups of one file."""
    return stored(tmp_path, int, range(700), range(700, 2 * ROWS_AT_ONCE + 5))


def test_it_behaves_as_a_tuple(numbers):
    first, second = numbers
    whole = tuple(range(700, 2 * ROWS_AT_ONCE + 5))
    assert (len(second), second[0], second[-1]) == (len(whole), whole[0], whole[-1])
    assert second[290:310] == whole[290:310]
    assert second[::400] == whole[::400]
    assert list(zip(second, second, strict=True)) == list(zip(whole, whole, strict=True))
    assert second == whole
    assert whole == second
    assert first != second
    assert 699 in first
    assert pickle.loads(pickle.dumps(second)) == second
    with pytest.raises(IndexError):
        first[700]


def result_in(folder):
    """A finished run of a made-up audit, and its result."""
    with Run.open(folder, {"job": "audit"}) as run:
        written = run.write_result(kept("audit"))
    return RunFolder(folder), written


def test_the_json_is_small_and_the_whole_reads_back(tmp_path):
    run, written = result_in(tmp_path)
    read = run.read_result()
    assert replace(read, folder=None) == written == kept("audit")
    assert to_json(read) == to_json(kept("audit"))
    text = run.result_path.read_text(encoding="utf-8")
    assert read.examples[0].example.text not in text
    with pytest.raises(RunError, match="files beside it"):
        from_json(text)


def test_the_files_of_an_earlier_result_go_and_those_of_a_failed_one_too(tmp_path):
    run, written = result_in(tmp_path)
    earlier = sorted(path.name for path in tmp_path.glob("*.parquet"))
    assert len(earlier) == 2
    with Run.open(tmp_path, {"job": "audit"}) as opened:
        fewer = tuple(written.examples)[:-1]
        opened.write_result(replace(written, examples=fewer, perturbations=()))
    later = sorted(path.name for path in tmp_path.glob("*.parquet"))
    assert set(earlier) - set(later)
    assert len(run.read_result().examples) == len(written.examples) - 1
    broken = replace(written, examples=(*written.examples, object()))
    with Run.open(tmp_path, {"job": "audit"}) as opened, pytest.raises(TypeError):
        opened.write_result(broken)
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == later
    assert list(tmp_path.glob("*.tmp")) == list(tmp_path.glob(".*.tmp")) == []


def missing(path):
    path.unlink()


def changed(path):
    path.write_bytes(path.read_bytes()[:-1] + b"?")


@pytest.mark.parametrize("damage", [missing, changed])
def test_a_file_that_is_missing_or_changed_is_said(tmp_path, damage):
    run, _ = result_in(tmp_path)
    damage(next(tmp_path.glob("perturbations-*.parquet")))
    with pytest.raises(DamagedError, match="perturbations-"):
        run.read_result()


def test_what_is_no_list_of_these_records_is_refused(tmp_path):
    with long_lists(tmp_path, plain) as files:
        files.put("entries", int, [1, 2])
        named = files.close()
    path = tmp_path / named["entries"]
    with pytest.raises(DamagedError, match="columns differ"):
        StoredList(ListFile(path, str), 0, 2)
    with pytest.raises(DamagedError, match="too few rows"):
        StoredList(ListFile(path, int), 1, 3)
    with pytest.raises(RunError, match="files beside it"):
        list_files(tmp_path, {"entries": "../elsewhere.parquet"})


@pytest.mark.parametrize(
    "stands_for",
    [
        {"in": "../examples", "rows": [0, 1]},
        {"in": ["examples"], "rows": [0, 1]},
        {"in": "examples", "rows": [0]},
        {"in": "examples", "rows": ["0", "1"]},
        {"in": "examples", "rows": [0, 10**6]},
    ],
)
def test_a_list_that_no_file_of_the_result_holds_is_refused(tmp_path, stands_for):
    run, _ = result_in(tmp_path)
    plain = json.loads(unsealed(run.result_path.read_text(encoding="utf-8")).text)
    plain["examples"] = stands_for
    text = json.dumps({key: one for key, one in plain.items() if key != "checksum"})
    run.result_path.write_text(sealed(text), encoding="utf-8")
    with pytest.raises(RunError):
        run.read_result()
