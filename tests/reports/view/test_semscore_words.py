"""What a report says of SemScore, by an encoder and by a probe."""

from dataclasses import replace

from made_up_comparison import SCRIPT

from reports.view import wording
from reports.view.compare_headline import compare_headline
from reports.view.numbers import numbers
from reports.views import HtmlRenderer


def by_probe(comparison, spec="hf:mine"):
    settings = {"seed": 7, "normalize": False, "semscore": f"a probe of {spec}"}
    return replace(comparison, manifest=replace(comparison.manifest, settings=settings))


def meaning(metrics):
    (found,) = [metric.meaning for metric in metrics if metric.head == "sem_score"]
    return found


def test_by_an_encoder_semscore_is_a_cosine(tasks_comparison):
    expected = "cosine between the sentence embeddings of two answers; 1 is the same direction"
    assert meaning(compare_headline(tasks_comparison).metrics) == expected
    assert meaning(numbers(tasks_comparison).metrics) == expected


def test_by_a_probe_semscore_is_what_that_probe_says(tasks_comparison):
    found = by_probe(tasks_comparison)
    for metrics in (compare_headline(found).metrics, numbers(found).metrics):
        assert meaning(metrics).startswith(
            "similarity in meaning of two answers by a probe of hf:mine, from 0 to 1"
        )
        assert "is not measured here" in meaning(metrics)


def test_all_other_metrics_keep_their_meaning(tasks_comparison):
    def others(comparison):
        return [one for one in numbers(comparison).metrics if one.head != "sem_score"]

    assert others(by_probe(tasks_comparison)) == others(tasks_comparison)


def test_each_spelling_is_explained_once_in_its_order(tasks_comparison):
    spellings = ["word_f1", "sem_score", "word_f1"]
    found = wording.explained(spellings, tasks_comparison.manifest)
    assert [one.head for one in found] == ["word_f1", "sem_score"]


def test_a_probes_name_cannot_break_out_of_the_page_or_of_the_sentence(tasks_comparison):
    page = HtmlRenderer().render(by_probe(tasks_comparison, spec=f"hf:{SCRIPT}{{probe}}{{0}}"))
    assert SCRIPT not in page
    assert "{probe}{0}, from 0 to 1" in page
