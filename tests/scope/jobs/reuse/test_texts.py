"""The two ways of a test of reuse, on models of a few lines: labels, tokens, texts, and options."""

import json
import random
from dataclasses import dataclass

import pytest
from conftest import ENDINGS, JUDGEMENTS, MIDDLES, OPENINGS
from toy_suspects import Copy, CountingPupil, Pupil

import scope
from scope.errors import ModelError
from scope.records import Perturbation

MAP = ["LABEL_0=negative", "LABEL_1=positive"]
# One of them nearly always gives one answer, and has no rank.
CONTROLS = tuple(f"python:toy_suspects:Pupil{place}" for place in range(1, 22))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A hundred and twenty sentences with their labels."""
    every = [
        (f"{opening} {middle} {judgement} {ending}", ("positive", "negative")[number % 2])
        for opening in OPENINGS
        for middle in MIDDLES
        for number, judgement in enumerate(JUDGEMENTS)
        for ending in ENDINGS
    ]
    chosen = random.Random(1).sample(every, 120)
    path = tmp_path_factory.mktemp("data") / "sentences.csv"
    rows = "".join(f"{text},{label}\n" for text, label in chosen)
    path.write_text(f"text,label\n{rows}", encoding="utf-8")
    return path


@pytest.fixture
def reuse(tmp_path, data):
    def run(suspect, **options):
        asked = {
            "references": "python:toy_suspects:Pupil0",
            "controls": CONTROLS,
            "data": str(data),
            "capabilities": [],
            **({"trials": 2} if options.get("capabilities") else {}),
            "runs": tmp_path / "runs",
            **options,
        }
        short = isinstance(suspect, str) and ":" not in suspect
        named = f"python:toy_suspects:{suspect}" if short else suspect
        return scope.reuse(suspect=named, **asked)

    return run


def only(comparison):
    (verdict,) = comparison.verdicts
    return verdict


@dataclass(frozen=True, kw_only=True)
class MoreWords:
    """Adds words until the prediction stays: a search of three lines."""

    name: str = "more_words"
    question: str = "Does the prediction stay when words are added?"
    fails: bool = False

    def settings(self):
        return {}

    def search(self, classifier, examples, options):
        if self.fails:
            raise ZeroDivisionError("the search is broken")
        for example in examples:
            yield tuple(
                self.perturb(classifier, example, trial) for trial in range(1, options.trials + 1)
            )

    def perturb(self, classifier, example, trial):
        text = f"{example.text} as {('some', 'few')[trial - 1]} would say"
        before, after = classifier.classify([example.text, text])
        named = {"example_id": example.id, "trial": trial, "queries": 1}
        if before.label != after.label:
            return Perturbation(failure="no admissible change", **named)
        return Perturbation(text=text, score=0.9, **named)


def kinds(verdict):
    return {(one.kind.partition("(")[0], one.capability): one for one in verdict.evidence}


def test_labels_alone_tell_a_copy_whose_labels_have_no_names(reuse):
    verdict = only(reuse("Copy"))
    assert verdict.decision == "related"
    assert verdict.p_value == pytest.approx(1 / 21, abs=1e-6)
    (matched,) = [one for one in verdict.warnings if "were matched" in one]
    assert "labels of toy_suspects:Copy" in matched
    assert "LABEL_0 as positive, LABEL_1 as negative" in matched


def test_a_label_map_does_what_the_match_does_and_needs_no_warning(reuse):
    names = ["LABEL_0=positive", "LABEL_1=negative"]
    by_name, matched = only(reuse("Copy", label_map=names)), only(reuse("Copy"))
    assert not any("were matched" in one for one in by_name.warnings)
    assert by_name.standings == matched.standings


def test_a_suspect_with_a_third_label_is_matched_many_to_one(reuse):
    verdict = only(reuse("Finer"))
    assert verdict.decision == "related"
    assert any("bad as negative, so so as " in one for one in verdict.warnings)
    assert any("good as positive" in one for one in verdict.warnings)


@pytest.mark.parametrize(
    ("suspect", "reason"),
    [("Coin", "distinguished from guesses"), ("Stubborn", "the same answer to every question")],
)
def test_who_guesses_or_says_one_thing_is_undecided(reuse, suspect, reason):
    verdict = only(reuse(suspect))
    assert verdict.decision == "undecided"
    assert reason in verdict.sentence


def test_an_independent_model_is_not_called_related(reuse):
    assert only(reuse("Pupil30")).decision != "related"


def test_texts_made_for_the_reference_are_asked_too(reuse):
    comparison = reuse("Copy", capabilities=[MoreWords()])
    verdict = only(comparison)
    (outcome,) = comparison.outcomes
    assert outcome.status == "measured"
    assert 0 < outcome.found <= outcome.searched == 240
    assert verdict.shared == 120
    assert verdict.queries == 120 + outcome.found
    found = kinds(verdict)
    for metric in ("hard_scope", "soft_scope"):
        assert found[metric, "more_words"].suspect.value == 1
        assert found[metric, "more_words"].p_value == pytest.approx(1 / 21, abs=1e-6)
        assert len(found[metric, "more_words"].controls) == 20
    assert found["log_probabilities", None].suspect.value == pytest.approx(1)


def test_the_search_is_over_before_the_suspect_is_asked_anything(reuse):
    suspect = CountingPupil(Copy(), "copy")
    asked_before = []

    class Watching(MoreWords):
        def search(self, classifier, examples, options):
            asked_before.append(len(suspect.asked))
            yield from super().search(classifier, examples, options)
            asked_before.append(len(suspect.asked))

    reuse(suspect, capabilities=[Watching()])
    assert asked_before == [0, 0]
    assert len(suspect.asked) == len(set(suspect.asked)) > 120


def test_every_reference_is_searched_for_itself(reuse):
    references = ["python:toy_suspects:Pupil0", "python:toy_suspects:Pupil40"]
    comparison = reuse("Copy", references=references, capabilities=[MoreWords()], alpha=0.1)
    first, second = comparison.verdicts
    assert (first.decision, second.decision == "related") == ("related", False)
    assert first.probes != second.probes
    assert len(comparison.outcomes) == 2


def test_a_broken_search_goes_on_where_it_was(reuse):
    class Interrupted(MoreWords):
        def search(self, classifier, examples, options):
            for place, found in enumerate(super().search(classifier, examples, options)):
                if place == 50:
                    raise KeyboardInterrupt
                searched.append(found[0].example_id)
                yield found

    class Whole(MoreWords):
        def search(self, classifier, examples, options):
            for found in super().search(classifier, examples, options):
                searched.append(found[0].example_id)
                yield found

    searched = []
    with pytest.raises(KeyboardInterrupt):
        reuse("Copy", capabilities=[Interrupted()], run="mine")
    assert len(searched) == 50
    # The origin is the module's: to the run both are the same capability.
    gone_on = only(reuse("Copy", capabilities=[Whole()], run="mine"))
    assert len(searched) == len(set(searched)) == 120
    assert gone_on == only(reuse("Copy", capabilities=[MoreWords()], run="whole"))


def test_a_search_that_fails_is_told(reuse):
    comparison = reuse("Copy", capabilities=[MoreWords(fails=True)])
    verdict = only(comparison)
    assert comparison.outcomes[0].status == "failed"
    assert any("for more_words failed" in one for one in verdict.warnings)
    assert "the search is broken" in " ".join(str(comparison).split())


def test_typo_is_the_default(reuse):
    comparison = reuse("Copy", capabilities=None, n=40, trials=1)
    assert [one.capability for one in comparison.outcomes] == ["typo"]
    assert comparison.outcomes[0].found > 20
    assert kinds(only(comparison))["hard_scope", "typo"].suspect.value == 1


@pytest.fixture
def save(tmp_path, data):
    """Saves what a pupil says of the data."""

    def write(pupil, name):
        texts = [line.rpartition(",")[0] for line in data.read_text().splitlines()[1:]]
        rows = [{"text": text, "probabilities": pupil.shares(text)} for text in texts]
        rows[0]["labels"] = list(pupil.labels)
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return f"predictions:{path}"

    return write


def test_a_saved_reference_is_not_searched_and_the_verdict_is_the_same(reuse, save):
    saved = reuse("Copy", references=save(Pupil(), "ours"), capabilities=None)
    assert saved.manifest.capabilities == ()
    assert [one.capability for one in saved.outcomes] == ["texts"]
    direct = only(reuse("Copy"))
    assert only(saved).decision == direct.decision == "related"
    assert [one.value for one in only(saved).standings] == [one.value for one in direct.standings]


def test_a_saved_suspect_lacks_texts_made_for_the_reference_and_is_told_where_they_are(
    reuse, save, tmp_path
):
    with pytest.raises(ModelError) as caught:
        reuse(save(Copy(), "copy"), capabilities=[MoreWords()], run="mine")
    assert "has no prediction for" in caught.value.found
    (texts,) = (tmp_path / "runs/mine").glob("*.jsonl")
    assert str(texts) in caught.value.fix
    assert "would say" in texts.read_text(encoding="utf-8")


def test_models_are_told_apart_by_the_tokens_that_they_say_next(reuse):
    talkers = [f"python:toy_suspects:Talker{place}" for place in range(1, 28)]
    options = {"references": "python:toy_models:Speaker", "controls": talkers, "n": 100}
    stranger = reuse("Talker30", role="next_token", **options)
    assert only(stranger).decision != "related"
    # The reference, but less sure, and with another token in the place of one.
    comparison = reuse("python:toy_models:YoungSpeaker", role="next_token", **options)
    assert only(comparison).decision == "related"
    assert comparison.manifest.settings["role"] == "next_token"
    assert only(comparison).items[0].reference.strip() in ("and", "but", "so", "then", "while")
