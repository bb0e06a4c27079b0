"""The sections of the page on a fleet."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import (
    CATEGORIES,
    MODELS,
    USED,
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
from reports.html import render as render_page
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


def test_the_answer_is_told_in_words(fleet_documents):
    for job in ("embed", "forecast", "route"):
        assert (
            f"{USED} predicts 70.3 % [67.2, 73.4] (n = 400) of the answers to unseen questions "
            "correctly; the mean of each model predicts 64.1 % [60.9, 67.2] (n = 400); the "
            "difference is +6.2 points [+3.1, +9.4] (n = 400). The interval excludes 0."
        ) in answer(fleet_documents, job)
    assert (
        f"{MODELS[0]} has the highest expected accuracy on these questions: "
        f"75.0 % [71.9, 78.1] (n = 12), {MODELS[2]} the lowest: 25.0 % ["
    ) in answer(fleet_documents, "forecast")
    for job, added in (("embed", True), ("predict", False)):
        words = answer(fleet_documents, job)
        assert "8,100 answers of 6 models to 1,500 questions: 90.0 % of the matrix is" in words
        assert ("1 model was added without retraining" in words) == added


def test_the_answer_on_routing_is_told_in_words(fleet_documents):
    words = answer(fleet_documents, "route")
    assert (
        "The router answers 71.9 % [68.8, 75.0] (n = 400) of the questions correctly; "
        f"the single best model, {MODELS[1]}, answers 70.3 % [67.2, 73.4] "
        "(n = 400); the difference is +1.6 points [+0.8, +2.3] (n = 400). Routing pays: it is "
        "significantly better than the single best model and than a random choice"
    ) in words
    assert "For comparison, oracle: 93.8 % [90.6, 96.9] (n = 400)." in words
    assert f"The router selects 2 models, most often {MODELS[1]}: for 75.0 % of the" in words


def test_the_answers_on_benchmarks_and_on_the_map_are_told_in_words(fleet_documents):
    assert "1 of 3 held-out benchmarks are predicted" in answer(fleet_documents, "predict")
    words = answer(fleet_documents, "map")
    assert (
        "In 1 of 2 communities the models are closer to each other than in random groups of the "
        "same size (p < 0.05 after Holm’s correction)."
    ) in words
    assert (
        "The interval of 1 of 3 contributions of one benchmark to another is above 0. This may be "
        "chance: about 1 of 40 is expected without any effect. The largest "
        f"of these contributions is from logic to {CATEGORIES[1]}: "
        "+4.7 points [+1.6, +7.8] (n = 400)."
    ) in words


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


def test_what_was_asked_names_the_matrix_its_conflicts_and_the_rules(fleet_document):
    words = fleet_document.section("asked").words
    assert "1,500 questions × 6 models: 8,100 known answers, 900" in words
    assert "3 answers are given more than once with different values" in words
    assert "one left out" in words
    assert "embedder.safetensors" in words


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
    assert "m19 and 3 more; all are in result.json" in words


def test_forecasts_have_their_numbers_with_n_and_interval(fleet_documents):
    section = fleet_documents["fleet-embed"].section("forecasts")
    rows = section.all("table")[0].cells()
    assert rows[3] == [
        f"{USED} (in use)",
        "70.3 %[67.2, 73.4]n = 400",
        "+6.2 points[+3.1, +9.4]n = 400",
        "0.188[0.156, 0.219]n = 400",
    ]
    assert rows[1][2] == "–"
    assert "no probabilities" in rows[2][3]
    assert len(drawings(section)) == 3
    bins = section.all("table")[2].cells()
    assert bins[1] == ["0.00 to 0.25", "12.5 %", "18.8 %", "[15.6, 21.9]", "400"]
    assert bins[3][2] == "undefined"


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


def test_what_is_expected_of_each_model_is_listed_most_first(parse, fleet_documents):
    rows = fleet_documents["fleet-forecast"].section("expected").all("table")[0].cells()
    assert rows[1] == [MODELS[0], "75.0 %", "[71.9, 78.1]", "12"]
    assert [row[0] for row in rows[2:]] == [MODELS[2], MODELS[1]]
    assert rows[3][1] == "undefined"
    page = pages.forecast_page(build_comparison("fleet-forecast"), max_models=2)
    cut = parse(render_page(page)).section("expected")
    assert "The table lists the first 2 of 3 models" in cut.words
    assert len(cut.all("table")[0].cells()) == 3


def test_a_very_long_setting_is_folded(parse):
    comparison = build_comparison()
    names = ", ".join(f"model-{place}" for place in range(150))
    manifest = replace(comparison.manifest, settings={"seed": 7, "models": names})
    section = parse(replace(comparison, manifest=manifest).html()).section("reproduce")
    (folded,) = section.all("details")
    assert folded.words.startswith(f"{len(names):,} characters")
    assert "model-149" in folded.words


def test_routing_stands_beside_its_baselines_and_in_categories(fleet_documents):
    section = fleet_documents["fleet-route"].section("routing")
    rows = section.all("table")[0].cells()
    assert rows[2] == [
        f"single best: {MODELS[1]}",
        "70.3 %[67.2, 73.4]n = 400",
        "+1.6 points[+0.8, +2.3]n = 400",
        "0.5",
    ]
    assert rows[3][3] == "unknown"
    grid = section.all("table")[1].cells()
    assert grid[0] == ["Category", "router", "single best", "random with the same mix", "oracle"]
    assert grid[1] == ["logic", ".72", ".70", ".50", ".94"]
    assert section.all("table")[-1].cells()[1] == [MODELS[1], "75.0 %"]


def test_costs_have_a_column_only_where_some_are_known(render):
    free = tuple(replace(one, cost=None) for one in routers())
    section = render("route", routers=free).section("routing")
    assert section.all("table")[0].cells()[0] == ["Strategy", "Accuracy", "Gain of the router"]


def test_benchmarks_have_a_row_and_a_scatter_with_the_diagonal(fleet_documents):
    section = fleet_documents["fleet-predict"].section("predictions")
    rows = section.all("table")[0].cells()
    assert rows[1] == [
        "logic",
        "1,200",
        "6",
        "3",
        "+0.625[+0.594, +0.656]n = 100",
        "97 of 100",
        "0.0312[0.0234, 0.0391]n = 100",
    ]
    assert rows[3][4].startswith("undefinedtoo few models")
    charts = drawings(section)
    assert [len(chart.all("title")) for chart in charts] == [6, 3]


def test_contributions_are_a_heat_map_with_intervals_and_a_table(fleet_documents):
    section = fleet_documents["fleet-map"].section("contributions")
    grid, table = section.all("table")
    helps = next(node for node in grid.all("td") if node.words == "+4.7")
    assert helps.attributes["class"] == "h10"
    assert helps.attributes["title"] == (
        f"logic, {CATEGORIES[1]}: +4.7\u00a0points [+1.6, +7.8], n = 400"
    )
    hurts = next(node for node in grid.all("td") if node.words == "−2.3")
    assert hurts.attributes["class"] == "h-5"
    assert table.cells()[1] == ["logic", CATEGORIES[1], "+4.7 points", "[+1.6, +7.8]", "400"]


def test_communities_tell_distance_pairs_and_p(fleet_documents):
    rows = fleet_documents["fleet-map"].section("communities").all("table")[0].cells()
    assert rows[2][1:] == ["itself", "1", "0.125", "[0.094, 0.156]", "1", "< 0.001", "< 0.001"]
    assert rows[3][1:3] == ['medical "><img src=x onerror=window.injected=1>', "4"]


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
