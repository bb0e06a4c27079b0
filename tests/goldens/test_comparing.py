"""Two records of goldens are compared number by number, under the names of today."""

import json
import subprocess
import sys
from pathlib import Path

import goldens
import goldens_numbers
import pytest

BEFORE = {
    "exit": 0,
    "messages": "",
    "table": ["accuracy 0.500"],
    "json": {
        "measurements": [{"metric": "x", "estimate": {"value": 0.5, "n": 4, "low": None}}],
        "values": [1, 2, 3],
        "note": "as it was",
    },
}


def changed(**changes):
    return {**BEFORE, "json": {**BEFORE["json"], **changes}}


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    """Compares BEFORE with another outcome; returns the exit code and what is printed."""

    def run(after, *words, renamed=""):
        for name, outcome in (("before", BEFORE), ("after", after)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "record.json").write_text("{}")
            (tmp_path / name / "one.json").write_text(json.dumps(outcome))
        (tmp_path / "renamed.txt").write_text(renamed)
        folders = (str(tmp_path / name) for name in ("before", "after"))
        options = ("--renamed", str(tmp_path / "renamed.txt"), *words)
        monkeypatch.setattr(sys, "argv", ["goldens.py", "compare", *folders, *options])
        with pytest.raises(SystemExit) as end:
            goldens.main()
        return end.value.code, capsys.readouterr().out

    return run


def test_the_same_record_has_no_differences(compare):
    assert compare(BEFORE) == (0, "0 differences that count, 0 that do not\n")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (changed(values=[1, 2, 4]), "one: values[2]: 3 became 4"),
        (changed(values=[1, 2]), "one: values[2]: 3 is missing in the second record"),
        (changed(more=7), "one: more: 7 is new in the second record"),
        ({**BEFORE, "exit": 2}, "one: exit code 0 became 2"),
    ],
)
def test_a_number_or_an_exit_code_that_differs_counts(compare, after, said):
    code, printed = compare(after)
    assert code == 1
    assert said in printed


def test_a_difference_beyond_six_decimals_is_none(compare):
    assert compare(changed(values=[1.0000001, 2, 3]))[0] == 0


def test_tables_and_prose_count_only_when_asked(compare):
    assert compare({**changed(note="as it is"), "table": ["accuracy 0.600"]})[0] == 0


def test_tables_count_with_strict(compare):
    code, printed = compare({**BEFORE, "table": ["accuracy 0.600"]}, "--strict")
    assert code == 1
    assert "numbers of the table: from number 1 on, 0.500 became 0.600" in printed


def test_keys_may_be_renamed_put_deeper_left_out_and_put_in_another_order(compare):
    after = {
        "estimates": [{"metric": "x", "interval": {"estimate": {"value": 0.5, "count": 4}}}],
        "found": {"numbers": [3, 1, 2]},
        "note": "as it was",
        "seed": 0,
    }
    lines = """
    measurements -> estimates
    measurements.estimate -> estimates.interval.estimate
    one*: measurements.estimate.n -> estimates.interval.estimate.count  # a remark
    values ~> found.numbers
    -> seed
    """
    code, printed = compare({**BEFORE, "json": after}, renamed=lines)
    assert code == 0, printed


def test_a_line_without_an_arrow_is_refused(tmp_path):
    (tmp_path / "renamed.txt").write_text("values = numbers\n")
    with pytest.raises(ValueError, match="without an arrow"):
        goldens_numbers.read_renamed(tmp_path / "renamed.txt")


def test_the_made_up_data_are_the_same_bytes_in_another_process(tmp_path):
    program = "import sys, pathlib, goldens_world as w; w.make_world(pathlib.Path(sys.argv[1]))"
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / seed)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(goldens.__file__).parent)},
            check=True,
        )
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / seed).iterdir() if path.is_file()}
        for seed in ("1", "2")
    )
    assert one == other
