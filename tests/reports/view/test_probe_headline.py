"""The first section of a probe's report: what training added, and whose layers are ahead."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from reports.view.probe_headline import CLEAR, MOST_DIFFERENCES, probe_headline
from scope.records import ProbeDifference, Undefined


def headline(**changes):
    found = replace(findings(), **changes)
    return probe_headline(build_comparison(found), found)


def steps(*kept):
    """The first model's scores of these steps, with a gain in all but the first."""
    scores = {score.step: score for score in findings().scores[:5]}
    return tuple(
        replace(scores[step], gain=estimate(0.0625) if place else None)
        for place, step in enumerate(kept)
    )


def test_the_title_names_few_models_and_counts_many():
    assert headline().title == f"SCoPE probe: {DEEP}, {SHALLOW}"
    model = findings().models[0]
    four = tuple(replace(model, name=f"m{place}") for place in range(4))
    assert headline(models=four, scores=()).title == "SCoPE probe: 4 models"


def test_right_after_the_raw_step_what_training_added_has_its_interval():
    (answer,) = headline(scores=steps("raw", "final")).answers
    assert answer.training.raw.value == "0.688"
    assert (answer.training.added.value, answer.training.added.interval) == (
        "+0.062",
        "[+0.031, +0.094]",
    )
    assert (answer.training.beyond, answer.training.worse) == ("more", False)


def test_with_steps_between_what_training_added_in_all_has_no_interval_and_is_not_told():
    (answer,) = headline(scores=steps("raw", "mlp", "final")).answers
    assert (answer.training.added, answer.training.beyond) == (None, None)


@pytest.mark.parametrize("kept", [("raw", "final"), ("raw", "mlp", "final")])
def test_a_last_step_below_the_raw_one_did_not_help(kept):
    *others, last = steps(*kept)

    def worse(number):
        (answer,) = headline(scores=(*others, replace(last, pearson=number))).answers
        return answer.training.worse

    assert worse(estimate(0.6796875))
    assert not worse(estimate(0.6875))
    assert not worse(Undefined(reason="one side is constant"))


def test_an_encoded_layer_is_better_where_its_whole_interval_lies_above_the_probe():
    (last,) = steps("final")
    first = findings().layers[0]

    def better(*values, score=last):
        layers = tuple(
            replace(first, layer=place, encoded=value) for place, value in enumerate(values)
        )
        (answer,) = headline(scores=(score,), layers=layers).answers
        return answer.better

    # The probe has 0.796875, each interval reaches 0.03125 to either side.
    found = better(estimate(0.5), estimate(0.875))
    assert (found.layer, found.cell.value) == (1, "0.875")
    assert better(estimate(0.5), estimate(0.84375)) is None
    assert better(estimate(0.875)) is None
    assert better(None, Undefined(reason="one side is constant")) is None
    gone = replace(last, pearson=Undefined(reason="one side is constant"))
    assert better(estimate(0.5), estimate(0.875), score=gone) is None


@pytest.mark.parametrize("kept", [("raw",), ("final",), ("siamese", "final")])
def test_without_a_step_before_and_one_after_training_nothing_is_told(kept):
    (answer,) = headline(scores=steps(*kept)).answers
    assert answer.training is None
    assert answer.step == kept[-1]


def test_a_raw_step_without_a_number_is_not_held_against_the_last():
    first, *others = steps("raw", "mlp", "final")
    gone = replace(first, pearson=Undefined(reason="one side is constant"))
    (answer,) = headline(scores=(gone, *others)).answers
    assert (answer.training.raw.value, answer.training.worse) == ("undefined", False)


def test_the_number_on_unseen_pairs_is_told_where_it_differs_clearly():
    last = replace(steps("final")[0], pearson=estimate(0.75))

    def told(number, **changes):
        (answer,) = headline(scores=(replace(last, unseen=number),), **changes).answers
        return answer.unseen

    assert told(estimate(0.75 - CLEAR / 2)) is None
    assert told(estimate(0.75 - 2 * CLEAR, n=520)).value == "0.730"
    assert told(estimate(0.75 + 2 * CLEAR)).value == "0.770"
    assert told(Undefined(reason="fewer than 4 pairs", n=2)).reason == "fewer than 4 pairs"
    # All pairs are unseen, or nobody knows which.
    assert told(estimate(0.5), unseen=750) is None
    assert told(estimate(0.5), train=0) is None


def test_the_best_layer_is_the_one_of_the_greatest_defined_number():
    layers = tuple(
        replace(findings().layers[0], layer=place, raw=raw)
        for place, raw in enumerate(
            (estimate(0.25), Undefined(reason="none"), estimate(0.75), estimate(0.5))
        )
    )
    best = headline(scores=steps("final"), layers=layers).answers[0].best
    assert (best.layer, best.layers, best.cell.value) == (2, 4, "0.750")
    assert headline(scores=steps("final"), layers=layers[:1]).answers[0].best is None


def test_the_model_that_is_ahead_comes_first_with_the_interval_turned():
    one = ProbeDifference(step="final", first="a", second="b", pearson=estimate(-0.25, half=0.0625))
    (ahead,) = headline(differences=(one,)).ahead
    assert (ahead.first, ahead.second, ahead.cell.value) == ("b", "a", "0.250")
    assert (ahead.cell.interval, ahead.beyond) == ("[0.188, 0.312]", "more")


def test_only_differences_of_the_last_step_are_told_and_the_rest_counted():
    one = findings().differences[0]
    assert headline(differences=(one,)).ahead == ()
    many = tuple(
        replace(one, step="final", first=f"m{place}") for place in range(MOST_DIFFERENCES + 3)
    )
    found = headline(differences=many)
    assert (len(found.ahead), found.more) == (MOST_DIFFERENCES, 3)


def test_a_difference_that_is_undefined_keeps_its_reason():
    one = replace(findings().differences[4], pearson=Undefined(reason="one side is constant"))
    (ahead,) = headline(differences=(one,)).ahead
    assert (ahead.first, ahead.cell.reason, ahead.beyond) == (
        SHALLOW,
        "one side is constant",
        None,
    )


def test_models_read_at_different_places_or_with_different_prompts_say_so():
    deep, shallow = findings().models

    def read(*models):
        (ahead,) = headline(models=models, differences=findings().differences[4:]).ahead
        assert ahead.first == SHALLOW
        return ahead.read

    assert read(deep, shallow) == ("at the last token", "at the last token of a prompt")
    prompted = "at the last token of a prompt"
    other = replace(shallow, readout="prompt", prompt="another {}")
    assert read(deep, other) == (prompted, prompted)
    assert read(deep, replace(other, prompt=deep.prompt)) is None
