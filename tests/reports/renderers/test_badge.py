"""Badges are whole XML whatever stands in them, and load nothing."""

from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, strategies as st

from reports.renderers.ci import badge

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
