"""May a target replace the reference? On models of a few lines whose likeness is known."""

import re

import pytest
from toy_models import Constant, Reference, Stranger, weight


class Copy(Reference):
    """The reference, a little less sure of itself."""

    scale = 1.45


class Seed(Reference):
    """As like the reference as its retrained self."""

    scale = 1.55


class Still(Reference):
    """Moves a tenth as far."""

    scale = 0.15


class Halved(Reference):
    scale = 0.75


class Shifted(Reference):
    def score(self, text):
        return super().score(text) + 1


class Chance(Reference):
    """Moves at random."""

    def score(self, text):
        return 2 * weight(text, "chance")


class LabelsAlone(Reference):
    def classify(self, texts):
        return [[float(share > 0.5) for share in row] for row in super().classify(texts)]


class Same(Reference):
    name = "same"


TARGETS = [Copy, Stranger, Still, Same, Constant, Chance, Halved, Shifted, LabelsAlone]


@pytest.fixture(scope="module")
def audited(audit_toys, labelled_texts, tmp_path_factory):
    def audit(*targets, texts=240, data=None, **options):
        return audit_toys(
            tmp_path_factory.mktemp("runs"),
            reference=Reference(),
            targets=[one() for one in targets],
            data=labelled_texts(texts) if data is None else data,
            capabilities=["typo"],
            **{"n": 300, "n_search": 5, **options},
        )

    return audit


@pytest.fixture(scope="module")
def with_baseline(audited):
    return audited(*TARGETS, texts=400, n=150, baseline=Seed())


def test_a_copy_may_replace_and_other_models_may_not(with_baseline):
    decided = dict(zip(TARGETS, with_baseline.verdicts, strict=True))
    copy, stranger, still = (decided[one] for one in (Copy, Stranger, Still))
    assert copy.decision == decided[Same].decision == "may replace"
    assert {one.state for one in copy.endpoints} == {"within"}
    assert "accuracy, agreement, concordance on typo and reach on typo are within" in copy.sentence
    assert stranger.decision == "may not"
    assert "concordance on typo" in stranger.beyond
    assert "may not replace" in stranger.sentence
    # Everything is as the reference's but for the size of its moves.
    assert (still.decision, still.beyond) == ("may not", ("reach on typo",))
    less = r"its answers follow .*'s too little on typo \(reach 0\.\d\d \["
    assert re.search(less, still.sentence)
    assert decided[Constant].decision == decided[Chance].decision == "may not"
    # Half the reach is the limit itself, and a shifted threshold costs agreement alone.
    assert decided[Halved].open == ("reach on typo",)
    assert decided[Halved].rows_needed is None
    assert decided[Shifted].beyond == ("accuracy", "agreement")


def test_every_sentence_is_carried_by_its_endpoints(with_baseline):
    for verdict in with_baseline.verdicts:
        opening = {
            "may replace": f"{verdict.target} may replace ",
            "may not": f"{verdict.target} may not replace",
            "not shown": f"It is not shown that {verdict.target} may replace",
        }[verdict.decision]
        assert verdict.sentence.startswith(opening)
        states = {one.name: one.state for one in verdict.endpoints}
        within = set(states.values()) <= {"within", "not judged"}
        assert (verdict.decision == "may replace") <= within
        assert all(states[name] == "beyond" for name in verdict.beyond)
        reason = verdict.sentence.replace("answers follow", "reach").partition(": ")[2]
        endpoints = "accuracy|agreement|concordance|reach|matched flips"
        named = set(re.findall(endpoints, reason.partition(". ")[0]))
        carrying = verdict.beyond or verdict.open or [s for s in states if states[s] == "within"]
        assert named == {name.partition(" on ")[0] for name in carrying}


def test_without_a_baseline_concordance_is_compared_with_one_and_agreement_is_shown(audited):
    (copy,) = audited(Copy).verdicts
    assert copy.decision == "may replace"
    assert copy.not_judged == ("agreement",)
    assert "in what was assessed" in copy.sentence
    assert "Agreement is not judged, as no baseline is given" in copy.sentence
    (alone,) = audited(LabelsAlone, texts=60).verdicts
    assert alone.decision == "not shown"
    assert "gives labels without probabilities" in alone.sentence
    assert alone.rows_needed is None


def test_labels_alone_are_judged_by_matched_flips_against_the_baseline(with_baseline):
    alone = with_baseline.verdicts[TARGETS.index(LabelsAlone)]
    assert "matched flips on typo" in [one.name for one in alone.endpoints]


def test_too_few_texts_never_may_replace_and_say_how_many_would_do(audited):
    (copy,) = audited(Copy, texts=40, baseline=Seed()).verdicts
    assert copy.decision == "not shown"
    assert ": accuracy and agreement are measured on too few texts, of which" in copy.sentence
    assert copy.rows_needed > 189
    assert "texts, of which these data have 40, shows it with probability 0.8 if" in copy.sentence


def test_without_gold_labels_accuracy_is_not_assessed(audited, labelled_texts):
    texts = [text for text, _ in labelled_texts(240)]
    (copy,) = audited(Copy, data=texts, baseline=Seed()).verdicts
    assert copy.decision == "may replace"
    assert "in what was assessed" in copy.sentence
    assert "Accuracy is not assessed: no text of this run has a gold label" in copy.sentence


def test_a_degenerate_baseline_carries_no_verdict(audited):
    (found,) = audited(Copy, texts=60, baseline=Constant()).verdicts
    assert found.decision == "not shown"
    assert "is degenerate" in found.sentence


def test_the_unchanged_texts_are_all_data_and_capabilities_change_some(audited):
    few = audited(Copy, texts=60, n=20)
    assert len(few.examples) == 60
    assert len({one.perturbation.example_id for one in few.candidates}) == 20
    assert len({one.perturbation.example_id for one in few.perturbations}) == 5
    assert {one.perturbation.example_id for one in few.perturbations} <= {
        one.perturbation.example_id for one in few.candidates
    }
