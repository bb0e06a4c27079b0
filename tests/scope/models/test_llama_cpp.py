"""A table of replies stands in for llama.cpp; where it is installed, it is run."""

import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tiny_language import write_tiny_gguf

from scope.errors import ModelError, SpecError
from scope.models import llama_cpp
from scope.models.options import ModelOptions
from scope.models.questions import ask
from scope.models.scheme import checked_spec, find_scheme, load_model, scheme_of
from scope.records import Answer, GivenAnswer, Question

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

        return SimpleNamespace(
            handle_chat_completions=handle,
            handle_completions=handle,
            listening_address="http://localhost:9",
        )

    module = SimpleNamespace(
        CommonParams=params,
        CommonAdapterLoraInfo=lambda path, scale: (path, scale),
        Server=server,
        llama_flash_attn_type=SimpleNamespace(LLAMA_FLASH_ATTN_TYPE_DISABLED=0),
        made=made,
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    settings = {"default_generation_settings": {"n_ctx": 1024}, "tokens": [5, 6], "prompt": "a"}
    settings |= {"content": "<s>a"}
    monkeypatch.setattr(llama_cpp.LlamaServer, "_asked", lambda *_: settings)
    return made


def chat(text):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def test_the_file_is_run_as_it_is_and_asked_in_this_process(binding, file):
    model = load_model(f"gguf:{file}#places=2&context=1024", "answerer", OPTIONS)
    (params,) = binding.params
    assert (params.model.path, params.n_parallel, params.n_ctx) == (str(file), 2, 1024)
    assert (params.cpuparams.n_threads, params.n_gpu_layers) == (1, 0)
    # Others on this machine cannot ask it, either.
    assert len(params.api_keys[0]) >= 32
    assert not hasattr(params, "chat_template")
    binding.replies.append(chat("ann"))
    ((_, answer),) = model.answer([ASKED])
    assert answer.text == "ann"
    assert binding.asked[0]["temperature"] == 0
    binding.replies.append(chat("bob"))
    ((_, answer),) = model.answer([replace(ASKED, seed=7)])
    # Of all tokens, which llama.cpp does not do by itself.
    drawn = {"temperature": 1, "seed": 7, "top_k": 0, "top_p": 1, "min_p": 0}
    assert drawn.items() <= binding.asked[1].items()
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
    binding.replies += [reply] * 2
    ((_, answer),) = model.answer([ASKED])
    assert (answer.given, answer.missing) == (False, missing)


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        (["ann"], "ann"),
        # The server stops at the first line break, which may stand before the answer.
        (["", "\nann\nbob"], "ann"),
        (["The answer is:", "The answer is:\nann\nbob"], "ann"),
        (["<think>", "<think>\nbob?</think>ann\nbob"], "ann"),
    ],
)
def test_an_answer_is_over_with_its_line(binding, file, replies, answer):
    model = load_model(f"gguf:{file}", "answerer", OPTIONS)
    binding.replies += map(chat, replies)
    assert dict(model.answer([ASKED]))[0] == Answer(text=answer)
    stops = [body.get("stop") for body in binding.asked]
    assert stops == [["\n"], None][: len(replies)]


@pytest.mark.parametrize("options", [{"thinking": "on"}, {"prompts": {"answer": "{text}"}}])
def test_a_thought_and_a_whole_reply_have_several_lines(binding, file, options):
    model = load_model(f"gguf:{file}", "answerer", replace(OPTIONS, **options))
    binding.replies.append(chat("ann\nbob"))
    assert dict(model.answer([replace(ASKED, context=None)]))[0].given
    assert "stop" not in binding.asked[0]


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


def test_a_role_of_the_unpacked_form_alone_is_named(binding, file):
    with pytest.raises(ModelError, match=r"roles: .*answer_scorer") as raised:
        load_model(f"gguf:{file}", "text_scorer", OPTIONS)
    assert raised.value.fix.startswith("write hf:FILE.gguf (")


def test_a_bare_path_is_run_by_llama_cpp(file):
    assert checked_spec(str(file)) == f"gguf:{file}"
    assert scheme_of(str(file)).by_letters
    assert not scheme_of(f"hf:{file}").by_letters


@pytest.mark.parametrize(
    "after", ["cache=2", "places=0", "places=two", "speed=9", "places", "context=", "=1"]
)
def test_unknown_settings_are_refused(after):
    if after == "places":
        assert llama_cpp.parse_rest(f"model.gguf#{after}").files[0].name == "model.gguf#places"
        return
    with pytest.raises(SpecError, match=r"lora=FILE, places=NUMBER, context=NUMBER or cache=1"):
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


@pytest.fixture(scope="module")
def both(file):
    """The tiny model run by llama.cpp, and its unpacked weights."""
    pytest.importorskip("xllamacpp")
    options = replace(OPTIONS, prompts={"answer": "{context} {text}\n{reply}in"})
    return [load_model(spec, "answer_scorer", options) for spec in (f"gguf:{file}", f"hf:{file}")]


def test_given_answers_are_scored_as_by_the_unpacked_weights(both):
    items = [
        GivenAnswer(question=ASKED, answer=answer)
        for answer in ("ann", "ann saw bob in paris", "", "zoé", "é\x06")
    ]
    ours, theirs = (dict(ask(model, "answer_scorer", items)) for model in both)
    for place in range(len(items)):
        assert ours[place].tokens == theirs[place].tokens
        assert ours[place].log_probability == pytest.approx(theirs[place].log_probability, rel=1e-3)
        # The unpacked weights do not tell where a token is a part of a character.
        known = {ours[place].same, theirs[place].same} - {None}
        assert len(known) < 2


def test_a_passage_beyond_the_context_is_cut_and_counted(both):
    ours = both[0]
    long = replace(ASKED, context="ann saw bob in paris . " * 200)
    ((_, score),) = ours.score_answers([GivenAnswer(question=long, answer="bob")])
    assert (score.truncated, score.missing) == (True, "")
    request = ours._chat("answer", long, most_tokens=32)
    assert request.truncated
    assert ASKED.text in request.prompt
    # Nothing is left of a passage beside an answer that fills the context.
    full = GivenAnswer(question=long, answer="x" * 200)
    assert dict(ask(ours, "answer_scorer", [full]))[0].missing == "cut off"


def test_the_reply_begins_as_that_of_a_checkpoint(binding, file):
    model = load_model(f"gguf:{file}", "answerer", OPTIONS)
    binding.replies += [chat("Answer: ann"), chat("The cat"), chat("Answer: no")]
    assert dict(model.answer([ASKED]))[0].text == "ann"
    assert binding.asked[0]["messages"][1] == {"role": "assistant", "content": "Answer:"}
    gap = Question(id="1", text="The ____ barks.")
    assert dict(model.fill([gap]))[0].text == "cat"
    chat_so_far = replace(ASKED, messages=(("system", "Be brief."), ("assistant", "Yes?")))
    request = model._endpoint.dialect.body(model._request("answer", chat_so_far))
    roles = [message["role"] for message in request["messages"]]
    assert roles == ["system", "assistant", "user", "assistant"]
    # A model that is to think begins its reply itself.
    thinks = load_model(f"gguf:{file}", "answerer", replace(OPTIONS, thinking="on"))
    thinks._request("answer", ASKED)
    assert thinks._request("answer", ASKED).begun == ""


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        ({"error": {"code": 400, "message": "exceeds the available context size"}}, "cut off"),
        ({"error": {"code": 500, "message": "out of memory"}}, "server"),
    ],
)
def test_an_answer_that_cannot_be_scored_says_why(binding, file, reply, missing):
    model = load_model(f"gguf:{file}", "answer_scorer", OPTIONS)
    binding.replies.append(reply)
    items = [GivenAnswer(question=ASKED, answer="ann")]
    ((_, score),) = ask(model, "answer_scorer", items)
    assert score.missing == missing


def test_in_several_places_and_with_the_cache_answers_depend_on_each_other(binding, file):
    alone, *others = (
        load_model(f"gguf:{file}{after}", "answerer", OPTIONS)
        for after in ("", "#places=2", "#cache=1")
    )
    assert alone.reproducible.startswith("to the byte")
    for other in others:
        assert other.reproducible.startswith("answers differently alone and among others")
    assert [params.cache_prompt for params in binding.params] == [False, False, True]


def test_the_prompt_is_shown_as_it_is_read(both):
    ours, theirs = both
    assert ours.prompt_as_read("answer", ASKED) == theirs.prompt_as_read("answer", ASKED)
    assert ours.template == theirs.template.removeprefix("<s>")


def predicted(spec):
    return load_model(spec, "next_token", OPTIONS).predict_next(["ann saw bob in", "the film"])


def test_a_model_in_parts_is_run_as_a_whole(file, llama_folders, tmp_path):
    pytest.importorskip("xllamacpp")
    write_tiny_gguf(tmp_path / "big.gguf", llama_folders[True], split_max_tensors=9)
    first, *_, last = sorted(tmp_path.glob("big-*-of-*.gguf"))
    assert predicted(f"gguf:{last}") == predicted(f"gguf:{file}")
    with pytest.raises(ModelError, match=r"part 1 of \d, not one whole file") as raised:
        load_model(f"hf:{first}", "next_token", OPTIONS)
    assert f"gguf:{first}" in raised.value.fix


def test_an_adapter_changes_the_model_as_its_matrices_say(file, tmp_path):
    """Zero matrices change nothing."""
    pytest.importorskip("xllamacpp")
    import gguf as library

    def adapted(size):
        path = tmp_path / f"adapter-{size}.gguf"
        writer = library.GGUFWriter(path, "llama")
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", 1.0)
        for part, shape in (("a", (2, 16)), ("b", (16, 2))):
            name = f"blk.0.attn_output.weight.lora_{part}"
            writer.add_tensor(name, np.full(shape, size, dtype=np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return predicted(f"gguf:{file}#lora={path}")

    alone = predicted(f"gguf:{file}")
    assert adapted(0.0) == alone
    assert adapted(0.5) != alone
    with pytest.raises(ModelError, match=r"llama.cpp cannot load"):
        load_model(f"gguf:{file}#lora={file}", "next_token", OPTIONS)


def test_a_damaged_file_ends_in_one_message(file, tmp_path):
    pytest.importorskip("xllamacpp")
    whole = file.read_bytes()
    for name, content in (("cut", whole[:-1000]), ("odd", whole.replace(b"llama", b"abacu"))):
        (tmp_path / f"{name}.gguf").write_bytes(content)
        with pytest.raises(ModelError, match=r"llama.cpp cannot load"):
            load_model(f"gguf:{tmp_path / name}.gguf", "answerer", OPTIONS)


MEASURED = """
import sys
from resource import RUSAGE_SELF, getrusage
import xllamacpp
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
before = getrusage(RUSAGE_SELF).ru_maxrss
model = load_model(f"gguf:{sys.argv[1]}", "next_token", ModelOptions(device="cpu", threads=1))
model.predict_next(["one, two, three,"])
print(1024 * (getrusage(RUSAGE_SELF).ru_maxrss - before), "torch" in sys.modules)
"""


@pytest.mark.slow
def test_memory_is_about_the_size_of_the_file(smollm2_file):
    pytest.importorskip("xllamacpp")
    command = [sys.executable, "-c", MEASURED, str(smollm2_file)]
    memory, torch = subprocess.run(
        command, capture_output=True, check=True, text=True
    ).stdout.split()
    assert int(memory) <= 1.5 * smollm2_file.stat().st_size + 300e6
    assert torch == "False"


@pytest.mark.slow
def test_answers_depend_neither_on_their_order_nor_on_threads(smollm2_file):
    pytest.importorskip("xllamacpp")
    passage = (
        "The Eiffel Tower is a tower in Paris. It was built in 1889 and is 330 metres high. " * 4
    )
    asked = [
        Question(id=str(number), text=text, context=passage)
        for number, text in enumerate(("Where is it?", "When was it built?", "How high is it?"))
    ]
    items = [GivenAnswer(question=question, answer="in Paris") for question in asked]
    spec = f"gguf:{smollm2_file}"
    first, second = (
        load_model(spec, "answer_scorer", replace(OPTIONS, threads=threads)) for threads in (1, 2)
    )
    once = dict(ask(first, "answer_scorer", items))
    again = dict(ask(second, "answer_scorer", items[::-1]))
    assert [once[place] for place in range(3)] == [again[place] for place in (2, 1, 0)]
    answers = dict(first.answer(asked))
    written = [GivenAnswer(question=q, answer=answers[n].text) for n, q in enumerate(asked)]
    # What it has written it would write again, where a line is an answer.
    assert {score.same for _, score in ask(second, "answer_scorer", written)} == {True}
