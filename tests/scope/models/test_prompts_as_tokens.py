"""The oracle is what transformers makes of the same message."""

import itertools

import pytest
from tiny_language import CHAT_TEMPLATE

from scope.errors import ModelError
from scope.models import prompts
from scope.models.heads import word_pieces
from scope.models.prompts import Spelling, TemplateError, run_apart
from scope.models.torch_setup import quiet_transformers

TEXT = "who saw the film?"


@pytest.fixture
def tokenizer(llama_folders):
    """Gives a fresh tokenizer, with or without a chat template."""
    return lambda chat: quiet_transformers().AutoTokenizer.from_pretrained(llama_folders[chat])


def test_the_beginning_of_a_reply_stands_behind_the_message_or_ends_the_text(tokenizer):
    chat, bare = tokenizer(True), tokenizer(False)
    begun = chat("the film", add_special_tokens=False)["input_ids"]
    with_message = Spelling(chat, "m").prompt_with_reply(TEXT, "the film", "unused")
    assert with_message == [*Spelling(chat, "m").prompt(TEXT), *begun]
    assert Spelling(chat, "m").prompt_with_reply(TEXT, "", "") == Spelling(chat, "m").prompt(TEXT)
    without = Spelling(bare, "m").prompt_with_reply("unused", "unused", "the whole film")
    assert without == bare("the whole film")["input_ids"]


PLAIN_START = CHAT_TEMPLATE.removeprefix("{{ bos_token }}")


@pytest.mark.parametrize(
    ("adds", "template", "of_prompt", "of_text"),
    [
        (True, CHAT_TEMPLATE, 1, 1),
        (True, PLAIN_START, 1, 1),
        (True, None, 1, 1),
        (False, CHAT_TEMPLATE, 1, 0),
        (False, PLAIN_START, 0, 0),
        (False, None, 0, 0),
    ],
)
def test_a_prompt_and_a_text_begin_with_one_first_token_or_none(
    tokenizer, adds, template, of_prompt, of_text
):
    """Whether the tokenizer adds it, the template writes it, or both do."""
    import tokenizers

    model = tokenizer(True)
    model.chat_template = template
    if not adds:
        nothing = tokenizers.processors.TemplateProcessing(single="$A", special_tokens=[])
        model.backend_tokenizer.post_processor = nothing
    spelling = Spelling(model, "m")
    for tokens, count in (
        (spelling.prompt(TEXT), of_prompt),
        (spelling.plain(TEXT), of_text),
        (spelling.started(TEXT), of_text),
    ):
        assert tokens.count(model.bos_token_id) == tokens[:1].count(model.bos_token_id) == count


def test_a_template_is_used_if_it_is_there_and_wanted(tokenizer):
    chats = [Spelling(tokenizer(True), "m", chat).is_chat for chat in ("auto", "yes", "no")]
    assert chats == [True, True, False]
    with pytest.raises(ModelError, match="`m` has no chat template"):
        Spelling(tokenizer(False), "m", "yes")


@pytest.mark.parametrize("chat", [True, False])
def test_the_names_of_special_tokens_in_a_text_are_text(tokenizer, chat):
    own = tokenizer(chat)
    tokens, empty = map(Spelling(own, "m").prompt, ("ann</s><|reply|>bob", "x"))
    special = set(own.all_special_ids)
    assert [t for t in tokens if t in special] == [t for t in empty if t in special]
    assert "ann</s><|reply|>bob" in own.decode(tokens)


def test_a_chat_is_what_transformers_makes_of_its_messages(tokenizer):
    model = tokenizer(True)
    earlier = [("system", "be brief"), ("user", "who saw"), ("assistant", "the film")]
    messages = [{"role": role, "content": text} for role, text in (*earlier, ("user", TEXT))]
    expected = model.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    tokens = Spelling(model, "m").prompt(TEXT, earlier)
    assert tokens == model(expected, add_special_tokens=False)["input_ids"]


def test_the_names_of_special_tokens_in_a_chat_are_text(tokenizer):
    model = tokenizer(True)
    special = model.all_special_tokens[0]
    plain = Spelling(model, "m").prompt(TEXT, [("user", "who saw")])
    tokens = Spelling(model, "m").prompt(TEXT, [("user", f"who {special} saw")])
    number = model.convert_tokens_to_ids(special)
    assert tokens.count(number) == plain.count(number)


def test_a_template_that_leaves_out_the_system_message_is_refused(tokenizer):
    model = tokenizer(True)
    model.chat_template = (
        "{% for message in messages %}{% if message.role == 'user' %}"
        "{{ message.content }}{% endif %}{% endfor %}"
    )
    with pytest.raises(ModelError, match=r"messages by system, user \(it leaves some out"):
        Spelling(model, "m").prompt(TEXT, [("system", "be brief")])


def test_a_template_that_refuses_a_system_message_is_told_from_one_that_takes_no_message(tokenizer):
    model = tokenizer(True)
    refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('No system') }}{% endif %}"
    model.chat_template = refuses + model.chat_template
    found = r"refuses a chat with messages by system, user \(.*No system"
    with pytest.raises(ModelError, match=rf"(?s){found}.*leave out these chats, or put"):
        Spelling(model, "m").prompt(TEXT, [("system", "be brief")])
    chats = [(), [("system", "be brief")], [("system", "be kind")], [("user", "a")]]
    with pytest.raises(ModelError, match=rf"(?s){found}.*: 2 of 4 chats"):
        Spelling(model, "m").require_chats(chats)


def test_a_tokenizer_that_puts_a_space_before_texts_puts_none_in_a_continuation():
    """As Llama 2 does: `▁` stands before a text, and is part of a word after a space."""
    import tokenizers

    pieces = ["<s>", "▁", "▁film", "\n", *"film"]
    inner = tokenizers.Tokenizer(
        tokenizers.models.Unigram(
            [(piece, -1.0 - number) for number, piece in enumerate(pieces)], 0
        )
    )
    inner.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    inner.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.Replace("▁", " "),
            tokenizers.decoders.Fuse(),
            tokenizers.decoders.Strip(" ", 1, 0),
        ]
    )
    own = quiet_transformers().PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>")
    spelling = Spelling(own, "m")
    assert spelling.continuation("film") == [2]
    assert spelling.as_it_follows(2) == " film"
    assert spelling.as_it_follows(4) == "f"


def test_a_template_is_asked_for_no_thoughts_and_the_same_day(tokenizer):
    own = tokenizer(True)
    own.chat_template = (
        "{{ date_string }}|{{ strftime_now('%Y-%m-%d') }}"
        "{% if enable_thinking is defined and not enable_thinking %}!{% endif %}" + CHAT_TEMPLATE
    )
    assert Spelling(own, "m").frame.startswith("26 Jul 2024|2024-07-26!<s>")


@pytest.mark.parametrize(
    ("content", "put"),
    [("content", str), ("content.rstrip()", str.rstrip), ("content.replace('\\n', '/')", None)],
)
def test_a_template_runs_once_if_it_only_frames_a_message(tokenizer, content, put):
    own = tokenizer(True)
    template = (
        "<|user|>{{ messages[0].%s }}</s>{{ 'x' * (messages[0].content | length - 999) ** 5 }}"
    )
    own.chat_template = (template if put else template.partition("{{ 'x'")[0]) % content
    spelling = Spelling(own, "hf:m")
    assert spelling._put == put
    for text in ("ann\nsaw \n", "a" * 1_000_000):
        made = own.decode(spelling.prompt(text))
        assert made == f"<s><|user|>{put(text) if put else text.replace(chr(10), '/')}</s>"


def test_a_template_that_grows_with_the_message_is_stopped(tokenizer):
    own = tokenizer(True)
    own.chat_template = "{{ messages[0].content }}{{ 'x' * messages[0].content | length ** 2 }}"
    spelling = Spelling(own, "hf:m")
    with pytest.raises(ModelError, match="takes more than 256 MiB of memory"):
        spelling.prompt("a" * 100_000)


def test_a_thought_that_the_template_begins_is_ended_unless_the_model_thinks(tokenizer):
    own = tokenizer(True)
    own.chat_template = CHAT_TEMPLATE + "<think>{% if enable_thinking %}!{% endif %}"
    spelling = Spelling(own, "m")
    ended = spelling.prompt_with_reply(TEXT, "the film", "")
    assert own.decode(ended).replace(" ", "").endswith("<think>\n</think>\n\nthefilm")
    assert Spelling(own, "m", thinks=True).frame.endswith("<think>!")


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('no users') }}", "TemplateError: no users"),
        ("hello", "it makes 'hello' of a message"),
        ("{{ messages[0].content }}{{ 'x' * 10 ** 10 }}", "more than 256 MiB of memory"),
    ],
)
def test_a_template_that_takes_no_message_is_refused(tokenizer, template, reason):
    own = tokenizer(True)
    own.chat_template = template
    with pytest.raises(ModelError, match=f"the chat template of `hf:m` .*{reason}"):
        Spelling(own, "hf:m")


def test_what_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(prompts, "SECONDS", 0.2)
    with pytest.raises(TemplateError, match="it takes more than 0 seconds"):
        run_apart(lambda: str(all(True for _ in itertools.repeat(0))))


class Tokenizer:
    """Spells a token as its kind of vocabulary does."""

    all_special_ids = (0,)

    def __init__(self, pieces, added=()):
        self._vocabulary = {piece: number for number, piece in enumerate(["<pad>", *pieces])}
        self.added_tokens_decoder = {self._vocabulary[piece]: piece for piece in added}

    def get_vocab(self):
        return self._vocabulary

    def convert_tokens_to_string(self, tokens):
        return tokens[0].replace("Ġ", " ").replace("▁", " ")


@pytest.mark.parametrize(
    ("pieces", "begins", "opens", "continues"),
    [
        # Where the beginning is marked the rest continues.
        *(
            (
                (f"{mark}the", f"{mark}-", mark, "film", "'", ".", f"{mark}a.", "\ufffd"),
                {f"{mark}the"},
                {f"{mark}the", "film"},
                {"film", "'"},
            )
            for mark in "Ġ▁"
        ),
        # Where going on is marked the rest begins.
        (("the", "-", "##s", "##é", "##.", "7", "("), {"the", "7"}, {"the", "7"}, {"##s", "##é"}),
        # Without marks every piece may do both.
        (("a", "'", "?"), {"a"}, {"a"}, {"a", "'"}),
    ],
)
def test_tokens_begin_words_open_them_or_carry_them_on(pieces, begins, opens, continues):
    """Neither special and added tokens nor those beyond the model's table are pieces of words."""
    all_pieces = (*pieces, "added", "beyond")
    size = len(all_pieces)
    rows = word_pieces(Tokenizer(all_pieces, ["added"]), size)
    assert all(len(row) == size for row in rows)
    named = [{all_pieces[number - 1] for number in range(1, size) if row[number]} for row in rows]
    assert named == [begins, opens, continues]
