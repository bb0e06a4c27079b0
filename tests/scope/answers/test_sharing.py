"""Runs share what they found and asked, by content, and nothing that is uncertain."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hub.tiny import write_tiny_model

import scope
from capabilities.paraphrase import Paraphrase
from capabilities.synonym import Synonym
from capabilities.textattack import TextAttackRecipe
from capabilities.typo import Typo
from scope.answers import Answers, Run, Shared
from scope.answers.run import Searches
from scope.answers.table import Table, answer_file, sizes
from scope.models.heads import HuggingFaceClassifier
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.progress import Lines
from scope.protocols import SearchOptions
from scope.records import Example, Perturbation, Prediction
from scope.serialization import to_json

TEXTS = ("the film is great", "the plot is dull and the film is not good", "a fine film and plot")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for number, name in enumerate(("reference", "student", "other")):
        write_tiny_model(folder / name, seed=number)
    found = load_model(str(folder / "reference"), "classifier", ModelOptions(device="cpu"))
    if not found.reproducible.startswith("to the byte"):
        pytest.skip("no number of rows gives equal bits here")
    return folder


@pytest.fixture
def asked(monkeypatch):
    """The texts that checkpoints are asked."""
    texts = []
    classify = HuggingFaceClassifier.classify

    def counting(model, given):
        texts.extend(given)
        return classify(model, given)

    monkeypatch.setattr(HuggingFaceClassifier, "classify", counting)
    return texts


def audited(models, folder, names, **options):
    (folder / "texts.csv").write_text("text\n" + "".join(f"{text}\n" for text in TEXTS))
    given = {
        "reference": str(models / "reference"),
        "targets": [str(models / one) if isinstance(one, str) else one for one in names],
        "data": str(folder / "texts.csv"),
        "capabilities": "typo",
        "runs": folder / "runs",
        "model_options": ModelOptions(device="cpu"),
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scope.jobs.audit.run._refuse_degenerate_reference", lambda *_: None)
        patched.setattr("scope.records.Result.html", lambda _: "")
        return scope.audit(**(given | options))


@pytest.fixture
def audit(models, tmp_path, cache, asked):
    def audit(*targets, **options):
        asked.clear()
        return audited(models, tmp_path, targets, **options)

    return audit


@pytest.fixture(scope="module")
def first(models, tmp_path_factory):
    """A run on one target, and the folder of its cache."""
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SCOPE_CACHE", str(folder / "cache"))
        patched.setenv("SCOPE_CACHE_LIMIT", "5GB")
        return audited(models, folder, ["student"], run="first"), folder / "cache"


@pytest.fixture
def after_first(first, cache):
    """The cache is as the first run left it."""
    shutil.copytree(first[1], cache)
    return first[0]


def numbers(result):
    return to_json(result, clock=False).replace(str(result.folder), "")


@pytest.mark.usefixtures("after_first")
def test_another_run_asks_nothing_again_and_gives_the_same_numbers(audit, asked, capsys):
    audit("student", "other", run="second", progress=Lines())
    assert len(asked) == len(set(asked))  # the other target alone
    assert "reuses 33 searches and " in capsys.readouterr().err
    third = audit("student", "other", run="third")
    assert asked == []
    scratch = audit("student", "other", run="scratch", cache=False)
    assert asked
    assert numbers(third) == numbers(scratch)


def test_without_the_cache_nothing_is_read_or_written(audit, asked, cache):
    audit("student", run="first", cache=False)
    assert not answer_file(cache).exists()
    audit("student", run="second")
    before = len(asked)
    audit("student", run="third", cache=False)
    assert len(asked) == before


@pytest.mark.parametrize(
    ("changed", "reused"),
    [
        ({"seed": 1}, 0),
        ({"distance": "kl"}, 0),
        # Random candidates are the same.
        ({"trials": 2}, 24),
    ],
)
@pytest.mark.usefixtures("after_first")
def test_another_setting_is_another_search(audit, capsys, changed, reused):
    audit("student", run="second", progress=Lines(), **changed)
    assert f"reuses {reused} searches and " in capsys.readouterr().err


def test_models_that_are_no_files_are_never_shared(audit, asked, models, cache):
    given = load_model(str(models / "student"), "classifier", ModelOptions(device="cpu"))
    audit(given, run="first")
    audit(given, run="second")
    # Its weights may have been changed in memory: it is asked again.
    assert len(asked) == len(set(asked)) > 0


def test_a_fingerprint_that_an_object_has_too_is_not_shared(audit, asked, models, cache):
    given = load_model(str(models / "reference"), "classifier", ModelOptions(device="cpu"))
    audit(given, run="first")
    assert not answer_file(cache).exists()


@pytest.mark.parametrize("fault", ["damaged", "damaged values", "locked", "a folder"])
def test_a_cache_that_cannot_be_used_is_reported_and_ends_no_run(
    audit, after_first, cache, fault, capsys, monkeypatch
):
    path = answer_file(cache)
    monkeypatch.setattr("scope.answers.table.SECONDS_TO_WAIT", 0.1)
    with closing(sqlite3.connect(path)) as other:
        if fault == "locked":
            other.execute("BEGIN IMMEDIATE")
        elif fault == "damaged values":
            other.execute("UPDATE entries SET value = substr(value, 2)")
            other.commit()
        else:
            other.close()
            for one in cache.glob("shared-answers.*"):
                one.unlink()
            path.mkdir() if fault == "a folder" else path.write_bytes(b"no database" * 99)
        again = audit("other", run="second", progress=Lines())
    error = capsys.readouterr().err
    assert error.count("the cache is not used: ") == 1
    assert "\nfix" not in error
    assert numbers(again) == numbers(audit("other", run="third", cache=False))
    assert numbers(again) != numbers(after_first)


def test_a_run_that_ends_brings_the_cache_to_its_limit(audit, cache, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE_LIMIT", "1KB")
    audit("student", run="first")
    assert [one.entries for one in sizes(cache)][:2] == [0, 0]


@pytest.mark.usefixtures("without_pages")
def test_a_comparison_shares_its_answers(models, tmp_path, cache):
    from tiny_heads import write_tiny_bert_mlm, write_tiny_roberta_mlm

    write_tiny_bert_mlm(tmp_path / "bert")
    write_tiny_roberta_mlm(tmp_path / "roberta")
    (tmp_path / "texts.csv").write_text("text\n" + "The film was good and dull in Paris.\n" * 1)
    given = {
        "models": [str(tmp_path / "bert"), str(tmp_path / "roberta")],
        "tasks": "cloze",
        "data": str(tmp_path / "texts.csv"),
        "encoder": "none",
        "runs": tmp_path / "runs",
    }
    first = scope.compare(**given, run="first")
    answers = {one.kind: one.entries for one in sizes(cache)}["answers"]
    again = scope.compare(**given, run="second")
    assert answers > 0
    assert numbers(first) == numbers(again)


class Plugin(Typo):
    """The capability of somebody else."""


class Reference:
    fingerprint = "f"


@pytest.mark.parametrize(
    ("capability", "encoder", "shared"),
    [
        (Typo(), None, True),
        (Plugin(), None, False),
        (Typo(), Reference(), False),
        (Paraphrase(model="python:toy_paraphrasers:Paraphraser", min_meaning=-1.0), None, False),
        (Synonym(preset="paper"), None, True),
        (Synonym(preset="paper", source="mask:python:toy_paraphrasers:Filler"), None, False),
        (
            Synonym(preset="paper", language_model="python:toy_paraphrasers:LetterScorer"),
            None,
            False,
        ),
        (TextAttackRecipe(recipe="bae", download=True), None, False),
    ],
)
def test_searches_of_plugins_and_that_ask_an_uncertain_model_are_not_shared(
    tmp_path, lexicon, capability, encoder, shared
):
    examples = [Example(id="1", text="a film"), Example(id="2", text="a film")]
    options = SearchOptions(encoder=encoder, min_similarity=None if encoder is None else 0.5)
    found = [Perturbation(example_id="1", trial=1, text="a flim", score=0.5, queries=3)]

    def searches(examples, kind="kept"):
        """Those of a new run."""
        run = Answers(Table(Path(":memory:")), Shared({"f": "identity"}, tmp_path))
        return Searches(capability.name, capability, Reference(), examples, options, run, kind)

    def known(*given):
        return list(searches(*given).known().values())

    searches(examples).keep(found)
    assert known(examples) == (found if shared else [])
    assert known(examples, "random") == []
    assert known([Example(id="1", text="a plot")]) == []
    assert known([Example(id="1", text="a film", label="good")]) == []


def test_a_run_whose_answers_were_computed_elsewhere_shares_no_search(tmp_path):
    def session(identity):
        shared = Shared({"f": identity}, tmp_path / "cache")
        return Run.open(tmp_path / "run", {"job": "audit"}, shared=shared)

    answer = Prediction(probabilities=(0.25, 0.75))
    with session("here") as run:
        assert run.computed_here("f")
        run.keep("f", {"a text": answer})
        assert run.computed_here("f")
    with session("elsewhere") as run:
        assert not run.computed_here("f")
        run.keep("f", {"another": answer})
    with session("here") as run:
        assert not run.computed_here("f")
