"""Suspected regions that are confirmed on further texts of the data (`--fill`)."""

import random
from dataclasses import fields

import pytest
import toy_models

import scope
from scope.errors import DataError, ModelError, SpecError

SAMPLED, FILLED = 400, 60
WORDS = [f"word{number}" for number in range(60)]


class Asked(toy_models.Reference):
    """The reference, which remembers the texts that it is asked."""

    def __init__(self):
        self.asked = set()

    def classify(self, texts):
        self.asked |= {*texts}
        return super().classify(texts)


class Slips(Asked):
    """Gives the other label on 3 of 10 texts that meet a condition; ``most`` texts, then fails."""

    def __init__(self, meets, most=10**6):
        super().__init__()
        self.meets, self.most = meets, most

    def classify(self, texts):
        if len({*self.asked, *texts}) > self.most:
            raise ConnectionError("the line is down")
        slips = [self.meets(text) and toy_models.weight(text, "slip") < -0.4 for text in texts]
        rows = zip(super().classify(texts), slips, strict=True)
        return [row[::-1] if slip else row for row, slip in rows]


def with_refund(text):
    return "refund" in text


def labelled_positive(text):
    return toy_models.Reference().score(text) > 0


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """4,000 texts, of which one in 20 holds *refund*."""
    generator, rows = random.Random(0), []
    for _ in range(4000):
        words = generator.choices(WORDS, k=6)
        if generator.random() < 0.05:
            words[2] = "refund"
        rows.append(" ".join(words))
    path = tmp_path_factory.mktemp("data") / "texts.csv"
    path.write_text("text\n" + "\n".join(rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def options(data):
    small = {"capabilities": ["typo"], "candidates": 2, "n": 4, "n_search": 2}
    return {**small, "data": data, "n_unchanged": SAMPLED}


@pytest.fixture
def audit(toy_audit, options):
    """Gives the audit of a target with another copy as yardstick, and how many texts each read."""

    def run(target, **more):
        models = Asked(), target, Asked()
        reference, _, yardstick = models
        made = {"reference": reference, "targets": [target], "baseline": yardstick}
        result = toy_audit(**made, **options | more)
        return result, [len({text for text in each.asked if "word" in text}) for each in models]

    return run


def numbers(result, *but):
    """All of a result that does not name its session, in order."""
    but = {"manifest", "clock", "folder", *but}
    return [getattr(result, field.name) for field in fields(result) if field.name not in but]


@pytest.fixture
def suspected(audit):
    return audit(Slips(with_refund), run="suspected")


def test_a_suspected_region_is_confirmed_on_further_texts_and_no_other_number_changes(
    audit, suspected
):
    (before, asked), (after, more) = suspected, audit(Slips(with_refund), fill=FILLED, run="filled")
    (doubted,), (confirmed,) = before.regions, after.regions
    assert (doubted.name, doubted.confirmed, doubted.excess.n) == ("with “refund”", False, 11)
    assert (confirmed.name, confirmed.confirmed, confirmed.excess.n) == (doubted.name, True, FILLED)
    # Those drawn count inside alone; the ids are those of the sample.
    assert (confirmed.outside, confirmed.texts) == (doubted.outside, doubted.texts)
    assert [there - here for here, there in zip(asked, more, strict=True)] == [FILLED - 11] * 3
    assert numbers(after, "regions") == numbers(before, "regions")


def test_a_region_by_the_label_is_not_filled(audit):
    kept, asked = audit(Slips(labelled_positive), run="label")
    filled, same = audit(Slips(labelled_positive), run="label-filled", fill=300)
    assert "labels positive" in kept.regions[0].name
    assert (filled.regions, same) == (kept.regions, asked)


def test_an_interrupted_run_ends_with_the_same_regions(audit):
    whole, _ = audit(Slips(with_refund), run="whole", fill=FILLED)
    with pytest.raises(ModelError, match="the line is down"):
        audit(Slips(with_refund, most=SAMPLED + 20), run="resumed", fill=FILLED)
    resumed, _ = audit(Slips(with_refund), run="resumed", fill=FILLED)
    assert numbers(resumed) == numbers(whole)


def test_a_dry_run_counts_ten_regions_a_target_at_most(options):
    queries = []
    for fill in (None, 5):
        names = ["Reference", "Rival", "Student"]
        reference, target, baseline = (f"python:toy_models:{name}" for name in names)
        made = {"reference": reference, "targets": [target], "baseline": baseline}
        planned = scope.dry_run("audit", **made, **options, fill=fill)
        queries.append([work.queries for work in planned.work if work.purpose == "texts"])
    assert [more - few for few, more in zip(*queries, strict=True)] == [50, 50, 50]


def test_without_further_texts_it_is_refused(audit):
    with pytest.raises(DataError, match="--fill 5 with a sample of all"):
        audit(Slips(with_refund), fill=5, n_unchanged=None)
    with pytest.raises(SpecError, match="--fill in the role answer"):
        audit(Slips(with_refund), fill=5, role="answer")
    with pytest.raises(ModelError, match="--fill 5 with saved predictions"):
        audit("predictions:saved.csv", fill=5)
