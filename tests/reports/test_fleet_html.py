"""The sections of the page on a fleet."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import (
    MODELS,
    bare,
    build_comparison,
    contributions,
    estimate,
    members,
    predictions,
    routers,
    scores,
)

import scope.jobs.fleet.sections as pages
from reports.renderers.html import render as render_page
from scope.records import BenchmarkPoint, Neighbour


@pytest.fixture
def render(parse):
    """The page of a job that found these parts alone."""

    def rendered(job, **parts):
        return parse(bare(f"fleet-{job}", **parts).html())

    return rendered


@pytest.fixture(
    params=["fleet-embed", "fleet-forecast", "fleet-map", "fleet-predict", "fleet-route"]
)
def fleet_document(request, fleet_documents):
    return fleet_documents[request.param]


def drawings(node):
    return [one for one in node.walk() if one.attributes.get("role") == "img"]


def test_each_section_is_linked_and_none_takes_an_id_that_the_script_looks_for(fleet_document):
    sections = [node.attributes["id"] for node in fleet_document.all("section")]
    links = [node.attributes["href"] for node in fleet_document.all("a")]
    assert links == [f"#{name}" for name in sections]
    assert not {"controls", "pairs", "search", "shown", "order"} & set(sections)


def answer(documents, job):
    return documents[f"fleet-{job}"].section("answer").words


def test_a_router_that_loses_is_said_to_lose(render):
    single = replace(routers()[1], gain=routers()[3].gain)
    words = render("route", routers=(routers()[0], single)).section("answer").words
    assert "Routing is worse than the single best model." in words


def test_every_job_has_its_title_and_no_empty_section(render):
    for job in ("embed", "forecast", "route", "predict", "map"):
        page = render(job)
        assert page.all("h1")[0].words == f"SCoPE fleet {job}: 6 models"
        sections = [node.attributes["id"] for node in page.all("section")]
        assert sections == ["answer", "asked", "reproduce"]


def test_the_map_can_be_hovered_and_its_legend_tells_shapes(fleet_documents):
    section = fleet_documents["fleet-map"].section("models")
    (drawing,) = drawings(section)
    assert len(drawing.all("title")) == 5
    keys = [
        node.words for node in section.all("span") if "key" in (node.attributes.get("class") or "")
    ]
    assert keys[1] == "■ 7B (2)"
    assert keys[2] == "▲ no community (1)"
    assert "The map shows 5 of 6 models; the others have no position." in section.words


def test_the_models_can_be_read_without_pointing(fleet_documents):
    rows = fleet_documents["fleet-map"].section("models").all("table")[0].cells()
    assert rows[0] == [
        *("Model", "Accuracy", "Interval", "n", "Community", "Nearest", "Next nearest")
    ]
    assert rows[1][:4] == [MODELS[1], "0.750", "[0.719, 0.781]", "1,200"]
    assert rows[1][5] == f"{MODELS[2]} 0.250"
    assert rows[1][6].startswith(f"{MODELS[3]} 0.500, ")
    assert rows[4][0] == f"{MODELS[5]} (added)"
    assert rows[6][1:4] == [
        "undefined",
        'no answer is known "><img src=x onerror=window.injected=1>',
        "0",
    ]


def test_a_long_list_of_models_is_cut_and_says_so(parse):
    page = pages.map_page(build_comparison("fleet-map"), max_models=2)
    section = parse(render_page(page)).section("models")
    assert len(section.all("table")[0].cells()) == 3
    assert "The table lists the 2 most accurate of 6 models" in section.words
    assert "The map shows 2 of 6 models." in section.words


def test_models_without_communities_neighbours_or_places_need_no_room_for_them(render):
    plain = tuple(replace(one, x=None, y=None, community=None, nearest=()) for one in members())
    section = render("map", fleet=plain).section("models")
    assert section.all("table")[0].cells()[0] == ["Model", "Accuracy", "Interval", "n"]
    assert drawings(section) == []
    assert [node.attributes["id"] for node in section.all("select")] == ["order"]


def test_the_map_says_how_much_of_the_differences_it_shows(render):
    note = "the map shows 61 % of the variance"
    words = render("map", fleet=members(), notes=("one left out", note)).section("models").words
    assert "The map shows 61 % of the variance." in words
    assert "one left out" not in words.lower()


@pytest.mark.parametrize("job", ["forecast", "route"])
def test_of_a_fleet_that_is_asked_new_questions_the_added_models_alone_are_named(render, job):
    page = render(job, fleet=members())
    sections = [node.attributes["id"] for node in page.all("section")]
    assert sections == ["answer", "asked", "reproduce"]
    assert "1 model was added without retraining" in page.section("answer").words
    words = page.section("asked").words
    assert f"Added models1 model: {MODELS[5]}" in words
    assert MODELS[0] not in words


def test_of_many_added_models_the_first_are_named_and_the_rest_counted(render):
    late = members()[5]
    many = tuple(replace(late, name=f"m{place}") for place in range(23))
    words = render("route", fleet=many).section("asked").words
    assert "23 models: m0, m1, " in words
    assert "m19, …" in words


def test_contributions_that_may_be_chance_are_no_result(render):
    loose = replace(contributions()[0], value=estimate(0.02, 70, half=0.3))
    for made, said in (
        (loose, "which may be chance."),
        (replace(loose, value=estimate(0.02, 7)), "with too few questions for a conclusion."),
    ):
        words = render("map", contributions=(made,)).section("answer").words
        assert "No benchmark’s questions significantly improve forecasts on another" in words
        assert said in words


def test_of_very_few_questions_no_difference_is_told(render):
    used = replace(scores()[2], gain=estimate(0.0625, 7))
    single = replace(routers()[1], gain=estimate(0.0625, 7))
    page = render("route", scores=(used,), routers=(routers()[0], single))
    words = page.section("answer").words
    assert words.count("There are too few questions for a conclusion.") == 2


def test_a_very_long_setting_is_folded(parse):
    comparison = build_comparison()
    names = ", ".join(f"model-{place}" for place in range(150))
    manifest = replace(comparison.manifest, settings={"seed": 7, "models": names})
    section = parse(replace(comparison, manifest=manifest).html()).section("reproduce")
    (folded,) = section.all("details")
    assert folded.words.startswith(f"{len(names):,} characters")
    assert "model-149" in folded.words


def test_costs_have_a_column_only_where_some_are_known(render):
    free = tuple(replace(one, cost=None) for one in routers())
    section = render("route", routers=free).section("routing")
    assert section.all("table")[0].cells()[0] == ["Strategy", "Accuracy", "Gain of the router"]


def test_every_strength_of_a_background_has_a_rule_in_the_style(fleet_documents):
    (style,) = fleet_documents["fleet-map"].all("style")
    classes = {
        node.attributes["class"]
        for node in fleet_documents["fleet-map"].section("contributions").walk()
        if (node.attributes.get("class") or "").startswith("h")
    }
    assert "h-10" in classes
    assert all(f".{name} {{" in style.text for name in classes - {"h0"})


def test_thousands_of_models_make_a_page_that_a_browser_can_open():
    names = [f"organisation/model-{place}-of-some-name" for place in range(2_001)]
    near = tuple(Neighbour(model=names[place], distance=0.5) for place in range(5))
    many = tuple(
        replace(members()[0], name=name, x=place % 53, y=place % 47, nearest=near)
        for place, name in enumerate(names)
    )
    page = build_comparison("fleet-map", fleet=many).html()
    assert page.count("<tr data-order") == 2_001
    assert len(page) < 2_500_000


def test_thousands_of_models_make_a_page_of_benchmarks_that_a_browser_can_open():
    names = [f"organisation/model-{place}-of-some-name" for place in range(2_001)]
    points = tuple(BenchmarkPoint(model=name, predicted=0.5, observed=0.25) for name in names)
    row = replace(predictions()[0], points=points)
    assert len(build_comparison("fleet-predict", predictions=(row,) * 6).html()) < 2_500_000
