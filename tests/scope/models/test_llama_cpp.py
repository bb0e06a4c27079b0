"""A table of replies stands in for llama.cpp; where it is installed, it is run."""

import json
import sys
from types import SimpleNamespace

import pytest
from tiny_language import write_tiny_gguf

from scope.errors import ModelError, SpecError
from scope.models import llama_cpp
from scope.models.options import ModelOptions
from scope.models.scheme import checked_spec, find_scheme, load_model, scheme_of
from scope.records import Question

OPTIONS = ModelOptions(device="cpu", threads=1)
ASKED = Question(id="0", text="who saw bob?", context="ann saw bob", options=("ann", "paris"))


@pytest.fixture(scope="module")
def file(llama_folders, tmp_path_factory):
    """A tiny model with a chat template."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_tiny_gguf(path, llama_folders[True])
    return path


@pytest.fixture
def binding(monkeypatch):
    """A module with the names of xllamacpp: its server sends back what ``replies`` has next."""
    made = SimpleNamespace(replies=[], params=[], asked=[], error=None)

    def params():
        return SimpleNamespace(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )

    def server(params):
        if made.error:
            raise made.error
        made.params.append(params)

        def handle(body, send):
            made.asked.append(json.loads(body))
            send(json.dumps(made.replies.pop(0)).encode())

        return SimpleNamespace(handle_chat_completions=handle, handle_completions=handle)

    module = SimpleNamespace(
        CommonParams=params,
        CommonAdapterLoraInfo=lambda path, scale: (path, scale),
        Server=server,
        made=made,
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    return made


def chat(text):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def test_the_file_is_run_as_it_is_and_asked_in_this_process(binding, file):
    model = load_model(f"gguf:{file}#places=2&context=512", "answerer", OPTIONS)
    (params,) = binding.params
    assert (params.model.path, params.n_parallel, params.n_ctx) == (str(file), 2, 512)
    assert (params.cpuparams.n_threads, params.n_gpu_layers) == (1, 0)
    # Others on this machine cannot ask it, either.
    assert len(params.api_keys[0]) >= 32
    assert not hasattr(params, "chat_template")
    binding.replies.append(chat("ann"))
    ((_, answer),) = model.answer([ASKED])
    assert answer.text == "ann"
    assert binding.asked[0]["temperature"] == 0
    assert "ann saw bob" in binding.asked[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        ({"error": {"code": 400, "message": "exceeds the available context size"}}, "cut off"),
        (chat(""), "not readable"),
    ],
)
def test_a_question_without_an_answer_says_why(binding, file, reply, missing):
    model = load_model(f"gguf:{file}", "answerer", OPTIONS)
    binding.replies += [reply, chat("14")]
    ((_, answer),) = model.answer([ASKED])
    assert (answer.given, answer.missing) == (False, missing)


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": 500, "message": "out of memory"}},
        {"error": "no code"},
        {"choices": []},
        [],
    ],
)
def test_replies_that_are_none_end_in_one_message(binding, file, reply):
    model = load_model(f"gguf:{file}", "answerer", OPTIONS)
    binding.replies += [reply] * 9
    with pytest.raises(ModelError, match=r"answered 0 of 1 questions"):
        list(model.answer([ASKED]))


def test_a_binding_that_is_not_installed_is_named_with_the_command(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError, match=r"needs llama.cpp") as raised:
        load_model(f"gguf:{file}", "answerer", OPTIONS)
    assert "pip install 'scope-models[gguf]'" in raised.value.fix
    assert f"hf:{file}" in raised.value.fix


def test_a_file_that_llama_cpp_refuses_is_named(binding, file):
    binding.error = RuntimeError("Failed to init server")
    with pytest.raises(ModelError, match=r"llama.cpp cannot load `gguf:.*Failed to init server"):
        load_model(f"gguf:{file}", "answerer", OPTIONS)


def test_layers_are_read_from_the_unpacked_form(file):
    with pytest.raises(ModelError, match=rf"hf:{file}"):
        load_model(f"gguf:{file}", "latent_reader", OPTIONS)
    assert find_scheme(f"hf:{file}")[0].latent_reader(str(file), OPTIONS, None).spec == f"hf:{file}"


def test_a_bare_path_is_run_by_llama_cpp(file):
    assert checked_spec(str(file)) == f"gguf:{file}"
    assert scheme_of(str(file)).by_letters
    assert not scheme_of(f"hf:{file}").by_letters


@pytest.mark.parametrize("after", ["places=0", "places=two", "speed=9", "places", "context=", "=1"])
def test_unknown_settings_are_refused(after):
    if after == "places":
        assert llama_cpp.parse_rest(f"model.gguf#{after}").files[0].name == "model.gguf#places"
        return
    with pytest.raises(SpecError, match=r"lora=FILE, places=NUMBER"):
        llama_cpp.parse_rest(f"model.gguf#{after}")


def test_parts_and_adapters_must_be_there_and_are_part_of_the_name_and_identity(file, tmp_path):
    first, second = (tmp_path / f"big-0000{number}-of-00002.gguf" for number in (1, 2))
    first.write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match=f"no file `{second}`"):
        checked_spec(f"gguf:{first}")
    second.write_bytes(file.read_bytes())
    assert checked_spec(f"gguf:{second}") == f"gguf:{second}"
    names = (f"{second}", f"{first}#lora={file}", f"{first}#places=2", f"{file}")
    parsed = [llama_cpp.parse_rest(name) for name in names]
    assert len({one.identity for one in parsed}) == len(names)
    assert parsed[0].identity == llama_cpp.parse_rest(str(first)).identity
    scheme = find_scheme(f"gguf:{first}")[0]
    assert scheme.short_name(names[1]) == "big-00001-of-00002+tiny"
    assert scheme.weights(names[1], OPTIONS).stored == 3 * file.stat().st_size
    with pytest.raises(ModelError, match=r"no file `none.gguf`"):
        checked_spec(f"gguf:{first}#lora=none.gguf")


def test_prompts_are_plain_where_the_file_has_no_template_or_it_is_not_wanted(
    binding, file, llama_folders, tmp_path
):
    plain = tmp_path / "plain.gguf"
    write_tiny_gguf(plain, llama_folders[False])
    for path, options in ((plain, OPTIONS), (file, ModelOptions(device="cpu", chat="no"))):
        load_model(f"gguf:{path}", "answerer", options)
        assert binding.params.pop().chat_template == "{{ messages[0]['content'] }}"
    with pytest.raises(ModelError, match="has no chat template"):
        load_model(f"gguf:{plain}", "answerer", ModelOptions(chat="yes"))


@pytest.mark.parametrize("after", ["", "#places=4"])
def test_llama_cpp_answers_as_the_unpacked_weights(file, after):
    pytest.importorskip("xllamacpp")
    model = load_model(f"gguf:{file}{after}", "next_token", OPTIONS)
    unpacked = load_model(f"hf:{file}", "next_token", OPTIONS)
    texts = [f"ann saw {name} in a film" for name in ("bob", "paris", "the dull", "zoé")]
    for ours, theirs in zip(model.predict_next(texts), unpacked.predict_next(texts), strict=True):
        assert ours.tokens[0] == theirs.tokens[0]
        assert ours.probabilities[0] == pytest.approx(theirs.probabilities[0], abs=0.01)
