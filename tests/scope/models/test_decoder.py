"""Both ways to read rows give what one forward pass over everything gives, one row at a time."""

import operator
import random
from types import SimpleNamespace

import pytest
from decoder_cases import (
    ATTENTION,
    BUDGET,
    CONTINUATIONS,
    ROWS,
    SIZES,
    greedy,
    mean_score,
    model_of,
)

from scope.models.decoder import Decoder, Decoders, PathDecoder
from scope.models.prefixes import BLOCK, Attention, Remembered
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.models.writing import Start

ways = pytest.mark.parametrize(
    ("way", "kind"),
    [
        *((Decoder, kind) for kind in ("llama", "sliding", "gpt2", "recurrent")),
        *((PathDecoder, kind) for kind in ("llama", "sliding", "gpt2")),
    ],
)
either = pytest.mark.parametrize("way", [Decoder, PathDecoder])


def decoder_of(way, kind, budget=BUDGET):
    found = way(model_of(kind), budget)
    assert way is Decoder or found.reads_alike
    assert found.exact
    return found


def written_by(decoder, rows, is_over=lambda tokens: False, drafts=None, longest=7):
    drafts = drafts or [()] * len(rows)
    starts = [
        Start(row, longest, is_over, draft=draft) for row, draft in zip(rows, drafts, strict=True)
    ]
    written = dict(decoder.write(starts))
    return [written[number] for number in range(len(rows))]


@ways
@pytest.mark.parametrize("budget", [1, BUDGET])
def test_scores_are_the_means_of_the_log_probabilities_in_one_pass(way, kind, budget):
    scores = decoder_of(way, kind, budget).score(ROWS, CONTINUATIONS)
    for row, several, got in zip(ROWS, CONTINUATIONS, scores, strict=True):
        assert got == pytest.approx([mean_score(kind, row, one) for one in several], abs=1e-5)


@ways
@pytest.mark.bits
def test_scores_are_bit_for_bit_the_same_in_any_company(way, kind):
    together = decoder_of(way, kind).score(ROWS, CONTINUATIONS)
    assert together == [
        [decoder_of(way, kind).score([row], [[following]])[0][0] for following in several]
        for row, several in zip(ROWS, CONTINUATIONS, strict=True)
    ]


@ways
def test_what_is_written_is_the_likeliest_token_each_time(way, kind):
    """By length rows are as long as each other, by paths they need not be."""
    rows = ROWS if way is Decoder else [row[: 4 + 2 * index] for index, row in enumerate(ROWS)]
    decoder = decoder_of(way, kind)
    written = written_by(decoder, rows)
    assert written == [greedy(kind, row, 7) for row in rows]
    likeliest = [int(each.argmax()) for each in decoder.next_probabilities(rows)]
    assert likeliest == [tokens[0] for tokens in written]


@either
def test_a_row_that_is_over_stays_as_it_is_while_others_go_on(way):
    whole = [greedy("llama", row, 7) for row in ROWS]
    last = whole[0][2]
    assert any(last not in tokens for tokens in whole)
    written = written_by(decoder_of(way, "llama"), ROWS, lambda tokens: tokens[-1] == last)
    cuts = [tokens.index(last) + 1 if last in tokens else 7 for tokens in whole]
    assert written == [tokens[:cut] for tokens, cut in zip(whole, cuts, strict=True)]


@either
def test_an_end_token_ends_a_text_and_is_left_out(way, monkeypatch):
    whole = greedy("llama", ROWS[0], 7)
    end = next(token for token in whole[1:] if token != whole[0])
    settings = model_of("llama").generation_config
    monkeypatch.setattr(settings, "eos_token_id", [49, end])
    written = written_by(decoder_of(way, "llama"), ROWS[:1])
    assert written == [whole[: whole.index(end)]]


def texts_that_begin_alike(count=12):
    """Some rows of different lengths, and each with its end changed, or cut off."""
    chance = random.Random(0)
    rows = [[chance.randrange(50) for _ in range(chance.randrange(2, 50))] for _ in range(count)]
    for row in list(rows):
        for _ in range(3):
            cut = chance.randrange(1, len(row) + 1)
            rows.append(row[:cut] + [chance.randrange(50) for _ in range(chance.randrange(9))])
    return rows


def test_attention_of_another_formula_is_left_to_the_model():
    """Its numbers differ by less than the rounding of few bits, not by less than an answer."""
    transformers, torch = quiet_transformers(), load_torch()
    config = transformers.Gemma2Config(
        **SIZES, **ATTENTION, head_dim=8, attn_logit_softcapping=20.0, attn_implementation="eager"
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
    assert not PathDecoder(model.bfloat16(), BUDGET).reads_alike


@pytest.mark.parametrize("kind", ["llama", "sliding", "gpt2"])
@pytest.mark.bits
def test_an_answer_has_the_same_bits_in_any_company_and_order_and_whatever_was_asked_before(kind):
    rows = texts_that_begin_alike()
    alone = [decoder_of(PathDecoder, kind).next_probabilities([row])[0] for row in rows[::7]]
    decoder = decoder_of(PathDecoder, kind, 300)  # forgets now and then
    assert_equal(decoder.next_probabilities(rows)[::7], alone)
    chance = random.Random(1)
    for _ in range(6):
        order = chance.sample(range(len(rows)), chance.randrange(1, len(rows)))
        wanted = [place for place, index in enumerate(order) if index % 7 == 0]
        got = decoder.next_probabilities([rows[index] for index in order])
        assert_equal(got[wanted], [alone[order[place] // 7] for place in wanted])


def assert_equal(some, others):
    for one, other in zip(some, others, strict=True):
        assert load_torch().equal(one, other)


def test_a_beginning_is_read_once(monkeypatch):
    decoder, read = decoder_of(PathDecoder, "llama"), []
    run = decoder._inference.run
    monkeypatch.setattr(
        decoder._inference,
        "run",
        lambda compute, tokens: read.append(tokens[0].tolist()) or run(compute, tokens=tokens),
    )
    own = decoder._model.config._attn_implementation
    decoder.score([[1, 2, 3, 4], [1, 2, 9]], [[(5,), (6, 7)], [(5,)]])
    decoder.next_probabilities([[1, 2, 9, 8]])
    assert read == [[1, 2, 3, 4, 6, 9], [8]]
    assert decoder._model.config._attn_implementation == own == "sdpa"


def test_what_is_remembered_of_other_weights_is_forgotten():
    model = model_of("llama")
    decoder = PathDecoder(model, BUDGET)
    before = decoder.next_probabilities(ROWS[:1])
    weight = model.model.layers[0].self_attn.v_proj.weight
    with load_torch().no_grad():
        weight.mul_(2)
        try:
            changed = decoder.next_probabilities(ROWS[:1])
            wanted = PathDecoder(model, BUDGET).next_probabilities(ROWS[:1])
        finally:
            weight.div_(2)
    assert load_torch().equal(changed, wanted)
    assert not load_torch().equal(changed, before)


def test_nothing_is_remembered_of_a_reading_that_fails(monkeypatch):
    decoder = decoder_of(PathDecoder, "llama")
    wanted = decoder.next_probabilities(ROWS[:1])
    other = decoder_of(PathDecoder, "llama")

    def fail(compute, **rows):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(other._inference, "run", fail)
        with pytest.raises(KeyboardInterrupt):
            other.next_probabilities(ROWS[:1])
    assert load_torch().equal(other.next_probabilities(ROWS[:1]), wanted)


@pytest.mark.parametrize(
    ("exact", "way"),
    [
        ({PathDecoder}, PathDecoder),
        ({Decoder}, Decoder),
        ({PathDecoder, Decoder}, PathDecoder),
        (set(), PathDecoder),
    ],
)
def test_bits_come_before_speed(exact, way, monkeypatch):
    for one in (PathDecoder, Decoder):
        monkeypatch.setattr(one, "exact", one in exact)
    assert type(Decoders(model_of("llama"), BUDGET).chosen) is way
    assert type(Decoders(model_of("recurrent"), BUDGET).chosen) is Decoder


@pytest.mark.parametrize(
    "settings",
    [
        {"model.rotary_emb.rope_type": "dynamic"},
        {"config.sliding_window": 4},  # which no layer of this model asks for
        {"config.attention_chunk_size": 4},
    ],
)
def test_what_could_make_an_answer_depend_on_others_keeps_a_model_as_it_is(settings, monkeypatch):
    model = model_of("llama")
    for path, value in settings.items():
        owner, _, name = path.rpartition(".")
        monkeypatch.setattr(operator.attrgetter(owner)(model), name, value, raising=False)
    assert type(Decoders(model, BUDGET).chosen) is Decoder


def test_a_model_whose_attention_is_its_own_is_read_as_it_comes(monkeypatch):
    monkeypatch.setattr("scope.models.prefixes._NAME", "sdpa")
    monkeypatch.setattr("transformers.AttentionInterface.register", lambda *_: None)
    assert type(Decoders(model_of("llama"), BUDGET).chosen) is Decoder


def test_no_more_is_kept_than_the_capacity_but_for_a_single_batch():
    chance, remembered = random.Random(0), Remembered(40)
    for _ in range(200):
        rows = [[chance.randrange(3) for _ in range(chance.randrange(1, 15))] for _ in range(3)]
        plan = remembered.plan(rows, [1] * 3)
        assert max(plan.slots) < remembered.capacity == 40
    long = [len(remembered.plan([list(range(length))], [1]).tokens) for length in range(90, 101)]
    assert (long, remembered.capacity) == ([90] + [1] * 10, 120)
    for first in range(200, 231):
        remembered.plan([[first, 6]], [1])
    assert remembered.capacity == 40


def test_what_was_least_recently_used_leaves_the_cache():
    remembered = Remembered(6)
    # The third reading takes the place of the second row, and the fourth that of the third.
    rows = [[1, 2, 3], [4, 5, 6], [1, 2, 3], [7, 8], [1, 2, 9], [4, 5]]
    assert [len(remembered.plan([row], [1]).tokens) for row in rows] == [3, 3, 1, 2, 1, 2]


HEADS, SHARED, NUMBERS = 2, 3, 8
LONG_ROWS = [[*range(BLOCK + 5)], [0, 1, 2, 90, 91], [0, 1, 2, 90], [*range(BLOCK), 92]]


@pytest.mark.parametrize("window", [None, 1, 4])
@pytest.mark.parametrize(
    "asked", [[LONG_ROWS], [LONG_ROWS[:1], LONG_ROWS[1:]], [[row] for row in LONG_ROWS[::-1]]]
)
def test_each_text_sees_itself_alone(window, asked, monkeypatch):
    torch = load_torch()
    monkeypatch.setattr("scope.models.prefixes.MOST_KEYS", 1)
    model = SimpleNamespace(device="cpu", config=SimpleNamespace(_attn_implementation="sdpa"))
    random = torch.Generator().manual_seed(0)
    queries, keys, values = (
        # Of every token at every place.
        torch.randn(heads, 100, 2 * BLOCK, NUMBERS, generator=random)
        for heads in (HEADS * SHARED, HEADS, HEADS)
    )
    attention, remembered = Attention(), Remembered(100)
    for rows in asked:
        plan = remembered.plan(rows, [1] * len(rows))
        with attention.reading(plan, remembered.capacity, model):
            given = [one[None, :, plan.tokens, plan.positions] for one in (queries, keys, values)]
            seen = attention("layer", *given, 0.3, window)
        assert seen.shape == (1, len(plan.tokens), HEADS * SHARED, NUMBERS)
        for row, (place,) in zip(rows, plan.wanted, strict=True):
            q, k, v = (one[:, row, range(len(row))] for one in (queries, keys, values))
            first = 0 if window is None else max(0, len(row) - window)
            wanted = torch.nn.functional.scaled_dot_product_attention(
                q[:, -1:],
                *(one[:, first:].repeat_interleave(SHARED, 0) for one in (k, v)),
                scale=0.3,
            )
            assert torch.allclose(seen[0, place], wanted[:, 0], atol=1e-6)
    assert model.config._attn_implementation == "sdpa"
    assert attention.windows == {"layer": window}
