"""The oracle is plain transformers: one sequence at a time, scores at every place, in loops."""

import math

import pytest
from tiny_heads import LIMIT, WHOLE_WORDS

from scope.errors import ModelError
from scope.models import heads as masked
from scope.models.checkpoint import Head
from scope.models.heads import MaskedModel
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch
from scope.records import BLANK, Question

OPTIONS = ModelOptions(device="cpu")
both = pytest.mark.parametrize("architecture", ["roberta", "bert"])
SENTENCES = (
    f"the film {BLANK} good.",
    f"{BLANK} saw bob in paris",
    f"who saw ({BLANK}) in paris?",
    f"a {BLANK}",
    f"ann was in the {BLANK} film, who was dull?",
)


@pytest.fixture(scope="session")
def loaded(heads, adapter):
    """Gives the mask filler of an architecture with a token budget."""
    return lambda architecture, token_budget=4096: adapter(
        heads[architecture], ModelOptions(device="cpu", token_budget=token_budget)
    )


@pytest.fixture(scope="session")
def plain(heads, as_transformers):
    """Gives the words for a blank, best first, by plain transformers."""
    torch = load_torch()

    def parts(architecture):
        return as_transformers(heads[architecture], "MaskedLM")

    def log_probabilities(architecture, tokens, place):
        with torch.inference_mode():
            logits = parts(architecture)[1](input_ids=torch.tensor([tokens])).logits[0, place]
        return logits.double().log_softmax(-1).tolist()

    def may_stand(architecture, token, *, first, after_space):
        spelled = parts(architecture)[0].convert_ids_to_tokens(token)
        onward = spelled[:2] == "##" if architecture == "bert" else spelled[:1] != "Ġ"
        bare = spelled[2:] if spelled[:2] == "##" else spelled.lstrip("Ġ")
        # Pieces of one letter and known words alone are plain letters in both vocabularies.
        if not bare or not all(c.isascii() and (c.isalnum() or c in "'-") for c in bare):
            return False
        if not first:
            return onward
        if architecture == "roberta" and not after_space:
            onward = False
        return not onward and any(map(str.isalnum, bare))

    def fillers(architecture, text):
        tokenizer, _ = parts(architecture)
        before, after = text.split(BLANK)
        scored = {}
        for pieces in (1, 2, 3):
            tokens = tokenizer(f"{before}{tokenizer.mask_token * pieces}{after}")["input_ids"]
            place = tokens.index(tokenizer.mask_token_id)
            total = 0.0
            for step in range(pieces):
                every = log_probabilities(architecture, tokens, place + step)
                ranked = sorted(
                    (
                        token
                        for token in range(len(every))
                        if may_stand(
                            architecture, token, first=step == 0, after_space=before[-1:] == " "
                        )
                    ),
                    key=lambda token, every=every: -every[token],
                )
                if pieces == 1:
                    for token in ranked:
                        word = tokenizer.decode([token]).strip()
                        scored[word] = max(every[token], scored.get(word, -math.inf))
                tokens[place + step] = ranked[0]
                total += every[ranked[0]]
            word = tokenizer.decode(tokens[place : place + pieces]).strip()
            scored[word] = max(total / pieces, scored.get(word, -math.inf))
        return sorted(scored, key=lambda word: -scored[word])[:5]

    return fillers


def ask(model, *texts):
    questions = [Question(id=str(number), text=text) for number, text in enumerate(texts)]
    answers = dict(model.fill(questions))
    assert sorted(answers) == list(range(len(texts)))
    return [answers[number] for number in range(len(texts))]


@both
@pytest.mark.bits
def test_the_scores_behind_the_fillers_are_bit_for_bit_the_same(loaded, architecture, monkeypatch):
    """Every digit: it must not be the rounding that makes answers equal."""
    monkeypatch.setattr(masked, "DECIMALS", 17)
    kept = []
    monkeypatch.setattr(masked, "_answer", lambda fillers, truncated: kept.append(sorted(fillers)))
    for budget in (1, 64, 4096):
        ask(loaded(architecture, budget), *SENTENCES, *SENTENCES[::-1])
    first, second, third = (sorted(kept[start : start + 10]) for start in (0, 10, 20))
    assert first == second == third
    assert len({score for fillers in first for score, _ in fillers}) > 20


@both
def test_fillers_are_those_of_plain_transformers(loaded, plain, architecture):
    answers = ask(loaded(architecture), *SENTENCES)
    for text, answer in zip(SENTENCES, answers, strict=True):
        assert [answer.text, *answer.others] == plain(architecture, text)
    words = {word for answer in answers for word in (answer.text, *answer.others)}
    assert words & {*WHOLE_WORDS}
    # Some are made of several tokens.
    assert any(len(word) > 1 and word not in WHOLE_WORDS for word in words)


@both
def test_the_scores_at_the_blank_alone_give_what_all_scores_give(loaded, architecture, monkeypatch):
    expected = ask(loaded(architecture), *SENTENCES)
    monkeypatch.setattr(loaded(architecture)._model, "get_output_embeddings", lambda: None)
    assert ask(loaded(architecture), *SENTENCES) == expected


def test_a_text_is_truncated_only_beyond_the_limit(loaded):
    """Two tokens of the limit are the frame's, three the masks'."""
    texts = (" ".join(["the"] * count + [BLANK]) for count in (LIMIT - 5, LIMIT - 4))
    fits, over = ask(loaded("bert"), *texts)
    assert (fits.truncated, over.truncated) == (False, True)


def test_a_tokenizer_without_a_mask_is_refused():
    tokenizer = type("Tokenizer", (), {"mask_token": None})
    with pytest.raises(ModelError, match="has no mask token"):
        MaskedModel(Head(model=None, tokenizer=tokenizer, fingerprint="", limit=9), "x", OPTIONS)
