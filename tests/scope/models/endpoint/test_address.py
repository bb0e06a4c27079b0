import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from scope.errors import ModelError, SpecError
from scope.models.endpoint.address import NO_KEY, Key, parse_address, read_key
from scope.models.endpoint.protocol import without_key
from scope.models.replies import Position, Reply

NONE = Key(value=NO_KEY)
SECRET = Key(value="sk-very-secret-1234")


@pytest.mark.parametrize(
    ("rest", "base_url", "model"),
    [
        (
            "https://api.example.org/v1/#org/model:free",
            "https://api.example.org/v1",
            "org/model:free",
        ),
        ("http://[::1]:80#a#b", "http://[::1]:80", "a#b"),
    ],
)
def test_a_url_and_a_model_make_an_address(rest, base_url, model):
    address = parse_address(rest, NONE)
    assert (address.base_url, address.model) == (base_url, model)
    assert parse_address(address.spec.removeprefix("openai:"), NONE) == address


@pytest.mark.parametrize(
    "rest",
    [
        "gpt-4o",
        "http://#m",
        "http://localhost:port/v1#m",
        "http://[::1/v1#m",
        "http://host/v1\x1b[31m#m",
        "http://host/v1#\udcff",
        "http://localhost:8000/v1",
        "http://localhost:8000/v1# ",
    ],
)
def test_what_is_no_web_address_with_a_model_is_refused_with_an_example(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest, NONE)
    assert f"`openai:{rest}`" in error.value.found
    assert "openai:http://localhost:8000/v1#my-model" in error.value.fix


@pytest.mark.parametrize(
    "rest",
    [
        "http://user:pass-word@host/v1#m",
        "https://host/v1?key=pass-word#m",
        "https://host/v1#m?api_key=pass-word",
        "https://host/v1#m Bearer pass-word",
        "https://host/v1#sk-proj-pass-word_0123456789",
        "https://host/sk-pass-word-0123456789/v1#m",
        "https://user%3Apass-word%40host/v1#m",
        "https://user:pass-word\\host/v1#m",
    ],
)
def test_a_secret_in_the_url_is_refused_and_not_shown(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest, NONE)
    assert "pass-word" not in str(error.value)
    assert "OPENAI_API_KEY" in error.value.fix


@pytest.mark.parametrize(
    "rest",
    [
        f"http://host/v1#{SECRET.value}",
        f"http://host/{SECRET.value}/v1#m",
        f"http://{SECRET.value}.host/v1#m",
        "http://host/v1#sk%2Dvery%2Dsecret%2D1234",
        SECRET.value,
    ],
)
def test_the_key_in_a_spec_is_refused_and_not_shown(rest):
    with pytest.raises(SpecError, match="OPENAI_API_KEY") as error:
        parse_address(rest, SECRET)
    assert "very" not in str(error.value)


@pytest.mark.parametrize("model", ["@cf/meta/llama-3", "key-lm", "risk-model-of-many-letters"])
def test_marks_in_the_name_of_a_model_are_no_secrets(model):
    assert parse_address(f"http://host/v1#{model}", SECRET).model == model


@pytest.mark.parametrize("rest", [f"http://host/{'x' * 9000}#m", f"http://host/v1#{'m' * 9000}"])
def test_a_spec_that_is_too_long_is_refused_and_shown_in_part(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest, NONE)
    assert len(str(error.value)) < 600


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


def test_a_short_key_which_may_be_a_word_is_hidden_in_messages_alone():
    key = Key(value="EMPTY")
    reply = Reply(text="EMPTY", positions=(Position(token="EMPTY", likeliest=()),))
    assert without_key(reply, key) == reply
    assert key.hide("no such key: EMPTY") == "no such key: [key]"


def test_a_reply_holds_the_key_nowhere():
    position = Position(token=KEY.value, likeliest=((KEY.value, 0.5),))
    reply = Reply(text=KEY.value, positions=(position,), names=(KEY.value,), model=KEY.value)
    assert "sk-a" not in repr((without_key(reply, KEY), KEY))
    assert NONE.hide("there is none") == "there is none"
