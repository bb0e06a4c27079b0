"""The oracle is one forward pass over everything, one row at a time, with nothing remembered."""

import pytest
from decoder_cases import BUDGET, CONTINUATIONS, ROWS, every_kind, greedy, mean_score, model_of

from scope.errors import ModelError
from scope.models.batching import AS_GIVEN
from scope.models.decoder import Decoder
from scope.models.torch_setup import load_torch


@every_kind
@pytest.mark.parametrize("budget", [1, 4096])
def test_scores_are_the_means_of_the_log_probabilities_in_one_pass(kind, budget):
    scores = Decoder(model_of(kind), kind, budget).score(ROWS, CONTINUATIONS)
    for row, several, got in zip(ROWS, CONTINUATIONS, scores, strict=True):
        wanted = [mean_score(kind, row, following) for following in several]
        assert got == pytest.approx(wanted, abs=1e-5)


@every_kind
@pytest.mark.bits
def test_scores_are_bit_for_bit_the_same_in_any_company(kind):
    decoder = Decoder(model_of(kind), kind, BUDGET)
    together = decoder.score(ROWS, CONTINUATIONS)
    alone = [
        [decoder.score([row], [[following]])[0][0] for following in several]
        for row, several in zip(ROWS, CONTINUATIONS, strict=True)
    ]
    assert together == alone


@every_kind
def test_what_is_written_is_the_likeliest_token_each_time(kind):
    written = Decoder(model_of(kind), kind, BUDGET).write(ROWS, 7, lambda tokens: False)
    assert written == [greedy(kind, row, 7) for row in ROWS]


def test_a_row_that_is_over_stays_as_it_is_while_others_go_on():
    whole = [greedy("llama", row, 7) for row in ROWS]
    last = whole[0][2]
    assert any(last not in tokens for tokens in whole)
    written = Decoder(model_of("llama"), "llama", BUDGET).write(
        ROWS, 7, lambda tokens: tokens[-1] == last
    )
    cuts = [tokens.index(last) + 1 if last in tokens else 7 for tokens in whole]
    assert written == [tokens[:cut] for tokens, cut in zip(whole, cuts, strict=True)]


@pytest.mark.parametrize("ends", [int, list])
def test_an_end_token_ends_a_text_and_is_left_out(ends):
    whole = greedy("llama", ROWS[0], 7)
    end = next(token for token in whole[1:] if token != whole[0])
    model = model_of("llama")
    model.generation_config.eos_token_id = end if ends is int else [49, end]
    try:
        written = Decoder(model, "llama", BUDGET).write(ROWS[:1], 7, lambda tokens: False)
    finally:
        model.generation_config.eos_token_id = None
    assert written == [whole[: whole.index(end)]]


def test_a_model_that_answers_nan_is_refused():
    class Broken:
        generation_config = type("Settings", (), {"eos_token_id": None})
        device = "cpu"

        def forward(self, input_ids):
            """Only its signature counts."""

        def modules(self):
            return ()

        def __call__(self, input_ids, past_key_values, use_cache):
            logits = load_torch().full((*input_ids.shape, 5), float("nan"))
            return type("Output", (), {"logits": logits, "past_key_values": None})

    decoder = Decoder(Broken(), "broken", BUDGET)
    vars(decoder._inference)["_found"] = AS_GIVEN  # nothing is multiplied
    with pytest.raises(ModelError, match="`broken` answers NaN"):
        decoder.next_probabilities([[1]])
