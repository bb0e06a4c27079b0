"""How near in meaning pairs are is measured where an encoder is named, and marked in the report."""

import numpy as np
import pytest

from capabilities.synonym import Synonym
from capabilities.typo import Typo
from scope.answers.table import answer_file
from scope.errors import ModelError
from scope.jobs import encoders as word_encoder
from scope.jobs.audit import plan as similarities
from scope.jobs.audit.plan import encoder_for, with_similarities
from scope.jobs.audit.request import AuditRequest
from scope.jobs.encoders import KeptComparisons
from scope.jobs.pages import markdown_of
from scope.jobs.perturbing import ChosenCapability
from scope.progress import Silent
from scope.protocols import Swap
from scope.records import Example, Perturbation, ScoredPerturbation
from scope.serialization import from_json, to_json


class Directions:
    """Vectors on the unit circle: the angle is a text's length in tenths."""

    spec = fingerprint = "directions"

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.append(list(texts))
        angles = np.array([len(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


EXAMPLES = [Example(id="a", text="four"), Example(id="b", text="eleven char")]


def scored(example, text=None):
    found = Perturbation(
        example_id=example, trial=1, text=text, failure=None if text else "nothing"
    )
    return ScoredPerturbation(capability="typo", perturbation=found)


def test_it_is_the_cosine_of_both_vectors():
    found = [scored("a", "four more"), scored("b"), scored("b", "eleven char")]
    first, nothing, same = with_similarities(found, EXAMPLES, Directions(), Silent())
    assert first.similarity == pytest.approx(np.cos(0.5), abs=1e-6)
    assert nothing.similarity is None
    assert same.similarity == 1.0


def test_each_text_is_encoded_once_a_portion_and_the_order_does_not_matter():
    found = [scored("a", "x" * size) for size in range(1, 300)]
    encoder = Directions()
    measured = with_similarities(found, EXAMPLES, encoder, Silent())
    assert with_similarities(found[::-1], EXAMPLES, Directions(), Silent()) == measured[::-1]
    assert [len(some) for some in encoder.asked] == [256 + 1, 43 + 1]


class Letters(Directions):
    """The angle depends on the order of the letters."""

    def encode(self, texts):
        places = [sum(place * ord(letter) for place, letter in enumerate(one)) for one in texts]
        return super().encode(["x" * (place % 31) for place in places])


def test_the_more_similar_half_stands_among_the_parts(toy_audit):
    options = {"capabilities": ["typo"], "encoder": Letters(), "min_similarity": -1, "n": 12}
    result = toy_audit("Stranger", **options)
    pairs = result.to_frame("examples").query("pair == 'kept' and model == 'toy_models:Stranger'")
    more = pairs[pairs.similarity >= pairs.similarity.median()]
    assert 1 < more.example.nunique() < len(more) < len(pairs)
    rows = result.to_frame().query("subset == 'more similar half'").set_index("metric")
    of_texts = more.groupby("example").kept.mean()
    assert rows.value["hard_scope"] == pytest.approx(of_texts.mean(), abs=1e-6)
    assert rows.n["hard_scope"] == more.example.nunique()
    page = markdown_of(result, verbose=True)
    assert "| more similar half |" in page
    assert "The more similar half of a capability’s kept pairs: " in page
    assert from_json(to_json(result)).perturbations == result.perturbations
    assert toy_audit("Stranger", **options).perturbations == result.perturbations


class Compares(Directions):
    """Also compares words, each as well as it is long in tenths."""

    spec, fingerprint = "python:compares", "compares"

    def compare_words(self, swaps):
        self.asked.append(list(swaps))
        return np.array([len(one.word) / 10 for one in swaps])


SYNONYM = (ChosenCapability(capability=Synonym(), origin="scope"),)
TYPO = (ChosenCapability(capability=Typo(), origin="scope"),)


def asked(**fields):
    return AuditRequest(reference="a", targets=["b"], data="d.csv", cache=False, **fields)


def test_without_any_encoder_synonyms_are_those_of_the_most_frequent_sense():
    for request in (asked(), asked(encoder="none")):
        encoder, [synonym] = encoder_for(request, SYNONYM)
        assert encoder is None
        assert synonym.capability.sense == "frequent"


def test_no_encoder_is_loaded_where_no_capability_compares_words(monkeypatch):
    monkeypatch.setattr(word_encoder, "load_encoder", lambda *_: 1 / 0)
    assert encoder_for(asked(), TYPO) == (None, TYPO)


def test_the_first_encoder_at_hand_compares_words(monkeypatch):
    def load(spec, options):
        if spec == "missing":
            raise ModelError("no model", expected="one", fix="name one")
        return Compares()

    monkeypatch.setattr(word_encoder, "load_encoder", load)
    monkeypatch.setattr(word_encoder, "AT_HAND", (lambda: "missing", lambda: "here"))
    encoder, chosen = encoder_for(asked(), SYNONYM)
    assert encoder.spec == "python:compares"
    assert chosen[0].capability == SYNONYM[0].capability.for_encoder(encoder.spec)
    assert encoder.compare_words([Swap("a boat", 2, 6, "ship")]) == [0.4]


def test_an_encoder_of_whole_texts_is_refused_for_synonyms(monkeypatch):
    monkeypatch.setattr(similarities, "load_encoder", lambda *_: Directions())
    with pytest.raises(ModelError) as raised:
        encoder_for(asked(encoder="python:mine:encoder"), SYNONYM)
    assert "whole texts alone" in raised.value.found
    assert "synonym.sense=frequent" in raised.value.fix
    assert encoder_for(asked(encoder="python:mine:encoder"), TYPO).encoder.spec == "directions"


def test_comparisons_are_kept_on_disk_for_an_encoder_known_by_its_bytes(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(word_encoder, "identity_of", lambda encoder: "these bytes")
    ship, raft = (Swap("a boat", 2, 6, word) for word in ("ship", "raft"))
    first, second = Compares(), Compares()
    assert KeptComparisons(first, cache=True).compare_words([ship]) == [0.4]
    assert KeptComparisons(second, cache=True).compare_words([raft, ship]).tolist() == [0.4, 0.4]
    assert (first.asked, second.asked) == ([[ship]], [[raft]])
    third = Compares()
    KeptComparisons(third, cache=False).compare_words([ship])
    assert third.asked == [[ship]]


def test_a_cache_that_cannot_be_read_ends_no_search(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(word_encoder, "identity_of", lambda encoder: "these bytes")
    answer_file(tmp_path).mkdir(parents=True)
    kept = KeptComparisons(Compares(), cache=True)
    assert kept.compare_words([Swap("a boat", 2, 6, "ship")]) == [0.4]
