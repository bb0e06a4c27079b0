"""Commands of all jobs whose every number must stay what it is, on toys with exact arithmetic.

The commands of a chain in ``commands.txt`` run one after the other in one folder. Those of
``wrong.txt`` are refused, with an exit code and a first line that are kept.

Nothing in them depends on the processor. Kept are exit codes, numbers at six decimals and words
that are results, by their path in the JSON.
"""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from goldens_outcomes import parsed, results
from goldens_world import make_world

HERE = Path(__file__).parent
KEPT = HERE / "kept"


def named(lines):
    """The words of each command by its name."""
    parts = (line.partition(": ") for line in lines.splitlines())
    return {name: shlex.split(words) for name, _, words in parts}


CHAINS = [named(chain) for chain in (HERE / "commands.txt").read_text("utf-8").split("\n\n")]
WRONG = named((HERE / "wrong.txt").read_text("utf-8"))


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("goldens") / "world"
    folder.mkdir()
    make_world(folder)
    return folder


@pytest.fixture
def scope(command, made_up, tmp_path, without_pages):
    """Runs the command in a folder with the goldens' data."""
    shutil.copytree(made_up, tmp_path, dirs_exist_ok=True)
    return command


def kept(name, found):
    """What the file of a golden holds, after it was written anew if that is asked for."""
    path = KEPT / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        text = json.dumps(found, indent=0, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def outcome(scope, name, words):
    done = scope(*words)
    document = parsed(done.stdout)
    if document is None and words[0] != "report":
        document = parsed(scope("report", name, "--json-full").stdout)
    return {"exit": done.returncode, "results": results(document)}


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: next(iter(chain)))
def test_every_number_is_the_golden_one(scope, chain):
    for name, words in chain.items():
        found = outcome(scope, name, words)
        assert found == kept(name, found), (
            f"{name}: run `UPDATE_GOLDEN=1 pytest tests/goldens` if the change is meant"
        )


def test_wrong_inputs_end_with_the_same_exit_codes_and_first_words(scope):
    found = {}
    for name, words in WRONG.items():
        done = scope(*words)
        first = next((line for line in done.stderr.splitlines() if line.startswith("found:")), "")
        found[name] = [done.returncode, first]
    assert found == kept("wrong", found)
