"""A causal language model of ten tokens, whose next token depends on the last one alone."""

import math

from scope.models.checkpoint import Head
from scope.models.language_models import CausalModel
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch, quiet_transformers

TOKENS = ("<s>", "</s>", "who", "saw", "ann", "bob", "paris", "in", "a", "film")
END = 1

NEXT = {
    "saw": {"ann": 0.5, "bob": 0.25, "</s>": 0.25},
    "ann": {"in": 0.6, "</s>": 0.3, "saw": 0.1},
    "in": {"paris": 0.8, "a": 0.2},
    "paris": {"</s>": 0.9, "in": 0.1},
    "a": {"film": 1.0},
    "film": {"</s>": 0.5, "in": 0.5},
    "bob": {"</s>": 1.0},
    "who": {"saw": 1.0},
}
"""The probability of each token after another; of all others there it is e to the -30."""


def ten_tokens(next_of=NEXT, **settings):
    """The model, with the prompt ``{text}``."""
    tokenizers, transformers = __import__("tokenizers"), quiet_transformers()
    words = {token: number for number, token in enumerate(TOKENS)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<s>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>"
    )
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=10,
            hidden_size=10,
            num_hidden_layers=0,
            num_attention_heads=1,
            intermediate_size=1,
            max_position_embeddings=64,
            rms_norm_eps=0.0,
            bos_token_id=0,
            eos_token_id=END,
        )
    ).eval()
    torch = load_torch()
    logits = torch.full((10, 10), -30.0)
    for token, shares in next_of.items():
        for following, share in shares.items():
            logits[words[token], words[following]] = math.log(share)
    with torch.no_grad():
        # A row of the unit matrix is the root of 10 as long after the norm.
        model.model.embed_tokens.weight.copy_(torch.eye(10))
        model.lm_head.weight.copy_(logits.T / math.sqrt(10))
    head = Head(model=model, tokenizer=tokenizer, limit=64, fingerprint="ten tokens")
    options = ModelOptions(device="cpu", prompts={"answer": "{text}"}, **settings)
    return CausalModel(head, "hf:ten-tokens", options)
