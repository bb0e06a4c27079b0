"""May a target replace the reference? On models of a few lines whose likeness is known."""

import re

import pytest
from toy_models import Constant, Reference, Stranger, weight

from reports.prose import plain
from scope.errors import SpecError
from scope.jobs.audit.answer import written_verdicts
from scope.jobs.audit.examples import telling_text
from scope.records import Undefined
from scope.verdicts.words import carrying, finding, how_open, in_plain_words


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


class Shaken(Reference):
    """Answers one text in twenty otherwise, however it is changed."""

    def score(self, text):
        return super().score(text) * (-1 if text.startswith("picnirable") else 1)


class Thrice(Reference):
    """Moves three times as far."""

    scale = 4.5


class Nervous(Reference):
    """Gives much weight to the words that the original texts do not have."""

    known: frozenset[str]

    def score(self, text):
        new = [word for word in text.lower().split() if word not in self.known]
        return super().score(text) + 3 * sum(weight(word, "nervous") for word in new)


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


TARGETS = [
    *(Copy, Stranger, Still, Same, Constant, Chance),
    *(Halved, Thrice, Shifted, LabelsAlone),
]


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
    assert copy.may_replace_in == ("accuracy", "same answers", "robustness", "reaction")
    assert {one.state for one in copy.endpoints if one.limit is not None} == {"within"}
    assert f"{copy.target} may replace Reference: same answer on 400 of 400 t" in copy.sentence
    assert stranger.decision == "may not"
    assert {"accuracy", "concordance on typo"} < set(stranger.beyond)
    # Everything is as the reference's but for the size of its moves.
    assert (still.decision, still.beyond) == ("may not", ("reach on typo",))
    hardly = r"reacts to typos 10\s% as strongly \(70\s% needed\)"
    assert re.search(hardly, still.sentence)
    assert decided[Constant].decision == decided[Chance].decision == "may not"
    assert decided[Thrice].beyond == ("reach on typo",)
    assert decided[Halved].open == ("reach on typo",)
    assert decided[Shifted].beyond[:2] == ("accuracy", "agreement")


def test_every_sentence_is_carried_by_its_endpoints(with_baseline):
    for verdict in with_baseline.verdicts:
        opening = {
            "may replace": f"{verdict.target} may replace ",
            "may not": f"{verdict.target} may not replace",
            "not shown": f"It is too early to say whether {verdict.target} may replace",
        }[verdict.decision]
        assert verdict.sentence.startswith(opening)
        states = {one.name: one.state for one in verdict.endpoints}
        within = set(states.values()) <= {"within", "not judged"}
        assert (verdict.decision == "may replace") <= within
        assert all(states[name] == "beyond" for name in verdict.beyond)
        if verdict.decision == "may not":
            assert finding(carrying(verdict)[0], verdict, with_baseline) in verdict.sentence
        if verdict.decision == "not shown":
            (end, *more) = carrying(verdict)
            words = (
                map(in_plain_words, verdict.open)
                if more
                else [how_open(end, verdict, with_baseline)]
            )
            assert all(word in verdict.sentence for word in words)


def test_without_a_baseline_a_verdict_rests_on_accuracy_and_robustness(audited, labelled_texts):
    (copy,) = audited(Copy).verdicts
    assert copy.decision == "may replace"
    assert copy.may_replace_in == ("accuracy", "robustness")
    assert copy.not_judged[:1] == ("agreement",)
    assert "in accuracy and robustness: same answer on" in copy.sentence
    (alone,) = audited(LabelsAlone).verdicts
    assert alone.may_replace_in == ("accuracy", "robustness")
    assert "Same reaction is not judged: " in alone.sentence
    assert "gives labels without probabilities" in alone.sentence
    Nervous.known = frozenset(" ".join(text for text, _ in labelled_texts(240)).lower().split())
    (nervous,) = audited(Nervous).verdicts
    assert (nervous.decision, nervous.beyond) == ("may not", ("keeps on typo",))


@pytest.mark.parametrize(
    ("limit", "state"),
    [
        ({"least_agreement": 0.9}, "within"),
        ({"least_concordance": 0.9}, "within"),
        ({"least_concordance": 0.9999}, "not shown"),
        ({"least_reach": 0.7}, "within"),
        ({"least_reach": 0.99}, "beyond"),  # it moves .97 as far
    ],
)
def test_named_limits_are_judged_without_a_baseline(audited, limit, state):
    (verdict,) = audited(Copy, **limit).verdicts
    name = next(iter(limit)).removeprefix("least_")
    (judged,) = (end for end in verdict.endpoints if end.measure == name)
    assert judged.state == state


def test_a_recovery_is_of_the_unchanged_texts(audited):
    result = audited(Shifted, recovery=0.97)
    (answer,) = written_verdicts(result)
    assert answer.verdict.beyond == ("recovery",)
    assert re.match("67.* of Reference's accuracy .97.* needed", answer.words.why)
    text = telling_text(answer.verdict, result)
    assert re.search(r"Reference \w+ \S+; Shifted \w+ \S+ Right: ", plain(text))


def test_further_open_limits_are_named_as_open(audited):
    few = {"least_agreement": 0.999, "least_concordance": 0.9999, "recall": ["positive"]}
    (verdict,) = audited(Copy, texts=80, baseline=Seed(), **few).verdicts
    assert ": 2 of 6 limits met; open: same answers (80 texts, at least " in verdict.sentence
    assert re.search(
        r" and same reaction to typos \(80 texts, at least .* needed\)", verdict.sentence
    )


def test_looks_need_random_candidates(audited):
    with pytest.raises(SpecError, match="--looks with --candidates 0"):
        audited(Copy, texts=40, candidates=0, looks=2)


def test_too_few_texts_never_may_replace_and_say_how_many_would_do(audited):
    (copy,) = audited(Copy, texts=40, baseline=Seed()).verdicts
    assert copy.decision == "not shown"
    assert "no capability is assessed" in copy.sentence
    assert "(typo: 40 texts count, at least 73 are needed)" in copy.sentence
    (copy,) = audited(Copy, texts=100, baseline=Seed()).verdicts
    assert copy.if_equal.unchanged > 189
    assert re.search(
        r"Plan (\d\d0) further unch.* The data have 100: add others: --n-unchanged \1\b",
        copy.sentence,
    )


def test_without_gold_labels_same_answers_stand_for_accuracy(audited, labelled_texts):
    texts = [text for text, _ in labelled_texts(240)]
    (copy,) = audited(Copy, data=texts).verdicts
    assert copy.may_replace_in == ("same answers", "robustness")
    assert "Accuracy is not judged: no text of this run has a known right answer" in copy.sentence
    (few,) = audited(Copy, data=texts[:100]).verdicts
    assert "open: same answers (100 texts, at least 183 are needed)" in few.sentence
    assert "Right answers" not in few.sentence  # none differs
    (seed,) = audited(Shaken, data=texts).verdicts
    assert (seed.decision, seed.open) == ("not shown", ("agreement",))
    assert "Right answers are needed on the 8 texts that differ" in seed.sentence


@pytest.mark.parametrize(
    ("labelled", "n"),
    [(range(240), 240), ("differ", 240), ("half of them", None), (range(0, 240, 2), 120)],
)
def test_gold_labels_are_needed_where_two_models_differ(audited, labelled_texts, labelled, n):
    rows = labelled_texts(240)
    differ = [place for place, (text, _) in enumerate(rows) if text.startswith("picnirable")]
    chosen = {"differ": differ, "half of them": differ[::2]}.get(str(labelled), labelled)
    data = [{"text": text, "label": label} for text, label in rows]
    for place in set(range(240)) - set(chosen):
        data[place]["label"] = None
    (verdict,) = audited(Shaken, data=data, recall=[rows[differ[0]][1]]).verdicts
    estimates = {end.measure: end.estimate for end in reversed(verdict.endpoints)}
    accuracy, recall = estimates["accuracy"], estimates["recall"]
    # The texts of a class are not known where only those that differ have labels.
    assert isinstance(recall, Undefined) == (labelled in ("differ", "half of them"))
    if n is None:
        few = f"{len(differ) // 2} texts of those that differ, and 236 texts in all"
        assert accuracy.reason == f"{few}, have no right answer"
    else:
        assert (accuracy.n, round(accuracy.value, 2)) == (n, -0.03)


def test_a_degenerate_baseline_carries_no_verdict(audited):
    (found,) = audited(Copy, texts=60, baseline=Constant()).verdicts
    assert found.decision == "not shown"
    assert "is degenerate" in found.sentence


def test_the_unchanged_texts_are_all_data_and_capabilities_change_some(audited):
    few = audited(Copy, texts=60, n=20, n_most=20)
    assert len(few.examples) == 60
    assert len({one.perturbation.example_id for one in few.candidates}) == 20
    assert len({one.perturbation.example_id for one in few.perturbations}) == 5
    assert {one.perturbation.example_id for one in few.perturbations} <= {
        one.perturbation.example_id for one in few.candidates
    }


@pytest.mark.parametrize(("clusters", "reached"), [(9, 0), (240, 2), (120, 1)])
def test_texts_of_one_document_are_one_unit(audited, labelled_texts, tmp_path, clusters, reached):
    rows = [
        f"{text},{label},d{n % clusters}" for n, (text, label) in enumerate(labelled_texts(240))
    ]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text,label,document", *rows]))
    (copy,) = audited(Copy, data=str(path), cluster="document", recall=["positive"]).verdicts
    states = {end.name: end.state for end in copy.endpoints if end.limit is not None}
    assert list(states) == ["accuracy", "recall of positive", "keeps on typo"]
    assert states["recall of positive"] == "not shown"  # 189 of 240 texts are too few of a class
    assert list(states.values()).count("within") == reached
    assert ("the texts lie in 9 clusters, and a verdict needs 10" in copy.sentence) == (
        clusters == 9
    )
