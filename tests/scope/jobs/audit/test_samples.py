"""How often a reference that samples gives the same answer twice, with writers known by hand."""

import random
from dataclasses import replace
from functools import partial

import pytest
from toy_writers import NOUNS, ROWS, Writer, audited, estimate

import scope
from scope.errors import ModelError, SpecError
from scope.jobs.audit.written import equal_pairs
from scope.records import Answer
from scope.records.result import SAMPLED

FEW = {"n": 80, "n_search": 1, "candidates": 2}


class Sampler(Writer):
    """Writes as `Writer`; with a seed it gives its answer with a probability of ``sure``, or else
    another one, which it always gives to questions on some nouns."""

    samples = True

    def __init__(self, name, *, sure=1.0, otherwise=()):
        super().__init__(name)
        self.sure, self.otherwise, self.drawn = sure, otherwise, 0

    def _answer(self, question):
        is_other = question.context.split()[1] in self.otherwise
        return "another" if is_other else super()._answer(question)

    def answer(self, questions):
        for place, question in enumerate(questions):
            answer, drawn = self._answer(question), question.seed is not None
            self.drawn += drawn
            self.written += not drawn
            is_other = drawn and random.Random(question.seed).random() >= self.sure
            yield place, Answer(text="another" if is_other else answer)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A reference that answers otherwise in 3 of 10 samples, and a target that always does so to
    18 of the 84 questions."""
    reference = Sampler("original", sure=0.7)
    targets = (Sampler("copy"), Sampler("other", otherwise=NOUNS.split()[:3]))
    folder = tmp_path_factory.mktemp("samples")
    some = {"samples": 4, "agreement_margin": 0.1, **FEW}
    return audited(folder, *targets, reference=reference, **some)


def twice(result):
    return estimate(result, "self_agreement", result.manifest.reference.name, None)


def agreement(result, place=0):
    (end,) = [end for end in result.verdicts[place].endpoints if end.name == "agreement"]
    return end


def test_two_samples_are_the_same_with_the_sum_of_the_squared_probabilities(result):
    assert twice(result).low < 0.7**2 + 0.3**2 < twice(result).high
    assert twice(result).n == len(ROWS)


def test_a_sure_reference_gives_the_same_answer_twice(tmp_path):
    reference = Sampler("original")
    result = audited(tmp_path, Writer("copy"), reference=reference, samples=2, **FEW)
    assert twice(result).value == 1
    assert reference.drawn == 2 * len(ROWS)


def test_an_audit_that_ends_at_its_first_look_samples_the_texts_of_that_look_alone(tmp_path):
    reference, constant = Sampler("original"), Writer("constant", wrong=10)
    margins = {"keeps_margin": 0.1, "concordance_margin": 0.2}
    result = audited(tmp_path, constant, reference=reference, samples=2, looks=2, **margins)
    assert (result.look, twice(result).n, reference.drawn) == (1, 42, 2 * 42)


@pytest.mark.parametrize(
    ("answers", "share"), [("aab", 1 / 3), ("aaaa", 1), ("ab", 0), ([None, None], 0)]
)
def test_the_share_of_equal_pairs(answers, share):
    assert equal_pairs([*answers]) == pytest.approx(share)


def test_without_a_baseline_the_reference_is_the_yardstick_of_same_answers(result):
    """With all answers the same, or 66 of 84, a target lies above the reference's own 58 %."""
    for place, same in enumerate((1, 66 / 84)):
        end = agreement(result, place)
        assert end.limit == -0.1
        assert end.estimate.value == pytest.approx(same - twice(result).value, abs=1e-5)
    assert agreement(result).state == "within"


def test_a_target_less_alike_than_the_reference_is_to_itself_is_beyond(tmp_path):
    """66 of 84 answers are the same, and all of the reference's samples."""
    other = Sampler("other", otherwise=NOUNS.split()[:3])
    result = audited(tmp_path, other, reference=Sampler("original"), samples=2, **FEW)
    assert agreement(result).state == "beyond"
    assert "toy-original-1 asked twice: " in str(result)


def test_a_baseline_or_a_named_limit_stays_the_yardstick(tmp_path):
    """Both the copy and the baseline give all answers of the reference."""
    audit = partial(audited, reference=Sampler("original", sure=0.7), samples=2, **FEW)
    result = audit(tmp_path, Writer("copy"), baseline=Writer("again"))
    assert agreement(result).estimate.value == 0
    assert twice(result).value < 0.7
    assert "the yardstick of same answers" not in str(result)
    named = audit(tmp_path / "named", Writer("copy"), least_agreement=0.9)
    assert agreement(named).limit == 0.9


def test_without_right_answers_the_noise_is_only_shown(tmp_path):
    """Same answers stand for accuracy then, whose limit stays 98 %."""
    rows = [{key: row[key] for key in ("question", "context")} for row in ROWS]
    sampler = Sampler("original", sure=0.7)
    result = audited(tmp_path, Writer("copy"), reference=sampler, data=rows, samples=2, **FEW)
    assert twice(result).value < 0.7
    assert agreement(result).limit == 0.98


def test_page_and_terminal_say_how_often_in_one_line(result, tmp_path):
    result.to_html(tmp_path / "page.html")
    page = " ".join((tmp_path / "page.html").read_text().split())
    share = f"{100 * twice(result).value:.0f} % ["
    assert f"gives the same answer on {share}" in " ".join(str(result).split())
    assert f"gives the same answer on <bdi>{share}" in page
    assert "of texts, the yardstick of same answers." in page
    assert "Same answers when asked twice" in page


def test_the_page_names_no_temperature_where_the_server_refuses_it(result):
    card = replace(result.manifest.reference, reproducible=SAMPLED)
    manifest = replace(result.manifest, models=(card, *result.manifest.targets))
    page = replace(result, manifest=manifest).html()
    assert "Asked twice without a temperature, which its server refuses, <strong>" in page
    assert "temperature 1" not in page


def test_an_interrupted_sampling_goes_on_with_the_same_samples(tmp_path, result):
    reference, seen = Sampler("original", sure=0.7), []
    answer = reference.answer

    def interrupted(questions):
        for place, given in answer(questions):
            if questions[place].seed is not None:
                seen.append(questions[place].seed)
                if len(seen) == 100:
                    raise KeyboardInterrupt
            yield place, given

    reference.answer = interrupted
    run = partial(audited, tmp_path, Writer("copy"), reference=reference, samples=4, **FEW)
    with pytest.raises(KeyboardInterrupt):
        run()
    again = run()
    assert twice(again) == twice(result)
    # An answer that comes with the interrupt is asked for again, and a kept one is not.
    assert len(seen) - len({*seen}) <= 16


def test_a_dry_run_counts_the_samples(tmp_path):
    writers = Writer("copy"), Sampler("original")
    audit = partial(scope.dry_run, "audit")
    cost = audited(tmp_path, writers[0], reference=writers[1], audit=audit, samples=3, **FEW)
    (work,) = [work for work in cost.work if work.purpose == "samples"]
    assert (work.model, work.queries) == ("toy-original-1", 3 * len(ROWS))
    assert "same answers 0.02 below its own when asked twice" in cost.plan


def test_a_pair_samples_the_model_that_is_replaced(tmp_path):
    models = [Sampler("first", sure=0.7), Sampler("second")]
    some = {"capabilities": ["typo"], "n": 8, "samples": 2, "role": "answer"}
    result = scope.pair(models=models, data=ROWS[:24], run=str(tmp_path / "run"), **some)
    shares = {audit.manifest.reference.name: twice(audit).value for audit in result.audits}
    assert shares.keys() == {"toy-first-1", "toy-second-1"}
    assert shares["toy-first-1"] < shares["toy-second-1"] == 1


def test_what_cannot_sample_is_refused(tmp_path):
    words = "--samples 2 of `toy-original-1`, which does not sample"
    with pytest.raises(ModelError, match=words) as error:
        audited(tmp_path, Sampler("copy"), samples=2)
    assert error.value.expected.startswith("a reference that samples: hf:NAME, gguf:FILE")


@pytest.mark.parametrize(
    ("options", "words"),
    [({"samples": 1}, "--samples 1"), ({"samples": 2, "role": "classifier"}, "in the role")],
)
def test_one_sample_and_samples_of_labels_are_refused(tmp_path, options, words):
    with pytest.raises(SpecError, match=words):
        audited(tmp_path, Writer("copy"), reference=Sampler("original"), **options)
