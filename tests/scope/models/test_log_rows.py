"""One bad row of a log costs one item."""

import json
import os
import zipfile
from pathlib import Path

import pytest
from made_up_logs import (
    WRITERS,
    answers,
    asked,
    choice_sample,
    generated_samples,
    inspect_log,
    message,
    write_log,
)

from capabilities.tasks import Choice, Generation
from scope.data.evaluation_logs import contents_of, log_specs
from scope.data.log_items import GENERATED


def write_choices(folder, model, letters):
    docs = [{"question": f"{n}?", "choices": ["a", "b", "c"], "gold": 0} for n in range(3)]
    values = [[-1 if place == ord(letter) - 65 else -9 for place in range(3)] for letter in letters]
    write_log(folder, model, {"t": list(map(choice_sample, range(3), docs, values))})


def write_generated(folder, model, letters):
    docs = [{"question": f"{letter}?", "target": letter} for letter in letters]
    samples = generated_samples(docs, [*letters[:2], "x"])
    write_log(folder, model, {"t": samples}, kind=GENERATED)


TOOLS = WRITERS | {"lm": write_choices, "gen": write_generated}
"""Of three items the first has the row of all cases; the answers are 0, 1, 1, or A, B, x."""

CASES = Path(__file__).with_name("log_rows.txt").read_text(encoding="utf-8").splitlines()[1:]


def written_log(folder, tool, model="m"):
    """The file with the rows of a log, and the scheme that reads it."""
    TOOLS[tool](folder, model, "ABB")
    names = ("samples*", "log.json", "scenario_state.json", "u.jsonl")
    (path,) = (path for name in names for path in folder.glob(name))
    return path, tool if tool in WRITERS else "lm-eval"


def change(path, statement):
    """Change the rows of a log, or the head that is in a file beside it or with the rows."""
    lines, text = path.suffix == ".jsonl", path.read_text()
    content = [*map(json.loads, text.splitlines())] if lines else json.loads(text)
    rows = content if lines else content.get("samples") or content["request_states"]
    heads = list(path.parent.glob("[ru]*.json"))
    head = json.loads(heads[0].read_text()) if heads else content
    exec(statement, {"rows": rows, "row": rows[0], "head": head})
    for file in heads:
        file.write_text(json.dumps(head))
    written = "".join(f"{json.dumps(row)}\n" for row in rows) if lines else json.dumps(content)
    path.write_text(written)


def shown(answer):
    if answer.missing:
        return f"({answer.missing}{': ' * bool(answer.reply)}{answer.reply})"
    value = answer.text if answer.choice is None else str(answer.choice)
    return value if answer.score is None else f"{value}={answer.score}"


@pytest.mark.parametrize("case", CASES)
def test_a_bad_row_costs_one_item(tmp_path, case):
    tool, statement, expected, reason = (*map(str.strip, f"{case} ".split(" | ")), "")[:4]
    path, scheme = written_log(tmp_path / "log", tool.removeprefix("other "))
    change(path, statement)
    spec = data = f"{scheme}:{tmp_path}/log"
    if tool.startswith("other "):
        data = f"{scheme}:{tmp_path}/other"
        written_log(tmp_path / "other", tool.removeprefix("other "), "other")
    task = Generation() if tool.endswith("gen") else Choice()
    if expected.startswith("error: "):
        words = message(lambda: answers(spec, asked(data, task)))
        assert all(part in words for part in expected.removeprefix("error: ").split(" & "))
        return
    loaded = task.load(data, n=None, seed=0)
    given, left_out = answers(spec, loaded.items), loaded.card.left_out
    assert " ".join(map(shown, given)).replace(f"{tmp_path}/", "") == expected
    assert [part.count for part in left_out] == [1] * bool(reason)
    assert all(reason in part.reason and "1 of" in part.examples[0] for part in left_out)


def killed(path):
    """An archive whose run was killed: no header, one sample in parts, and ids with slashes."""
    log = inspect_log("m", "ABB")
    first, *others = log.pop("samples")
    parts = {f"samples/x/{sample['id']}_epoch_1.json": sample for sample in others}
    parts["samples/x/0_epoch_1/messages/0.json"] = first.pop("messages")
    parts |= {"_journal/start.json": log, "samples/x/0_epoch_1/sample.json": first}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, json.dumps(content))


def listed(path):
    rows = path.read_text().splitlines()
    path.write_text("[" + ",\n".join(rows) + "]")


def older_run(path):
    for file in list(path.parent.iterdir()):
        older = file.with_name(file.name.replace("2026", "2025"))
        older.write_text(file.read_text().replace("-1", "-2"))


def pipes(path):
    for name in ("a.eval", "a.json"):
        os.mkfifo(path.parent / name)


def foreign(path):
    (results,) = path.parent.glob("results*")
    results.rename(results.with_name("results_2027-01-01T10-00-00.0.json"))


FILES = {
    "inspect manifest": lambda log: (log.parent / "logs.json").write_text('{"x": {"run_id": 1}}'),
    "inspect killed": lambda log: (killed(log.with_suffix(".eval")), log.unlink()),
    "inspect pipes": pipes,
    "inspect damaged": lambda log: log.with_name("a.eval").write_bytes(b"PK"),
    "lm list": listed,
    "lm device": lambda log: (log.parent / "samples_u.jsonl").symlink_to("/dev/zero"),
    "lm newer run": older_run,
    "lm foreign results": foreign,
    "lm alone": lambda log: next(log.parent.glob("results*")).unlink(),
    "eee list": listed,
    "eee pipe": lambda log: os.mkfifo(log.parent / "b.json"),
    "helm pipe": lambda log: os.mkfifo(log.parent / "stats.json"),
}
"""Other forms of the same logs, and files beside them that are none."""


@pytest.mark.parametrize("name", FILES)
def test_files_of_many_forms_are_read_and_others_left_alone(tmp_path, name):
    path, scheme = written_log(tmp_path / "log", name.split()[0])
    FILES[name](path)
    spec = f"{scheme}:{tmp_path}"
    assert [answer.choice for answer in answers(spec, asked(spec))] == [0, 1, 1]
    assert contents_of(*log_specs(str(tmp_path)))[0].items == 3


def test_targets_that_are_no_answers_are_left_out(tmp_path):
    path, _ = written_log(tmp_path, "gen")
    change(path, "for each in rows: each['target'], each['exact_match'] = '0', 1.0")
    items = asked(f"lm-eval:{tmp_path}?correct_above=0.5", Generation())
    assert [item.gold for item in items] == [()] * 3
    assert {answer.score for answer in answers(f"lm-eval:{tmp_path}", items)} == {1.0}
