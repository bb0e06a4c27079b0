"""The first section of a probe's page: what training added, and whose layers are ahead."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from reports.prose import plain
from scope.jobs.pages import page_of
from scope.jobs.probe.headline import CLEAR, MOST_IN_HEADLINE, headline_section
from scope.records import ProbeDifference, Undefined

CONSTANT = Undefined(reason="one side is constant")


def sentences(**changes):
    """The findings at the head of the page, and the paragraph below them."""
    bullets, reading = headline_section(replace(findings(), **changes)).blocks
    return [*map(plain, bullets.items), plain(reading.text)]


def first_words(**changes):
    return sentences(**changes)[0].replace("\N{NO-BREAK SPACE}", " ")


def steps(*kept):
    """The first model's scores of these steps, with a gain in all but the first."""
    scores = {score.step: score for score in findings().scores[:5]}
    return tuple(
        replace(scores[step], gain=estimate(0.0625) if place else None)
        for place, step in enumerate(kept)
    )


def test_the_title_names_few_models_and_counts_many():
    assert page_of(build_comparison(findings())).title == f"SCoPE probe: {DEEP}, {SHALLOW}"
    model = findings().models[0]
    four = tuple(replace(model, name=f"m{place}") for place in range(4))
    many = build_comparison(replace(findings(), models=four, scores=()))
    assert page_of(many).title == "SCoPE probe: 4 models"


def test_right_after_the_raw_step_what_training_added_has_its_interval():
    words = first_words(scores=steps("raw", "final"))
    assert "(step raw) has a Pearson correlation of 0.688" in words
    assert "the gain by training is +0.062 [+0.031, +0.094] (n = 750). The interval ex" in words
    assert "help" not in words


def test_with_steps_between_what_training_added_in_all_has_no_interval_and_is_not_told():
    words = first_words(scores=steps("raw", "mlp", "final"))
    assert "; the gain of each step is shown below." in words
    assert "gain by training" not in words


@pytest.mark.parametrize("kept", [("raw", "final"), ("raw", "mlp", "final")])
def test_a_last_step_below_the_raw_one_did_not_help(kept):
    *others, last = steps(*kept)

    def worse(number):
        return "help here" in first_words(scores=(*others, replace(last, pearson=number)))

    assert worse(estimate(0.6796875))
    assert not worse(estimate(0.6875))
    assert not worse(CONSTANT)


def test_an_encoded_layer_is_better_where_its_whole_interval_lies_above_the_probe():
    (last,) = steps("final")
    first = findings().layers[0]

    def better(*values, score=last):
        layers = tuple(
            replace(first, layer=place, encoded=value) for place, value in enumerate(values)
        )
        words = first_words(scores=(score,), layers=layers)
        return words.partition("Combining all layers did not help here: ")[2]

    # The probe has 0.796875, each interval reaches 0.03125 to either side.
    assert better(estimate(0.5), estimate(0.875)).startswith(
        "layer 1, as encoded by the probe, has a Pearson correlation of 0.875"
    )
    assert better(estimate(0.5), estimate(0.84375)) == ""
    assert better(estimate(0.875)) == ""
    assert better(None, CONSTANT) == ""
    assert better(estimate(0.5), estimate(0.875), score=replace(last, pearson=CONSTANT)) == ""


@pytest.mark.parametrize("kept", [("raw",), ("final",), ("siamese", "final")])
def test_without_a_step_before_and_one_after_training_nothing_is_told(kept):
    words = first_words(scores=steps(*kept))
    assert "The best raw layer" not in words
    assert f"(step {kept[-1]})" in words


def test_a_raw_step_without_a_number_is_not_compared_with_the_last():
    first, *others = steps("raw", "mlp", "final")
    words = first_words(scores=(replace(first, pearson=CONSTANT), *others))
    assert "(step raw) has no Pearson correlation: one side is constant; the gain" in words
    assert "help" not in words


def test_the_number_on_unseen_pairs_is_told_where_it_differs_clearly():
    last = replace(steps("final")[0], pearson=estimate(0.75))

    def told(number, **changes):
        words = first_words(scores=(replace(last, unseen=number),), **changes)
        return words.partition("or development pairs, ")[2]

    assert told(estimate(0.75 - CLEAR / 2)) == ""
    assert told(estimate(0.75 - 2 * CLEAR, n=520)).startswith("the Pearson correlation is 0.730")
    assert told(estimate(0.75 + 2 * CLEAR)).startswith("the Pearson correlation is 0.770")
    few = Undefined(reason="fewer than 4 pairs", n=2)
    assert told(few).startswith("there is no Pearson correlation: fewer than 4 pairs.")
    # All pairs are unseen, or nobody knows which.
    assert told(estimate(0.5), unseen=750) == ""
    assert told(estimate(0.5), train=0) == ""


def test_the_best_layer_is_the_one_of_the_greatest_defined_number():
    layers = tuple(
        replace(findings().layers[0], layer=place, raw=raw)
        for place, raw in enumerate(
            (estimate(0.25), Undefined(reason="none"), estimate(0.75), estimate(0.5))
        )
    )
    told = "Of its 4 raw layers, layer 2 has the highest correlation: 0.750"
    assert told in first_words(scores=steps("final"), layers=layers)
    assert "raw layers" not in first_words(scores=steps("final"), layers=layers[:1])


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        ((0.5, 0.75), "on the test pairs."),
        ((0.75, 0.74), "; the interval of 1 other overlaps with it."),
        ((0.75, 0.74, 0.73), "; the intervals of 2 others overlap with it."),
    ],
)
def test_layers_whose_intervals_overlap_with_the_best_are_counted(values, remark):
    first = findings().layers[0]
    layers = tuple(
        replace(first, layer=place, raw=estimate(value), encoded=None)
        for place, value in enumerate(values)
    )
    assert remark in first_words(scores=steps("final"), layers=layers)


def test_the_model_that_is_ahead_comes_first_with_the_interval_turned():
    one = ProbeDifference(step="final", first="a", second="b", pearson=estimate(-0.25, half=0.0625))
    told = sentences(differences=(one,))[2].replace("\N{NO-BREAK SPACE}", " ")
    assert told == (
        "The layers of b predict human scores better than those of a: the Pearson correlation on "
        "the same pairs is higher by 0.250 [0.188, 0.312] (n = 750), a significant difference."
    )


def test_only_differences_of_the_last_step_are_told_and_the_rest_counted():
    one = findings().differences[0]
    assert not any("differ" in words for words in sentences(differences=(one,))[2:])
    many = tuple(
        replace(one, step="final", first=f"m{place}") for place in range(MOST_IN_HEADLINE + 3)
    )
    told = sentences(differences=many)
    assert sum(words.startswith("The layers of") for words in told) == MOST_IN_HEADLINE
    assert "3 more differences between models are listed below the steps." in told
    told = sentences(differences=many[: MOST_IN_HEADLINE + 1])
    assert "1 more difference between models is listed below the steps." in told


def test_a_difference_that_is_undefined_keeps_its_reason():
    one = replace(findings().differences[4], pearson=CONSTANT)
    assert sentences(differences=(one,))[2] == (
        f"The difference between {SHALLOW} and {DEEP} is undefined: one side is constant."
    )


def test_models_read_at_different_places_or_with_different_prompts_say_so():
    deep, shallow = findings().models

    def read(*models):
        told = sentences(models=models, differences=findings().differences[4:])[2]
        return told.partition("The two are read ")[2]

    assert read(deep, shallow).startswith(
        f"at different positions ({SHALLOW} at the last token, {DEEP} at the last token of a "
        "prompt), which"
    )
    other = replace(shallow, readout="prompt", prompt="another {}")
    assert read(deep, other) == "with different prompts, which may also cause a difference."
    assert read(deep, replace(other, prompt=deep.prompt)) == ""
