"""What an encoder-decoder does with texts that are too long for it."""

import functools

import pytest
from tiny_heads import LIMIT, WRITERS

from scope.models import ModelOptions, load_classifier
from scope.models.text_to_text import load
from scope.records import BLANK, Question

both = pytest.mark.parametrize("architecture", ["t5", "bart"])
PROMPTS = {"text_to_text_answer": "{text} {context}", "choice": "{context} {text}"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("text to text")
    for name in ("t5", "bart"):
        WRITERS[name](root / name)
    return {name: root / name for name in ("t5", "bart")}


@pytest.fixture(scope="module")
def loaded(folders):
    """Gives the model of an architecture, loaded once."""
    return functools.cache(lambda architecture: load(str(folders[architecture]), options()))


def options(**changed):
    return ModelOptions(**{"device": "cpu", "prompts": PROMPTS, "max_answer_tokens": 6} | changed)


def in_order(answers):
    return [answer for _, answer in sorted(answers)]


@both
def test_of_a_long_passage_the_end_gives_way_and_the_question_stays(loaded, architecture):
    def answer(text, last):
        context = " ".join(["bob saw ann"] + ["in paris"] * 30 + [last])
        question = Question(id="0", text=text, context=context, options=("ann", "bob"))
        model = loaded(architecture)
        return next(model.answer([question]))[1], next(model.choose([question]))[1]

    first, choice = answer("who?", "dull")
    assert first.truncated
    assert choice.truncated
    assert answer("who?", "good") == (first, choice)
    assert answer("was ann dull?", "dull") != (first, choice)


@both
def test_of_a_long_question_without_passage_the_prompts_end_stays(folders, architecture):
    """Else all that is asked after the text would be cut off with it."""

    def choose(end, text):
        prompts = {"choice": f"{{text}} {end}"}
        model = load(str(folders[architecture]), options(prompts=prompts))
        asked = Question(id="0", text=text, options=("ann", "bob", "in paris"))
        return next(model.choose([asked]))[1]

    long = "the film was good " * LIMIT
    first = choose("who saw?", f"{long} dull")
    assert first.truncated
    assert choose("who saw?", f"{long} ann") == first
    assert choose("was dull", f"{long} dull") != first
    assert not choose("who saw?", "the film").truncated


def test_a_question_that_just_fits_is_not_truncated(folders):
    """One token of the limit is the end of the text."""
    model = load(str(folders["t5"]), options(prompts={"text_to_text_answer": "{text}"}))
    asked = [
        Question(id=str(words), text=" ".join(["film"] * words)) for words in (LIMIT - 1, LIMIT)
    ]
    fits, over = in_order(model.answer(asked))
    assert (fits.truncated, over.truncated) == (False, True)


def test_of_a_long_text_the_part_around_the_blank_is_seen(loaded):
    def fill(*, far, near):
        text = " ".join(["bob", far, *["film"] * 60, near, BLANK, *["was"] * 60, far])
        return next(loaded("t5").fill([Question(id="0", text=text)]))[1]

    whole = fill(far="ann", near="the")
    assert whole.truncated
    assert fill(far="paris", near="the") == whole
    assert fill(far="ann", near="dull") != whole


def test_as_a_classifier_it_is_asked_with_one_prompt_and_of_a_long_text_the_end_is_cut(folders):
    prompts = {"classify": "{text} was {labels}?", "choice": "never: {text}"}
    words = {"positive": "good", "negative": "dull"}
    classifier = load_classifier(f"hf:{folders['t5']}", options(prompts=prompts, label_words=words))
    bare = load(str(folders["t5"]), options(prompts={"choice": "{text}"}))
    texts = ["the film", "ann saw {labels}", "the film in paris " * LIMIT]
    asked = [
        Question(id=text, text=f"{text} was good, dull?", options=("good", "dull"))
        for text in texts[:2]
    ]
    wanted = in_order(bare.choose(asked))
    found = classifier.classify([*texts, f"{texts[2]} bob"])
    assert [one.probabilities for one in found[:2]] == [one.probabilities for one in wanted]
    assert found[2] == found[3]
    assert found[2].truncated
    # The words are still told: with others in their place the answer is another.
    other = options(prompts=prompts | {"classify": "{text} saw {labels}?"}, label_words=words)
    changed = load_classifier(f"hf:{folders['t5']}", other).classify(texts[2:])
    assert changed[0].probabilities != found[2].probabilities
