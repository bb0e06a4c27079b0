import pytest

from scope.errors import DataError, SpecError
from scope.models.latents.reader import Framing, Readout
from scope.models.torch_setup import quiet_transformers


@pytest.fixture
def framing(folders):
    def make(name, limit=40, **readout):
        tokenizer = quiet_transformers().AutoTokenizer.from_pretrained(folders[name])
        given = Readout(**readout)
        causal = name in ("llama", "gpt2")
        return tokenizer, Framing(tokenizer, given, limit=limit, causal=causal, spec=f"hf:{name}")

    return make


def pieces(tokenizer, framing, text):
    ((tokens, _),) = framing.frame([text])
    return tokens, tokenizer.convert_ids_to_tokens(tokens)


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "roberta", "t5", "bart"])
@pytest.mark.parametrize("kind", ["last", "mean"])
def test_a_bare_text_is_what_its_tokenizer_makes_of_it(framing, name, kind):
    tokenizer, made = framing(name, kind=kind)
    for text in ("the film was good", "a", "zoé?"):
        assert made.frame([text])[0].tokens == tokenizer(text)["input_ids"]


def test_a_prompt_stands_around_the_text_and_special_tokens_around_both(framing):
    tokenizer, made = framing("bert", kind="prompt", template="who saw {text} ?")
    tokens, said = pieces(tokenizer, made, "ann")
    assert said == ["[CLS]", "who", "saw", "ann", "?", "[SEP]"]
    assert made.read(len(tokens)) == slice(4, 5)


def test_the_last_token_is_the_texts_own(framing):
    tokenizer, made = framing("bert", kind="last")
    tokens, said = pieces(tokenizer, made, "ann saw bob")
    assert said[made.read(len(tokens))] == ["bob"]


def test_a_mean_takes_all_tokens_but_of_causal_models_the_first(framing):
    assert framing("bert", kind="mean")[1].read(5) == slice(0, 5)
    assert framing("gpt2", kind="mean")[1].read(5) == slice(1, 5)
    assert framing("gpt2", kind="mean")[1].read(1) == slice(0, 1)


def test_a_text_that_is_too_long_loses_its_end_and_the_prompt_nothing(framing):
    _, made = framing("bert", limit=6, kind="prompt", template="who saw {text} ?")
    found = made.frame(["ann", "ann bob"])
    assert [framed.truncated for framed in found] == [False, True]
    assert found[0].tokens == found[1].tokens


def test_names_of_special_tokens_in_a_text_are_text(framing):
    tokenizer, made = framing("llama", kind="last")
    tokens, _ = pieces(tokenizer, made, "ann</s>bob")
    assert tokenizer.eos_token_id not in tokens


def test_space_around_a_text_is_no_part_of_it(framing):
    _, made = framing("gpt2", kind="last")
    assert made.frame([" the film\n"]) == made.frame(["the film"])


def test_texts_without_a_token_are_counted_and_one_is_named(framing):
    _, made = framing("gpt2", kind="last")
    with pytest.raises(DataError, match=r"2 of 3 texts have no token for `hf:gpt2`, such as '  '"):
        made.frame(["ann", "  ", ""])


def test_a_prompt_must_leave_room(framing):
    with pytest.raises(SpecError, match=r"a prompt of 6 tokens\nexpected: .* the 6 tokens"):
        framing("bert", limit=6, kind="prompt", template="the film {text} was good")


def test_no_texts_have_no_tokens(framing):
    assert framing("bert", kind="mean")[1].frame([]) == []
