"""The head of a result says what decides it, and how to ask the same again."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from scope.errors import SpecError
from scope.jobs.identity import configuration_of
from scope.jobs.probe.pairs import GivenPairs
from scope.jobs.probe.plan import ChosenPairTask, ProbePlan
from scope.jobs.probe.request import ProbeRequest
from scope.models import ModelOptions
from scope.probes import LatentSource
from scope.records import DataCard, ScoredPair

TEST = (
    ScoredPair(id="0", first="a film", second="the film", score=4.0),
    ScoredPair(id="1", first="a film", second="paris", score=0.5),
)
LLAMA = LatentSource(
    spec="hf:llama", fingerprint="12ab", readout="prompt", prompt="{text} is", dtype="float32"
)
BERT = LatentSource(
    spec="hf:bert", fingerprint="34cd", readout="mean", prompt=None, dtype="float32"
)


TABLES = [
    SimpleNamespace(truncated=2, reproducible="to the byte"),
    SimpleNamespace(truncated=0, reproducible="to about 2e-06"),
]


def card(spec, capability=None):
    return DataCard(spec=spec, fingerprint=f"of {spec}", rows=2, used=2, capability=capability)


@pytest.fixture
def plan():
    return ProbePlan(
        request=ProbeRequest(
            models=["llama", "bert"],
            data="a b.csv",
            model_options=ModelOptions(allow_pickle=True),
        ),
        chosen=ChosenPairTask.of("similarity"),
        pairs=GivenPairs(test=TEST, cards=(card("pairs.csv", "similarity"),), notes=("one",)),
        sources=(LLAMA, BERT),
        unlabelled=("paris", "a house"),
        unlabelled_card=card("text:books"),
        settings={"seed": 3, "steps": "raw"},
    )


def test_the_manifest_holds_all_that_decides_the_result(plan):
    manifest = plan.manifest(TABLES)
    assert [(one.name, one.truncated, one.reproducible) for one in manifest.models] == [
        ("llama", 2, "to the byte"),
        ("bert", 0, "to about 2e-06"),
    ]
    assert [one.spec for one in manifest.data] == ["pairs.csv", "text:books"]
    assert manifest.settings == {
        "seed": 3,
        "steps": "raw",
        "readout": "prompt, mean",
        "prompt": "{text} is",
        "dtype": "float32",
    }
    assert manifest.command == (
        "scope probe --model llama --model bert --data 'a b.csv' --allow-pickle"
    )


def test_texts_that_were_cut_are_no_part_of_the_question(plan):
    assert configuration_of(plan.manifest()) == configuration_of(plan.manifest(TABLES))
    changed = replace(plan, sources=(LLAMA, replace(BERT, fingerprint="56ef")))
    assert configuration_of(changed.manifest()) != configuration_of(plan.manifest())


def test_every_text_is_read_once(plan):
    assert plan.texts == ("a film", "the film", "paris", "a house")


def test_what_is_known_beforehand_stands_in_the_findings(plan):
    found = plan.findings(["two"])
    assert (found.train, found.development, found.test) == (0, 0, 2)
    assert (found.sentences, found.unlabelled, found.low, found.high) == (3, 2, 0.0, 5.0)
    assert (found.unseen, found.groups) == (0, 1)
    assert (found.notes[0], found.notes[-1]) == ("one", "two")


def test_what_the_parts_have_in_common_stands_in_the_findings(plan):
    other = ScoredPair(id="2", first="a house", second="a tree", score=1.0)
    train = (ScoredPair(id="3", first="paris", second="bob", score=2.0),)
    found = replace(plan, pairs=replace(plan.pairs, train=train, test=(*TEST, other))).findings()
    assert (found.unseen, found.groups) == (2, 2)
    assert found.notes == (
        "one",
        "of 3 test pairs, 1 share a sentence with the training pairs; 2 share one with the "
        "sentences without scores",
    )


def test_a_range_is_given_to_the_task():
    chosen = ChosenPairTask.of("similarity", 1.0, 7.0)
    assert chosen.ends == (1.0, 7.0)
    assert chosen.card().settings == {"low": 1.0, "high": 7.0}
    assert chosen.card().origin.startswith("scope-models")
    with pytest.raises(SpecError):
        ChosenPairTask.of("choice")
