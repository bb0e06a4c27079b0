"""Both ways to read rows give what one forward pass over everything gives, one row at a time."""

import pytest
from decoder_cases import (
    BUDGET,
    CONTINUATIONS,
    ROWS,
    greedy,
    mean_score,
    model_of,
)

from scope.models.decoder import Decoder, PathDecoder

ways = pytest.mark.parametrize(
    ("way", "kind"),
    [
        *((Decoder, kind) for kind in ("llama", "sliding", "gpt2", "recurrent")),
        *((PathDecoder, kind) for kind in ("llama", "sliding", "gpt2")),
    ],
)
either = pytest.mark.parametrize("way", [Decoder, PathDecoder])


def decoder_of(way, kind, budget=BUDGET):
    found = way(model_of(kind), budget)
    assert found.exact
    return found


@ways
@pytest.mark.parametrize("budget", [1, BUDGET])
def test_scores_are_the_means_of_the_log_probabilities_in_one_pass(way, kind, budget):
    scores = decoder_of(way, kind, budget).score(ROWS, CONTINUATIONS)
    for row, several, got in zip(ROWS, CONTINUATIONS, scores, strict=True):
        assert got == pytest.approx([mean_score(kind, row, one) for one in several], abs=1e-5)


@ways
@pytest.mark.bits
def test_scores_are_bit_for_bit_the_same_in_any_company(way, kind):
    together = decoder_of(way, kind).score(ROWS, CONTINUATIONS)
    assert together == [
        [decoder_of(way, kind).score([row], [[following]])[0][0] for following in several]
        for row, several in zip(ROWS, CONTINUATIONS, strict=True)
    ]


@ways
def test_what_is_written_is_the_likeliest_token_each_time(way, kind):
    """By length rows are as long as each other, by paths they need not be."""
    rows = ROWS if way is Decoder else [row[: 4 + 2 * index] for index, row in enumerate(ROWS)]
    decoder = decoder_of(way, kind)
    written = decoder.write(rows, 7, lambda tokens: False)
    assert written == [greedy(kind, row, 7) for row in rows]
    likeliest = [int(each.argmax()) for each in decoder.next_probabilities(rows)]
    assert likeliest == [tokens[0] for tokens in written]


@either
def test_a_row_that_is_over_stays_as_it_is_while_others_go_on(way):
    whole = [greedy("llama", row, 7) for row in ROWS]
    last = whole[0][2]
    assert any(last not in tokens for tokens in whole)
    written = decoder_of(way, "llama").write(ROWS, 7, lambda tokens: tokens[-1] == last)
    cuts = [tokens.index(last) + 1 if last in tokens else 7 for tokens in whole]
    assert written == [tokens[:cut] for tokens, cut in zip(whole, cuts, strict=True)]


@either
def test_an_end_token_ends_a_text_and_is_left_out(way, monkeypatch):
    whole = greedy("llama", ROWS[0], 7)
    end = next(token for token in whole[1:] if token != whole[0])
    settings = model_of("llama").generation_config
    monkeypatch.setattr(settings, "eos_token_id", [49, end])
    written = decoder_of(way, "llama").write(ROWS[:1], 7, lambda tokens: False)
    assert written == [whole[: whole.index(end)]]
