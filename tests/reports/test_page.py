"""What holds for the page of every job: it is safe, accessible and always the same."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from kept_results import FLEET

import reports
import scope.jobs.pages as pages_module
from reports.prose import prose

HERE = Path(__file__).parent
KEPT = re.compile(r"soft_scope|sem_score_at_least|may (not )?replace")


JOBS = ("audit", "compare", "reuse", "pair", "probe", *FLEET)


@pytest.fixture(params=JOBS)
def job(request):
    return request.param


@pytest.fixture
def compared(job, results):
    return results[job]


@pytest.fixture
def made(job, pages):
    return pages[job]


@pytest.fixture
def read(job, documents):
    return documents[job]


@pytest.fixture
def golden(job):
    return HERE / "golden" / ("report.html" if job == "audit" else f"{job}.html")


def harmless(value):
    """The same records with every character that means something to HTML made a letter."""
    if isinstance(value, str):
        return re.sub(r"[<>\"'&=:/]", "x", value) if not KEPT.search(value) else value
    if isinstance(value, tuple):
        return tuple(harmless(item) for item in value)
    if isinstance(value, dict):
        return {harmless(key): harmless(item) for key, item in value.items()}
    if is_dataclass(value):
        return replace(value, **{f.name: harmless(getattr(value, f.name)) for f in fields(value)})
    return value


def test_no_element_or_attribute_comes_from_a_text(compared, read, parse):
    twin = parse(harmless(compared).html())
    shape = [(node.tag, list(node.attributes)) for node in read.walk()]
    assert shape == [(node.tag, list(node.attributes)) for node in twin.walk()]


APART = {"examples", "perturbations", "candidates", "values", "answers", "items", "probabilities"}
"""Lists of single texts and answers, of which a page's head shows only the length."""

DERIVED = {
    "probe": {"230"},
    "fleet-embed": {"30", "40"},
    "fleet-forecast": {"30", "40"},
    "fleet-map": {"0.05"},
    "fleet-predict": {
        *["0.05", "0.7", "18", "19", "35", "44", "50", "55", "56", "58", "80", "81", "83", "88"]
    },
    "fleet-route": {"0.45", "40", "210"},
    "compare": {"87.3", "33.5", "96.3", "22.4", "74.1", "44.6", "100", "5"},
    "pair": {"2.5", "189"},
    "reuse": {"0.001", "20"},
}
"""Sums, roots, pairs of 100, ends of scales, paired differences, error rates, texts needed."""


def numbers(stored):
    """Every number of a result, those in its texts and the lengths of its lists included."""
    match stored:
        case bool():
            pass
        case int() | float():
            yield abs(stored)
        case str():
            yield from map(float, re.findall(r"\d+(?:\.\d+)?", stored))
        case dict() | list():
            yield len(stored)
            pairs = stored.items() if isinstance(stored, dict) else enumerate(stored)
            for key, one in pairs:
                yield from numbers(len(one) if key in APART and isinstance(one, list) else one)


def test_every_number_of_the_first_section_is_one_of_the_results_rounded(job, compared, read):
    known = set(numbers(json.loads(compared.to_json())))
    known |= {100 * one for one in known}
    derived = DERIVED.get(job, set())
    section = read.all("section")[0]
    words = section.text
    for drawing in section.all("svg"):  # its axis has round numbers
        words = words.replace(drawing.text, " ", 1)
    words = words.replace(",", "")
    shown = {found.rstrip(".") for found in re.findall(r"\d+\.?\d*|\.\d+", words)} - derived
    assert len(shown) >= 2
    strange = [
        one
        for one in shown
        if all(abs(k - float(one)) > 0.5001 * 10 ** -len(one.partition(".")[2]) for k in known)
    ]
    assert strange == []


def test_templates_trust_nothing_but_our_own_script_and_style():
    templates = sorted((Path(reports.__file__).parent / "templates").glob("*.j2"))
    templates = [path for path in templates if path.name != "view.html.j2"]
    sources = "".join(path.read_text("utf-8") for path in templates)
    assert re.findall(r"(\w+) *\| *safe", sources) == ["style", "script"]
    assert "autoescape" not in sources


def test_nothing_outside_is_named_and_nothing_but_our_script_can_run(read):
    nodes = read.walk()
    tags = {node.tag for node in nodes}
    assert not tags & {"img", "link", "iframe", "object", "embed", "base", "use", "image"}
    names = {name for node in nodes for name in node.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"src", "srcset", "xlink:href", "action", "formaction", "style", "srcdoc"}
    assert all(n.attributes["href"].startswith("#") for n in nodes if "href" in n.attributes)
    (style,) = read.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_the_policy_names_the_hash_of_the_only_script(read):
    (script,) = read.all("script")
    (policy,) = (
        node.attributes["content"]
        for node in read.all("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_headers_have_scopes_drawings_labels_and_the_page_a_language(read):
    headers = read.all("th")
    assert {node.attributes["scope"] for node in headers} == {"col", "row"}
    drawings = [node for node in read.walk() if node.attributes.get("role") == "img"]
    # The page on routes has tables alone, and that of an audit without verdicts.
    assert drawings or read.all("h1")[0].words.startswith(("SCoPE fleet route", "SCoPE audit"))
    assert all(node.attributes["aria-label"] and node.all("svg") for node in drawings)
    assert read.all("html")[0].attributes["lang"] == "en"


def test_an_answer_in_one_sentence_is_the_heading_of_the_page_alone(compared, monkeypatch):
    sentence, about = prose("May it? **No**: {m}", m="<m>"), prose("500 texts.")
    own_page = pages_module.resolve_name(pages_module.job_named(compared.manifest.job).page)
    answered = replace(own_page(compared), heading=sentence, about=about)
    monkeypatch.setattr(pages_module, "resolve_name", lambda _: lambda result: answered)
    made = pages_module.html_of(compared)
    assert '<h2 class="heading">May it? <strong>No</strong>: <bdi>&lt;m&gt;</bdi></h2>' in made
    assert '<p class="about">500 texts.</p>' in made
    assert pages_module.headline_of(compared) == "May it? No: <m>"
    assert pages_module.terminal_text(compared).startswith("May it? No: <m>")
    assert pages_module.markdown_of(compared).split("\n\n")[1].startswith("May it? **No**")


def test_characters_no_document_may_hold_are_replaced(compared):
    manifest = replace(compared.manifest, command="scope \x00 \ud800 audit")
    page = replace(compared, manifest=manifest).html()
    assert "scope \ufffd \ufffd audit" in page
    assert page.encode()


AGAIN = """
import hashlib, sys
from kept_results import kept
for job in sys.argv[1:]:
    print(hashlib.sha256(kept(job).html().encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def made_again():
    """The digest of each job's page, made in a process with another hash seed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", AGAIN, *JOBS],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(JOBS, done.stdout.split(), strict=True))


def test_the_same_comparison_gives_the_same_bytes_in_another_process(made, made_again, job):
    assert made_again[job] == hashlib.sha256(made.encode()).hexdigest()


def test_the_page_is_the_golden_one(made, golden):
    # The drawings belong to the chart compiler, whose releases may move a pixel.
    undrawn = re.sub(r"<svg.*?</svg>", "<svg></svg>", made, flags=re.DOTALL)
    # Style, script and the script's hash are files of their own, the same in every page.
    undrawn = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", undrawn, flags=re.DOTALL)
    undrawn = re.sub(r"sha256-[^']*", "sha256-", undrawn)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(undrawn, encoding="utf-8")
    assert undrawn == golden.read_text(encoding="utf-8"), (
        "run `UPDATE_GOLDEN=1 pytest tests/reports` if the change is meant"
    )
