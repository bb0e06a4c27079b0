"""Test cases keep to the Jenkins schema, whatever words stand in them."""

from dataclasses import replace
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, strategies as st
from kept_results import kept

from reports.text import junit
from scope.records import Estimate, Outcome, Replacement
from scope.records.results import Endpoint

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
    good, lost = f"kept {readable}", f"lost {readable}"
    result = replace(
        kept("audit"),
        verdicts=(
            verdict(good, "may replace", "it may"),
            verdict(lost, "may not", f"may not: {sentence}"),
            verdict("open", "not shown", "too few texts"),
        ),
    )
    judged = {
        f"{good} in place of teacher": [],
        f"{lost} in place of teacher": ["lost: may not"],
        "typo>=0.9": ["first", "second"],
        "synonym>=0.9": [],
    }
    found = cases(junit(result, f"title {name}", judged))
    assert found[f"{good} in place of teacher"] == [("system-out", "it may")]
    ((tag, message),) = found[f"{lost} in place of teacher"]
    assert tag == "failure"
    assert message.startswith("may not: ")
    assert found["open in place of teacher"] == [("skipped", "not shown: too few texts")]
    assert found["typo>=0.9"] == [("failure", "first")]
    assert found["synonym>=0.9"] == []


@pytest.mark.parametrize("reason", ["]]> & <b>", "\x00\ud800\x1b[31m", 'x" onclick="y'])
def test_a_part_that_failed_is_a_failed_case_and_hostile_words_are_only_text(reason):
    failed = Outcome(capability=reason, status="failed", reason=reason)
    found = cases(junit(kept("audit", outcomes=(failed,)), reason, {}))
    ((name, ((tag, message),)),) = found.items()
    assert tag == "failure"
    assert name == message
    assert name.startswith("capability ")


def test_without_verdicts_and_gates_there_is_no_case():
    result = kept("audit", outcomes=(), clock=None)
    assert cases(junit(result, "title", {})) == {}
