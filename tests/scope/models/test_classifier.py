"""The oracle is plain transformers: one text at a time, cut by the tokenizer itself."""

import os

import pytest
from hostile.checkpoints import tensors
from hostile.encoders import change_json
from hypothesis import given, settings, strategies as st

from scope.errors import ModelError
from scope.models import heads
from scope.models.checkpoint import longest_input
from scope.models.huggingface import load
from scope.models.options import ModelOptions
from scope.models.questions import ask
from scope.models.scheme import load_classifier
from scope.models.torch_setup import load_torch

LIMIT = 32
WORDS = ("a", "film", "good", "dull", "the", "plot", "greats", "not", "zebra", "é", "<|", "?")

every_architecture = pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2"])
texts_of_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)


@pytest.fixture(scope="session")
def loaded(checkpoints, adapter):
    """Gives the classifier of an architecture with a token budget."""
    return lambda architecture, token_budget=4096: adapter(
        checkpoints[architecture], ModelOptions(device="cpu", token_budget=token_budget)
    )


@pytest.fixture(scope="session")
def plain(checkpoints, as_transformers):
    """Gives a text's probabilities by plain transformers, and whether the tokenizer cut it."""
    torch = load_torch()

    def answer(architecture, text):
        tokenizer, model = as_transformers(checkpoints[architecture], "SequenceClassification")
        inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=LIMIT)
        with torch.inference_mode():
            probabilities = torch.softmax(model(**inputs).logits[0], dim=-1).tolist()
        return probabilities, len(tokenizer(text)["input_ids"]) > LIMIT

    return answer


@every_architecture
@settings(max_examples=8)
@given(data=st.data())
@pytest.mark.bits
def test_an_answer_is_bit_for_bit_the_same_in_any_batch_order_and_budget(
    loaded, architecture, data
):
    texts = data.draw(st.lists(texts_of_words, min_size=1, max_size=8))
    budget = data.draw(st.sampled_from([1, 40, 4096]))
    shuffled = data.draw(st.permutations(texts))
    with pytest.MonkeyPatch.context() as patch:
        # Every digit: it must not be the rounding that makes them equal.
        patch.setattr(heads, "DECIMALS", 15)
        alone = {text: loaded(architecture).classify([text])[0] for text in texts}
        together = loaded(architecture, budget).classify(shuffled)
    assert together == [alone[text] for text in shuffled]


@every_architecture
@settings(max_examples=8)
@given(texts=st.lists(texts_of_words, min_size=1, max_size=6))
def test_probabilities_and_cuts_are_those_of_plain_transformers(loaded, plain, architecture, texts):
    for text, prediction in zip(texts, loaded(architecture).classify(texts), strict=True):
        probabilities, cut = plain(architecture, text)
        assert prediction.probabilities == pytest.approx(probabilities, abs=2e-6)
        assert sum(prediction.probabilities) == pytest.approx(1, abs=2e-6)
        assert prediction.truncated == cut


@every_architecture
def test_texts_of_different_length_get_different_answers(loaded, architecture):
    """Else the tests above would hold for a model that answers the same to everything."""
    texts = ["good", "the dull film", "the plot is not good"]
    answers = {prediction.probabilities for prediction in loaded(architecture).classify(texts)}
    assert len(answers) == 3


def test_the_last_token_counts_for_a_causal_model_even_where_it_ends_a_text(loaded, plain):
    """GPT-2 has no padding token, and its end of text must not pass for one."""
    for text in ("good<|endoftext|>", "good"):
        probabilities = loaded("gpt2").classify([text])[0].probabilities
        assert probabilities == pytest.approx(plain("gpt2", text)[0], abs=1e-6)


def test_the_tokenizers_own_limit_holds_where_it_is_lower(bert_copy):
    change_json(bert_copy / "tokenizer_config.json", model_max_length=6)
    classifier = load(str(bert_copy), ModelOptions(device="cpu"))
    four, five, four_of_five = classifier.classify(
        ["the plot is good", "the plot is good film", "the plot is good"]
    )
    assert (four.truncated, five.truncated) == (False, True)
    assert five.probabilities == four.probabilities == four_of_five.probabilities


def test_a_model_without_positions_of_its_own_has_the_tokenizers_limit():
    class Tokenizer:
        model_max_length = 77

    torch = load_torch()
    for positions in (None, -1):
        model = torch.nn.Module()
        model.config = type("Config", (), {"max_position_embeddings": positions})
        assert longest_input(model, Tokenizer) == 77


def refusal(folder, **options):
    with pytest.raises(ModelError) as raised:
        load_classifier(str(folder), ModelOptions(device="cpu", **options))
    return raised.value


def test_a_model_that_answers_nan_gives_no_number(bert_copy):
    tensors(lambda weights: weights["classifier.bias"].fill_(float("nan")))(bert_copy)
    classifier = load(str(bert_copy), ModelOptions(device="cpu"))
    ((_, answer),) = ask(classifier, "classifier", ["a film"])
    assert (answer.given, answer.missing) == (False, "no number")


@pytest.fixture
def pickled(bert_copy):
    """The same weights as a pickle alone."""
    from safetensors.torch import load_file

    weights = load_file(bert_copy / "model.safetensors")
    (bert_copy / "model.safetensors").unlink()
    load_torch().save(weights, bert_copy / "pytorch_model.bin")
    return bert_copy


def test_a_pickled_checkpoint_is_refused_and_loads_when_it_is_allowed(pickled, checkpoints):
    assert "has no *.safetensors file among" in refusal(pickled).found
    allowed = load(str(pickled), ModelOptions(device="cpu", allow_pickle=True))
    whole = load(str(checkpoints["bert"]), ModelOptions(device="cpu"))
    texts = ["a good film", "dull"]
    assert allowed.classify(texts) == whole.classify(texts)


class Payload:
    """Makes a folder when it is read from a pickle."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("decoy", [None, "decoy.safetensors"])
def test_a_pickle_that_runs_code_is_not_read(pickled, tmp_path, decoy):
    trace = tmp_path / "trace"
    load_torch().save({"weights": Payload(trace)}, pickled / "pytorch_model.bin")
    if decoy:
        (pickled / decoy).write_bytes(b"")
    refusal(pickled)
    assert not trace.exists()


REMOTE_CODE = """
from pathlib import Path
Path({trace!r}).mkdir()
from transformers import PretrainedConfig
class Config(PretrainedConfig):
    model_type = "foreign"
"""


def test_code_that_comes_with_a_checkpoint_is_not_run(bert_copy, tmp_path):
    trace = tmp_path / "trace"
    (bert_copy / "foreign.py").write_text(REMOTE_CODE.format(trace=str(trace)))
    foreign = {"model_type": "foreign", "auto_map": {"AutoConfig": "foreign.Config"}}
    change_json(bert_copy / "config.json", **foreign)
    error = refusal(bert_copy)
    assert not trace.exists()
    assert "contains custom code" in error.found
    assert "--trust-remote-code" in error.fix


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (lambda path: path.write_text('{"model_type": "unheard of"}'), "config.json"),
        (lambda path: path.write_text('{"model_type": "bert", "hidden_size": "x"}'), "config.json"),
        (lambda path: path.write_text('{"version": "1.0", "model": {}}'), "tokenizer.json"),
        # More labels than the head has weights for.
        (lambda path: change_json(path, id2label={"0": "a", "1": "b", "2": "c"}), "config.json"),
    ],
)
def test_damaged_files_are_refused_in_one_short_message(bert_copy, damage, name):
    damage(bert_copy / name)
    error = refusal(bert_copy)
    assert f"`{bert_copy}` cannot be loaded (" in error.found
    assert len(str(error).splitlines()) == 3
