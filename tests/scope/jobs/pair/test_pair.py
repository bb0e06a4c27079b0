"""One report on a pair of models: it runs what fits, and says first what the verdicts allow."""

import json
import random
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from toy_models import OtherLabels, Reference, Stranger
from toy_writers import ROWS, Writer

import scope
from reports.blocks import Fold, Paragraph, SmallStrip, Table
from reports.estimates import SIGNS
from reports.prose import plain, written
from reports.wording import points
from scope.errors import DataError, SpecError
from scope.jobs.gates import ReplacementGates
from scope.jobs.pages import load_result, model_card_of, page_of, report
from scope.jobs.pair import run as pair_run
from scope.jobs.pair.page import findings
from scope.jobs.pair.request import PairRequest
from scope.jobs.reuse.page import page as reuse_page
from scope.metrics.agreement import capa_discrete
from scope.serialization import from_json, to_json

TASKS = ("choice", "extractive_qa", "generation", "cloze")
QUICK = {"n": 20, "n_search": 20, "n_unchanged": 200}


class Copy(Reference):
    name = "copy"
    scale = 1.45


class Seed(Reference):
    name = "seed"
    scale = 1.55


@pytest.fixture(scope="module")
def pair_once(tmp_path_factory, labelled_texts):
    texts = labelled_texts(200)

    def run(*models, **options):
        runs = tmp_path_factory.mktemp("runs")
        asked = {"data": texts, "capabilities": ["typo"], "runs": runs}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("scope.records.Result.html", lambda _: "")
            return scope.pair(*models, **asked | options)

    return run


@pytest.fixture
def pair(pair_once, labelled_texts, tmp_path):
    """The same on fewer texts, in a folder that is the test's own."""
    return partial(pair_once, data=labelled_texts(60), n=8, runs=tmp_path)


@pytest.fixture(scope="module")
def found(pair_once):
    """The reference and a copy, measured against a third of the same kind."""
    return pair_once(Reference(), Copy(), baseline=Seed(), n=100, run="mine")


@pytest.fixture(scope="module")
def few(pair_once):
    """The same with few changed texts."""
    return pair_once(Reference(), Copy(), baseline=Seed(), n=20, run="few")


@pytest.fixture(scope="module")
def stranger(pair_once):
    return pair_once(Reference(), Stranger(), n=20, run="stranger")


@pytest.fixture
def answers(tmp_path, choices):
    """Questions, and the answers of two models in files."""
    draw = random.Random(1)
    files = [tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"]
    for path in files:
        rows = ({"id": str(place), "answer": draw.randrange(3)} for place in range(30))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"data": choices(30), "models": [f"predictions:{path}" for path in files]}


def test_every_number_is_that_of_the_parts_own_command(
    few, bare, labelled_texts, tmp_path, without_pages
):
    own = scope.audit(
        reference=Reference(),
        targets=[Copy()],
        baseline=Seed(),
        data=labelled_texts(200),
        capabilities=["typo"],
        **QUICK,
        runs=tmp_path,
    )
    kept = load_result("few-audit-2-for-1", runs=few.folder.parent)
    assert bare(kept) == bare(few.audits[0])
    assert own.measurements == few.audits[0].measurements
    assert own.verdicts == few.audits[0].verdicts


def first_sentence(result):
    return plain(page_of(result).brief[0].text)


def test_the_first_sentence_says_what_the_verdict_allows(found, few, stranger):
    assert first_sentence(found) == "✓ copy may replace Reference"
    assert first_sentence(stranger) == "✗ Stranger may not replace Reference"
    assert first_sentence(few) == "? It is too early to say whether copy may replace Reference"
    titles = [plain(block.title) for block in page_of(few).blocks() if isinstance(block, Fold)]
    assert "? It is too early to say whether Reference may replace copy" in titles


def test_the_tables_have_the_numbers_of_each_direction(found):
    tables = [block for block in page_of(found).brief if isinstance(block, Table)]
    (numbers,) = tables
    for audit, row in zip(found.audits, numbers.rows[1:], strict=True):
        (verdict,) = audit.verdicts
        (gap,) = (end.estimate for end in verdict.endpoints if end.name == "accuracy")
        assert verdict.target in plain(written(row.cells[0]))
        assert plain(written(row.cells[1])).split()[0] == points(gap.value)
    strips = [
        cell
        for block in page_of(found).blocks()
        if isinstance(block, Table)
        for row in block.rows
        for cell in row.cells
        if isinstance(cell, SmallStrip) and cell.label.lower().startswith("accuracy:")
    ]
    shown = [strip.estimate for strip in strips]
    ends = [end for audit in found.audits for end in audit.verdicts[0].endpoints]
    assert [end.estimate for end in ends if end.name == "accuracy"] == shown[:2]


def test_a_gate_judges_what_takes_the_place_of_the_first_model_alone(found):
    gate = ReplacementGates(fail_on="not-shown")
    assert gate.judged(None, found) == {"copy in place of Reference": ()}
    back = replace(found, audits=found.audits[1:])
    assert gate.judged(None, back) == {"--fail-on": ("no verdict was reached",)}
    assert ReplacementGates().judged(None, back) == {}


def test_a_model_that_cannot_be_a_reference_costs_that_direction_alone(stranger):
    assert len(stranger.audits) == 1
    (back,) = [one for one in stranger.not_run if "Reference in place of Stranger" in one.part]
    assert "the reference `Stranger` is degenerate" in back.reason


def test_two_files_of_answers_are_compared_on_all_questions(answers, tmp_path, without_pages):
    result = scope.pair(*answers["models"], data=answers["data"], runs=tmp_path / "runs")
    own = scope.compare(
        models=answers["models"], tasks="choice", data=answers["data"], runs=tmp_path / "own"
    )
    (comparison,) = result.comparisons
    assert comparison.measurements == own.measurements
    assert not result.audits
    assert not [*findings(result)]  # the heading says it
    assert "ours.jsonl" in first_sentence(result)
    assert {"capability", "value"} <= set(result.to_frame().columns)
    assert len(result.to_frame("examples")) == 60
    assert "audit of theirs.jsonl in place of ours.jsonl" in [one.part for one in result.not_run]
    saved = (None, "its answers are saved")
    assert [(one.seconds, one.reason) for one in result.facts] == [saved] * 2
    assert "Unknown of ours.jsonl: its answers are saved." in result.to_markdown(verbose=True)


def test_a_run_that_was_interrupted_goes_on_and_asks_nothing_twice(pair, asked, monkeypatch):
    models = ("python:toy_models:Reference", "python:toy_models:Student")
    left = [pair_run.run_job] * 2  # of the pair, and of its first part

    def run_job(*given):
        if not left:
            raise KeyboardInterrupt
        return left.pop()(*given)

    with monkeypatch.context() as patched:
        patched.setattr(pair_run, "run_job", run_job)
        with pytest.raises(KeyboardInterrupt):
            pair(*models, run="mine")
    before = len(asked)
    result = pair(*models, run="mine")
    first = load_result("mine-audit-2-for-1", runs=result.folder.parent)
    assert result.clock.asked_again == first.clock.asked_again == 16
    asked.clear()
    again = pair(*models, run="mine")
    assert to_json(again, clock=False) == to_json(result, clock=False)
    assert len(asked) == again.clock.asked_again == 32 < before


def test_the_result_reads_back_and_its_page_is_made_again_and_says_what_did_not_run(few, tmp_path):
    assert load_result("few", runs=few.folder.parent) == few
    assert from_json(few.to_json()) == replace(few, folder=None)
    html = few.html()
    assert report("few", runs=few.folder.parent).read_text(encoding="utf-8") == html
    assert few.to_html(tmp_path / "a new folder" / "page.html").read_text("utf-8") == html
    assert [left_out.part for left_out in few.not_run] == [
        *(f"comparison of answers to {task}" for task in TASKS),
        "similarity of the layers of Reference and copy",
    ]
    assert all(left_out.reason and left_out.reason in html for left_out in few.not_run)
    assert "not run: comparison of answers to choice and 4 more" in str(few)


def test_likeness_of_labels_is_that_of_a_comparison_of_choices(found):
    capa, errors = found.similarities
    assert (capa.metric, errors.metric) == ("capa_discrete", "error_consistency")
    first, second, right = [], [], []
    for one in found.audits[0].examples:
        first.append(one.reference.label)
        second.append(one.targets[0].label)
        right.append(Reference.labels.index(one.example.label))
    expected = capa_discrete(first, second, right, [2] * len(right))
    # Both are always right, and chance alone would agree everywhere.
    assert getattr(capa.estimate, "value", None) == expected.value
    assert capa.estimate.n == len(right)
    assert {"capa_discrete", "error_consistency"} <= set(found.to_frame()["metric"])


class Layers:
    """Two layers: the beginning of a text in letters, and its length; or the other way round."""

    precision = "float32"

    def __init__(self, model, options):
        self.spec, self._step = model.spec, -1 if "copy" in model.spec else 1
        self.fingerprint = f"layers-{self._step}"

    def latents(self, texts):
        letters = [[[ord(one) for one in text[:4]], [len(text), 0, 0, 0]] for text in texts]
        return np.array(letters)[:, :: self._step]

    def truncated(self, texts):
        return [False] * len(texts)


def test_layers_of_models_that_show_them_are_compared_without_scored_pairs(pair, monkeypatch):
    monkeypatch.setattr("scope.jobs.pair.run.load_latent_reader", Layers)
    result = pair(Reference(), Copy(), n=20)
    (found,) = result.alignments
    assert (found.first, found.second, found.sentences) == ("Reference", "copy", 20)
    assert (found.values[0][1], found.values[1][0]) == pytest.approx((1.0, 1.0))
    layers = "most similar layers are 0 of **Reference** and 1 of **copy**"
    assert layers in result.to_markdown(verbose=True)
    assert not any(one.job == "probe" for one in result.not_run)


def test_the_terminal_takes_at_most_20_lines(few, command):
    done = command("report", few.folder, environment={"COLUMNS": "80"})
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) <= 20
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_of_three_models_every_pair_is_audited_and_a_matrix_comes_first(pair):
    result = pair(Reference(), Copy(), Seed())
    audits = result.audits
    shown = page_of(result)
    assert plain(shown.heading).startswith("0 of 6 replacements may be made; ")
    matrix = next(block for block in shown.blocks() if isinstance(block, Table))
    cells = [[plain(cell) for cell in row.cells[1:]] for row in matrix.rows]
    assert [row[place] for place, row in enumerate(cells)] == [""] * 3
    (decision,) = [one.decision for one in audits[0].verdicts]
    assert cells[1][0][0] == SIGNS[decision][0]
    directions = [(one.manifest.targets[0].name, one.manifest.reference.name) for one in audits]
    assert directions == [
        *(("copy", "Reference"), ("Reference", "copy")),
        *(("seed", "Reference"), ("Reference", "seed")),
        *(("seed", "copy"), ("copy", "seed")),
    ]


def test_controls_add_a_test_of_reuse(pair, sentences):
    pupils = [f"python:toy_suspects:Pupil{place}" for place in range(4)]
    result = pair(*pupils[:2], controls=pupils[2:], data=sentences)
    (reuse,) = result.reuses
    made = reuse_page(reuse)
    assert plain(made.heading) in map(plain, findings(result))
    abouts = [block.text for block in page_of(result).blocks() if isinstance(block, Paragraph)]
    assert made.about in abouts


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"models": [Reference()]}, SpecError, "1 model"),
        ({"models": ["python:a:b", "python:a:b"]}, SpecError, "listed twice"),
        ({"data": "no/such/file.csv"}, DataError, "no/such/file.csv"),
        ({"models": ["python:toy_answerers:Reader", Reference()]}, SpecError, "no job fits"),
        ({"models": [Reference(), Copy()], "compared": True}, SpecError, "--eee without a comp"),
    ],
)
def test_wrong_inputs_are_refused_before_any_run(labelled_texts, tmp_path, options, kind, told):
    usual = {"models": [Reference(), OtherLabels()], "data": labelled_texts(9), "runs": tmp_path}
    with pytest.raises(kind, match=told):
        scope.pair(**usual | options)
    assert not list(tmp_path.iterdir())


def test_the_command_takes_models_without_an_option(command, answers):
    done = command("pair", *answers["models"], "--data", answers["data"], "--json")
    assert done.returncode == 0, done.stderr
    short = json.loads(done.stdout)
    assert (short["job"], short["verdicts"][0]["decision"]) == ("pair", "not shown")
    assert short["headline"]
    refused = command("report", short["folder"], "--gate", "recovery>=0.9")
    assert refused.returncode == 2
    assert "--gate recovery>=0.9 with a run of the job pair" in refused.stderr
    assert "gates of the job: --fail-on" in refused.stderr
    plan = command("pair", *answers["models"], "--data", answers["data"], "--dry-run")
    assert plan.returncode == 0, plan.stderr


def test_numbers_of_texts_follow_n_or_the_audits_own_defaults():
    def sizes(**options):
        return PairRequest(models=["a", "b"], data="c", **options).sizes

    assert sizes() == {"n": 200, "n_most": 600, "n_search": 25, "n_unchanged": 2000}
    assert sizes(thorough=True) == {"n": 300, "n_search": 100, "n_unchanged": 5000}
    assert sizes(n=20) == QUICK


@pytest.fixture(scope="module")
def writers(pair_once):
    """Two models that write; every answer is right but for an article or a word."""
    return pair_once(
        Writer("original"), Writer("copy", wrong=3), data=ROWS, n=20, role="answer", score="f1"
    )


def test_the_accuracy_of_written_answers_is_the_score_that_was_asked_for(writers):
    assert [audit.manifest.settings["score"] for audit in writers.audits] == ["f1", "f1"]


def test_the_help_names_the_written_answers_among_the_roles():
    assert "the answer that is written" in " ".join(scope.pair.__doc__.split())


def test_the_model_card_of_a_pair_has_each_measure_once_and_against_the_original_alone(writers):
    original, copy = (card.name for card in writers.manifest.models)
    card = model_card_of(writers).replace("\\", "")
    rows = [line.split(" | ") for line in card.splitlines() if line.startswith("| ")]
    assert [row[0].removeprefix("| ") for row in rows] == [
        "Measured",
        "---",
        "Word F1",
        f"Same answers as {original}",
        f"Same reaction on typo as {original}",
        f"Flips on extractive_qa against {original}",
        "Seconds an answer",
    ]
    assert f"in place of {original}" in card or f"may replace {original}" in card
    assert f"may replace {copy}" not in card
    assert re.findall(r"- name: (toy.*)", card) == [copy]
    types = re.findall(r"- type: (\w+)", card)
    assert types == ["word_f1", "same_answers", "concordance", "flips"]


def test_the_original_stays_the_first_where_it_can_be_no_reference(pair_once):
    models = Writer("constant", wrong=10), Writer("other")
    result = pair_once(*models, data=ROWS[:40], n=2, role="answer")
    assert [audit.manifest.reference.name for audit in result.audits] == ["toy-other-1"]
    assert [card.name for card in result.manifest.models] == ["toy-constant-1", "toy-other-1"]
    card = model_card_of(result).replace("\\", "")
    assert "replace toy-other-1" not in card
    assert re.findall(r"- name: (toy.*)", card) == ["toy-other-1"]
