import pytest

from scope.errors import SpecError
from scope.models.endpoint.address import parse_address
from scope.models.endpoint.key import NO_KEY, Key

NONE = Key(value=NO_KEY)
SECRET = Key(value="sk-very-secret-1234")


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
    address = parse_address(rest, NONE)
    assert (address.base_url, address.model) == (base_url, model)
    assert parse_address(address.spec.removeprefix("openai:"), NONE) == address


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
        "http://a b/v1#m",
        "http://a..b/v1#m",
        "http://[not-an-address]/v1#m",
        f"http://{'a' * 64}.org/v1#m",
        "http://host/v1\x1b[31m#m",
        "http://host/v1#m\x07n",
        "http://host/v1#\udcff",
    ],
)
def test_what_is_no_web_address_is_refused_with_an_example(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest, NONE)
    assert f"`openai:{rest}`" in error.value.found
    assert "openai:http://localhost:8000/v1#my-model" in error.value.fix


@pytest.mark.parametrize("rest", ["http://localhost:8000/v1", "http://localhost:8000/v1# "])
def test_a_url_without_a_model_is_refused_with_an_example(rest):
    with pytest.raises(SpecError, match="without the name of a model") as error:
        parse_address(rest, NONE)
    assert "openai:http://localhost:8000/v1#my-model" in error.value.fix


@pytest.mark.parametrize(
    "rest",
    [
        "http://user:pass-word@host/v1#m",
        "user:pass-word@host",
        "ftp://pass-word@host",
        "https://host/v1?key=pass-word#m",
        "https://host/v1#m?api_key=pass-word",
        "https://host/v1#m&token=pass-word",
        "https://host/v1#m;Authorization=pass-word",
        "https://host/v1#m Bearer pass-word",
        "https://host/v1#sk-proj-pass-word_0123456789",
        "https://host/sk-pass-word-0123456789/v1#m",
        "https://host/key=pass-word/v1#m",
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


@pytest.mark.parametrize(
    "model",
    [
        "@cf/meta/llama-3",
        "claude@20240229",
        "a:free",
        "key-lm",
        "a=b",
        "sk-lm",
        "task-sk",
        "risk-model-of-many-letters",
    ],
)
def test_marks_in_the_name_of_a_model_are_no_secrets(model):
    assert parse_address(f"http://host/v1#{model}", SECRET).model == model


@pytest.mark.parametrize("rest", [f"http://host/{'x' * 9000}#m", f"http://host/v1#{'m' * 9000}"])
def test_a_spec_that_is_too_long_is_refused_and_shown_in_part(rest):
    with pytest.raises(SpecError) as error:
        parse_address(rest, NONE)
    assert len(str(error.value)) < 600
