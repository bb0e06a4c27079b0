"""The oracle is plain transformers: one text at a time, every distribution whole."""

import json
import math

import pytest
from causal_cases import ASKED, PROMPTS, TEXTS, log_probabilities, prompt_tokens, rendered
from tiny_language import LIMIT, write_tiny_llama

from scope.models import drift as drifts
from scope.models.decoder import END, Path
from scope.models.drift import Drift, Followed
from scope.models.huggingface import load
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch


class Ten:
    """A model of ten tokens, the digits, whose next token depends on the last one alone."""

    def __init__(self, rows, more=0):
        self.vocabulary = {str(digit): digit for digit in range(10)}
        torch = load_torch()
        self.fingerprint = repr(rows)
        self.shares = torch.full((10, 10), 0.1)
        for digit, row in rows.items():
            self.shares[digit] = torch.tensor(row)
        self.more = more

    def path(self, text, question=None):
        tokens = [int(digit) for digit in text]
        return Path([0], [*tokens, END]) if question else Path(tokens[:1], tokens[1:])

    def logits(self, paths):
        torch = load_torch()
        assert sum(len(path.scored) for path in paths) <= drifts.PLACES_AT_ONCE or len(paths) == 1
        rows = [[*path.read, *path.scored[:-1]][-len(path.scored) :] for path in paths]
        absent = torch.full((1, self.more), -30.0)
        return [
            torch.cat([self.shares[row].log(), absent.expand(len(row), -1)], dim=1) for row in rows
        ]


def peak(digit, share):
    return [share if each == digit else (1 - share) / 9 for each in range(10)]


REFERENCE = Ten({0: peak(5, 0.5), 5: peak(7, 0.5)})
TARGET = Ten({0: peak(5, 0.25), 5: peak(9, 0.5)}, more=2)


def test_a_model_of_ten_tokens_by_hand():
    (text,) = [drift for _, drift in Drift(REFERENCE, TARGET).along([Followed("58", ASKED[0])])]
    # After 0: ½ ln(½ / ¼) and nine times (1/18) ln((1/18) / (1/12)), together ½ ln(4/3).
    # After 5: 7 and 9 have ½ and 1/18 the other way round. After 8 both know nothing.
    expected = [math.log(4 / 3) / 2, (1 / 2 - 1 / 18) * math.log(9), 0]
    assert text.divergence == pytest.approx(expected, abs=1e-6)
    assert text.same == (True, False, True)
    # The reference ends the answer with 0, the first of equal tokens.
    assert text.reference == pytest.approx([math.log(share) for share in (1 / 2, 1 / 18, 0.1)])
    assert text.target == pytest.approx([math.log(share) for share in (1 / 4, 1 / 18, 0.1)])


def test_a_text_as_it_stands_has_no_end_and_one_token_has_no_place():
    one, two = (
        drift for _, drift in Drift(REFERENCE, TARGET).along([Followed("0"), Followed("05")])
    )
    assert one.missing == "no token"
    assert len(two.divergence) == 1


def test_what_has_no_number_is_counted_as_missing():
    broken = Ten({0: [math.nan] * 10})
    (text,) = [drift for _, drift in Drift(REFERENCE, broken).along([Followed("05")])]
    assert text.missing == "no number"


def test_a_target_that_reads_less_is_followed_as_far_as_it_reads():
    short = Ten({})
    whole = short.path
    short.path = lambda text, question=None: whole(text[:3], question)
    texts = [Followed("0512", ASKED[0]), Followed("05", ASKED[0])]
    cut, other = (drift for _, drift in Drift(REFERENCE, short).along(texts))
    assert (len(cut.divergence), len(other.divergence)) == (3, 3)
    assert other == next(Drift(REFERENCE, short).along(texts[1:]))[1]


def test_a_token_that_the_reference_rules_out_adds_nothing():
    certain = Ten({0: [1.0, *[0.0] * 9]})
    (text,) = [drift for _, drift in Drift(certain, TARGET).along([Followed("00")])]
    assert text.divergence == pytest.approx([math.log(12)], abs=1e-6)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two models of one tokenizer, and what transformers loads of them."""
    folders = [tmp_path_factory.mktemp(f"llama-{seed}") for seed in (0, 1)]
    for seed, folder in enumerate(folders):
        write_tiny_llama(folder, chat=True, seed=seed)
    return folders


OPTIONS = ModelOptions(device="cpu", prompts=PROMPTS)


def loaded(folders):
    return [load(str(folder), OPTIONS) for folder in folders]


def plainly(as_transformers, folders, before, tokens, ends):
    """KL, and the log-probabilities of tokens after others, by the formula."""
    first, second = (
        log_probabilities(as_transformers(folder, "CausalLM")[1], [*before, *tokens])
        for folder in folders
    )
    places = range(len(before) - 1, len(before) + len(tokens) - (not ends))
    written = [*tokens, *([int(first[places[-1]].argmax())] if ends else [])]
    divergence = [float(sum(first[at].exp() * (first[at] - second[at]))) for at in places]
    logs = [
        [float(each[at, token]) for at, token in zip(places, written, strict=True)]
        for each in (first, second)
    ]
    return divergence, *logs


@pytest.mark.parametrize("places", [7, 128])
def test_answers_and_plain_texts_by_a_plain_computation(pair, as_transformers, places, monkeypatch):
    monkeypatch.setattr(drifts, "PLACES_AT_ONCE", places)
    models = loaded(pair)
    tokenizer, _ = as_transformers(pair[0], "CausalLM")
    texts = [
        Followed("paris in a film", ASKED[1]),
        Followed("zoé", ASKED[2]),
        *map(Followed, TEXTS),
    ]
    got = dict(Drift(*models).along(texts))
    for place, (text, question) in enumerate(texts):
        before = prompt_tokens(tokenizer, rendered("answer", question)) if question else [0]
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        expected = plainly(as_transformers, pair, before, tokens, question)
        drift = got[place]
        assert drift.divergence == pytest.approx(expected[0], abs=1e-6, rel=1e-6)
        assert drift.reference == pytest.approx(expected[1], abs=1e-5)
        assert drift.target == pytest.approx(expected[2], abs=1e-5)


@pytest.mark.bits
def test_a_text_has_the_same_numbers_in_any_company(pair):
    texts = [Followed("ann saw bob", question) for question in ASKED] + list(map(Followed, TEXTS))
    drift = Drift(*loaded(pair))
    together = dict(drift.along(texts))
    assert [next(drift.along([text]))[1] for text in texts] == [*together.values()]


def test_a_text_that_is_too_long_is_followed_to_the_limit(pair):
    (text,) = [drift for _, drift in Drift(*loaded(pair)).along([Followed("é" * LIMIT)])]
    assert len(text.divergence) == LIMIT - 1


class Spelled:
    """A model whose tokens are words, or letters, and that always finds one of them likeliest."""

    def __init__(self, pattern, favourite, share):
        import re

        self.split = re.compile(pattern).findall
        self.fingerprint, self.share, self.favourite = pattern, share, favourite
        self.tokens = []

    @property
    def vocabulary(self):
        return {self.fingerprint: 0}

    def path(self, text, question=None):
        self.tokens = [self.favourite, *self.split(text)]
        scored = range(1, len(self.tokens))
        return Path([0], [*scored, END] if question else [*scored])

    def logits(self, paths):
        torch = load_torch()
        size = len(self.tokens)
        shares = torch.full((size,), (1 - self.share) / (size - 1))
        shares[0] = self.share
        return [shares.log().expand(len(path.scored), size) for path in paths]

    def pieces(self, tokens):
        return [self.tokens[token].strip() for token in tokens]

    def lengths(self, path):
        written = [self.tokens[token] for token in path.scored if token != END]
        return [len("".join(written[:count]).lstrip()) for count in range(len(written) + 1)]


def test_other_vocabularies_are_compared_in_common_places_and_by_byte():
    words, letters = Spelled(r" ?\w+", "is", 0.4), Spelled(".", "is", 0.3)
    text = Followed("it is", ASKED[0])
    (drift,) = [drift for _, drift in Drift(words, letters).along([text])]
    # Before the text, after `it`, and at the end.
    assert drift.same == (True, True, True)
    assert drift.divergence == ()
    assert drift.size == 5
    assert drift.reference == pytest.approx([math.log(0.3)] * 2)
    assert drift.target == pytest.approx([math.log(0.7 / 5)] * 5)
    other = Spelled(".", "at", 0.3)
    (drift,) = [drift for _, drift in Drift(words, other).along([text])]
    assert drift.same == (False, False, False)
    # A text as it stands has no place behind it.
    (drift,) = [drift for _, drift in Drift(words, other).along([Followed("it is")])]
    assert drift.same == (False, False)


def test_a_text_is_compared_from_where_both_models_have_a_place(pair, tmp_path):
    write_tiny_llama(tmp_path, chat=False, seed=2)
    path = tmp_path / "tokenizer.json"
    words = json.loads(path.read_text(encoding="utf-8"))
    # Of its tokens one has another name, and it begins no text with a token of its own.
    words["model"]["vocab"]["new"] = words["model"]["vocab"].pop("ÿ")
    words["post_processor"] = None
    path.write_text(json.dumps(words), encoding="utf-8")
    first, second = load(str(pair[0]), OPTIONS), load(str(tmp_path), OPTIONS)
    text = Followed("zoé saw the film")
    assert second.path(*text).read != first.path(*text).read
    ((_, drift),) = Drift(first, second).along([text])
    tokens = first.path(*text).scored
    # The second model reads the `z`, and no place lies within the `é`.
    assert drift.size == len(text.text.encode()) - 1
    assert len(drift.reference) == len(drift.target) == len(tokens) - 1
    assert len(drift.same) == len(tokens) - 2
