"""The oracle is one forward pass over everything, one row at a time, with nothing remembered."""

import functools

import pytest

from scope.errors import ModelError
from scope.models.batching import AS_GIVEN
from scope.models.decoder import Decoder
from scope.models.torch_setup import load_torch, quiet_transformers

SIZES = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "initializer_range": 0.5}
ATTENTION = {"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 32}
ROWS = [[3, 4, 5, 6, 7, 8, 9, 10, 11], [11, 4, 9, 6, 2, 8, 3, 1, 40], [7] * 9]
CONTINUATIONS = [
    [(12,), (13, 14), (20, 21, 22, 23, 24, 25)],
    [(30, 31, 32), (12,)],
    [(9, 9), (8, 7, 6, 5, 4)],
]

every_kind = pytest.mark.parametrize("kind", ["llama", "sliding", "gpt2", "recurrent"])


@functools.cache
def model_of(kind):
    transformers, torch = quiet_transformers(), load_torch()
    config = {
        "llama": lambda: transformers.LlamaConfig(**SIZES, **ATTENTION, max_position_embeddings=64),
        # Its window is shorter than the rows.
        "sliding": lambda: transformers.Gemma3TextConfig(
            **SIZES, **ATTENTION, head_dim=8, sliding_window=4, sliding_window_pattern=2
        ),
        "gpt2": lambda: transformers.GPT2Config(
            vocab_size=50, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5
        ),
        "recurrent": lambda: transformers.MambaConfig(**SIZES, state_size=4),
    }[kind]()
    config.eos_token_id = None
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return transformers.AutoModelForCausalLM.from_config(config).eval()


def log_probabilities(kind, tokens):
    """Of every token after each place of one row."""
    torch = load_torch()
    with torch.inference_mode():
        return model_of(kind)(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)


def mean_score(kind, row, following):
    every = log_probabilities(kind, [*row, *following])
    places = range(len(row) - 1, len(row) + len(following) - 1)
    scores = [float(every[place, token]) for place, token in zip(places, following, strict=True)]
    return sum(scores) / len(scores)


def greedy(kind, row, longest):
    written = []
    for _ in range(longest):
        written.append(int(log_probabilities(kind, [*row, *written])[-1].argmax()))
    return written


@every_kind
@pytest.mark.parametrize("budget", [1, 4096])
def test_scores_are_the_means_of_the_log_probabilities_in_one_pass(kind, budget):
    scores = Decoder(model_of(kind), kind).score(ROWS, CONTINUATIONS, budget)
    for row, several, got in zip(ROWS, CONTINUATIONS, scores, strict=True):
        wanted = [mean_score(kind, row, following) for following in several]
        assert got == pytest.approx(wanted, abs=1e-5)


@every_kind
@pytest.mark.bits
def test_scores_are_bit_for_bit_the_same_in_any_company(kind):
    decoder = Decoder(model_of(kind), kind)
    together = decoder.score(ROWS, CONTINUATIONS, 4096)
    alone = [
        [decoder.score([row], [[following]], 1)[0][0] for following in several]
        for row, several in zip(ROWS, CONTINUATIONS, strict=True)
    ]
    assert together == alone


@every_kind
def test_what_is_written_is_the_likeliest_token_each_time(kind):
    written = Decoder(model_of(kind), kind).write(ROWS, 7, lambda tokens: False)
    assert written == [greedy(kind, row, 7) for row in ROWS]


def test_a_row_that_is_over_stays_as_it_is_while_others_go_on():
    whole = [greedy("llama", row, 7) for row in ROWS]
    last = whole[0][2]
    assert any(last not in tokens for tokens in whole)
    written = Decoder(model_of("llama"), "llama").write(ROWS, 7, lambda tokens: tokens[-1] == last)
    cuts = [tokens.index(last) + 1 if last in tokens else 7 for tokens in whole]
    assert written == [tokens[:cut] for tokens, cut in zip(whole, cuts, strict=True)]


@pytest.mark.parametrize("ends", [int, list])
def test_an_end_token_ends_a_text_and_is_left_out(ends):
    whole = greedy("llama", ROWS[0], 7)
    end = next(token for token in whole[1:] if token != whole[0])
    model = model_of("llama")
    model.generation_config.eos_token_id = end if ends is int else [49, end]
    try:
        written = Decoder(model, "llama").write(ROWS[:1], 7, lambda tokens: False)
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

    decoder = Decoder(Broken(), "broken")
    vars(decoder._inference)["_found"] = AS_GIVEN  # nothing is multiplied
    with pytest.raises(ModelError, match="`broken` answers NaN"):
        decoder.next_probabilities([[1]])
