"""Every hostile case through the real command: a right exit code, a short message, no traceback.

Each runs in a process forked after the imports and before any computation. The fast run takes some
sixty, spread over the groups; `pytest -m slow tests/hostile` runs all.
"""

import importlib
import json
import zlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from hostile.running import patience, run_measured
from killing import FORKED, environment_in

GROUPS = [path.stem for path in sorted(Path(__file__).parent.glob("of_*.py"))]
CASES = [
    (group, case) for group in GROUPS for case in importlib.import_module(f"hostile.{group}").CASES
]
IN_THE_FAST_RUN = 60
LINES_OF_A_MESSAGE = 25
LETTERS_SHOWN = 3000


def _by_chance(item):
    group, case = item
    return zlib.crc32(f"{group} {case.name}".encode())


FAST = {id(case) for _, case in sorted(CASES, key=_by_chance)[:IN_THE_FAST_RUN]}


def _parameters():
    for group, case in CASES:
        marks = () if id(case) in FAST else (pytest.mark.slow,)
        yield pytest.param(case, id=f"{group.removeprefix('of_')}: {case.name}", marks=marks)


def test_no_two_cases_of_a_group_have_one_name():
    assert len({(group, case.name) for group, case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", list(_parameters()))
def test_the_command_answers_as_it_should(case, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    own = {"COLUMNS": "200", "TMPDIR": str(temporary), **case.environment}
    environment = environment_in(folder, own)
    with ExitStack() as stack:
        arguments = [str(argument) for argument in case.make(folder, stack)]
        seconds = patience(case.seconds)
        given = (arguments, folder, environment, case.before, seconds)
        process = FORKED.Process(target=run_measured, args=given)
        process.start()
        process.join(timeout=seconds + 60)
    ended = json.loads((tmp_path / "ended.json").read_text())
    out = (tmp_path / "stdout").read_text(encoding="utf-8", errors="replace")
    err = (tmp_path / "stderr").read_text(encoding="utf-8", errors="replace")
    said = f"{' '.join(arguments)}\n{out}\n{err}"[:LETTERS_SHOWN]
    assert ended["exit"] in case.exits, (ended, said)
    assert "Traceback" not in out + err, said
    if ended["exit"]:
        assert len(err.splitlines()) <= LINES_OF_A_MESSAGE, said
    for part in case.says:
        assert part in out + err, said
    for part in case.never:
        assert part not in out + err, said
    assert ended["megabytes"] <= case.megabytes, (ended, said)
    if case.after is not None:
        case.after(folder)
