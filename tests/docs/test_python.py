"""The scripts of `docs/how-to/python.md`, one a job, run as they stand in at most ten lines."""

import re

import pytest
from source.imports import ROOT

PAGE = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
MODELS = PAGE.partition("```python\n")[2].partition("```")[0]
SCRIPTS = dict(re.findall(r"^(\w+):\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))


def test_every_job_has_a_script():
    assert list(SCRIPTS) == ["Audit", "Compare", "Reuse", "Probe", "Fleet"]


@pytest.mark.parametrize("job", SCRIPTS)
def test_the_script_of_a_job_runs(job, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(MODELS, known)
    exec(SCRIPTS[job], known)
    assert capsys.readouterr().out.strip()
    assert len([line for line in SCRIPTS[job].splitlines() if line]) <= 10
    assert repr(known["result"]).count("\n") == 0
    assert next((tmp_path / "runs").iterdir()).joinpath("report.html").exists()
