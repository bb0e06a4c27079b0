"""Badges are whole XML whatever stands in them, and load nothing."""

from dataclasses import replace
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, strategies as st
from made_up_comparison import build_comparison

from reports.renderers.ci import badge, junit
from scope.records import Estimate, Outcome, Replacement
from scope.records.verdicts import Endpoint

SVG = "{http://www.w3.org/2000/svg}"


@given(st.text(), st.text(), st.sampled_from(["good", "bad", "open"]))
def test_any_words_are_only_text(setting, answer, kind):
    root = fromstring(badge(setting, answer, kind))
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg",
        "title",
        "rect",
        "g",
        "text",
    }
    assert not [
        key for one in root.iter() for key in one.attrib if "href" in key or "on" in key[:2]
    ]


def test_it_names_setting_and_answer_within_its_width():
    root = fromstring(badge('SCoPE · <a>"data"', "✓ may replace", "good"))
    texts = root.findall(f".//{SVG}text")
    assert [one.text for one in texts] == ['SCoPE · <a>"data"', "✓ may replace"]
    ends = [int(one.get("x")) + int(one.get("textLength")) for one in texts]
    assert ends[0] < int(texts[1].get("x"))
    assert ends[1] < int(root.get("width"))


@pytest.mark.parametrize("letter", ["x", "映"])
def test_long_names_are_cut_and_stand_whole_in_the_title(letter):
    root = fromstring(badge(letter * 900, "✓", "open"))
    assert int(root.get("width")) < 1400
    assert letter * 900 in root.find(f"{SVG}title").text


# The Jenkins schema, junit-10.xsd: the attributes of each element, the required ones first, and
# what may stand in it.
SCHEMA = {
    "testsuites": (["name"], ["time", "tests", "failures", "disabled", "errors"], ["testsuite"]),
    "testsuite": (
        ["name"],
        ["tests", "failures", "errors", "time", "disabled", "skipped", "timestamp"],
        ["testcase"],
    ),
    "testcase": (
        ["name", "classname"],
        ["assertions", "time", "status"],
        ["skipped", "error", "failure", "system-out"],
    ),
    "failure": ([], ["message", "type"], []),
    "skipped": ([], ["message"], []),
    "system-out": ([], [], []),
}


def verdict(target, decision, sentence):
    half = Estimate(value=0.5, low=0.4, high=0.6, n=9, method="Wilson")
    endpoints = (Endpoint(name="agreement", estimate=half, limit=0.9),)
    return Replacement(target=target, decision=decision, endpoints=endpoints, sentence=sentence)


def cases(text):
    """What each case says: nothing where it passes, else the element and its words."""
    root = fromstring(text)
    for element in root.iter():
        required, allowed, inner = SCHEMA[element.tag]
        assert set(required) <= set(element.attrib) <= {*required, *allowed}
        assert {child.tag for child in element} <= set(inner)
    (suite,) = root
    found = {
        case.get("name"): [(one.tag, one.get("message") or one.text) for one in case]
        for case in suite
    }
    assert int(suite.get("tests")) == int(root.get("tests")) == len(suite)
    for kind in ("failure", "skipped"):
        count = len(suite.findall(f"testcase/{kind}"))
        assert int(suite.get({"failure": "failures"}.get(kind, kind))) == count
    return found


@given(st.text(), st.text())
def test_verdicts_and_gates_are_cases_and_what_fails_carries_its_sentence(name, sentence):
    readable = "".join(one for one in name if one.isalnum())
    kept, lost = f"kept {readable}", f"lost {readable}"
    result = replace(
        build_comparison(),
        verdicts=(
            verdict(kept, "may replace", "it may"),
            verdict(lost, "may not", f"may not: {sentence}"),
            verdict("open", "not shown", "too few texts"),
        ),
    )
    judged = {
        f"{kept} in place of teacher": [],
        f"{lost} in place of teacher": ["lost: may not"],
        "typo>=0.9": ["first", "second"],
        "synonym>=0.9": [],
    }
    found = cases(junit(result, f"title {name}", judged))
    assert found[f"{kept} in place of teacher"] == [("system-out", "it may")]
    ((tag, message),) = found[f"{lost} in place of teacher"]
    assert tag == "failure"
    assert message.startswith("may not: ")
    assert found["open in place of teacher"] == [("skipped", "not shown: too few texts")]
    assert found["typo>=0.9"] == [("failure", "first")]
    assert found["synonym>=0.9"] == []


@pytest.mark.parametrize("reason", ["]]> & <b>", "\x00\ud800\x1b[31m", 'x" onclick="y'])
def test_a_part_that_failed_is_a_failed_case_and_hostile_words_are_only_text(reason):
    failed = Outcome(capability=reason, status="failed", reason=reason)
    found = cases(junit(replace(build_comparison(), outcomes=(failed,)), reason, {}))
    ((name, ((tag, message),)),) = found.items()
    assert tag == "failure"
    assert name == message
    assert name.startswith("capability ")


def test_without_verdicts_and_gates_there_is_no_case():
    result = replace(build_comparison(), outcomes=(), clock=None)
    assert cases(junit(result, "title", {})) == {}
