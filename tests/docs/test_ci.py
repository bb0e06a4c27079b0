"""The workflow of `docs/how-to/ci.md`: its command runs as a runner's shell would run it."""

import os
import re
import subprocess
import textwrap
from xml.etree import ElementTree

from conftest import SCOPE, TESTS
from source.imports import ROOT

WORKFLOW = (
    (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8").partition("```yaml\n")[2]
).partition("```")[0]
MODELS = {"original": "Reference", "quantized": "Student", "reseeded": "Rival"}


def test_the_command_of_the_workflow_fails_the_job_and_leaves_summary_cases_and_report(
    sentences_csv, tmp_path
):
    (script,) = re.findall(r"run: \|\n((?: {10}.*\n)+)", WORKFLOW)
    for name, model in MODELS.items():
        script = script.replace(f"models/{name}", f"python:toy_models:{model}")
    # With its default capabilities the audit takes minutes.
    script = script.replace("--data reviews.csv", "--data reviews.csv --capability typo --n 8")
    (tmp_path / "reviews.csv").write_bytes(sentences_csv.read_bytes())
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", textwrap.dedent(script)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{SCOPE.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(TESTS),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## SCoPE audit: ")
    assert "A gate failed" in summary
    (suite,) = ElementTree.parse(tmp_path / "cases.xml").getroot()
    assert [len(case.findall("failure")) for case in suite] == [1]
    (kept,) = re.findall(r'path: "(runs.*?)" }', WORKFLOW)
    assert all((tmp_path / path).is_file() for path in kept.split(r"\n"))
