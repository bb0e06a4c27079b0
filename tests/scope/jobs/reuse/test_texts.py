"""The two ways of a test of reuse, on models of a few lines: labels, tokens, texts, and options."""

from dataclasses import dataclass

import pytest
from toy_suspects import Copy, CountingPupil, Pupil

import scope
from scope.records import Perturbation

COPY = "python:toy_suspects:Copy"
# Some of them nearly always give one answer, and have no rank.
CONTROLS = tuple(f"python:toy_suspects:Pupil{place}" for place in range(1, 26))


@pytest.fixture(scope="module")
def data(tmp_path_factory, sentences):
    """Sixty sentences with their labels."""
    path = tmp_path_factory.mktemp("data") / "sentences.csv"
    rows = ["text,label", *(",".join(row) for row in sentences)]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reuse(tmp_path_factory, data):
    def run(suspect, **options):
        asked = {
            "references": "python:toy_suspects:Pupil0",
            "controls": CONTROLS,
            "data": str(data),
            "capabilities": [],
            **({"trials": 2} if options.get("capabilities") else {}),
            "runs": tmp_path_factory.mktemp("runs"),
            **options,
        }
        return scope.reuse(suspect=suspect, **asked)

    return run


@pytest.fixture(scope="module")
def copied(reuse):
    """The verdict on a copy whose labels have no names, by labels alone."""
    return only(reuse(COPY))


@pytest.fixture(scope="module")
def searched(reuse):
    """The same with a search on the reference."""
    return reuse(COPY, capabilities=[MoreWords()])


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
            texts = [f"{example.text} as {who} would say" for who in ("some", "few")]
            before, *after = classifier.classify([example.text, *texts])
            yield tuple(
                Perturbation(example_id=example.id, trial=trial, text=text, score=0.9)
                if changed.label == before.label
                else Perturbation(example_id=example.id, trial=trial, failure="another label")
                for trial, (text, changed) in enumerate(zip(texts, after, strict=True), start=1)
            )


def kinds(verdict):
    return {(one.kind.partition("(")[0], one.capability): one for one in verdict.evidence}


def test_labels_without_names_are_matched_and_a_label_map_does_the_same_without_a_warning(
    reuse, copied
):
    assert (copied.decision, copied.p_rank) == ("related", pytest.approx(1 / 231, abs=1e-6))
    (matched,) = [one for one in copied.warnings if "were matched" in one]
    assert "labels of toy_suspects:Copy" in matched
    assert "LABEL_0 as positive, LABEL_1 as negative" in matched
    by_name = only(reuse(COPY, label_map=["LABEL_0=positive", "LABEL_1=negative"]))
    assert not any("were matched" in one for one in by_name.warnings)
    assert by_name.standings == copied.standings


def test_texts_made_for_the_reference_are_asked_too(searched):
    verdict, (outcome,) = only(searched), searched.outcomes
    assert outcome.status == "measured"
    assert 0 < outcome.found <= outcome.searched == 120
    assert verdict.shared == 60
    assert verdict.queries == 60 + outcome.found
    found = kinds(verdict)
    for metric in ("hard_scope", "soft_scope"):
        assert found[metric, "more_words"].suspect.value == 1
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
    assert len(suspect.asked) == len(set(suspect.asked)) > 60


def test_a_broken_search_goes_on_where_it_was(reuse, searched, tmp_path):
    class Interrupted(MoreWords):
        def search(self, classifier, examples, options):
            for place, found in enumerate(super().search(classifier, examples, options)):
                if place == most:
                    raise KeyboardInterrupt
                done.append(found[0].example_id)
                yield found

    done, most = [], 25
    with pytest.raises(KeyboardInterrupt):
        reuse(COPY, capabilities=[Interrupted()], run="mine", runs=tmp_path)
    assert len(done) == 25
    most = 1000
    gone_on = only(reuse(COPY, capabilities=[Interrupted()], run="mine", runs=tmp_path))
    assert len(done) == len(set(done)) == 60
    # The origin is the module's: to the run both are the same capability.
    assert gone_on == only(searched)


def test_a_search_that_fails_is_told(reuse):
    comparison = reuse(COPY, capabilities=[MoreWords(fails=True)])
    verdict = only(comparison)
    assert comparison.outcomes[0].status == "failed"
    assert any("for more_words failed" in one for one in verdict.warnings)
    assert "the search is broken" in " ".join(str(comparison).split())


def test_a_saved_reference_is_not_searched_and_the_verdict_is_the_same(
    reuse, saved, sentences, copied
):
    ours = saved(Pupil(), [text for text, _ in sentences], name="ours")
    result = reuse(COPY, references=ours, capabilities=None)
    assert result.manifest.capabilities == ()
    assert [one.capability for one in result.outcomes] == ["texts"]
    assert only(result).decision == copied.decision == "related"
    assert [one.value for one in only(result).standings] == [one.value for one in copied.standings]


def test_models_are_told_apart_by_the_tokens_that_they_say_next(reuse):
    talkers = [f"python:toy_suspects:Talker{place}" for place in range(1, 28)]
    options = {"references": "python:toy_models:Speaker", "controls": talkers, "n": 60}
    # The reference, but less sure, and with another token in the place of one.
    comparison = reuse("python:toy_models:YoungSpeaker", role="next_token", **options)
    assert only(comparison).decision == "related"
    assert comparison.manifest.settings["role"] == "next_token"
    assert only(comparison).items[0].reference.strip() in ("and", "but", "so", "then", "while")
