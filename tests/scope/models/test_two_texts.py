"""Models of two texts: heads with two segments, prompts with both, functions, saved predictions."""

import json
import random

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from scope.errors import ModelError, SpecError
from scope.models.labels import LabelWordClassifier
from scope.models.options import ModelOptions
from scope.models.prompts import for_parts, prompt_of
from scope.models.python import adapted
from scope.models.questions import ask
from scope.models.saved import MissingPredictionsError
from scope.models.scheme import load_classifier
from scope.models.torch_setup import load_torch
from scope.records import Question

LIMIT = 32
WORDS = ("a", "film", "good", "dull", "the", "plot", "greats", "not", "zebra", "é", "?")
PAIR = ("premise", "hypothesis")


def pairs(count, longest, seed=0):
    """Random texts of two parts, each of up to so many words."""
    generator = random.Random(seed)

    def part():
        return " ".join(generator.choices(WORDS, k=generator.randint(1, longest)))

    return [f"{part()}\x1e{part()}" for _ in range(count)]


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2"])
def test_a_head_answers_two_texts_as_its_tokenizer_joins_them(
    checkpoints, adapter, as_transformers, architecture
):
    texts = pairs(20, longest=24)
    answered = adapter(checkpoints[architecture], ModelOptions(device="cpu")).classify(texts)
    tokenizer, model = as_transformers(checkpoints[architecture], "SequenceClassification")
    for text, prediction in zip(texts, answered, strict=True):
        inputs = tokenizer(*text.split("\x1e"), return_tensors="pt")
        whole = inputs["input_ids"].shape[1]
        if whole > LIMIT:
            parts = text.split("\x1e")
            inputs = tokenizer(*parts, return_tensors="pt", truncation=True, max_length=LIMIT)
        with load_torch().inference_mode():
            probabilities = model(**inputs).logits[0].softmax(dim=-1).tolist()
        assert prediction.probabilities == pytest.approx(probabilities, abs=2e-6)
        assert prediction.truncated == (whole > LIMIT)
    assert {prediction.truncated for prediction in answered} == {True, False}
    assert len({prediction.probabilities for prediction in answered}) > 10


def test_the_order_of_the_two_texts_and_their_company_do_what_they_should(checkpoints, adapter):
    model = adapter(checkpoints["bert"], ModelOptions(device="cpu"))
    texts = pairs(12, longest=6)
    alone = [model.classify([text])[0] for text in texts]
    assert model.classify(texts[::-1]) == alone[::-1]
    assert model.classify(["a film\x1ethe plot"]) != model.classify(["the plot\x1ea film"])


@pytest.fixture
def cross_encoder(bert_copy, as_transformers):
    """A copy of the tiny BERT with one logit."""
    _, model = as_transformers(bert_copy, "SequenceClassification")
    head = model.classifier
    model.classifier = load_torch().nn.Linear(head.in_features, 1)
    model.config.num_labels = 1
    model.save_pretrained(bert_copy)
    return bert_copy


def test_a_cross_encoder_of_one_logit_has_two_labels(cross_encoder, as_transformers):
    model = load_classifier(f"hf:{cross_encoder}", ModelOptions(device="cpu"))
    assert model.labels == ("0", "1")
    tokenizer, plain = as_transformers(cross_encoder, "SequenceClassification")
    (answer,) = model.classify(["a film\x1ethe plot"])
    with load_torch().inference_mode():
        logit = plain(**tokenizer("a film", "the plot", return_tensors="pt")).logits
    assert answer.probabilities[1] == pytest.approx(logit.sigmoid().item(), abs=1e-6)


def change(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def test_one_text_is_refused_by_a_cross_encoder(cross_encoder):
    change(cross_encoder, sentence_transformers={"version": "5.1.0"})
    model = load_classifier(f"hf:{cross_encoder}", ModelOptions(device="cpu"))
    with pytest.raises(ModelError, match="rows of 1 text for"):
        model.classify(["a film"])


def test_one_text_is_refused_by_a_head_of_entailment(bert_copy):
    names = {"0": "entailment", "1": "not_entailment"}
    change(bert_copy, id2label=names, label2id={name: int(key) for key, name in names.items()})
    model = load_classifier(f"hf:{bert_copy}", ModelOptions(device="cpu"))
    with pytest.raises(ModelError) as raised:
        model.classify(["a film"])
    assert raised.value.found == (
        f"rows of 1 text for `hf:{bert_copy}`, a model with the labels entailment, not_entailment"
    )
    assert raised.value.expected == "two texts, such as premise and hypothesis"
    assert "--text-column premise --text-column hypothesis" in raised.value.fix
    assert len(model.classify(["a film\x1ethe plot"])) == 1


def test_three_texts_are_refused_by_a_head_of_one_text_or_two(checkpoints, adapter):
    with pytest.raises(ModelError, match="rows of 3 texts") as raised:
        adapter(checkpoints["bert"], ModelOptions(device="cpu")).classify(["a\x1efilm\x1egood"])
    assert raised.value.expected.endswith("or one")


@pytest.mark.parametrize("chat", [True, False])
def test_label_words_read_both_texts_by_their_names(llama_folders, chat):
    words = {"entailment": "good", "other": "dull"}
    options = ModelOptions(device="cpu", label_words=words, parts=PAIR)
    model = load_classifier(f"hf:{llama_folders[chat]}", options)
    read = model.prompt_as_read(
        "classify", Question(id="0", text="ann saw bob\x1ebob was in paris")
    )
    assert "Premise: ann saw bob\nHypothesis: bob was in paris\nAnswer:" in read
    first, second = model.classify(["ann saw bob\x1ethe film", "ann saw paris\x1ethe film"])
    assert first.probabilities != second.probabilities


def test_a_prompt_that_is_too_long_is_cut_in_the_first_text(llama_folders):
    options = ModelOptions(device="cpu", label_words={"a": "good", "b": "dull"}, parts=PAIR)
    model = load_classifier(f"hf:{llama_folders[False]}", options)
    text = f"{'the film was good ' * 60}\x1ewho saw paris"
    read = model.prompt_as_read("classify", Question(id="0", text=text))
    assert "Hypothesis: who saw paris" in read
    assert model.classify([text])[0].truncated


@pytest.mark.parametrize(
    ("template", "parts", "made"),
    [
        ("{premise}; {hypothesis}; {labels}", PAIR, "{context}; {text}; {labels}"),
        ("{context}; {text}; {labels}", PAIR, "{context}; {text}; {labels}"),
        ("{text}\n{labels}", ("text 1", "text 2"), "Text 1: {context}\nText 2: {text}\n{labels}"),
        ("{text}; {context}; {labels}", ("text", "context"), "{context}; {text}; {labels}"),
        ("{text_2}; {text_1}; {labels}", ("text 1", "text 2"), "{text}; {context}; {labels}"),
    ],
)
def test_a_template_names_the_texts_by_their_columns(template, parts, made):
    options = ModelOptions(prompts={"classify": template}, parts=parts)
    assert prompt_of("classify", options).template == for_parts(template, parts) == made


@pytest.mark.parametrize(
    ("template", "parts", "found"),
    [
        ("{premise} {labels}", PAIR, "2 texts for the prompt"),
        ("{hypothesis} {labels}", PAIR, "2 texts for the prompt"),
        ("{text} {labels}", ("a", "b", "c"), "3 texts for the prompt"),
        ("{premise} {hypothesis} {labels}", (), "the prompt classify with the fields"),
        ("{premise} {hypothesis} {author} {labels}", PAIR, "the prompt classify with the fields"),
    ],
)
def test_a_template_without_a_place_for_a_text_is_refused(template, parts, found):
    with pytest.raises(SpecError, match=found):
        prompt_of("classify", ModelOptions(prompts={"classify": template}, parts=parts))


def test_a_scorer_of_choices_is_asked_with_both_texts():
    class Scorer:
        spec, fingerprint, asked = "python:toys:scorer", "f", ()

        def choose(self, questions):
            self.asked = questions
            return [[0.25, 0.75] for _ in questions]

    scorer = Scorer()
    options = ModelOptions(label_words={"a": "yes", "b": "no"}, parts=PAIR)
    LabelWordClassifier(scorer, options).classify(["A man sleeps.\x1eHe dreams."])
    assert scorer.asked[0].text.splitlines()[1:3] == [
        "Premise: A man sleeps.",
        "Hypothesis: He dreams.",
    ]


def test_a_function_of_the_user_gets_a_tuple_of_texts():
    asked = []

    def model(texts):
        asked.extend(texts)
        return [[0.25, 0.75] for _ in texts]

    model.labels = ("no", "yes")
    texts = ["A man sleeps.\x1eHe dreams.", "One text."]
    dict(ask(adapted(model, ModelOptions()), "classifier", texts))
    assert asked == [("A man sleeps.", "He dreams."), "One text."]


def test_an_estimator_of_single_texts_says_that_it_got_two():
    estimator = make_pipeline(CountVectorizer(), LogisticRegression())
    estimator.fit(["good film", "dull film"], ["good", "dull"])
    model = adapted(estimator, ModelOptions())
    with pytest.raises(ModelError, match=r"each text is a tuple of 2"):
        model.classify(["A man sleeps.\x1eHe dreams."])


SAVED = {
    "columns": [
        {"Premise": "a", "hypothesis": "b", "labels": ["x", "y"], "probabilities": [0.25, 0.75]},
        {"Premise": "a", "hypothesis": "c", "probabilities": [0.5, 0.5]},
    ],
    "lists": [
        {"text": ["a", "b"], "labels": ["x", "y"], "probabilities": [0.25, 0.75]},
        {"text": ["a", "c"], "probabilities": [0.5, 0.5]},
    ],
    "labels and scores": [
        {"premise": "a", "hypothesis": "b", "label": "y", "score": 0.75},
        {"premise": "a", "hypothesis": "c", "label": "x", "score": 0.5},
    ],
}


@pytest.mark.parametrize("rows", SAVED.values(), ids=SAVED)
def test_saved_predictions_are_looked_up_by_both_texts(tmp_path, rows):
    path = tmp_path / "saved.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    model = load_classifier(f"predictions:{path}", ModelOptions(parts=PAIR))
    answers = model.classify(["a\x1ec", "a\x1eb"])
    assert [answer.probabilities for answer in answers] == [(0.5, 0.5), (0.25, 0.75)]
    with pytest.raises(MissingPredictionsError, match=r"such as 'b \| a'"):
        model.classify(["b\x1ea"])


def test_a_model_whose_prompt_has_one_text_is_not_asked_about_two():
    class Scorer:
        spec, fingerprint, choose = "python:toys:scorer", "f", None

    model = LabelWordClassifier(Scorer(), ModelOptions(label_words={"a": "yes", "b": "no"}))
    with pytest.raises(ModelError, match="a text of 2 parts"):
        model.classify(["A man sleeps.\x1eHe dreams."])
