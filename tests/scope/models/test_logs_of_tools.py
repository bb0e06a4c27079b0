"""Logs of Inspect, HELM and Every Eval Ever; the oracle is what the tool says of its own logs."""

import json
import zipfile

import pyarrow
import pytest
from made_up_logs import (
    OPTIONS,
    TARGETS,
    WRITERS,
    accuracy,
    answers,
    asked,
    eee_row,
    inspect_log,
    message,
    model_of,
    write_eee,
    write_helm,
    write_inspect,
)
from shared_data import shared_data

from capabilities.tasks import Generation
from scope.data.evaluation_logs import contents_of, log_specs
from scope.errors import ModelError
from scope.models.scheme import expand_spec


@pytest.mark.parametrize("scheme", WRITERS)
def test_choices_are_read_and_models_told_apart(tmp_path, scheme):
    write, data = WRITERS[scheme], f"{scheme}:{tmp_path}"
    write(tmp_path / "a", "org/a", "ABCCC")
    write(tmp_path / "b", "org/b", "AB?")
    (spec,) = log_specs(str(tmp_path))
    assert (spec.scheme, log_specs(data)[0]) == (scheme, spec)
    (task,) = contents_of(spec)
    assert [model.model for model in task.models] == ["org/a", "org/b"]
    assert (task.items, task.shared) == (5, 3)
    first, second = expand_spec(f"{data}#*")
    assert first == f"{data}/a#org/a"
    items = asked(data)
    assert [item.question.options for item in items] == [tuple(OPTIONS)] * 5
    assert [answer.choice for answer in answers(first, items)] == [0, 1, 2, 2, 2]
    assert [answer.choice for answer in answers(second, items[:3])] == [0, 1, None]
    assert next(iter(task.models[0].scores.values())) == accuracy(first) == 3 / 5
    with pytest.raises(ModelError, match="no answer to 2 of 5 items"):
        answers(second, items)


@pytest.mark.parametrize("scheme", WRITERS)
def test_generated_answers_are_right_where_the_tool_says_so(tmp_path, scheme):
    WRITERS[scheme](tmp_path / "a", "org/a", "ABxAC", options=False)
    items = asked(f"{scheme}:{tmp_path}", Generation())
    assert [item.gold for item in items] == [(letter,) for letter in TARGETS]
    assert [answer.text for answer in answers(f"{scheme}:{tmp_path}", items)] == list("ABxAC")


@pytest.mark.parametrize("scheme", WRITERS)
def test_damaged_logs_are_refused_by_name(tmp_path, scheme):
    WRITERS[scheme](tmp_path / "a", "org/a", "ABCCC")
    for path in sorted((tmp_path / "a").iterdir()):
        whole = path.read_text()
        for damaged in {whole[: len(whole) // 2], whole.replace('"input"', '"other"')} - {whole}:
            path.write_text(damaged)
            if path.suffix == ".jsonl" and damaged in whole:  # Its first lines can be read.
                assert len(asked(f"{scheme}:{tmp_path}/a")) == 2
            else:
                assert path.parent.name in message(accuracy, f"{scheme}:{tmp_path}/a")
        path.write_text(whole)


ZSTD = 93  # What Inspect writes since 2026, and `zipfile` cannot.


def archive(path, log, method=zipfile.ZIP_DEFLATED, more=()):
    """The `.eval` of a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {key: value for key, value in log.items() if key != "samples"}
    samples = [(f"samples/{one['id']}_epoch_{one['epoch']}.json", one) for one in log["samples"]]
    with zipfile.ZipFile(path, "w", 0 if method == ZSTD else method) as file:
        for name, content in [("header.json", header), *samples, *more]:
            text = json.dumps(content).encode()
            packed = pyarrow.compress(text, "zstd", asbytes=True) if method == ZSTD else text
            file.writestr(name, packed)
            if method == ZSTD:
                file.filelist[-1].compress_type, file.filelist[-1].file_size = ZSTD, len(text)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, ZSTD])
def test_archives_of_inspect_are_read_as_its_json(tmp_path, method):
    write_inspect(tmp_path / "json", "org/a", "ABC?C")
    outside = ("samples/../../../../out_of_the_archive.json", {"scores": None})
    archive(tmp_path / "log.eval", inspect_log("org/a", "ABC?C"), method, more=[outside])
    items = asked(f"inspect:{tmp_path}/json")
    assert asked(f"inspect:{tmp_path}/log.eval") == items
    choices = [answer.choice for answer in answers(f"inspect:{tmp_path}/log.eval", items)]
    assert choices == [0, 1, 2, None, 2]
    assert not list(tmp_path.parent.rglob("out_of_the_archive.json"))


def test_epochs_are_apart(tmp_path):
    log = inspect_log("org/a", "ABCCC")
    log["eval"]["config"] = {"epochs": 2}
    log["samples"] += [one | {"epoch": 2} for one in inspect_log("org/a", "ACCCC")["samples"]]
    archive(tmp_path / "log.eval", log)
    assert "filter choice-epoch1" in message(asked, f"inspect:{tmp_path}")
    for epoch, right in ((1, 3), (2, 2)):
        data = f"inspect:{tmp_path}?filter=choice-epoch{epoch}"
        assert accuracy(f"inspect:{tmp_path}", data) == right / 5


def changed(path, log):
    content = bytearray(path.read_bytes())
    content[70:74] = b"\0\1\2\3"
    path.write_bytes(content)


HOSTILE = {
    "cut off": lambda path, log: path.write_bytes(path.read_bytes()[:-200]),
    "changed": changed,
    "no header": lambda path, log: archive(path, {"samples": log["samples"]}),
    "bomb": lambda path, log: archive(path, log, more=[("samples/x.json", "0" * (1 << 26))]),
    "nested": lambda path, log: path.write_bytes(b"[" * 100_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused_in_one_message(tmp_path, name):
    log, path = inspect_log("org/a", "ABCCC"), tmp_path / "log.eval"
    archive(path, log)
    HOSTILE[name](path, log)
    assert str(path) in message(model_of, f"inspect:{path}")


def test_splits_of_helm_are_filters_and_other_adapters_are_not_read(tmp_path):
    write_helm(tmp_path / "a", "org/a", "ABCCC")
    write_helm(tmp_path / "b", "org/a", "CBC", split="valid")
    assert "filter test" in message(asked, f"helm:{tmp_path}")
    assert accuracy(f"helm:{tmp_path}", f"helm:{tmp_path}?filter=valid") == 2 / 3
    run = tmp_path / "a" / "run_spec.json"
    run.write_text(run.read_text().replace("choice_joint", "choice_separate_original"))
    assert "no samples of colours" in message(asked, f"helm:{tmp_path}/a")


def test_rows_of_every_eval_ever_follow_its_library(tmp_path):
    numbered = [
        eee_row("m", place, "blue", options=OPTIONS[:2], right=bool(place)) for place in range(2)
    ]
    for place, row in enumerate(numbered):
        row["input"]["reference"] = [str(place)]
    write_eee(tmp_path / "numbers", "m", "", library="lm_eval", rows=numbered)
    assert accuracy(f"eee:{tmp_path}/numbers") == 1 / 2
    scored = [
        eee_row("m", place, "A", evaluation_result_id=f"colours/m/1:{metric}", right=metric == "f1")
        for place in range(2)
        for metric in ("exact", "f1")
    ]
    write_eee(tmp_path / "metrics", "m", "", rows=scored)
    assert "filter exact" in message(asked, f"eee:{tmp_path}/metrics")
    listed = {"raw": "?", "reference": ["A", "a"], "choices": ["A", "a"]}
    write_eee(tmp_path / "references", "m", "", rows=[eee_row("m", 0, "A", input=listed)])
    (item,) = asked(f"eee:{tmp_path}/references", Generation())
    assert item.gold == ("A", "a")


def test_made_up_rows_fit_the_schema_of_every_eval_ever():
    path = shared_data("eval_logs/every_eval_ever_instance_level_eval.schema.json")
    jsonschema = pytest.importorskip("jsonschema")
    for options in (OPTIONS, None):
        jsonschema.validate(eee_row("org/a", 0, "A", options=options), json.loads(path.read_text()))


def test_real_logs_of_inspect_give_its_results():
    path = shared_data("eval_logs/inspect/data_arc_qwen.json")
    (score,) = json.loads(path.read_text())["results"]["scores"]
    assert accuracy(f"inspect:{path}") == score["metrics"]["accuracy"]["value"]


def test_real_logs_of_helm_give_its_results():
    (folder,) = shared_data("eval_logs/helm").glob("mmlu*")
    for stat in json.loads((folder / "stats.json").read_text()):
        if stat["name"]["name"] == "exact_match" and "perturbation" not in stat["name"]:
            data = f"helm:{folder}?filter={stat['name']['split']}"
            assert accuracy(f"helm:{folder}", data) == stat["mean"]
