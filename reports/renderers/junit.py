"""Verdicts and gates as test cases of a JUnit file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reports.renderers.drawings import document_text
from scope.records import Result


def junit(result: Result, title: str, judged: Mapping[str, Sequence[str]]) -> str:
    """One test suite: a case per verdict, per gate, and per failed part.

    ``judged`` are the failures of each gate. A case fails if the command exits with 1 because of
    it; a verdict without a gate is skipped. Both have their sentence.
    """
    suites = Element("testsuites", name="scope")
    suite = SubElement(suites, "testsuite", name=document_text(title))
    if result.clock is not None:
        suite.set("timestamp", result.clock.finished[:19])
        suite.set("time", f"{result.clock.seconds:.3f}")
    verdicts, job = result.verdict_lines(), result.manifest.job
    for verdict in verdicts:
        unmet = judged.get(verdict.subject, ())
        case = _case(suite, f"{job}.verdict", verdict.subject, unmet and (verdict.sentence,))
        if verdict.subject not in judged:
            decided = document_text(f"{verdict.decision}: {verdict.sentence}")
            SubElement(case, "skipped", message=decided)
        elif not unmet:
            SubElement(case, "system-out").text = document_text(verdict.sentence)
    subjects = {verdict.subject for verdict in verdicts}
    for name, failures in judged.items():
        if name not in subjects:
            _case(suite, f"{job}.gate", name, failures)
    for line in result.failed_parts():
        _case(suite, f"{job}.part", line, [line])
    for counted in (suites, suite):
        counted.set("tests", str(len(suite)))
        counted.set("failures", str(len(suite.findall("*/failure"))))
        counted.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("*/skipped"))))
    indent(suites)
    document: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return document.decode() + "\n"


def _case(suite: Element, kind: str, name: str, failures: Sequence[str]) -> Element:
    case = SubElement(suite, "testcase", classname=f"scope.{kind}", name=document_text(name))
    if failures:
        lines = document_text("\n".join(failures))
        failure = SubElement(case, "failure", message=lines.partition("\n")[0], type=kind)
        failure.text = lines
    return case
