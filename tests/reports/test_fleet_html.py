"""The page on a fleet as HTML."""

from dataclasses import replace

from kept_results import kept

from scope.records import BenchmarkPoint, Neighbour


def test_the_map_can_be_hovered_and_its_legend_tells_shapes(documents):
    section = documents["fleet-map"].section("answer")
    (drawing,) = [one for one in section.walk() if one.attributes.get("role") == "img"]
    assert len(drawing.all("title")) == 5
    keys = [
        node.words for node in section.all("span") if "key" in (node.attributes.get("class") or "")
    ]
    assert (keys[0], keys[2]) == ("● 7B (2)", "▲ smaller communities, or none (1)")


def test_a_very_long_setting_is_folded(parse):
    comparison = kept("fleet-map")
    names = ", ".join(f"model-{place}" for place in range(150))
    manifest = replace(comparison.manifest, settings={"seed": 7, "models": names})
    section = parse(replace(comparison, manifest=manifest).html()).section("reproduce")
    folded = section.all("details")[-1]
    assert folded.words.startswith(f"{len(names):,} characters")
    assert "model-149" in folded.words


def test_many_models_make_a_page_that_a_browser_can_open():
    """At most 1,250 bytes a model: 2.5 MB for two thousand."""
    names = [f"organisation/model-{place}-of-some-name" for place in range(501)]
    near = tuple(Neighbour(model=names[place], distance=0.5) for place in range(5))
    many = tuple(
        replace(kept("fleet-map").fleet[0], name=name, x=place % 53, y=place % 47, nearest=near)
        for place, name in enumerate(names)
    )
    page = kept("fleet-map", fleet=many).html()
    assert page.count("<tr data-order") == 501
    assert len(page) < 501 * 1_250
    points = tuple(BenchmarkPoint(model=name, predicted=0.5, observed=0.25) for name in names)
    row = replace(kept("fleet-predict").predictions[0], points=points)
    assert len(kept("fleet-predict", predictions=(row,) * 6).html()) < 501 * 1_250
