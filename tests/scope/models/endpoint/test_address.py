import pytest

from scope.errors import ModelError, SpecError
from scope.models.endpoint.address import NO_KEY, parse_address, read_key


@pytest.mark.parametrize(
    ("rest", "base_url", "model"),
    [
        ("http://localhost:8000/v1#m", "http://localhost:8000/v1", "m"),
        (
            "https://api.example.org/v1/#org/model:free",
            "https://api.example.org/v1",
            "org/model:free",
        ),
        ("http://[::1]:80#a#b", "http://[::1]:80", "a#b"),
    ],
)
def test_a_url_and_a_model_make_an_address(rest, base_url, model):
    address = parse_address(rest)
    assert (address.base_url, address.model) == (base_url, model)
    assert parse_address(address.spec.removeprefix("openai:")) == address


@pytest.mark.parametrize(
    "rest",
    [
        "gpt-4o",
        "localhost:8000/v1#m",
        "ftp://localhost/v1#m",
        "http://#m",
        "http://localhost:port/v1#m",
        "http://localhost:99999/v1#m",
        "http://[::1/v1#m",
        "#m",
    ],
)
def test_what_is_no_web_address_is_refused_with_an_example(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest)
    assert f"`openai:{rest}`" in error.value.found
    assert "openai:http://localhost:8000/v1#my-model" in error.value.mend


@pytest.mark.parametrize("rest", ["http://localhost:8000/v1", "http://localhost:8000/v1# "])
def test_a_url_without_a_model_is_refused_with_an_example(rest):
    with pytest.raises(SpecError, match="without the name of a model") as error:
        parse_address(rest)
    assert "openai:http://localhost:8000/v1#my-model" in error.value.mend


@pytest.mark.parametrize(
    "rest",
    [
        "http://user:pass-word@host/v1#m",
        "user:pass-word@host",
        "ftp://pass-word@host",
        "https://host/v1?key=pass-word#m",
    ],
)
def test_a_secret_in_the_url_is_refused_and_not_shown(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest)
    assert "pass-word" not in str(error.value)
    assert "OPENAI_API_KEY" in error.value.mend


def test_the_key_comes_from_the_environment(monkeypatch):
    assert read_key() == NO_KEY
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1\n")
    assert read_key() == "sk-1"


@pytest.mark.parametrize("key", ["sk secret", "sk-sécret", "sk\x00secret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as error:
        read_key()
    assert key not in str(error.value)
