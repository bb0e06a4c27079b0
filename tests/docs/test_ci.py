"""The workflow of `docs/how-to/ci.md`: its command fails a job and leaves what the job keeps."""

import re
import shlex
from xml.etree import ElementTree

from source.imports import ROOT

WORKFLOW = (
    (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8").partition("```yaml\n")[2]
).partition("```")[0]
MODELS = {"original": "Reference", "quantized": "Student", "reseeded": "Rival"}


def test_the_command_of_the_workflow_fails_the_job_and_leaves_summary_cases_and_report(
    command, sentences_csv, tmp_path
):
    (script,) = re.findall(r"run: \|\n((?: {10}.*\n)+)", WORKFLOW)
    for name, model in MODELS.items():
        script = script.replace(f"models/{name}", f"python:toy_models:{model}")
    program, *words, into, summary = shlex.split(script.replace("\\\n", " "))
    assert (program, into, summary) == ("scope", ">>", "$GITHUB_STEP_SUMMARY")
    (tmp_path / "reviews.csv").write_bytes(sentences_csv.read_bytes())
    # With its default capabilities the audit takes minutes.
    done = command(*words, "--capability", "typo", "--n", 8)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("## SCoPE audit: ")
    assert "A gate failed" in done.stdout
    (suite,) = ElementTree.parse(tmp_path / "cases.xml").getroot()
    assert [len(case.findall("failure")) for case in suite] == [1]
    (kept,) = re.findall(r'path: "(runs.*?)" }', WORKFLOW)
    assert all((tmp_path / path).is_file() for path in kept.split(r"\n"))
