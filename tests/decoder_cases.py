"""Small random models of every kind of attention, and what each gives to one row in one pass."""

import functools

from scope.models.torch_setup import load_torch, quiet_transformers

SIZES = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "initializer_range": 0.5}
ATTENTION = {"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 32}
ROWS = [[3, 4, 5, 6, 7, 8, 9, 10, 11], [11, 4, 9, 6, 2, 8, 3, 1, 40], [7] * 9]
BUDGET = 4096
CONTINUATIONS = [
    [(12,), (13, 14), (20, 21, 22, 23, 24, 25)],
    [(30, 31, 32), (12,)],
    [(9, 9), (8, 7, 6, 5, 4)],
]


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
