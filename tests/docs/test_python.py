"""The scripts of `docs/how-to/python.md`, one a job in ten lines, with all kinds of data."""

import json
import re
from pathlib import Path

import datasets
import pandas as pd
import pytest
from source.imports import ROOT

PAGE = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
MODELS = PAGE.partition("```python\n")[2].partition("```")[0]
SCRIPTS = dict(re.findall(r"^(\w+):\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))


def test_every_job_has_a_script():
    assert list(SCRIPTS) == ["Audit", "Compare", "Reuse", "Probe", "Fleet"]


def kinds_of_data(given):
    """The same data in every form that the page names, texts in every type of pandas."""
    if isinstance(given, list):
        row, names = given[0], {2: ["text", "label"], 3: ["sentence1", "sentence2", "score"]}
        alone = isinstance(row, str)
        columns = ["text"] if alone else [*row] if isinstance(row, dict) else names[len(row)]
        given = pd.DataFrame(given, columns=columns)
        yield "dicts", given.to_dict("records")
    rows = given.to_dict("records")
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    yield from {"a spec": "rows.jsonl", "a path": Path("rows.jsonl")}.items()
    yield "a Dataset", datasets.Dataset.from_list(rows)
    texts = [name for name in given if isinstance(given[name][0], str)]
    for kind in ("object", "str", "string", "category"):
        frame = given.astype(dict.fromkeys(texts, kind))
        yield f"a DataFrame of {kind}", frame
        if list(frame) == ["text"]:
            yield f"a Series of {kind}", frame.text
            yield f"an array of {kind}", frame.text.to_numpy()


@pytest.mark.parametrize(
    "job",
    [
        job if job in ("Compare", "Fleet") else pytest.param(job, marks=pytest.mark.slow)
        for job in SCRIPTS
    ],
)
def test_the_script_of_a_job_runs_and_any_kind_of_data_continues_it(
    job, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(MODELS, known)
    exec(SCRIPTS[job], known)
    assert known["result"].folder.joinpath("report.html").stat().st_size > 10_000
    # The runs that follow are compared by their folders alone, which a hash of the data names.
    monkeypatch.setattr("scope.records.Result.html", lambda _: "")
    assert capsys.readouterr().out.strip()
    assert len([line for line in SCRIPTS[job].splitlines() if line]) <= 10
    assert repr(known["result"]).count("\n") == 0
    (name,) = re.findall(r"(?<=data=|rain=)[^,)]+", SCRIPTS[job])
    few = {"Audit": 12, "Reuse": 60}.get(job)
    script = SCRIPTS[job].replace("range(3, 25)", "range(3, 6)")
    some = eval(name, known)[:few]
    runs = {}
    for kind, given in [("as the page has it", some), *kinds_of_data(some)]:
        again = {**known, "given": given}
        exec(script.replace(f"={name}", "=given"), again)
        runs[kind] = again["result"].folder
    assert len(set(runs.values())) == 1, runs
