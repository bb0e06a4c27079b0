"""Which adapter asks a checkpoint, what it can be asked for, and what holds of all adapters."""

import math
from dataclasses import replace

import pytest
from hostile.encoders import change_json
from hub.tiny import write_tiny_model
from hypothesis import given, settings, strategies as st
from tiny_heads import SENTINELS, WHOLE_WORDS

from scope.models import replies
from scope.models.heads import ExtractiveModel, HuggingFaceClassifier, MaskedModel
from scope.models.huggingface import load
from scope.models.language_models import CausalModel, SentinelModel, TextToTextModel
from scope.models.options import ModelOptions
from scope.models.questions import KINDS
from scope.models.scheme import load_model
from scope.records import BLANK, Question

CPU = ModelOptions(device="cpu")
WRITTEN = ["answerer", "answer_scorer", "choice_scorer"]
CAUSAL = ["mask_filler", *WRITTEN, "next_token", "text_scorer"]
WRITING = ("answer", "choice", "text_to_text_answer")
PROMPTS = {"cloze": "{text}", **dict.fromkeys(WRITING, "{context} {text}")}
ASKED = Question(id="0", text="who was ____?", context="ann was dull", options=("ann", "bob"))
texts_of_words = st.lists(
    st.sampled_from((*WHOLE_WORDS, "zebra", "é", "?")), min_size=1, max_size=25
).map(" ".join)


@pytest.fixture(scope="session")
def folder(heads, llama_folders):
    return lambda name: llama_folders[True] if name == "llama" else heads[name]


@pytest.mark.parametrize(
    ("name", "kind", "roles"),
    [
        ("bert", MaskedModel, ["mask_filler"]),
        ("bert_qa", ExtractiveModel, ["answerer"]),
        ("t5", SentinelModel, ["mask_filler", *WRITTEN]),
        ("bart", TextToTextModel, WRITTEN),
        ("classifier", HuggingFaceClassifier, ["classifier"]),
        ("llama", CausalModel, CAUSAL),
    ],
)
def test_an_architecture_has_an_adapter_with_roles(folder, adapter, name, kind, roles):
    model = adapter(folder(name), CPU)
    assert type(model) is kind
    assert [role for role, kind in KINDS.items() if isinstance(model, kind.protocol)] == roles


@pytest.mark.parametrize("architectures", [None, ["SomethingElse"], 7])
def test_an_architecture_of_no_family_is_taken_for_a_classifier(tmp_path, architectures):
    write_tiny_model(tmp_path)
    change_json(tmp_path / "config.json", architectures=architectures)
    assert type(load_model(str(tmp_path), "classifier", CPU)) is HuggingFaceClassifier


@pytest.mark.parametrize(
    ("name", "changes", "prompts"),
    [
        ("bert", {}, ()),
        ("bert_qa", {"max_answer_tokens": 5}, ()),
        ("t5", {"max_answer_tokens": 5}, ("text_to_text_answer", "choice")),
        ("llama", {"max_answer_tokens": 5, "next_tokens": 19}, ("answer", "cloze", "choice")),
    ],
)
def test_the_fingerprint_covers_what_changes_answers_and_no_more(
    folder, adapter, name, changes, prompts
):
    def print_of(**changed):
        options = ModelOptions(**{"device": "cpu", "prompts": PROMPTS} | changed)
        return adapter(folder(name), options).fingerprint

    other = [{"dtype": "bfloat16"}, *({option: value} for option, value in changes.items())]
    other += [{"prompts": PROMPTS | {prompt: "{text}?"}} for prompt in prompts]
    prints = {print_of(**changed) for changed in other} | {print_of()}
    assert len(prints) == len(other) + 1
    assert print_of(token_budget=7, threads=1) == print_of()


def asks_of(model):
    return [getattr(model, name) for name in ("answer", "choose", "fill") if hasattr(model, name)]


def body_of(model):
    return model._head.model if hasattr(model, "_head") else model._model


@pytest.mark.parametrize(
    ("name", "count"), [("bert", 65), ("bert_qa", 65), ("t5", 5), ("llama", 5)]
)
def test_answers_come_before_the_last_question_is_read(folder, name, count):
    model, passes = load(str(folder(name)), replace(CPU, token_budget=1)), []
    body_of(model).register_forward_hook(lambda *_: passes.append(1))
    for ask in asks_of(model):
        answers = ask([replace(ASKED, id=str(number)) for number in range(count)])
        next(answers)
        first = len(passes)
        assert len(list(answers)) == count - 1
        assert first < len(passes)


@pytest.mark.parametrize(
    ("name", "form"),
    [*((name, "words") for name in ("bert", "bert_qa", "t5", "llama")), ("llama", "letters")],
)
def test_one_question_that_gives_no_numbers_costs_one_answer(folder, name, form):
    model = load(str(folder(name)), replace(CPU, ask=form))
    asked, plain = (replace(ASKED, id=text, text=text) for text in ("who ~ ____?", "ann was ____?"))
    tokenizer = model._head.tokenizer if name == "llama" else model._tokenizer
    prompts = getattr(model, "_prompts", {}).values()
    of_asked, of_plain = (
        [set(tokenizer(text)["input_ids"]) for text in (q.text, *(p.render(q) for p in prompts))]
        for q in (asked, plain)
    )
    bad = min(set.intersection(*of_asked) - set.union(*of_plain))
    before = [dict(ask([plain]))[0] for ask in asks_of(model)]

    def break_one(module, inputs, output):
        return output.masked_fill((inputs[0] == bad).unsqueeze(-1), math.nan)

    reader = body_of(model).get_encoder() if name == "t5" else body_of(model)
    reader.get_input_embeddings().register_forward_hook(break_one)
    for ask, answer in zip(asks_of(model), before, strict=True):
        assert list(ask([])) == []
        answers = dict(ask([asked, plain]))
        assert (answers[0].missing, answers[1]) == ("no number", answer)
    if name == "llama":
        broken, other = model.predict_next([asked.text, plain.text])
        assert (broken.missing, other.missing) == ("no number", "")


@pytest.mark.parametrize("name", ["bert", "roberta", "bert_qa", "t5", "bart"])
@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.bits
def test_an_answer_is_bit_for_bit_the_same_in_any_batch_order_and_budget(
    folder, adapter, name, data
):
    choices = tuple(data.draw(st.lists(texts_of_words, min_size=2, max_size=4)))
    sides = data.draw(st.lists(st.tuples(texts_of_words, texts_of_words), min_size=1, max_size=6))
    asked = [
        Question(id=before, text=f"{before} {BLANK} {after}", context=after, options=choices)
        for before, after in sides
    ]
    ours = ModelOptions(device="cpu", prompts=PROMPTS, max_answer_tokens=6)
    other = replace(ours, token_budget=data.draw(st.sampled_from([1, 64, 4096])))
    both = (asks_of(adapter(folder(name), options)) for options in (ours, other))
    with pytest.MonkeyPatch.context() as patch:
        # Every digit: it must not be the rounding that makes them equal.
        patch.setattr(replies, "DECIMALS", 15)
        for ask, ask_other in zip(*both, strict=True):
            alone = [next(ask([question]))[1] for question in asked]
            assert dict(ask_other(asked)) == dict(enumerate(alone))


@pytest.fixture
def ask(folder, adapter):
    """What a model makes of a text with a blank, or of a question with a passage in two roles."""

    def ask(name, text, context=None):
        question = Question(id="0", text=text, context=context, options=("ann", "bob"))
        model = adapter(folder(name), ModelOptions(device="cpu", prompts=PROMPTS))
        roles = (model.answer, model.choose) if context else (model.fill,)
        return [next(role([question]))[1] for role in roles]

    return ask


@pytest.mark.parametrize("name", ["bert", "roberta", "t5", "llama"])
def test_of_a_long_text_the_part_around_the_blank_is_seen(ask, name):
    def fill(*, far, near):
        around = [*[near] * 5, BLANK, *["was"] * 200, far]
        return ask(name, " ".join(["bob", far, *["film"] * 200, *around]))

    whole = fill(far="ann", near="the")
    assert whole[0].truncated
    assert fill(far="paris", near="the") == whole
    assert any(fill(far="ann", near=word) != whole for word in WHOLE_WORDS)


@pytest.mark.parametrize("name", ["bart", "llama"])
def test_of_a_long_passage_the_end_gives_way_and_the_question_stays(ask, name):
    long = "bob saw ann in paris " * 100
    answers = ask(name, "who?", f"{long} dull")
    assert all(answer.truncated for answer in answers)
    assert ask(name, "who?", f"{long} good") == answers
    assert ask(name, "was ann dull?", f"{long} dull") != answers


@pytest.mark.parametrize(("name", "mark"), [("bert", "[MASK]"), ("t5", SENTINELS[0])])
def test_the_spelling_of_a_mask_in_a_text_is_no_blank(ask, name, mark):
    spaced = ask(name, f"the   film {BLANK} good")
    assert ask(name, f"the {mark} film {BLANK} good") == spaced
