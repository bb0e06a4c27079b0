"""What a report says of SemScore, by an encoder and by a probe."""

from dataclasses import replace

from kept_results import SCRIPT

from reports.blocks import Terms
from reports.prose import plain
from scope.jobs.compare.page import page


def by_probe(comparison, spec="hf:mine"):
    settings = {"seed": 7, "normalize": False, "semscore": f"a probe of {spec}"}
    return replace(comparison, manifest=replace(comparison.manifest, settings=settings))


def test_by_a_probe_semscore_is_what_that_probe_says(tasks_comparison):
    comparison = by_probe(tasks_comparison)
    (section,) = (one for one in page(comparison).sections if one.anchor == "numbers")
    (terms,) = (block for block in section.blocks if isinstance(block, Terms))
    meanings = {plain(label): plain(meaning) for label, meaning in terms.pairs}
    assert meanings["SemScore (key sem_score)"].startswith(
        "similarity in meaning of two answers by a probe of hf"
    )


def test_a_probes_name_cannot_break_out_of_the_page_or_of_the_sentence(tasks_comparison):
    html = by_probe(tasks_comparison, spec=f"hf:{SCRIPT}{{probe}}{{0}}").html()
    assert SCRIPT not in html
    assert "{probe}{0}, from 0 to 1" in html
