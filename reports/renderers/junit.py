"""Verdicts and gates as test cases, in the JUnit form that continuous integration reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reports.renderers.svg import document_text
from scope.records import Result


def junit(result: Result, title: str, judged: Mapping[str, Sequence[str]]) -> str:
    """One test suite: a case a verdict, a case a gate, and one for each part that failed.

    ``judged`` are the failures of each gate. A case fails where the command ends with 1 because of
    it; a verdict on which no gate was set is skipped. Both carry their sentence.
    """
    suites = Element("testsuites", name="scope")
    suite = SubElement(suites, "testsuite", name=document_text(title))
    if result.clock is not None:
        suite.set("timestamp", result.clock.finished[:19])
        suite.set("time", f"{result.clock.seconds:.3f}")
    verdicts = result.verdict_lines()
    for one in verdicts:
        unmet = judged.get(one.subject, ())
        _case(suite, f"{result.manifest.job}.verdict", one.subject, unmet and (one.sentence,))
        if one.subject not in judged:
            said = document_text(f"{one.decision}: {one.sentence}")
            SubElement(suite[-1], "skipped", message=said)
        elif not unmet:
            SubElement(suite[-1], "system-out").text = document_text(one.sentence)
    gates = set(judged) - {one.subject for one in verdicts}
    for name in (one for one in judged if one in gates):
        _case(suite, f"{result.manifest.job}.gate", name, judged[name])
    for line in result.failed_parts():
        _case(suite, f"{result.manifest.job}.part", line, [line])
    for counted in (suites, suite):
        counted.set("tests", str(len(suite)))
        counted.set("failures", str(len(suite.findall("*/failure"))))
        counted.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("*/skipped"))))
    indent(suites)
    document: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return document.decode() + "\n"


def _case(suite: Element, kind: str, name: str, failures: Sequence[str]) -> None:
    case = SubElement(suite, "testcase", classname=f"scope.{kind}", name=document_text(name))
    if failures:
        lines = document_text("\n".join(failures))
        failure = SubElement(case, "failure", message=lines.partition("\n")[0], type=kind)
        failure.text = lines
