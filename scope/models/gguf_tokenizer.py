"""The tokenizer inside a GGUF file, as the file says that it is.

The transformers library (4.57) reads it with three errors that change what a model is given:
Gemma's SentencePiece vocabulary, whose scores are the ranks of merges, becomes a unigram model that
splits most words wrongly; a first token is set before every text though the file says not to; and
the end-of-text token is taken for the first one. Here the file has the last word. On English,
Japanese and mixed texts the tokens then are those of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scope.models.torch_setup import quiet_transformers

_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
_SENTENCE_PIECE = "llama"


def load_tokenizer(path: Path, fields: Mapping[str, Any]) -> Any:
    """The tokenizer of a GGUF file.

    Parameters
    ----------
    path
        The file.
    fields
        What its header says, by name.
    """
    automatic = quiet_transformers().AutoTokenizer
    tokenizer = automatic.from_pretrained(path.parent, gguf_file=path.name)
    inner = tokenizer.backend_tokenizer
    is_unigram = type(inner.model).__name__ == "Unigram"
    if is_unigram and fields["tokenizer.ggml.model"] == _SENTENCE_PIECE:
        _set_merges(inner, fields)
    _set_special(tokenizer, fields)
    return tokenizer


def _set_merges(inner: Any, fields: Mapping[str, Any]) -> None:
    """Make it a model of merges, with the tokens that the file marks as whole ones."""
    tokenizers = _library()
    names: Sequence[str] = fields["tokenizer.ggml.tokens"]
    kinds: Sequence[int] = fields["tokenizer.ggml.token_type"]
    unknown = fields.get("tokenizer.ggml.unknown_token_id")
    inner.model = tokenizers.models.BPE(
        vocab={name: number for number, name in enumerate(names)},
        merges=_merges(names, fields["tokenizer.ggml.scores"], kinds),
        unk_token=None if unknown is None else names[unknown],
        fuse_unk=True,
        byte_fallback=True,
    )
    for kind, add in ((_CONTROL, inner.add_special_tokens), (_USER_DEFINED, inner.add_tokens)):
        whole = (name for name, its in zip(names, kinds, strict=True) if its == kind)
        add([tokenizers.AddedToken(name, normalized=False) for name in whole])


def _merges(
    names: Sequence[str], scores: Sequence[float], kinds: Sequence[int]
) -> list[tuple[str, str]]:
    """Every pair of tokens that makes up another, best score first.

    Examples
    --------
    >>> _merges(["a", "b", "ab", "aba"], [0.0, 0.0, -2.0, -1.0], [1, 1, 1, 1])
    [('ab', 'a'), ('a', 'b')]
    """
    numbers = {name: number for number, name in enumerate(names)}
    found = [
        (-score, numbers[name[:cut]], numbers[name[cut:]])
        for name, score, kind in zip(names, scores, kinds, strict=True)
        if kind == _NORMAL
        for cut in range(1, len(name))
        if name[:cut] in numbers and name[cut:] in numbers
    ]
    return [(names[left], names[right]) for _, left, right in sorted(found)]


def _set_special(tokenizer: Any, fields: Mapping[str, Any]) -> None:
    """Name the first and the last token, and write the first one where the file says so."""
    tokenizers = _library()
    names = fields["tokenizer.ggml.tokens"]
    for name in ("bos", "eos"):
        number = fields.get(f"tokenizer.ggml.{name}_token_id")
        if number is not None:
            setattr(tokenizer, f"{name}_token", names[number])
    writes_first = fields.get("tokenizer.ggml.add_bos_token")
    if writes_first is None:
        return
    first = fields.get("tokenizer.ggml.bos_token_id")
    if writes_first and first is not None:
        # The template's own syntax: the token by its name and number, then the text.
        tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=[names[first], "$A"], special_tokens=[(names[first], first)]
        )
    else:
        tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=["$A"]
        )


def _library() -> Any:
    import tokenizers  # type: ignore[import-untyped]

    return tokenizers
