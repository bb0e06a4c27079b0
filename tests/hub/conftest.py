"""A hub on loopback, and a process that knows no other: its children begin behind the imports."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import TESTS, Done
from hub.server import hub_environment, serve
from hub.tiny import write_tiny_data, write_tiny_model

# Where the hub is, is read at import: no process that began before can be told.
CHILDREN = """
import json, os, sys
import imported_already, capabilities.tasks, datasets
for line in sys.stdin:
    folder, program, arguments = json.loads(line)
    child = os.fork()
    if not child:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.chdir(folder)
        sys.argv = ["scope", *arguments]
        code = 0
        try:
            exec(program, {})
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True)
class Hub:
    """``root`` holds what the hub has, ``home`` what was downloaded."""

    root: Path
    home: Path
    url: str
    children: subprocess.Popen[str]

    def run(self, folder, program, *arguments):
        """Run a program in a folder; what a shell would see of it."""
        self.children.stdin.write(json.dumps([str(folder), program, arguments]) + "\n")
        self.children.stdin.flush()
        code = int(self.children.stdout.readline())
        return Done(code, *((folder / name).read_text() for name in ("stdout", "stderr")))

    def told(self, folder, program, *arguments):
        """The JSON that a program prints, which must end well."""
        done = self.run(folder, program, *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def compared_logs(run_scope, tmp_path):
    """The models that a comparison by logs of the hub in ``hub`` lists."""

    def run(*specs):
        with serve(tmp_path / "hub") as url:
            done = run_scope(
                *("compare", *(word for spec in specs for word in ("--model", spec))),
                *("--task", "choice", "--json-full"),
                environment={**hub_environment(url, tmp_path / "home"), "PYTHONPATH": ""},
            )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["manifest"]["models"]

    return run


@pytest.fixture(scope="session")
def hub(tmp_path_factory):
    root, home = (tmp_path_factory.mktemp(name) for name in ("hub", "home"))
    write_tiny_model(root / "models" / "tiny" / "model")
    write_tiny_data(root / "datasets" / "tiny" / "data")
    with (
        serve(root) as url,
        subprocess.Popen(
            [sys.executable, "-c", CHILDREN],
            env={**hub_environment(url, home), "PYTHONPATH": str(TESTS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as children,
    ):
        yield Hub(root, home, url, children)
        children.stdin.close()
