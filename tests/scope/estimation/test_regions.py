"""Regions: proposed on one half of the texts, confirmed on the other."""

from dataclasses import replace

import numpy as np
import pytest

from scope.estimation.audits import regions_of
from scope.estimation.conditions import Conditions, text_check
from scope.estimation.regions import Measured, find_regions, proposes
from scope.records import Example, Perturbation, Prediction, ScoredExample, ScoredPerturbation
from scope.statistics.intervals import score_estimate

IDS = [f"t{place}" for place in range(2000)]
FIRST = proposes(IDS, 0)


def conditions(seed=0, count=60, share=0.1, words=0):
    holds = np.random.default_rng(seed).random((len(IDS), count)) < share
    return Conditions([f"with “w{place}”" for place in range(count)], holds, words)


def noise(seed, rate=0.04):
    return (np.random.default_rng(seed).random(len(IDS)) < rate).astype(float)


def found(made, target, yardstick=None, **options):
    measured = [Measured("answers", target, yardstick)]
    return list(find_regions("student", IDS, made, measured, **options))


def test_a_planted_fault_is_found_with_the_shares_of_the_half_that_did_not_propose_it():
    made = conditions()
    fault = made.holds[:, 7] & (np.random.default_rng(1).random(len(IDS)) < 0.5)
    target, yardstick = np.maximum(noise(2), fault), noise(3)
    (region,) = found(made, target, yardstick)
    inside = ~FIRST & made.holds[:, 7]
    assert (region.name, region.confirmed, region.measure) == ("with “w7”", True, "answers")
    assert region.inside == pytest.approx(target[inside].mean())
    assert region.yardstick == pytest.approx(yardstick[inside].mean())
    assert region.outside == pytest.approx(target[~FIRST & ~made.holds[:, 7]].mean())
    assert region.texts == tuple(np.array(IDS)[made.holds[:, 7]])
    # Of one proposal the interval has 95 %; that of the lesser difference counts.
    beyond = score_estimate((target - yardstick)[inside], np.array(IDS)[inside].tolist())
    assert region.excess.low <= beyond.low
    assert region.excess.level == pytest.approx(0.95)


def test_words_are_joined_and_two_conditions_are_combined():
    made = conditions(words=60)
    either = made.holds[:, [3, 11, 40]].any(axis=1)
    (region,) = [row for row in found(made, either.astype(float), noise(3)) if row.confirmed]
    assert {*region.name.removeprefix("with ").replace(" or ", ", ").split(", ")} == {
        *("“w3”", "“w11”", "“w40”")
    }
    wide = conditions(share=0.4)
    both = wide.holds[:, 3] & wide.holds[:, 11]
    (region,) = [row for row in found(wide, both.astype(float), noise(3)) if row.confirmed]
    assert {*region.name.split(" and ")} == {"with “w3”", "with “w11”"}


def test_a_target_that_differs_everywhere_alike_has_no_region():
    assert not any(row.confirmed for row in found(conditions(), noise(2, 0.4), noise(3)))


def test_as_far_as_the_yardstick_is_no_region():
    made = conditions()
    there = made.holds[:, 7].astype(float)
    assert not any(row.confirmed for row in found(made, there, there))


def test_without_a_yardstick_texts_of_which_the_reference_is_as_sure_are_compared():
    made = conditions(share=0.3)
    generator = np.random.default_rng(5)
    unsure = made.holds[:, 7] & (generator.random(len(IDS)) < 0.9)
    confidence = np.where(unsure, 0.5, 0.95) + 0.01 * generator.random(len(IDS))
    target = np.where(unsure, generator.random(len(IDS)) < 0.3, noise(2))
    named = [row.name for row in found(made, target) if row.confirmed]
    assert "with “w7”" in named
    assert not any(row.confirmed for row in found(made, target, confidence=confidence))


def test_a_region_of_too_few_texts_says_how_many_would_decide():
    made = conditions(share=0.008)
    fault = made.holds[:, 7] & (np.random.default_rng(1).random(len(IDS)) < 0.5)
    rows = found(made, fault.astype(float), noise(3, 0.01))
    suspected = [row for row in rows if row.name == "with “w7”"]
    for region in suspected:
        assert region.confirmed or region.needed > (~FIRST & made.holds[:, 7]).sum()
    assert suspected


def test_a_yardstick_as_good_as_the_target_is_rarely_told_from_it():
    accused = 0
    for seed in range(200):
        made = conditions(seed, count=30)
        accused += any(row.confirmed for row in found(made, noise(seed + 1), noise(-seed + 999)))
    assert accused <= 5


def test_the_halves_do_not_depend_on_further_texts_and_keep_clusters_together():
    assert proposes(IDS[:50], 3).tolist() == proposes(IDS, 3)[:50].tolist()
    clustered = [f"page {place % 40}␟{place}" for place in range(400)]
    halves = proposes(clustered, 0)
    assert all(len({*halves[place::40]}) == 1 for place in range(40))
    assert 0.3 < proposes(IDS, 1).mean() < 0.7


def test_order_of_texts_changes_no_region():
    made = conditions()
    target = np.maximum(noise(2), made.holds[:, 7] * noise(8, 0.5))
    order = np.random.default_rng(4).permutation(len(IDS))
    (there,) = found(made, target, noise(3))
    (again,) = find_regions(
        "student",
        [IDS[place] for place in order],
        made._replace(holds=made.holds[order]),
        [Measured("answers", target[order], noise(3)[order])],
    )
    assert (again.name, again.excess) == (there.name, there.excess)
    assert {*again.texts} == {*there.texts}


def test_texts_of_one_document_confirm_nothing():
    made = conditions()
    ids = ["book␟" * bool(holds) + id_ for id_, holds in zip(IDS, made.holds[:, 7], strict=True)]
    there = made.holds[:, 7].astype(float)
    rows = find_regions("student", ids, made, [Measured("answers", there, noise(3))])
    assert not any(row.confirmed for row in rows)


def test_nothing_is_found_without_texts_or_conditions():
    empty = Conditions([], np.zeros((len(IDS), 0), dtype=bool), 0)
    assert found(empty, noise(1, 0.5)) == []
    none = Conditions(["with “a”"], np.zeros((0, 1), dtype=bool), 1)
    assert list(find_regions("student", [], none, [Measured("answers", np.zeros(0))])) == []


LABELS = ("negative", "positive")
SOURCE = "source: mail"


def scored_examples(otherwise):
    """Texts in two classes; the target answers otherwise where the function says so."""
    generator, rows = np.random.default_rng(0), []
    for place in range(1200):
        words = generator.permutation(["good", "film", "plot", "music", "end"])[:3]
        text = " ".join([*words, *(["not"] * bool(generator.random() < 0.2))])
        sure = 0.6 + 0.39 * generator.random()
        reference = Prediction(probabilities=(1 - sure, sure))
        example = Example(
            id=f"t{place}", text=text, label="positive", slices=(SOURCE,) * (place % 5 == 0)
        )
        changed = Prediction(probabilities=(sure, 1 - sure))
        target = changed if otherwise(example) and place % 2 else reference
        rows.append(
            ScoredExample(example=example, reference=reference, targets=(target, reference))
        )
    return rows


def regions_with(examples, candidates=(), **options):
    return regions_of(
        examples,
        candidates,
        **{
            **{"reference": "teacher", "targets": ("student", "seed"), "baseline": "seed"},
            **{"labels": LABELS, "margin": 0.05, "seed": 0, **options},
        },
    )


@pytest.mark.parametrize(
    ("otherwise", "name"),
    [
        (lambda example: "not" in example.text, "with a negation"),
        (lambda example: example.slices, "of source mail"),
    ],
)
def test_an_audit_finds_a_word_and_a_column_of_the_data(otherwise, name):
    examples = scored_examples(otherwise)
    (region,) = [row for row in regions_with(examples) if row.confirmed]
    assert (region.target, region.name, region.measure) == ("student", name, "answers")
    assert region.inside == pytest.approx(0.5, abs=0.1)
    assert (region.outside, region.yardstick) == (0, 0)
    assert set(region.texts) == {each.example.id for each in examples if otherwise(each.example)}


def test_an_audit_without_a_yardstick_compares_texts_of_equal_confidence():
    examples = scored_examples(lambda example: "not" in example.text)
    alone = [replace(each, targets=each.targets[:1]) for each in examples]
    regions = regions_with(alone, targets=("student",), baseline=None)
    assert [(row.name, row.yardstick) for row in regions if row.confirmed] == [
        ("with a negation", None)
    ]


def test_random_changes_that_one_model_alone_follows_are_a_region_of_their_own():
    examples = scored_examples(lambda example: False)
    candidates = []
    for place, each in enumerate(examples):
        stays, flips = each.reference, Prediction(probabilities=each.reference.probabilities[::-1])
        capability = ("typo", "keyboard")[place % 2]
        student = flips if capability == "keyboard" and place % 3 else stays
        changed = Perturbation(example_id=each.example.id, trial=1, text=f"{each.example.text} x")
        candidates.append(
            ScoredPerturbation(
                capability=capability,
                perturbation=changed,
                reference=stays,
                targets=(student, stays),
            )
        )
    (region,) = [row for row in regions_with(examples, candidates) if row.confirmed]
    assert (region.name, region.measure) == ("changed by keyboard", "changes")
    assert region.inside == pytest.approx(2 / 3, abs=0.1)


def test_further_texts_lie_in_a_region_by_their_words_marks_length_and_columns():
    examples = scored_examples(lambda example: "not" in example.text)
    asked = []

    def draw(place, lies_in, confirming):
        asked.append((place, confirming, [lies_in(each) for each in MORE]))
        return scored_examples(lambda example: "not" in example.text)[:40]

    (region,) = [row for row in regions_with(examples, draw=draw) if row.confirmed]
    assert asked == [(0, region.excess.n - 40, [True, False, False])]
    (without,) = [row for row in regions_with(examples) if row.confirmed]
    assert (region.outside, region.texts) == (without.outside, without.texts)
    asked.clear()
    regions_with(scored_examples(lambda example: example.slices), draw=draw)
    assert asked[0][2] == [False, False, True]


MORE = [
    Example(id="a", text="it does not run"),
    Example(id="b", text="it runs", slices=("source: web",)),
    Example(id="c", text="it runs", slices=(SOURCE,)),
]


@pytest.mark.parametrize(
    ("name", "text", "meets"),
    [
        ("with “don't”", "I DON’T know", True),
        ("with “cat”", "a category", False),
        ("with “...”", "well...", True),
        ("with a number", "route 66", True),
        ("of 3 words or fewer", "one, two, three", True),
        ("of 3 words or fewer", "one two three four", False),
        ("of 3 words or more", "one two", False),
    ],
)
def test_a_text_tells_whether_it_meets_a_condition(name, text, meets):
    assert text_check(name)(text) is meets


def test_a_text_does_not_tell_its_topic_nor_its_label():
    names = ("about war, hero (topic)", "that teacher labels positive", "of source mail")
    assert [*map(text_check, names)] == [None] * 3
