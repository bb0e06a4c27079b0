"""The oracle is plain transformers: `generate` and `loss`, one text at a time."""

import math
import re

import pytest
from hypothesis import given, settings, strategies as st
from tiny_heads import LIMIT, SENTINELS, WHOLE_WORDS, write_tiny_t5

from scope.errors import ModelError
from scope.models import ModelOptions, load_classifier, probabilities
from scope.models.heads import load
from scope.models.text_to_text import TextToTextModel
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


def options(**changed):
    settled = {"device": "cpu", "prompts": PROMPTS, "max_answer_tokens": LONGEST}
    return ModelOptions(**{**settled, **changed})


@pytest.fixture(scope="session")
def model_of(heads, adapter):
    """Gives the model of an architecture with a token budget."""
    return lambda name, budget=4096: adapter(heads[name], options(token_budget=budget))


@pytest.fixture(scope="session")
def plain(heads, as_transformers):
    """Gives the tokenizer and model of an architecture."""
    return lambda architecture: as_transformers(heads[architecture], "Seq2SeqLM")


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
def test_answers_are_those_of_plain_greedy_generation(model_of, plain, architecture):
    tokenizer, model = plain(architecture)
    answers = in_order(model_of(architecture).answer(QUESTIONS), len(QUESTIONS))
    for question, answer in zip(QUESTIONS, answers, strict=True):
        prompt = f"{question.text} {question.context or ''}"
        tokens = generated(tokenizer, model, prompt)
        # A prescribed first token counts among the new ones there, and not here.
        written = tokenizer.decode(tokens, skip_special_tokens=True).strip()
        assert answer.text.startswith(written)
        assert architecture == "bart" or answer.text == written
    assert len({answer.text for answer in answers}) > len(QUESTIONS) // 2


def test_fillers_are_what_generation_writes_from_the_first_sentinel_to_the_next(model_of, plain):
    tokenizer, model = plain("t5")
    answers = in_order(model_of("t5").fill(BLANKS), len(BLANKS))
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
def test_probabilities_are_the_softmax_of_the_mean_log_likelihoods(model_of, plain, architecture):
    tokenizer, model = plain(architecture)
    for question, answer in zip(
        CHOICES, in_order(model_of(architecture).choose(CHOICES), len(CHOICES)), strict=True
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
@settings(max_examples=4)
@given(data=st.data())
@pytest.mark.bits
def test_answers_and_choices_are_the_same_in_any_batch_order_and_budget(
    model_of, architecture, data
):
    texts = data.draw(st.lists(texts_of_words, min_size=1, max_size=6))
    choices = data.draw(st.lists(texts_of_words, min_size=2, max_size=4))
    questions = [
        Question(id=text, text=f"{text} {BLANK}", options=tuple(choices)) for text in texts
    ]
    shuffled = data.draw(st.permutations(questions))
    model = model_of(architecture, data.draw(st.sampled_from([1, 64, 4096])))
    whole = model_of(architecture)
    with pytest.MonkeyPatch.context() as patch:
        # Every digit: it must not be the rounding that makes them equal.
        patch.setattr(probabilities, "DECIMALS", 15)
        for ask in ("answer", "choose", "fill") if architecture == "t5" else ("answer", "choose"):
            alone = {q.id: next(getattr(whole, ask)([q]))[1] for q in questions}
            together = in_order(getattr(model, ask)(shuffled), len(shuffled))
            assert together == [alone[question.id] for question in shuffled]


def test_the_sentinels_own_spelling_in_a_text_is_no_blank(model_of):
    spelled = Question(id="0", text=f"the {SENTINELS[0]} film {BLANK} good")
    spaced = Question(id="1", text=f"the   film {BLANK} good")
    first, second = in_order(model_of("t5").fill([spelled, spaced]), 2)
    assert first == second


def test_without_sentinels_it_fills_no_blanks(tmp_path):
    write_tiny_t5(tmp_path, sentinels=())
    assert type(load(str(tmp_path), options())) is TextToTextModel


def test_a_decoder_without_a_start_is_refused(heads, tmp_path):
    transformers = quiet_transformers()
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(heads["t5"])
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = None
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(heads["t5"]).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no decoder_start_token_id"):
        load(str(tmp_path), options())


def test_of_a_long_passage_the_end_gives_way_and_the_question_stays(model_of):
    def answer(text, last):
        context = " ".join(["bob saw ann"] + ["in paris"] * 30 + [last])
        question = Question(id="0", text=text, context=context, options=("ann", "bob"))
        model = model_of("bart")
        return next(model.answer([question]))[1], next(model.choose([question]))[1]

    first, choice = answer("who?", "dull")
    assert first.truncated
    assert choice.truncated
    assert answer("who?", "good") == (first, choice)
    assert answer("was ann dull?", "dull") != (first, choice)


def test_of_a_long_question_without_passage_the_prompts_end_stays(heads, adapter):
    """Else all that is asked after the text would be cut off with it."""

    def choose(end, text):
        model = adapter(heads["t5"], options(prompts={"choice": f"{{text}} {end}"}))
        asked = Question(id="0", text=text, options=("ann", "bob", "in paris"))
        return next(model.choose([asked]))[1]

    long = "the film was good " * LIMIT
    first = choose("who saw?", f"{long} dull")
    assert first.truncated
    assert choose("who saw?", f"{long} ann") == first
    assert choose("was dull", f"{long} dull") != first
    assert not choose("who saw?", "the film").truncated


def test_of_a_long_text_the_part_around_the_blank_is_seen(model_of):
    def fill(*, far, near):
        text = " ".join(["bob", far, *["film"] * 60, near, BLANK, *["was"] * 60, far])
        return next(model_of("t5").fill([Question(id="0", text=text)]))[1]

    whole = fill(far="ann", near="the")
    assert whole.truncated
    assert fill(far="paris", near="the") == whole
    assert fill(far="ann", near="dull") != whole


def test_as_a_classifier_it_is_asked_with_one_prompt(heads, adapter):
    prompts = {"classify": "{text} was {labels}?", "choice": "never: {text}"}
    words = {"positive": "good", "negative": "dull"}
    classifier = load_classifier(f"hf:{heads['t5']}", options(prompts=prompts, label_words=words))
    bare = adapter(heads["t5"], options(prompts={"choice": "{text}"}))
    texts = ["the film", "ann saw {labels}", "the film in paris " * LIMIT]
    asked = [
        Question(id=text, text=f"{text} was good, dull?", options=("good", "dull"))
        for text in texts[:2]
    ]
    wanted = in_order(bare.choose(asked), 2)
    found = classifier.classify([*texts, f"{texts[2]} bob"])
    assert [one.probabilities for one in found[:2]] == [one.probabilities for one in wanted]
    assert found[2] == found[3]
    assert found[2].truncated
