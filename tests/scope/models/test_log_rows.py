"""One bad row of a log costs one item."""

import json
import os
import zipfile
from pathlib import Path

import pytest
from made_up_logs import WRITERS, choice_sample, generated_samples, inspect_log, write_log

from capabilities.choice import Choice
from capabilities.generation import Generation
from scope.data.logs.finding import contents_of, log_specs
from scope.data.logs.items import GENERATED
from scope.errors import ScopeError
from scope.models.logs import load
from scope.models.options import ModelOptions


def write_choices(folder, model, letters):
    docs = [{"question": f"{n}?", "choices": ["a", "b", "c"], "gold": 0} for n in range(3)]
    values = [[-1 if place == ord(letter) - 65 else -9 for place in range(3)] for letter in letters]
    write_log(folder, model, {"t": list(map(choice_sample, range(3), docs, values))})


def write_generated(folder, model, letters):
    docs = [{"question": f"{letter}?", "target": letter} for letter in letters]
    samples = generated_samples(docs, [*letters[:2], "x"])
    write_log(folder, model, {"t": samples}, kind="generate_until")


TOOLS = WRITERS | {"lm": write_choices, "gen": write_generated}
"""Of three items the first has the row of all cases; the answers are 0, 1, 1, or A, B, x."""

KINDS = {"gen": Generation()}
CASES = Path(__file__).with_name("log_rows.txt").read_text(encoding="utf-8").splitlines()[1:]
"""What is done to the first row of a log, the answers, and the reason why a row is left out."""


def written_log(folder, tool):
    """The file with the rows of a log."""
    TOOLS[tool](folder, "m", "ABB")
    names = ("samples*", "log.json", "scenario_state.json", "u.jsonl")
    (path,) = (path for name in names for path in folder.glob(name))
    return path


def change(path, statement):
    lines, text = path.suffix == ".jsonl", path.read_text()
    content = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    rows = content if lines else content.get("samples") or content["request_states"]
    exec(statement, {"rows": rows, "row": rows[0]})
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
    change(written_log(tmp_path / "log", tool), statement)
    scheme, task = tool if tool in WRITERS else "lm-eval", KINDS.get(tool, Choice())
    if expected.startswith("two"):
        with pytest.raises(ScopeError, match=expected):
            load(scheme, str(tmp_path), ModelOptions())
        return
    data = task.load(f"{scheme}:{tmp_path}", n=None, seed=0)
    model = load(scheme, str(tmp_path), ModelOptions())
    questions = [item.question for item in data.items]
    answers = (model.answer if tool == "gen" else model.choose)(questions)
    assert " ".join(shown(answer) for _, answer in answers) == expected
    assert [part.count for part in data.card.left_out] == [1] * bool(reason)
    assert all(reason in part.reason and "1 of" in part.examples[0] for part in data.card.left_out)


def killed(path):
    """An archive whose run was killed: no header, and one sample in parts."""
    log = inspect_log("m", "ABB")
    first, *others = log.pop("samples")
    parts = {f"samples/{sample['id']}_epoch_1.json": sample for sample in others}
    parts["samples/0_epoch_1/messages/0.json"] = first.pop("messages")
    parts |= {"_journal/start.json": log, "samples/0_epoch_1/sample.json": first}
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


FILES = {
    "inspect manifest": lambda log: (log.parent / "logs.json").write_text('{"x": {"run_id": 1}}'),
    "inspect killed": lambda log: (killed(log.with_suffix(".eval")), log.unlink()),
    "inspect pipes": pipes,
    "lm list": listed,
    "lm device": lambda log: (log.parent / "samples_u.jsonl").symlink_to("/dev/zero"),
    "lm newer run": older_run,
    "lm alone": lambda log: next(log.parent.glob("results*")).unlink(),
    "eee list": listed,
    "eee pipe": lambda log: os.mkfifo(log.parent / "b.json"),
    "helm pipe": lambda log: os.mkfifo(log.parent / "stats.json"),
}
"""Other forms of the same logs, and files beside them that are none."""


@pytest.mark.parametrize("name", FILES)
def test_files_of_many_forms_are_read_and_others_left_alone(tmp_path, name):
    tool = name.split()[0]
    path = written_log(tmp_path / "log", tool)
    FILES[name](path)
    scheme = tool if tool in WRITERS else "lm-eval"
    model = load(scheme, str(tmp_path), ModelOptions())
    data = Choice().load(f"{scheme}:{tmp_path}", n=None, seed=0)
    answers = model.choose([item.question for item in data.items])
    assert [answer.choice for _, answer in answers] == [0, 1, 1]
    assert contents_of(*log_specs(str(tmp_path)))[0].items == 3


def test_targets_that_are_no_answers_are_left_out(tmp_path):
    docs = [{"question": f"Write about {n}.", "target": "0"} for n in range(3)]
    samples = generated_samples(docs, ["Roses", "Violets", "Sugar"])
    write_log(tmp_path, "m", {"t": [s | {"exact_match": 1.0} for s in samples]}, kind=GENERATED)
    data = Generation().load(f"lm-eval:{tmp_path}?correct_above=0.5", n=None, seed=0)
    assert [item.gold for item in data.items] == [()] * 3
    answers = load("lm-eval", str(tmp_path), ModelOptions()).answer(
        [i.question for i in data.items]
    )
    assert {answer.score for _, answer in answers} == {1.0}


def test_a_bad_row_of_one_model_is_no_answer_of_the_other(tmp_path):
    paths = [written_log(tmp_path / model, "lm") for model in "ab"]
    change(paths[1], "row['acc_norm'] = float('nan'); rows[1] = 7")
    data = Choice().load(f"lm-eval:{tmp_path}/a", n=None, seed=0)
    answers = load("lm-eval", str(tmp_path / "b"), ModelOptions()).choose(
        [item.question for item in data.items]
    )
    assert [(answer.asked, answer.choice) for _, answer in answers] == [
        (False, None),
        (False, None),
        (True, 1),
    ]
