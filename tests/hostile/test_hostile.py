"""Every hostile case through the real command: a right exit code, a short message, no traceback.

The fast run takes three cases of each group; ``pytest -m slow tests/hostile`` runs the rest.
"""

import importlib
import zlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from hostile.running import patience, run_to_end

GROUPS = {
    path.stem: {
        f"{path.stem.removeprefix('of_')}: {case.name}": case
        for case in importlib.import_module(f"hostile.{path.stem}").CASES
    }
    for path in sorted(Path(__file__).parent.glob("of_*.py"))
}
CASES = {name: case for cases in GROUPS.values() for name, case in cases.items()}
FAST = {
    name
    for cases in GROUPS.values()
    for name in sorted(cases, key=lambda name: (cases[name].costly, zlib.crc32(name.encode())))[:3]
}
LINES_OF_A_MESSAGE = 25
LETTERS_SHOWN = 3000


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FAST else (pytest.mark.slow,)) for name in CASES],
)
def test_the_command_answers_as_it_should(name, tmp_path):
    case = CASES[name]
    folder, temporary = tmp_path / "work", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    environment = {"COLUMNS": "200", "TMPDIR": str(temporary), **case.environment}
    with ExitStack() as stack:
        arguments = [str(argument) for argument in case.make(folder, stack)]
        ended = run_to_end(arguments, folder, environment, case.before, patience(case.seconds))
    printed = ended.out + ended.err
    shown = f"{ended.exit} {ended.megabytes} {' '.join(arguments)}\n{printed}"[:LETTERS_SHOWN]
    assert ended.exit in case.exits, shown
    assert "Traceback" not in printed, shown
    if ended.exit:
        assert len(ended.err.splitlines()) <= LINES_OF_A_MESSAGE, shown
    for part in case.says:
        assert part in printed, shown
    for part in case.never:
        assert part not in printed, shown
    assert ended.megabytes <= case.megabytes, shown
    if case.after is not None:
        case.after(folder)
