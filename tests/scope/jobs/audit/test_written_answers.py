"""Audits of what language models write, with made-up writers whose answers are known by hand."""

import io
import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tiny_language import write_tiny_llama
from toy_writers import ROWS, Writer, audited, estimate

import scope
from scope.errors import SpecError
from scope.estimation.pairs import random_changes
from scope.jobs.audit.plan import _plan
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.run import prepare
from scope.jobs.perturbing import changed_part
from scope.models.options import ModelOptions
from scope.models.written import WrittenClassifier
from scope.progress import Lines
from scope.records import (
    Answer,
    Estimate,
    Measurement,
    Prediction,
    ScoredAnswer,
    ScoredExample,
    ScoredPerturbation,
)
from scope.records.examples import Example, Perturbation
from scope.records.text_parts import joined


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """An audit of a copy, one that does not react, one that is often wrong, and a constant one."""
    constant = Writer("constant", wrong=10)
    targets = (Writer("copy"), Writer("deaf", reacts=0.0), Writer("wrong", wrong=5), constant)
    folder = tmp_path_factory.mktemp("written")
    return audited(folder, *targets, baseline=Writer("again"), score="f1")


def test_a_copy_is_alike_in_all_and_others_may_not_replace(result):
    copy, deaf, wrong, constant, _ = [card.name for card in result.manifest.targets]
    decisions = [verdict.decision for verdict in result.verdicts]
    # The copy has too few texts for a margin of 2 points.
    assert decisions == ["not shown", "may not", "may not", "may not"]
    for metric in ("concordance", "reach", "hard_scope", "soft_scope"):
        assert estimate(result, metric, copy).value == pytest.approx(1)
    assert estimate(result, "iid_agreement", copy, None).value == 1
    assert estimate(result, "concordance", deaf).value == 0.5
    assert estimate(result, "reach", deaf).value == 0
    shares = {share.model: share for share in result.answer_shares}
    assert shares[result.manifest.reference.name].accuracy.value == 1
    assert 0 < shares[wrong].accuracy.value < 0.5
    assert (
        "it answers `white` to 84 of 84 questions, while no right answer"
        in shares[constant].degenerate
    )


def test_a_reference_writes_each_unchanged_text_once_and_scores_its_own_answer(tmp_path):
    reference = Writer("original")
    few = {"n": 4, "n_search": 1, "candidates": 2}
    audited(tmp_path, Writer("copy"), reference=reference, **few)
    assert len(ROWS) <= reference.written < 2 * len(ROWS)
    silent = Writer("silent", scores=False)
    audited(tmp_path / "silent", Writer("copy"), reference=silent, **few)
    assert len(ROWS) <= silent.written < 2 * len(ROWS)


@pytest.mark.parametrize("scores", [True, False])
def test_a_dry_run_counts_at_least_what_is_asked(tmp_path, scores):
    """Each text costs a score and an answer: a copy, which need not write, half of that."""
    few = {"n": 12, "n_search": 4, "candidates": 3, "trials": 1}

    def writers():
        others = {"copy": 0, "other": 10}.items()
        return [Writer("original", scores=scores)] + [
            Writer(name, wrong=wrong, scores=scores) for name, wrong in others
        ]

    first, *others = writers()
    estimated = partial(scope.dry_run, "audit")
    planned = audited(tmp_path, *others, reference=first, audit=estimated, **few)
    asked = first, *others = writers()
    audited(tmp_path, *others, reference=first, **few)
    for writer in asked:
        most = sum(part.queries for part in planned.work if part.model == writer.spec)
        assert 0.4 * most < writer.written + writer.scored <= most
    assert not scores or others[0].written < others[1].written / 4


def test_an_open_verdict_says_how_many_answers_are_the_same_and_how_many_texts_decide(tmp_path):
    result = audited(tmp_path, Writer("copy"))
    (copy,) = result.verdicts
    assert copy.decision == "not shown"
    assert "same answer on 84 of 84 texts, not judged" in copy.sentence
    assert "further unchanged" in copy.sentence
    share = Estimate(value=0.74, low=0.63, high=0.83, n=18, method="by hand")
    drift = [
        Measurement(metric=metric, target=copy.target, against="original", estimate=share)
        for metric in ("same_top_token", "kl")
    ]
    text = str(replace(result, drift=tuple(drift)))
    assert "of places (KL divergence 0.74 [0.63, 0.83]; not judged)" in " ".join(text.split())
    assert "Accuracy is <bdi>the share of right answers</bdi>, of which" in result.html()


def test_searches_of_writers_are_shared_between_runs(tmp_path):
    """A run shares the answers of the models that it names: here as searches ask, too."""
    write_tiny_llama(tmp_path / "llama", chat=False)
    spec = f"hf:{tmp_path / 'llama'}"
    request = AuditRequest(reference=spec, targets=[Writer("copy")], data=ROWS, role="answer")
    asked = {model.fingerprint for model in prepare(request).models}
    assert len(asked) == 3


def test_runs_by_another_score_have_another_plan(result):
    settings = {**result.manifest.settings, "score": "exact_match"}
    assert _plan(result.manifest) != _plan(replace(result.manifest, settings=settings))


def test_texts_of_the_result_hold_no_reference_answer(result):
    passages = {
        scored.example.id: tuple(scored.example.text.split("\x1e")) for scored in result.examples
    }
    questions = {row["question"] for row in ROWS}
    assert {question for _, question in passages.values()} == questions
    changed = [each.perturbation for each in result.candidates]
    assert changed
    for each in changed:
        passage, question = each.text.split("\x1e")
        assert passage == passages[each.example_id][0]
        assert question not in questions


def test_the_page_and_the_frame_show_answers_side_by_side(result, tmp_path):
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "\x1e" not in page
    assert "may not replace" in page
    assert "How similar the target&#39;s own answers before and after are (word F1)" in page
    assert result.manifest.settings["score"] == "f1"
    frame = result.to_frame("examples")
    assert {"amber.", "white"} <= {*frame.before, *frame.after}
    unchanged = frame[frame.pair == "unchanged"]
    assert unchanged[unchanged.model == "toy-copy-1"].example.nunique() == len(ROWS)
    constant = unchanged[unchanged.model == "toy-constant-1"]
    assert {*constant.after} == {"white"}
    assert "amber." in {*constant.before}
    assert not constant.kept.any()
    # Its support of the reference's answer is that of the reference.
    assert (constant.distance == 0).all()
    assert (constant.probability_after == constant.reference_probability_before).all()


@pytest.mark.parametrize("gold", [True, False])
def test_no_word_of_a_result_is_about_labels(result, tmp_path, gold):
    if not gold:
        rows = [{key: row[key] for key in ("question", "context")} for row in ROWS]
        few = {"n": 8, "n_search": 2, "candidates": 2}
        result = audited(tmp_path, Writer("constant", wrong=10), data=rows, **few)
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    page = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*label[^>]*>", "", page, flags=re.DOTALL)
    for text in (page, str(result), result.to_markdown(), result.to_json()):
        # The keys of settings and fields are no words.
        keys = r"[>\"|] ?label(s|led|\\?_map)?\b"
        assert "label" not in re.sub(keys, "", text).lower()


class Varied(Writer):
    """Writes another text to each question, however little it changes."""

    def _answer(self, question):
        return f"{question.text} {self.spec}"


def test_where_the_reference_keeps_next_to_nothing_keeping_its_answers_is_not_assessed(tmp_path):
    rows = [{key: row[key] for key in ("question", "context")} for row in ROWS]
    result = audited(tmp_path, Varied("other"), reference=Varied("original"), data=rows)
    (verdict,) = result.verdicts
    assert (verdict.decision, verdict.may_replace_in) == ("not shown", ())
    assert "keeps its answer under 0\u00a0% of changes, at least 10\u00a0% are" in str(
        verdict.reason
    )
    assert not [end for end in verdict.endpoints if end.measure == "keeps" and end.limit]
    assert "--n " not in verdict.sentence  # more texts change nothing


class Terse(Writer):
    """Writes nothing to some questions."""

    def answer(self, questions):
        for place, answer in super().answer(questions):
            is_none = "needle" in questions[place].text
            yield place, Answer(missing="not readable") if is_none else answer


def test_a_question_to_which_a_writer_says_nothing_is_another_answer(tmp_path):
    result = audited(tmp_path, Terse("terse", scores=False), score="f1")
    (verdict,) = result.verdicts
    assert "gives no answer" not in verdict.sentence
    assert estimate(result, "iid_agreement", "toy-terse-1", None).value == pytest.approx(78 / 84)
    (missing,) = result.manifest.targets[0].missing
    assert missing.examples[0].startswith("What colour does the needle have")


def test_answers_that_end_at_the_limit_are_counted_by_model(tmp_path):
    wordy = Writer("wordy", scores=False)
    wordy.answer = lambda asked: enumerate(Answer(text="a" * len(q.text), cut=True) for q in asked)
    few = {"n": 8, "n_search": 2, "candidates": 2}
    result = audited(tmp_path, wordy, **few)
    (card,) = result.manifest.targets
    assert card.cut == card.answers > len(ROWS)
    result.to_html(tmp_path / "page.html")
    words = f"{card.cut} of {card.cut}"
    assert f">{words}<" in (tmp_path / "page.html").read_text()
    words = f"{card.name} {words}: answers that end at their limit (--max-answer-tokens 32)"
    assert words in " ".join(str(result).split())
    assert result.manifest.reference.cut == 0


def test_texts_of_clusters_go_by_their_own_ids_and_what_is_left_out_by_its_question(tmp_path):
    reference, rows = Writer("original"), [{"id": f"row-{n}", **row} for n, row in enumerate(ROWS)]
    reference.score_answers = None
    answer = reference.answer
    reference.answer = lambda questions: (
        (place, given if "anchor" not in questions[place].context else Answer(missing="refused"))
        for place, given in answer(questions)
    )
    few = {"n": 20, "n_search": 1, "candidates": 2, "cluster": "context"}
    result = audited(tmp_path, Writer("copy", reacts=0.5), reference=reference, data=rows, **few)
    result.to_html(tmp_path / "page.html")
    assert ">row-" in (tmp_path / "page.html").read_text()
    (unanswered,) = [
        left for left in result.manifest.data[0].left_out if left.reason.startswith("no answer")
    ]
    assert unanswered.count == 6
    assert {*unanswered.examples} <= {row["question"] for row in ROWS[:6]}


def test_where_a_model_cannot_score_all_move_by_similarity(tmp_path):
    result = audited(tmp_path, Writer("silent", scores=False), Writer("copy"))
    drawn = random_changes("typo", result.examples, result.candidates)
    assert set(drawn.moved().tolist()) <= {0.0, -1.0}
    cause = "as toy-silent-1 cannot score a given answer."
    assert cause in " ".join(str(result).split())
    assert cause in re.sub(r"</?bdi>", "", result.html())


def test_an_interrupted_audit_goes_on_where_it_was(tmp_path):
    """Interrupted while the reference answers, while it is searched, and while the target does."""
    few = {"n": 8, "n_search": 2, "n_unchanged": 12, "candidates": 2}
    whole = audited(tmp_path / "whole", Writer("copy"), **few)
    reference, target = Writer("original"), Writer("copy")
    ask, asked = reference._score_answers, []

    def interrupted(items):
        for place, score in ask(items):
            asked.append(items[place])
            if len(asked) in (5, 30, 60):
                raise KeyboardInterrupt
            yield place, score

    reference.score_answers = target.score_answers = interrupted
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            audited(tmp_path / "parts", target, reference=reference, **few)
    parts = audited(tmp_path / "parts", target, reference=reference, **few)
    assert parts.measurements == whole.measurements
    assert parts.verdicts == whole.verdicts


def written_pairs(*models, gold="ann"):
    """Random changes of texts, from each model's predictions before and after each change."""
    examples, changed = [], []
    for place, rows in enumerate(zip(*models, strict=True)):
        (before, after), *targets = rows
        example = Example(id=str(place), text="who", label=gold, gold=(gold,))
        examples.append(
            ScoredExample(example=example, reference=before, targets=tuple(t[0] for t in targets))
        )
        changed.append(
            ScoredPerturbation(
                capability="typo",
                perturbation=Perturbation(example_id=str(place), trial=1, text="wo"),
                reference=after,
                targets=tuple(t[1] for t in targets),
            )
        )
    return random_changes("typo", examples, changed)


def wrote(text, support=None):
    return Prediction(
        probabilities=(0.5,), tokens=(text,), reply=text, support=support, scored_tokens=1
    )


def test_a_missing_score_costs_its_pair_for_all_models():
    reference = [(wrote("a", -1.0), wrote("a", -2.0)), (wrote("b", -1.0), wrote("b", -3.0))]
    target = [(wrote("a", -1.0), wrote("a")), (wrote("b", -1.0), wrote("b", -3.0))]
    drawn = written_pairs(reference, target)
    assert drawn.written.scored
    assert np.isnan(drawn.moved()).tolist() == [True, False]
    assert np.isnan(drawn.moved(0)).tolist() == [True, False]


def test_a_model_that_scores_and_writes_nothing_leaves_the_moves_of_others():
    mute = Writer("mute")
    mute.answer = lambda questions: enumerate(Answer(missing="not readable") for _ in questions)
    mute._answer = lambda question: ""
    text = joined([ROWS[0]["context"], ROWS[0]["question"], "amber."])
    (answer,) = WrittenClassifier(mute, ("passage", "question")).classify([text])
    assert (answer.given, answer.support) == (False, -0.5)
    rows = [(wrote("a", -1.0), wrote("a", -2.0))]
    drawn = written_pairs(rows, rows, [(answer, answer)])
    assert drawn.written.scored
    assert drawn.moved(0).tolist() == [-1.0]
    assert np.isnan(drawn.moved(1)).all()


def test_missing_answers_are_similar_to_none():
    nothing = Prediction(probabilities=(), missing="not readable")
    drawn = written_pairs([(wrote("a"), wrote("a"))], [(nothing, nothing)])
    assert drawn.written.similarity.tolist() == [[1.0], [0.0]]


def test_answers_are_written_though_the_first_says_that_there_is_none():
    empty = Prediction(
        probabilities=(0.5,), tokens=("(unanswerable)",), support=-1, scored_tokens=1
    )
    rows = [(empty, empty), (wrote("b", -1.0), wrote("b", -3.0))]
    assert written_pairs(rows, rows).written is not None


def test_a_server_that_fails_to_score_leaves_the_text_out():
    writer = Writer("failing")
    missing = ScoredAnswer(log_probability=math.nan, tokens=1, missing="server")
    writer.score_answers = lambda items: enumerate([missing] * len(items))
    text = joined([ROWS[0]["context"], ROWS[0]["question"], "amber."])
    (answer,) = WrittenClassifier(writer, ("passage", "question")).classify([text])
    assert answer.leaves_out


def test_data_of_which_some_rows_have_a_right_answer(tmp_path):
    rows = [row if place % 2 else row | {"answers": None} for place, row in enumerate(ROWS)]
    few = {"n": 4, "n_search": 1, "candidates": 2, "least_agreement": 0.5}
    result = audited(tmp_path, Writer("wrong", wrong=5), data=rows, **few)
    result.to_html(tmp_path / "page.html")
    assert result.manifest.data[0].labelled == len(ROWS) // 2


def test_moves_by_hand():
    """R's answer has 2 tokens and loses 3 nats: -1.5 a token; T loses 1 in its own: -.5."""

    def answer(text, support, tokens):
        return Prediction(
            probabilities=(0.5,), tokens=(text,), reply=text, support=support, scored_tokens=tokens
        )

    example = Example(id="0", text="who", label="ann", gold=("ann",))
    before = ScoredExample(
        example=example, reference=answer("ann", -1.0, 2), targets=(answer("bob", -4.0, 3),)
    )
    after = ScoredPerturbation(
        capability="typo",
        perturbation=Perturbation(example_id="0", trial=1, text="wo"),
        reference=answer("ann lee", -4.0, 2),
        targets=(answer("bob", -5.0, 3),),
    )
    drawn = random_changes("typo", [before], [after])
    assert drawn.moved().tolist() == [-1.5]
    assert drawn.moved(0).tolist() == [-0.5]
    assert drawn.written.similarity.tolist() == [[2 / 3], [1.0]]


def test_an_answer_that_is_the_reference_s_is_not_written():
    writer = Writer("original")
    row = ROWS[0]
    classifier = WrittenClassifier(writer, ("passage", "question"))
    plain = joined([row["context"], row["question"]])
    (first,) = classifier.classify([plain])
    assert (first.reply, first.tokens, first.support) == ("amber.", ("amber",), None)
    written = writer.written
    (again,) = classifier.classify([joined([row["context"], row["question"], first.reply])])
    assert writer.written == written
    assert again.reply == first.reply
    assert again.support == -0.5
    assert again.probabilities == (pytest.approx(math.exp(again.support / 2)),)


def test_the_prompts_of_a_writer_are_those_with_which_it_is_asked_to_write():
    writer = Writer("original")
    writer.prompts = {"answer": "{question}", "choice": "{options}", "cloze": "{text}"}
    assert WrittenClassifier(writer, ("question",)).prompts == {"answer": "{question}"}


SHORT = ModelOptions(max_answer_tokens=8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slices": ["noun"]}, "--slice in the role answer"),
        ({"label_column": "answers"}, "--label-column in the role answer"),
        ({"role": "classifier", "score": "f1"}, "--score in the role classifier"),
        ({"role": "classifier", "model_options": SHORT}, "--max-answer-tokens in the role"),
        ({"change": "answer"}, "--change answer"),
        ({"both_directions": True}, "several references, both directions or groups"),
    ],
)
def test_options_without_effect_are_refused(tmp_path, options, words):
    with pytest.raises(SpecError, match=words):
        audited(tmp_path, Writer("copy"), **options)


@pytest.mark.parametrize("change", ["chat", 0, "answer"])
def test_the_earlier_messages_of_a_chat_stay(change):
    request = AuditRequest(
        reference="a", targets=["b"], data=[{"prompt": "x"}], role="answer", change=change
    )
    with pytest.raises(SpecError, match=f"--change {change}"):
        changed_part(request, ("chat", "prompt"))


def test_a_target_that_is_the_reference_is_told(tmp_path):
    shown, few = io.StringIO(), {"n": 2, "n_search": 1, "data": ROWS[:8]}
    audited(tmp_path, Writer("original"), progress=Lines(shown), **few)
    told = "toy-original-1 and toy-original-1 (target) are the same model: they cannot differ"
    assert told in shown.getvalue()
