"""The oracle is the checkpoint that the GGUF file was written from."""

import warnings
from types import SimpleNamespace

import pytest
from tiny_language import write_tiny_gguf

from scope.errors import ModelError
from scope.models import gguf, huggingface
from scope.models.gguf import load_tokenizer
from scope.models.options import ModelOptions
from scope.models.prompts import Spelling
from scope.models.scheme import load_model
from scope.records import Question

OPTIONS = ModelOptions(device="cpu")
ASKED = [
    Question(id=str(number), text=text, context="ann saw bob in paris", options=("ann", "the film"))
    for number, text in enumerate(("who saw bob?", "in a film?", "zoé</s>?"))
]


@pytest.fixture(
    scope="module",
    params=[pytest.param(True, id="chat"), pytest.param(False, id="plain", marks=pytest.mark.slow)],
)
def pair(request, llama_folders, tmp_path_factory):
    """A folder and a GGUF file of the same model."""
    folder, file = llama_folders[request.param], tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_tiny_gguf(file, folder)
    return folder, file


def test_a_gguf_file_answers_as_the_checkpoint_that_it_was_made_from(pair, capfd):
    folder, file = pair
    packed = gguf.load(str(file), OPTIONS)
    assert capfd.readouterr() == ("", "")
    whole = huggingface.load(str(folder), OPTIONS)
    assert dict(packed.answer(ASKED)) == dict(whole.answer(ASKED))
    for index, answer in packed.choose(ASKED):
        wanted = dict(whole.choose(ASKED))[index].probabilities
        assert answer.probabilities == pytest.approx(wanted, abs=1e-5)
    texts = [question.text for question in ASKED]
    assert [p.tokens[0] for p in packed.predict_next(texts)] == [
        p.tokens[0] for p in whole.predict_next(texts)
    ]


def test_the_header_is_read_once(pair, monkeypatch):
    library = pytest.importorskip("gguf")
    usual, reads = library.GGUFReader, []
    begin = usual.__init__
    monkeypatch.setattr(usual, "__init__", lambda *self: reads.append(self) or begin(*self))
    gguf.load(str(pair[1]), OPTIONS)
    assert len(reads) == 1
    assert library.GGUFReader is usual


def test_the_spec_is_the_path_and_the_fingerprint_the_content(pair, tmp_path):
    file = pair[1]
    model = load_model(f"hf:{file}", "answerer", OPTIONS)
    assert model.spec == f"hf:{file}"
    elsewhere = tmp_path / "copy.gguf"
    elsewhere.write_bytes(file.read_bytes())
    usual = gguf.identify(str(file), OPTIONS)
    assert gguf.identify(str(elsewhere), OPTIONS) == usual
    other = ModelOptions(device="cpu", dtype="bfloat16")
    assert gguf.identify(str(file), other) != usual
    # Two more bytes at the end change nothing but the file.
    elsewhere.write_bytes(file.read_bytes() + b"\0\0")
    assert gguf.identify(str(elsewhere), OPTIONS) != usual


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def refusal(path):
    with pytest.raises(ModelError) as raised:
        gguf.load(str(path), OPTIONS)
    return raised.value


def test_a_missing_file_or_one_of_another_format_is_refused(tmp_path):
    assert refusal(tmp_path / "none.gguf").found == f"no file `{tmp_path / 'none.gguf'}`"
    (tmp_path / "weights.gguf").write_bytes(b"PK\3\4 and so on")
    assert refusal(tmp_path / "weights.gguf").found.endswith("begins with b'PK\\x03\\x04'")


def test_an_architecture_that_cannot_be_read_is_refused(tmp_path):
    import gguf as library

    writer = library.GGUFWriter(tmp_path / "odd.gguf", "abacus")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a"])
    finish(writer)
    error = refusal(tmp_path / "odd.gguf")
    assert "abacus" in error.found
    assert "gguf:" in error.fix


@pytest.fixture
def gemma_tokenizer(tmp_path):
    """Writes the tokenizer of a Gemma: SentencePiece merges, ranked by their scores."""
    import gguf as library

    def write(**special):
        pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<turn>", "\n\n"]
        bytes_ = [f"<0x{number:02X}>" for number in range(256)]
        merged = ["th", "▁t", "he", "▁th", "▁the", "ere", "re", "▁there"]
        letters = ["▁", *"there", "\n"]
        normal = list(dict.fromkeys([*merged, *letters]))
        path = tmp_path / "gemma.gguf"
        writer = library.GGUFWriter(path, "gemma3")
        writer.add_block_count(1)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([*pieces, *bytes_, *normal])
        scores = [-float(number) for number in range(len(normal))]
        writer.add_token_scores([-1000.0] * 6 + [-1000.0] * 256 + scores)
        writer.add_token_types([3] * 5 + [4] + [6] * 256 + [1] * len(normal))
        writer.add_bos_token_id(2)
        writer.add_eos_token_id(1)
        writer.add_unk_token_id(3)
        writer.add_pad_token_id(0)
        for name, value in special.items():
            getattr(writer, name)(value)
        finish(writer)
        held = library.GGUFReader(path).fields
        fields = {name: field.contents() for name, field in held.items()}
        with warnings.catch_warnings(action="ignore"):
            return load_tokenizer(path, fields)

    return write


def test_sentence_piece_scores_are_ranks_of_merges(gemma_tokenizer):
    """As llama.cpp reads them; the likeliest division of `the` by scores would be another."""
    tokenizer = gemma_tokenizer(add_add_bos_token=True)

    def pieces(text):
        return tokenizer.convert_ids_to_tokens(
            tokenizer(text, add_special_tokens=False)["input_ids"]
        )

    assert pieces(" there") == ["▁there"]
    assert pieces("the") == ["th", "e"]
    assert pieces("é") == ["<0xC3>", "<0xA9>"]
    assert pieces("he\n\nthe") == ["he", "\n\n", "th", "e"]
    assert pieces("he<turn>") == ["he", "<turn>"]
    assert Spelling(tokenizer, "m").as_it_follows(tokenizer(" there")["input_ids"][1]) == " there"
    split = tokenizer("he<turn>", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert tokenizer.convert_tokens_to_ids("<turn>") not in split


@pytest.mark.parametrize("first", [True, False])
def test_the_file_says_whether_a_text_begins_with_the_first_token(gemma_tokenizer, first):
    tokenizer = gemma_tokenizer(add_add_bos_token=first)
    assert (tokenizer("the")["input_ids"][0] == 2) is first
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<bos>", "<eos>")


@pytest.mark.parametrize(
    ("known", "number", "ends"),
    [(1, 106, [1, 106]), ([1, 2], 2, [1, 2]), (None, 7, [7]), (1, None, 1)],
)
def test_the_end_of_a_turn_ends_a_reply(known, number, ends):
    model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=known))
    gguf._add_end_of_turn(model, {"tokenizer.ggml.eot_token_id": number})
    assert model.generation_config.eos_token_id == ends


@pytest.mark.slow
def test_smollm2_answers_from_a_passage_and_knows_a_capital(smollm2_file):
    smollm2 = gguf.load(str(smollm2_file), OPTIONS)
    passage = (
        "The Amber Bridge was built in 1893 by the engineer Ada Holm. It crosses the river Lune "
        "and is closed to carts."
    )
    asked = Question(id="0", text="When was the Amber Bridge built?", context=passage)
    assert "1893" in dict(smollm2.answer([asked]))[0].text
    (next_token,) = smollm2.predict_next(["The capital of France is"])
    assert next_token.tokens[0] == " Paris"
