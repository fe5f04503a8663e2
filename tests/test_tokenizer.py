"""The tokenizer: lossless, deterministic, with the ids and words that the rest of the library counts on."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.tokenizer import SPACE_MARK, Tokenizer, word_spans

ENGLISH = [
    "The small dog sleeps.",
    "The old dog, which barks, doesn't sleep.",
    "A well-known woman reads 12 books.",
    'He says: "The dog sees 1,250 birds!"',
]
GERMAN = [
    "Der kleine Hund schläft.",
    "Der alte Hund, der bellt, schläft nicht.",
    "Eine bekannte Frau liest 12 Bücher.",
    "Er sagt: „Der Hund sieht 1.250 Vögel!“",
]


def train(vocab_size=331):
    return Tokenizer.train((ENGLISH + GERMAN) * 7, vocab_size)


@pytest.fixture(scope="module")
def tokenizer():
    return train()


characters = st.one_of(
    st.characters(exclude_categories=("Cs",)),
    st.sampled_from(f" \t\n\r\0{SPACE_MARK}\u2047\u2585\ufeff\ufffd\u00a0aeHund.<>/"),
)


@settings(deadline=None, max_examples=500)
@given(text=st.text(characters))
def test_decode_of_encode_is_the_text(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "   ", " a", "  a  b  ", "\t\n", "\r\n", "\0", SPACE_MARK, f" {SPACE_MARK}{SPACE_MARK} a"),
        *("<s>", "</s>", "<pad>", "<unk>", "<0x41>", "e\u0301", "\u00e9", "\u2126", "ﬁ", "日本"),
        *("\U0001f600\U0010ffff", "\ufeffa"),
    ],
    ids=ascii,
)
def test_decode_of_encode_keeps_white_space_marks_and_unseen_characters(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


@settings(deadline=None)
@given(texts=st.lists(st.text(characters), max_size=5))
def test_encode_all_equals_encode_of_each(tokenizer, texts):
    assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]


@settings(deadline=None)
@given(text=st.text(characters))
def test_encode_gives_ordinary_ids_only(tokenizer, text):
    special = {tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id}
    assert all(3 < index < tokenizer.vocab_size for index in tokenizer.encode(text))
    assert special == {0, 1, 2, 3}


def test_encode_of_an_empty_text_is_empty(tokenizer):
    assert tokenizer.encode("") == tokenizer.pieces("") == tokenizer.piece_to_word("") == []
    assert tokenizer.encode_all([""]) == [[]]


def test_encode_gives_a_word_the_same_pieces_at_the_start_and_after_a_space(tokenizer):
    assert tokenizer.pieces("Hund Hund Hund") == tokenizer.pieces("Hund") * 3
    assert tokenizer.pieces("Hund") == ["▁Hund"]


def test_decode_drops_pad_bos_and_eos(tokenizer):
    ids = tokenizer.encode("Der Hund")
    assert tokenizer.decode([2, *ids, 3, 0, 0]) == "Der Hund"


def test_decode_accepts_tensors_and_broken_bytes(tokenizer):
    torch = pytest.importorskip("torch")
    assert tokenizer.decode(torch.tensor(tokenizer.encode("Der Hund"))) == "Der Hund"
    assert tokenizer.decode(tokenizer.encode("日")[:-1]).replace("\ufffd", "") == ""


def test_encode_refuses_a_lone_surrogate(tokenizer):
    with pytest.raises(InputError, match=r"lone surrogate U\+D800"):
        tokenizer.encode("Hund\ud800")
    with pytest.raises(InputError, match=r"lone surrogate U\+DFFF"):
        tokenizer.encode_all(["Hund", "\udfff"])


def test_train_is_deterministic(tokenizer):
    assert train().to_bytes() == tokenizer.to_bytes()
    assert train(307).to_bytes() != tokenizer.to_bytes()


def test_train_reaches_the_asked_size_or_as_many_pieces_as_the_text_gives(tokenizer):
    assert tokenizer.vocab_size == 331
    small = Tokenizer.train(["ab ab"], 5_003)
    assert 4 + 256 < small.vocab_size < 300
    assert small.decode(small.encode("ganz anders")) == "ganz anders"


def test_train_learns_from_both_languages_and_merges_frequent_words(tokenizer):
    for text in ("dog", "Hund"):
        assert tokenizer.pieces(text) == [f"▁{text}"]


def test_train_reads_long_sentences_and_sentences_with_line_ends():
    tokenizer = Tokenizer.train(["Hund\nKatze " * 1_009], 300)
    assert tokenizer.pieces("Katze")[-1].endswith("Katze")


@pytest.mark.parametrize("sentences", [[], [""], ["", " \n"]])
def test_train_refuses_no_text(sentences):
    with pytest.raises(InputError, match="no text"):
        Tokenizer.train(sentences, 300)


def test_train_refuses_a_lone_surrogate():
    with pytest.raises(InputError, match=r"lone surrogate U\+D800: 'Katze"):
        Tokenizer.train(["Hund", "Katze\ud800"], 300)


def test_train_refuses_a_vocabulary_smaller_than_the_alphabet_and_names_the_least():
    with pytest.raises(InputError, match=r"vocab_size=263 .* at least 264"):
        Tokenizer.train(["abc cba"], 263)
    assert Tokenizer.train(["abc cba"], 264).vocab_size == 264


def test_save_and_load_give_the_same_tokenizer(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.model")
    loaded = Tokenizer.load(tmp_path / "tokenizer.model")
    assert loaded.to_bytes() == tokenizer.to_bytes() == Tokenizer.from_bytes(tokenizer.to_bytes()).to_bytes()
    assert loaded.encode(GERMAN[3]) == tokenizer.encode(GERMAN[3])


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"no model", lambda model: model[:1_009]])
def test_load_refuses_a_damaged_file_by_name(tokenizer, tmp_path, damage):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(damage(tokenizer.to_bytes()))
    with pytest.raises(InputError, match=r"tokenizer\.model is not a SentencePiece model"):
        Tokenizer.load(path)


def test_load_refuses_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"absent\.model"):
        Tokenizer.load(tmp_path / "absent.model")


@pytest.mark.parametrize(
    "settings",
    [{"pad_id": -1}, {"remove_extra_whitespaces": True}, {"normalization_rule_name": "nmt_nfkc"}],
    ids=["ids", "white space", "normalization"],
)
def test_from_bytes_refuses_a_model_with_other_settings(settings):
    import io

    import sentencepiece

    model = io.BytesIO()
    ours = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "normalization_rule_name": "identity"}
    ours |= {"remove_extra_whitespaces": False, "add_dummy_prefix": False, "byte_fallback": True}
    ours |= {"model_type": "bpe", "vocab_size": 307, "hard_vocab_limit": False, "minloglevel": 2}

    def train_with(options):
        model.seek(0)
        model.truncate()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(ENGLISH * 7), model_writer=model, **options)
        return model.getvalue()

    assert Tokenizer.from_bytes(train_with(ours)).vocab_size > 260
    with pytest.raises(InputError, match=r"was not trained by Tokenizer\.train"):
        Tokenizer.from_bytes(train_with(ours | settings))


def test_word_spans_split_punctuation_off_the_ends_of_words():
    text = '  She said: "Don\'t go (well-known), 1,250 €5..."  '
    words = ["She", "said", ":", '"', "Don't", "go", "(", "well-known", ")", ",", "1,250", "€", "5", ".", ".", ".", '"']
    assert [text[start:end] for start, end in word_spans(text)] == words
    assert word_spans("") == word_spans(" \n") == []
    assert word_spans("cafe\u0301.") == [(0, 5), (5, 6)]


@given(text=st.text(characters))
def test_word_spans_cover_all_but_white_space_in_order_without_overlap(text):
    spans = word_spans(text)
    covered = [index for start, end in spans for index in range(start, end)]
    assert covered == [index for index, character in enumerate(text) if not character.isspace()]
    for start, end in spans:
        ends = [unicodedata.category(text[index])[0] in "PS" for index in (start, end - 1)]
        assert end - start == 1 or not any(ends)


def test_piece_to_word_matches_pieces_with_words(tokenizer):
    text = "  Der Hund,  der nicht schläft: „zwölf日“ "
    words = [text[start:end] for start, end in word_spans(text)]
    assert words == ["Der", "Hund", ",", "der", "nicht", "schläft", ":", "„", "zwölf日", "“"]
    ids_of_word = [[] for _ in words]
    for index, word in zip(tokenizer.encode(text), tokenizer.piece_to_word(text), strict=True):
        ids_of_word[word].append(index)
    assert [tokenizer.decode(ids).strip() for ids in ids_of_word] == words


@settings(deadline=None)
@given(text=st.text(characters))
def test_piece_to_word_goes_up_through_every_word_that_begins_a_piece(tokenizer, text):
    owners = tokenizer.piece_to_word(text)
    assert len(owners) == len(tokenizer.encode(text))
    assert owners == sorted(owners)
    assert all(0 <= word < max(1, len(word_spans(text))) for word in owners)


def test_words_are_those_that_pieces_begin_in(tokenizer):
    text = "The old dog, which barks."
    words, owners = tokenizer.words(text)
    assert words == ["The", "old", "dog", ",", "which", "barks", "."]
    assert owners == tokenizer.piece_to_word(text)
    assert tokenizer.words("") == ([], [])


def test_words_that_share_a_piece_are_one():
    tokenizer = Tokenizer.train(["Wait...", "No... yes..."] * 9, 280)
    assert "..." in tokenizer.pieces("Wait...")
    words, owners = tokenizer.words("Wait... no")
    assert words == ["Wait", "...", "no"]
    assert sorted(set(owners)) == list(range(len(words)))


@settings(deadline=None)
@given(text=st.text(characters))
def test_words_and_their_pieces_leave_no_gap(tokenizer, text):
    words, owners = tokenizer.words(text.strip())
    assert sorted(set(owners)) == list(range(len(words)))
