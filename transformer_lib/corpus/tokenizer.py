"""The tokenizer: one SentencePiece BPE vocabulary for both languages, lossless on any text (paper section 5.1)."""

import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, Self

import sentencepiece

from transformer_lib.corpus.files import InputError, read_bytes, write_atomically

SPACE_MARK = "▁"  # U+2581, which SentencePiece writes for a space inside its pieces
_NUM_RESERVED = 4 + 256  # pad, unk, bos, eos, and one piece for each byte
_PROBE = f"  a\t{SPACE_MARK} \n\U0010fffd\0 "


class Tokenizer:
    """Text to piece ids and back: ``decode(encode(text)) == text`` for every string that UTF-8 can hold.

    Three settings make it lossless. Text is not normalized and all its white space is kept. A character outside the
    vocabulary falls back to its UTF-8 bytes, each a piece such as ``<0xC3>``. And SentencePiece's own mark for a
    space, U+2581, always goes in as its three bytes when it stands in the text, since its piece means a space.

    The first word is encoded as if a space came before it, so that it shares its pieces with the same word further on.
    The space is put in and taken out here; to use the model file without this class, put a space before the text.
    """

    pad_id: ClassVar[int] = 0
    unk_id: ClassVar[int] = 1
    bos_id: ClassVar[int] = 2
    eos_id: ClassVar[int] = 3

    def __init__(self, model: bytes) -> None:
        """Wrap a trained SentencePiece model; see `train`, `load` and `from_bytes`."""
        self._model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self._space_mark_ids = [self._processor.piece_to_id(f"<0x{byte:02X}>") for byte in SPACE_MARK.encode()]

    @classmethod
    def train(cls, sentences: Iterable[str], vocab_size: int) -> Self:
        """Learn a vocabulary of at most ``vocab_size`` pieces from sentences of both languages.

        The same sentences in the same order give the same bytes. Text with too little to merge gives fewer pieces.

        Raises:
            InputError: there is no text, it holds a lone surrogate, or its characters alone need more than
                ``vocab_size`` pieces.

        """
        sentences = [sentence for sentence in sentences if sentence and not sentence.isspace()]
        _check_trainable(sentences, vocab_size)
        encoded = [_utf8(f" {sentence}") for sentence in sentences]
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(encoded),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            pad_id=cls.pad_id,
            unk_id=cls.unk_id,
            bos_id=cls.bos_id,
            eos_id=cls.eos_id,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
            byte_fallback=True,
            character_coverage=1.0,
            max_sentence_length=1 << 24,
            num_threads=1,
            minloglevel=2,
        )
        return cls(model.getvalue())

    @classmethod
    def from_bytes(cls, model: bytes, name: str | Path = "the tokenizer") -> Self:
        """Tokenizer of a model that `to_bytes` gave; ``name`` is what an error calls it.

        Raises:
            InputError: the bytes are no SentencePiece model, or one with other settings than this class needs.

        """
        try:
            tokenizer = cls(model or b"empty")  # an empty proto parses, and then every call prints a complaint
            lossless = tokenizer.decode(tokenizer.encode(_PROBE)) == _PROBE
        except (RuntimeError, IndexError, TypeError) as error:
            raise InputError(f"{name} is not a SentencePiece model, or is damaged") from error
        processor = tokenizer._processor
        ids = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if ids != (cls.pad_id, cls.unk_id, cls.bos_id, cls.eos_id) or not lossless:
            raise InputError(
                f"{name} was not trained by Tokenizer.train: expected pad, unk, bos, eos = 0, 1, 2, 3 and a lossless "
                f"vocabulary, found {ids} and {'a lossless' if lossless else 'a lossy'} one"
            )
        return tokenizer

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Tokenizer of a file that `save` wrote. Raises `InputError` as `from_bytes` does, or if it cannot be read."""
        return cls.from_bytes(read_bytes(path), path)

    def save(self, path: str | Path) -> None:
        """Write the model to ``path`` atomically."""
        write_atomically(path, self._model)

    def to_bytes(self) -> bytes:
        """Return the SentencePiece model, as `save` writes it."""
        return self._model

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the four special ones included: ids run from 0 to ``vocab_size - 1``."""
        return self._processor.vocab_size()

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of ``text``, without bos and eos; none for an empty text.

        Raises:
            InputError: the text holds a lone surrogate, which is not a character.

        """
        if not text:
            return []
        first, *others = f" {text}".split(SPACE_MARK)
        ids = self._processor.encode(_utf8(first))
        for part in others:
            ids += self._space_mark_ids + self._processor.encode(_utf8(part))
        return ids

    def encode_all(self, texts: Sequence[str], num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts at once, on ``num_threads`` threads (-1: one for each core)."""
        encoded = self._processor.encode([_utf8(f" {text}" if text else "") for text in texts], num_threads=num_threads)
        for index, text in enumerate(texts):
            if SPACE_MARK in text:
                encoded[index] = self.encode(text)
        return encoded

    def decode(self, ids: Iterable[int]) -> str:
        """Text of ``ids``; pad, bos and eos are left out. Bytes that are not UTF-8 become U+FFFD."""
        special = (self.pad_id, self.bos_id, self.eos_id)
        text = self._processor.decode([int(index) for index in ids if index not in special])
        return text.removeprefix(" ")

    def pieces(self, text: str) -> list[str]:
        """Pieces of ``text`` as they stand in the vocabulary: a space is ``▁``, a byte is ``<0x..>``."""
        return self.pieces_of(self.encode(text))

    def pieces_of(self, ids: Iterable[int]) -> list[str]:
        """Pieces that ``ids`` stand for, as they stand in the vocabulary; eos is ``</s>``."""
        return self._processor.id_to_piece([int(index) for index in ids])

    def piece_to_word(self, text: str) -> list[int]:
        """For each piece of ``text``, the index in `word_spans` of the word that it belongs to.

        A piece belongs to the word where it begins, and white space to the word after it, or else to the last.
        In a text without words, all pieces count as word 0.
        """
        sizes = [self._num_bytes(index) for index in self.encode(text)]
        owner = _word_of_each_byte(f" {text}")
        return [owner[start] for _, start in zip(sizes, accumulate(sizes, initial=0), strict=False)]

    def words(self, text: str) -> tuple[list[str], list[int]]:
        """The words of ``text``, and for each piece the number of its word among them.

        Words in which no piece begins, such as the second dot of a piece ``...``, are put to the word before.
        """
        owners, spans = self.piece_to_word(text), word_spans(text)
        first = sorted(set(owners))
        following = [*first[1:], len(spans)]
        words = [text[spans[word][0] : spans[after - 1][1]] for word, after in zip(first, following, strict=False)]
        return words, [first.index(owner) for owner in owners]

    def _num_bytes(self, index: int) -> int:
        """Bytes of the text that piece ``index`` stands for."""
        if self._processor.is_byte(index):
            return 1
        return len(self._processor.id_to_piece(index).replace(SPACE_MARK, " ").encode("utf-8"))


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of ``text``, in order: ``[(start, end), ...]``.

    A word is a run of characters without white space. Punctuation and symbols at either end of it are words of their
    own, one for each character; inside it (``don't``, ``well-known``) they are part of it.
    """
    spans = []
    for run in re.finditer(r"\S+", text):
        start, end = run.span()
        kept = [index for index in range(start, end) if unicodedata.category(text[index])[0] not in "PS"]
        core_start, core_end = (kept[0], kept[-1] + 1) if kept else (end, end)
        spans += [(index, index + 1) for index in range(start, core_start)]
        spans += [(core_start, core_end)] if kept else []
        spans += [(index, index + 1) for index in range(core_end, end)]
    return spans


def _word_of_each_byte(text: str) -> list[int]:
    """For each byte of ``text`` in UTF-8, the index of its word; white space goes with the word that follows."""
    spans = word_spans(text)
    owner, word = [], 0
    for index, character in enumerate(text):
        while word + 1 < len(spans) and index >= spans[word][1]:
            word += 1
        owner += [word] * len(character.encode("utf-8"))
    return owner


def _check_trainable(sentences: list[str], vocab_size: int) -> None:
    if not sentences:
        raise InputError("cannot train a tokenizer on no text: every sentence is empty or white space")
    alphabet = set().union(*sentences) - {" "} | {SPACE_MARK}
    if vocab_size < _NUM_RESERVED + len(alphabet):
        raise InputError(
            f"vocab_size={vocab_size} is too small for this text: {_NUM_RESERVED} special and byte pieces and its "
            f"{len(alphabet)} different characters need at least {_NUM_RESERVED + len(alphabet)}"
        )


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        surrogate = f"U+{ord(text[error.start]):04X}"
        raise InputError(
            f"text cannot be encoded as UTF-8: it holds the lone surrogate {surrogate}: {text.strip()!r}"
        ) from error
