"""What readers see of the changed texts, and what their marks say."""

import json
import sys

import pytest
import valid_pairs
from valid_pairs import Pair, write

from capabilities.casing import Casing

MARKS = ("1\t1\t\n2\t1\t\n3\t0\todd\n4\t0\todd\n", "1\t1\n2\t0\tother sense\n3\t0\todd\n4\t0\n")
"""Of two readers; the pair 4 is random."""


@pytest.fixture
def score(monkeypatch, capsys, tmp_path):
    def run(*marks):
        (tmp_path / "casing.key.tsv").write_text(
            "1\tkept\tfilms\n2\tkept\tfilms\n3\tkept\ttweets\n4\trandom\tfilms\n"
        )
        folders = [tmp_path / str(reader) for reader in range(2)]
        for folder, text in zip(folders, marks, strict=True):
            folder.mkdir()
            (folder / "casing.tsv").write_text(text)
        command = ["score", tmp_path, "--marks", *folders, "--json"]
        monkeypatch.setattr(sys, "argv", ["valid_pairs.py", *map(str, command)])
        valid_pairs.main()
        return json.loads(capsys.readouterr().out)

    return run


def test_a_pair_is_valid_if_both_readers_accept_it(score):
    found = score(*MARKS)
    shares = [found[f"casing_kept_{one}"] for one in ("n", "valid", "reader_1", "reader_2")]
    assert shares == [3, 0.333, 0.667, 0.333]
    assert (found["casing_kept_low"], found["casing_kept_high"]) == (0.061, 0.792)
    # Two of three alike; chance gives 2/3 * 1/3 + 1/3 * 2/3 = 4/9, and (2/3 - 4/9) / (5/9) = 0.4.
    assert found["casing_kept_kappa"] == 0.4
    assert found["casing_all_faults"] == [["odd", 3], ["other sense", 1]]
    assert found["casing_random_kappa"] == "undefined (all marks are the same)"


def test_a_pair_without_a_mark_is_named(score):
    with pytest.raises(SystemExit, match=r"casing\.tsv: no mark, 1 or 0, for 3, 4"):
        score(MARKS[0], "1\t1\n2\t0\n3\t?\n")


def test_a_sheet_says_what_is_valid_and_not_which_pair_is_random(tmp_path):
    pairs = [Pair("random", "films", "a\tfilm\n", "a\tFILM\n"), Pair("kept", "tweets", "b", "B")]
    write(tmp_path, Casing(), pairs)
    header, *rows = (tmp_path / "casing.tsv").read_text().splitlines()
    assert header.startswith(f"# {Casing.question} A pair is valid if a reader effortlessly reads")
    assert rows == ["1\ta film \ta FILM ", "2\tb\tB"]
    assert (tmp_path / "casing.key.tsv").read_text() == "1\trandom\tfilms\n2\tkept\ttweets\n"
