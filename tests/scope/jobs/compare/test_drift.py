"""Language models of a comparison drift from the first one: numbers, page, model card, resume."""

import json

import pytest
from tiny_language import write_tiny_llama

import scope
from reports.text import blocks_as_markdown
from scope.jobs.pages import model_card_of, page_of, to_short_json
from scope.models.drift import Drift

QUESTIONS = ["who saw ann", "who was in paris", "was the film good", "who saw the dull film"]
KEYS = ["perplexity_ratio", "log_probability_correlation", "kl", "kl_median", "kl_99", "kl_max"]
BLOCK = [*KEYS, "same_top_token"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of three models of one tokenizer."""
    root = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(("base", "copy", "other")):
        write_tiny_llama(root / name, chat=False, seed=seed)
    return [str(root / name) for name in ("base", "copy", "other")]


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "prompts.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": text}) for text in QUESTIONS))
    return str(path)


def compared(models, data, runs, task="generation"):
    return scope.compare(
        models=models,
        tasks=[task],
        data=data,
        encoder="none",
        runs=runs,
        run="mine",
        model_options=scope.ModelOptions(
            device="cpu", max_answer_tokens=6, prompts={"answer": "{text}? say:"}
        ),
    )


@pytest.fixture(scope="module")
def result(folders, prompts, tmp_path_factory):
    return compared(folders, prompts, tmp_path_factory.mktemp("runs"))


def test_prompts_without_right_answers_have_the_drift_of_each_later_model(result, folders):
    assert [(row.target, row.metric) for row in result.drift] == [
        (name, metric) for name in ("copy", "other") for metric in BLOCK
    ]
    assert {(row.against, row.capability) for row in result.drift} == {("base", "generation")}
    numbers = {(row.target, row.metric): row.estimate for row in result.drift}
    assert numbers["copy", "kl"].n == len(QUESTIONS)
    assert numbers["copy", "kl_median"].value <= numbers["copy", "kl_99"].value
    frame = result.to_frame()
    assert set(BLOCK) <= set(frame.metric)
    assert {"kl", "same_top_token"} <= {
        row["metric"] for row in json.loads(to_short_json(result))["estimates"]
    }


def test_the_page_and_the_terminal_show_the_block_and_what_it_does_not_mean(result):
    page = page_of(result)
    (section,) = [section for section in page.sections if section.anchor == "drift"]
    for text in (blocks_as_markdown(section.blocks), str(result)):
        assert "KL divergence a token, 99" in text
        assert "does not mean a better model" in " ".join(text.split())
    assert "copy on generation" in blocks_as_markdown(section.blocks)


def test_a_model_card_of_several_copies_has_one_row_each(result):
    lines = model_card_of(result).splitlines()
    heads, _, *rows = [line.split(" | ") for line in lines if line.startswith("| ")]
    assert heads[0] == "| Model"
    assert [row[0] for row in rows] == ["| copy", "| other"]
    titles = [head.split(" on ")[0] for head in heads]
    expected = ["Perplexity ratio", "KL divergence a token", "Same top token", "Same answers"]
    assert set(expected) <= set(titles)
    # The three models share no right answer, and the two copies are not compared.
    assert not any("Word F1" in head for head in heads)
    assert "\n".join(lines).count("- type: kl\n") == 2


def test_a_cloze_follows_its_sentences_as_they_stand(folders, tmp_path, monkeypatch):
    sentences = ["Ann saw the dull film in paris.", "Bob was in a good film.", "Ann saw bob."]
    data = [{"text": sentence} for sentence in sentences * 2]
    followed = []
    along = Drift.along

    def noting(drift, texts):
        followed.extend(texts)
        return along(drift, texts)

    monkeypatch.setattr(Drift, "along", noting)
    result = scope.compare(
        models=folders[:2],
        tasks=["cloze"],
        data=data,
        settings={"min_words": 3},
        encoder="none",
        runs=tmp_path,
        model_options=scope.ModelOptions(device="cpu", max_answer_tokens=4),
    )
    assert {(text.text, text.question) for text in followed} == {
        (sentence, None) for sentence in sentences
    }
    assert [row.metric for row in result.drift] == BLOCK


def test_a_resumed_run_computes_no_drift_again(folders, prompts, tmp_path, monkeypatch):
    first = compared(folders[:2], prompts, tmp_path)
    monkeypatch.setattr(Drift, "along", lambda drift, texts: iter([]) if not texts else 1 / 0)
    again = compared(folders[:2], prompts, tmp_path)
    assert again.drift == first.drift


def test_models_that_do_not_run_here_have_no_drift(folders, prompts, tmp_path):
    class Parrot:
        spec, fingerprint = "python:parrot", "1"

        def answer(self, questions):
            return [question.text for question in questions]

    result = compared([folders[0], Parrot()], prompts, tmp_path)
    assert result.drift == ()
    assert "drift" not in {section.anchor for section in page_of(result).sections}


def test_an_audit_of_written_answers_has_the_drift_along_the_references_answers(folders, tmp_path):
    words = ("ann", "bob", "the film", "paris", "a film")
    data = [{"question": f"who saw {one} and not {two}"} for one in words for two in words]
    result = scope.audit(
        reference=folders[0],
        targets=folders[1:],
        role="answer",
        data=data,
        capabilities=["typo"],
        n=4,
        n_search=1,
        trials=1,
        runs=tmp_path,
        model_options=scope.ModelOptions(
            device="cpu", max_answer_tokens=4, prompts={"answer": "{text}? say:"}
        ),
    )
    assert [(row.target, row.metric) for row in result.drift] == [
        (name, metric) for name in ("copy", "other") for metric in BLOCK
    ]
    assert "drift" in {section.anchor for section in page_of(result).sections}
    heads, _, *rows = [
        line.split(" | ") for line in model_card_of(result).splitlines() if line.startswith("| ")
    ]
    assert [row[0] for row in rows] == ["| copy", "| other"]
    assert any(head.startswith("KL divergence a token") for head in heads)
