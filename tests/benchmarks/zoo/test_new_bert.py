from collections import Counter

import torch
from tiny_zoo import NEW
from zoo.new_bert import new_bert, word_pieces


def read(examples):
    return [example.text for example in examples]


def test_a_new_bert_reads_texts_in_small_letters_with_a_vocabulary_of_its_own(examples):
    base = new_bert(read(examples), NEW, seed=0)
    tokens = base.tokenizer("The film was SUPERB")["input_ids"]
    assert base.tokenizer.convert_ids_to_tokens(tokens)[:4] == ["[CLS]", "the", "film", "was"]
    assert tokens[-1] == base.tokenizer.sep_token_id
    assert base.tokenizer.unk_token_id not in tokens
    assert base.tokenizer.decode(tokens, skip_special_tokens=True) == "the film was superb"
    assert base.model.config.vocab_size == len(base.tokenizer) <= NEW.vocabulary
    assert base.tokenizer.pad_token_id == base.model.config.pad_token_id == 0


def test_a_new_bert_is_the_same_for_the_same_seed(examples):
    first, same, other = (new_bert(read(examples), NEW, seed) for seed in (1, 1, 2))
    embeddings = [base.model.get_input_embeddings().weight for base in (first, same, other)]
    assert torch.equal(embeddings[0], embeddings[1])
    assert not torch.equal(embeddings[0], embeddings[2])
    assert first.tokenizer.get_vocab() == same.tokenizer.get_vocab()


def test_a_vocabulary_holds_no_piece_twice_and_is_as_large_as_asked():
    words = Counter({f"{start}{end}ing": 2 for start in "abcdef" for end in "ghijkl"})
    pieces = word_pieces(words, size=50)
    assert len(pieces) == len(set(pieces)) == 50
    assert {"##ing", "a", "##a"} <= set(pieces)


def test_letters_that_occur_once_have_no_place():
    assert word_pieces({"ab": 1, "b": 1}, size=9) == ["##b", "b", "ab"]
