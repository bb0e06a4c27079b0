import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import ModelError
from scope.models.endpoint.key import NO_KEY, Key, read_key
from scope.models.endpoint.replies import Position, Reply

KEY = Key(value='sk-a/b+c"d&e\\f=1234')


def test_the_key_comes_from_the_environment(monkeypatch):
    assert read_key().value == NO_KEY
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1\n")
    assert read_key() == Key(value="sk-1")


@pytest.mark.parametrize("key", ["sk secret", "sk-sécret", "sk\x00secret", "x" * 5000])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as error:
        read_key()
    assert key not in str(error.value)


SPELLINGS = {
    "as it is": lambda key: key,
    "in capitals": str.upper,
    "in JSON": json.dumps,
    "in JSON within JSON": lambda key: json.dumps(json.dumps(key)),
    "in JSON, slashes escaped": lambda key: json.dumps(key).replace("/", "\\/"),
    "in JSON, all escaped": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "in a URL": lambda key: quote(key, safe=""),
    "in a URL within a URL": lambda key: quote(quote(key, safe=""), safe=""),
    "in HTML": html.escape,
    "in HTML by numbers": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "as Python writes bytes": lambda key: repr(key.encode()),
    "in Base64": lambda key: base64.b64encode(key.encode()).decode(),
    "in Base64 with its scheme": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "in Base64 with a user": lambda key: base64.urlsafe_b64encode(f"me:{key}".encode()).decode(),
    "in hexadecimal digits": lambda key: key.encode().hex(),
    "with what cannot be seen within": "\u200b".join,
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_the_key_is_hidden_however_it_is_spelled(spell):
    spelled = spell(KEY.value)
    hidden = KEY.hide(f"you sent {spelled}, thanks")
    assert "[key]" in hidden
    assert hidden.startswith("you sent ")
    assert hidden.endswith(", thanks")
    assert len(hidden) <= len("you sent [key], thanks") + 13


@given(
    key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    before=st.text(),
    after=st.text(),
)
def test_no_key_is_left_in_any_words(key, before, after):
    assert key not in Key(value=key).hide(before + key + after)


def test_a_key_is_not_in_its_representation():
    assert "sk-" not in repr(KEY)


def test_a_short_key_which_may_be_a_word_is_hidden_in_messages_alone():
    key = Key(value="EMPTY")
    reply = Reply(text="EMPTY", positions=(Position(token="EMPTY", likeliest=()),))
    assert reply.without(key) == reply
    assert key.hide("no such key: EMPTY") == "no such key: [key]"


def test_without_a_key_nothing_is_hidden():
    assert Key(value=NO_KEY).hide("there is none") == "there is none"


def test_a_reply_holds_the_key_nowhere():
    reply = Reply(
        text=f"you sent {KEY.value}",
        positions=(Position(token=KEY.value, likeliest=((KEY.value, 0.5),)),),
        names=(f"Bearer {KEY.value}",),
    )
    assert KEY.value not in "".join(
        (
            *(text for text in (reply.without(KEY).text, *reply.without(KEY).names)),
            *(one.token + one.likeliest[0][0] for one in reply.without(KEY).positions),
        )
    )
