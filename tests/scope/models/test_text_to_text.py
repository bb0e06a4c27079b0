"""The oracle is plain transformers: `generate` and `loss`, one text at a time."""

import functools
import math
import re

import pytest
from hypothesis import given, settings, strategies as st
from tiny_heads import SENTINELS, WHOLE_WORDS, WRITERS, write_tiny_t5

from scope.errors import ModelError, SpecError
from scope.models import ModelOptions, probabilities
from scope.models.prompts import Prompt
from scope.models.text_to_text import SentinelModel, TextToTextModel, load
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.records import BLANK, Answer, Question

both = pytest.mark.parametrize("architecture", ["t5", "bart"])
PROMPTS = {"text_to_text_answer": "{text} {context}", "choice": "{context} {text}"}
LONGEST = 6
QUESTIONS = (
    Question(id="0", text="who saw ann?", context="bob saw ann in paris."),
    Question(id="1", text="who was dull?", context="the film was dull"),
    Question(id="2", text="who saw the film in paris?"),
    Question(id="3", text="a film?", context="bob saw ann in paris."),
)
CHOICES = tuple(
    Question(id=str(number), text=text, context=context, options=options)
    for number, (text, context, options) in enumerate(
        [
            ("who saw ann?", None, ("bob", "the film", "a dull zebra")),
            ("who was dull?", "the film was dull", ("ann", "paris")),
            ("who saw bob?", None, ("bob", "ann", "paris", "a film in paris")),
        ]
    )
)
BLANKS = tuple(
    Question(id=text, text=text)
    for text in (f"the film {BLANK} good.", f"{BLANK} saw bob", f"who saw ({BLANK}) in paris?")
)
texts_of_words = st.lists(
    st.sampled_from((*WHOLE_WORDS, "zebra", "?")), min_size=1, max_size=12
).map(" ".join)


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("text to text")
    for name in ("t5", "bart"):
        WRITERS[name](root / name)
    return {name: root / name for name in ("t5", "bart")}


@pytest.fixture(scope="session")
def loaded(folders):
    """Gives the model of an architecture with a token budget, loaded once."""

    @functools.cache
    def load_once(architecture, token_budget=4096):
        return load(str(folders[architecture]), options(token_budget=token_budget))

    return load_once


@pytest.fixture(scope="session")
def plain(folders):
    """Gives the tokenizer and model of an architecture."""
    transformers = quiet_transformers()

    @functools.cache
    def parts(architecture):
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folders[architecture])
        return transformers.AutoTokenizer.from_pretrained(folders[architecture]), model.eval()

    return parts


def options(**changed):
    settled = {"device": "cpu", "prompts": PROMPTS, "max_answer_tokens": LONGEST}
    return ModelOptions(**{**settled, **changed})


def in_order(answers, count):
    by_index = dict(answers)
    assert sorted(by_index) == list(range(count))
    return [by_index[index] for index in range(count)]


def generated(tokenizer, model, text, **settings):
    inputs = tokenizer(text, return_tensors="pt")
    with load_torch().inference_mode():
        return model.generate(
            **inputs,
            max_new_tokens=LONGEST,
            do_sample=False,
            num_beams=1,
            forced_eos_token_id=None,
            **settings,
        )[0].tolist()


@both
def test_answers_are_those_of_plain_greedy_generation(loaded, plain, architecture):
    tokenizer, model = plain(architecture)
    answers = in_order(loaded(architecture).answer(QUESTIONS), len(QUESTIONS))
    for question, answer in zip(QUESTIONS, answers, strict=True):
        prompt = f"{question.text} {question.context or ''}"
        tokens = generated(tokenizer, model, prompt)
        # A prescribed first token counts among the new ones there, and not here.
        written = tokenizer.decode(tokens, skip_special_tokens=True).strip()
        assert answer.text.startswith(written)
        assert architecture == "bart" or answer.text == written
    assert len({answer.text for answer in answers}) > len(QUESTIONS) // 2


def test_fillers_are_what_generation_writes_from_the_first_sentinel_to_the_next(loaded, plain):
    tokenizer, model = plain("t5")
    answers = in_order(loaded("t5").fill(BLANKS), len(BLANKS))
    start = load_torch().tensor([[0, tokenizer.convert_tokens_to_ids(SENTINELS[0])]])
    for question, answer in zip(BLANKS, answers, strict=True):
        tokens = generated(
            tokenizer, model, question.text.replace(BLANK, SENTINELS[0]), decoder_input_ids=start
        )
        decoded = tokenizer.decode(tokens[2:]).replace("<unk>", "")
        written = re.split("<extra_id_.>|</s>", decoded)[0].strip()
        assert answer == Answer(text=written or None)
    assert len({answer.text for answer in answers}) == len(BLANKS)


@both
def test_probabilities_are_the_softmax_of_the_mean_log_likelihoods(loaded, plain, architecture):
    tokenizer, model = plain(architecture)
    for question, answer in zip(
        CHOICES, in_order(loaded(architecture).choose(CHOICES), len(CHOICES)), strict=True
    ):
        prompt = tokenizer(f"{question.context or ''} {question.text}", return_tensors="pt")
        likelihoods = []
        for option in question.options:
            labels = tokenizer(text_target=option, return_tensors="pt")["input_ids"]
            with load_torch().inference_mode():
                likelihoods.append(math.exp(-model(**prompt, labels=labels).loss.item()))
        expected = [value / sum(likelihoods) for value in likelihoods]
        assert answer.probabilities == pytest.approx(expected, abs=2e-6)
        assert answer.choice == expected.index(max(expected))
        assert 0.02 < max(expected) < 0.9999


@both
@settings(max_examples=6)
@given(data=st.data())
@pytest.mark.bits
def test_answers_and_choices_are_the_same_in_any_batch_order_and_budget(loaded, architecture, data):
    texts = data.draw(st.lists(texts_of_words, min_size=1, max_size=6))
    choices = data.draw(st.lists(texts_of_words, min_size=2, max_size=4))
    questions = [Question(id=text, text=text, options=tuple(choices)) for text in texts]
    shuffled = data.draw(st.permutations(questions))
    model = loaded(architecture, data.draw(st.sampled_from([1, 64, 4096])))
    whole = loaded(architecture)
    with pytest.MonkeyPatch.context() as patch:
        # Every digit: it must not be the rounding that makes them equal.
        patch.setattr(probabilities, "DECIMALS", 15)
        for ask in ("answer", "choose"):
            alone = {q.id: next(getattr(whole, ask)([q]))[1] for q in questions}
            together = in_order(getattr(model, ask)(shuffled), len(shuffled))
            assert together == [alone[question.id] for question in shuffled]


@pytest.mark.bits
def test_fillers_are_the_same_in_any_batch_order_and_budget(loaded):
    alone = {question.id: next(loaded("t5").fill([question]))[1] for question in BLANKS}
    for budget in (1, 64, 4096):
        for asked in (BLANKS, BLANKS[::-1], BLANKS * 3):
            together = in_order(loaded("t5", budget).fill(asked), len(asked))
            assert together == [alone[question.id] for question in asked]


def test_with_another_prompt_for_choices_it_fills_and_answers_as_before(loaded):
    model = loaded("t5")
    other = model.with_choice_prompt(Prompt(name="classify", template="{text} {labels}"))
    assert type(other) is SentinelModel
    assert list(other.answer(QUESTIONS)) == list(model.answer(QUESTIONS))
    assert list(other.fill(BLANKS)) == list(model.fill(BLANKS))
    assert list(other.choose(CHOICES)) != list(model.choose(CHOICES))
    assert other.fingerprint != model.fingerprint


def test_the_sentinels_own_spelling_in_a_text_is_no_blank(loaded):
    spelled = Question(id="0", text=f"the {SENTINELS[0]} film {BLANK} good")
    spaced = Question(id="1", text=f"the   film {BLANK} good")
    first, second = in_order(loaded("t5").fill([spelled, spaced]), 2)
    assert first == second


def test_what_is_written_is_as_long_as_allowed(folders, loaded):
    short = load(str(folders["t5"]), options(max_answer_tokens=1))
    brief = in_order(short.answer(QUESTIONS), len(QUESTIONS))
    long = in_order(loaded("t5").answer(QUESTIONS), len(QUESTIONS))
    assert all(a.text.startswith(b.text) for a, b in zip(long, brief, strict=True))
    assert max(len(answer.text) for answer in brief) <= max(map(len, WHOLE_WORDS))


def test_nothing_written_is_no_answer_and_no_filler(folders):
    model = load(str(folders["t5"]), options())
    model._model._ends = tuple(range(200))
    assert next(model.answer(QUESTIONS[:1]))[1] == Answer()
    assert next(model.fill(BLANKS[:1]))[1] == Answer()


def test_sentinels_make_a_mask_filler(loaded, tmp_path):
    assert type(loaded("t5")) is SentinelModel
    assert type(loaded("bart")) is TextToTextModel
    write_tiny_t5(tmp_path, sentinels=())
    assert type(load(str(tmp_path), options())) is TextToTextModel


def test_the_fingerprint_covers_what_changes_answers_and_no_more(folders, loaded):
    def fingerprint(**changed):
        return load(str(folders["t5"]), options(**changed)).fingerprint

    assert fingerprint(token_budget=7) == loaded("t5").fingerprint
    assert loaded("t5").spec == f"hf:{folders['t5']}"
    changed = {
        loaded("t5").fingerprint,
        fingerprint(max_answer_tokens=7),
        fingerprint(prompts={**PROMPTS, "choice": "{text}"}),
        fingerprint(prompts={**PROMPTS, "text_to_text_answer": "{text}"}),
        fingerprint(dtype="bfloat16"),
    }
    assert len(changed) == 5


def test_the_prompt_that_comes_with_scope_is_that_of_t5(folders):
    model = load(str(folders["t5"]), options(prompts={}))
    tokens, cut = model._tokens(model._prompts["text_to_text_answer"], QUESTIONS[1])
    assert not cut
    shown = model._tokenizer.decode(tokens, skip_special_tokens=True)
    assert shown == "question: who was dull? context: the film was dull"


def test_a_prompt_that_is_none_is_refused(folders):
    with pytest.raises(SpecError, match="the prompt choice"):
        load(str(folders["t5"]), options(prompts={"choice": "{nothing}"}))


def test_a_decoder_without_a_start_is_refused(folders, tmp_path):
    transformers = quiet_transformers()
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folders["t5"])
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = None
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folders["t5"]).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no decoder_start_token_id"):
        load(str(tmp_path), options())


def test_weights_that_give_no_numbers_are_refused(folders):
    model = load(str(folders["bart"]), options())
    load_torch().nn.init.constant_(model._model._model.get_input_embeddings().weight, math.nan)
    with pytest.raises(ModelError, match="answers NaN"):
        next(model.answer(QUESTIONS))
    with pytest.raises(ModelError, match="answers NaN"):
        next(model.choose(CHOICES))
