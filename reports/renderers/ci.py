"""A badge as SVG: two words side by side, for the head of a README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from markupsafe import Markup

from reports.renderers.svg import cut_to_room, document_text, letters_width
from scope.records import Result

_MOST_PIXELS, _ROOM, _HEIGHT = 620, 8, 20
_COLOURS = {"good": "#1a7f37", "bad": "#c0392b", "open": "#6a737d"}

_BADGE = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
    'aria-label="{title}"><title>{title}</title>'
    '<rect width="{width}" height="{height}" rx="3" fill="#444"></rect>'
    '<rect x="{left}" width="{right}" height="{height}" rx="3" fill="{colour}"></rect>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{words}</g></svg>\n'
)
_WORDS = Markup('<text x="{}" y="14" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>')


def badge(setting: str, answer: str, kind: Literal["good", "bad", "open"]) -> str:
    """A badge with a label and a value; the fonts are the reader's own.

    >>> badge("SCoPE · tweets, n = 500", "✓ may replace", "good").count("<text")
    2
    """
    places, at = [], 0
    for words in (setting, answer):
        shown = cut_to_room(document_text(" ".join(words.split())), _MOST_PIXELS)
        width = letters_width(shown)
        places.append((at + _ROOM, width, shown))
        at += width + 2 * _ROOM
    left = places[0][1] + 2 * _ROOM
    return str(
        _BADGE.format(
            width=at,
            height=_HEIGHT,
            left=left,
            right=at - left,
            colour=_COLOURS[kind],
            title=document_text(f"{setting}: {answer}"),
            words=Markup().join(_WORDS.format(*place) for place in places),
        )
    )


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
