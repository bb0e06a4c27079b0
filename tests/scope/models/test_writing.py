"""Many texts at once, with drafts and without, beside `generate`, which writes each anew, alone."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from decoder_cases import ATTENTION, SIZES
from ten_tokens import ten_tokens

from scope.answers.answers import content_of
from scope.models.decoder import Decoder, Decoders, PathDecoder
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.models.writing import Spread, Start
from scope.records import Question

LONGEST = 6
ENDS = (1, 2, 3)


def config_of(kind):
    transformers = quiet_transformers()
    if kind == "llama":
        return transformers.LlamaConfig(**SIZES, **ATTENTION, max_position_embeddings=128)
    if kind == "gemma":
        return transformers.Gemma3TextConfig(
            **SIZES, **ATTENTION, head_dim=8, sliding_window=8, sliding_window_pattern=2
        )
    if kind == "recurrent":
        return transformers.MambaConfig(**SIZES, state_size=4)
    return transformers.GPT2Config(
        vocab_size=50, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5
    )


def random_model(kind, seed=0):
    config = config_of(kind)
    config.eos_token_id = list(ENDS)
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = quiet_transformers().AutoModelForCausalLM.from_config(config).eval()
    model.generation_config.eos_token_id = list(ENDS)
    return model


def changed_prompts(count, seed=0):
    """Prompts of unequal length, and each with one of its tokens changed, several times."""
    chance, prompts = random.Random(seed), []
    while len(prompts) < count:
        prompt = [chance.randrange(4, 50) for _ in range(chance.randrange(3, 40))]
        prompts.append(prompt)
        for _ in range(5):
            place = chance.randrange(len(prompt))
            prompts.append([*prompt[:place], chance.randrange(4, 50), *prompt[place + 1 :]])
    return prompts[:count]


def generated(model, prompt):
    """What `generate` writes, and how near the two likeliest tokens come anywhere."""
    torch = load_torch()
    rows = torch.tensor([prompt])
    with torch.inference_mode():
        result = model.generate(
            rows,
            attention_mask=torch.ones_like(rows),
            max_new_tokens=LONGEST,
            do_sample=False,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    tokens = result.sequences[0, len(prompt) :].tolist()
    best = [logits[0].topk(2).values for logits in result.logits]
    over = [place for place, token in enumerate(tokens) if token in ENDS]
    return tokens[: over[0]] if over else tokens, min(float(two[0] - two[1]) for two in best)


def starts_of(prompts, drafts=None, is_over=lambda tokens: False):
    drafts = drafts or [()] * len(prompts)
    return [
        Start(prompt, LONGEST, is_over, LONGEST, draft)
        for prompt, draft in zip(prompts, drafts, strict=True)
    ]


def in_order(written):
    by_number = dict(written)
    return [by_number[number] for number in range(len(by_number))]


@pytest.mark.parametrize("kind", ["llama", "gemma", "gpt2", "recurrent"])
def test_all_that_is_written_is_what_generate_writes_whatever_the_draft(kind):
    """Of changed prompts: without drafts, with the right ones, and with wrong ones."""
    model, prompts = random_model(kind), changed_prompts(120 if kind != "recurrent" else 40)
    wanted = [generated(model, prompt) for prompt in prompts]
    decoder = Decoders(model, 1000).chosen
    assert type(decoder) is (Decoder if kind == "recurrent" else PathDecoder)
    chance = random.Random(1)
    right = [tokens for tokens, _ in wanted]
    wrong = [
        [token if chance.random() < 0.7 else chance.randrange(50) for token in tokens]
        + [chance.randrange(50)] * chance.randrange(3)
        for tokens in right
    ]
    plain = in_order(decoder.write(starts_of(prompts)))
    near = [gap < 1e-4 for _, gap in wanted]
    assert sum(near) <= 2
    pairs = zip(plain, right, near, strict=True)
    assert all(ours == theirs or is_near for ours, theirs, is_near in pairs)
    assert len({tuple(tokens) for tokens in right}) > len(prompts) // 6
    for drafts in (right, wrong):
        assert in_order(decoder.write(starts_of(prompts, drafts))) == plain
    order = chance.sample(range(len(prompts)), len(prompts))
    backwards = Decoders(model, 64).chosen.write(starts_of([prompts[number] for number in order]))
    assert [plain[number] for number in order] == in_order(backwards)


def test_a_right_draft_is_read_in_one_pass_and_a_wrong_one_from_where_it_differs(monkeypatch):
    model, prompts = random_model("llama"), changed_prompts(12)
    right = in_order(PathDecoder(model, 4096).write(starts_of(prompts)))
    passes = []
    decoder = PathDecoder(model, 4096)
    after = decoder._after
    monkeypatch.setattr(
        decoder, "_after", lambda rows, last: passes.append(len(rows)) or after(rows, last)
    )
    assert in_order(decoder.write(starts_of(prompts, right))) == right
    assert passes == [12]
    long = max(right, key=len)
    number = right.index(long)
    assert len(long) == LONGEST
    draft = [*long[:3], (long[3] + 1) % 50, *long[4:]]
    for ahead, most in ((1, 1 + LONGEST - 4), (32, LONGEST - 4)):
        monkeypatch.setattr("scope.models.decoder.BLOCK", ahead)
        passes.clear()
        assert in_order(decoder.write(starts_of(prompts[number : number + 1], [draft]))) == [long]
        assert len(passes) <= most
        assert ahead > 1 or len(passes) == most


def test_texts_that_are_over_leave_and_others_enter(monkeypatch):
    model, prompts = random_model("llama"), changed_prompts(60)
    decoder, rows = PathDecoder(model, 4096), []
    after = decoder._after
    monkeypatch.setattr(
        decoder, "_after", lambda paths, last: rows.append(len(paths)) or after(paths, last)
    )
    monkeypatch.setattr("scope.models.writing.ANSWERS_A_BATCH", 8)
    limits = [1 + number % LONGEST for number in range(60)]
    starts = [
        start._replace(longest=limit)
        for start, limit in zip(starts_of(prompts), limits, strict=True)
    ]
    list(decoder.write(starts))
    assert max(rows) == 8
    assert len(rows) < sum(limits) / 8 + LONGEST
    assert all(count == 8 for count in rows[:-LONGEST])


class Drifting:
    """A decoder of which each reading adds some noise, as large as the spread that it states."""

    def __init__(self, model, noise, monkeypatch):
        self.decoder, self.noise, self.alone = PathDecoder(model, 4096), noise, False
        self.generator = load_torch().Generator().manual_seed(0)
        read, forget = self.decoder._after, self.decoder._forget
        monkeypatch.setattr(self.decoder, "_after", lambda *rows: map(self.with_noise, read(*rows)))
        monkeypatch.setattr(self.decoder, "_forget", lambda: self.begin_alone() or forget())
        monkeypatch.setattr(type(self.decoder), "at_once", Spread(2 * noise))

    def begin_alone(self):
        self.alone = True

    def with_noise(self, logits):
        if self.alone:
            return logits
        noise = load_torch().rand(logits.shape, generator=self.generator)
        return logits + self.noise * (2 * noise - 1)


def test_where_two_tokens_are_nearer_than_the_spread_a_text_is_written_alone(monkeypatch):
    model, prompts = random_model("llama"), changed_prompts(120)
    right = in_order(PathDecoder(model, 4096).write(starts_of(prompts)))
    with monkeypatch.context() as patched:
        drifting = Drifting(model, 0.05, patched)
        assert in_order(drifting.decoder.write(starts_of(prompts, right))) == right
        writer = drifting.decoder.writer
        assert writer.texts == 120
        assert 0 < writer.alone < 60
    assert PathDecoder(model, 4096).writer.alone == 0


@pytest.mark.parametrize("draft", ["", "ann in paris", "ann in a film", "ann", "bob", "film film"])
@pytest.mark.parametrize("longest", [2, 32])
def test_a_draft_never_changes_an_answer(draft, longest):
    model = ten_tokens(max_answer_tokens=longest)
    asked = Question(id="0", text="who saw", draft=draft)
    ((_, answer),) = model.answer([asked])
    assert answer.text == ("ann in paris" if longest > 3 else "ann in")
    assert model.written_alone == (0, 1)


def test_a_draft_is_no_part_of_a_question():
    plain, drafted = Question(id="0", text="who?"), Question(id="0", text="who?", draft="ann")
    assert plain == drafted
    assert hash(plain) == hash(drafted)
    assert repr(plain) == repr(drafted)


def drawn(prompts):
    starts = starts_of(prompts)
    return [start._replace(seed=number) for number, start in enumerate(starts)]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "recurrent"])
def test_a_drawn_text_is_the_same_alone_and_in_any_company(kind):
    model, starts = random_model(kind), drawn(changed_prompts(40))
    decoder = Decoders(model, 1000).chosen
    together = in_order(decoder.write(starts))
    assert together == [dict(decoder.write([start]))[0] for start in starts]
    backwards = in_order(Decoders(model, 64).chosen.write(starts[::-1]))
    assert together == backwards[::-1]
    greedy = in_order(decoder.write([start._replace(seed=None) for start in starts]))
    assert sum(ours != theirs for ours, theirs in zip(together, greedy, strict=True)) > 10


def test_where_two_tokens_are_nearly_drawn_a_text_is_written_alone(monkeypatch):
    model, starts = random_model("llama"), drawn(changed_prompts(120))
    right = in_order(PathDecoder(model, 4096).write(starts))
    drifting = Drifting(model, 0.05, monkeypatch)
    assert in_order(drifting.decoder.write(starts)) == right
    assert 0 < drifting.decoder.writer.alone < 100


def test_tokens_are_drawn_with_their_probabilities():
    """After *saw* come ann in 1/2, bob in 1/4 and the end in 1/4; none draws a token of 1e-13."""
    model = ten_tokens(max_answer_tokens=1)
    asked = [Question(id="0", text="saw", seed=seed) for seed in range(2000)]
    counts = Counter(answer.text for _, answer in model.answer(asked))
    assert counts.keys() == {"ann", "bob", None}
    assert [counts[text] / 2000 for text in ("ann", "bob", None)] == pytest.approx(
        [0.5, 0.25, 0.25], abs=0.04
    )


def test_a_draft_changes_no_drawn_answer():
    model = ten_tokens()
    for seed in range(20):
        asked = Question(id="0", text="who saw", seed=seed)
        drafts = [replace(asked, draft=draft) for draft in ("", "ann in paris", "bob")]
        assert len({answer.text for _, answer in model.answer(drafts)}) == 1


def test_a_seed_is_a_part_of_a_question():
    asked = Question(id="0", text="who?")
    contents = {content_of("answerer", replace(asked, seed=seed)) for seed in (None, 0, 1)}
    assert len(contents) == 3
    assert asked != replace(asked, seed=0)
