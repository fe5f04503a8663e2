"""BLEU in the two forms that published results use (paper section 6.1): cased, and tokenized and lower-cased."""

from collections.abc import Sequence

from transformer_lib.corpus.files import InputError


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
    """Cased sacreBLEU of plain text, with its standard ``13a`` tokenization.

    Args:
        hypotheses: one translation for each sentence, detokenized.
        references: one reference for each sentence, detokenized.

    Returns:
        the score from 0 to 100 and sacreBLEU's signature, which says how it was computed.

    Raises:
        InputError: the two differ in length, or are empty.

    """
    return _corpus_bleu(hypotheses, references, tokenize="13a")


def tokenized_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> tuple[float, str]:
    """BLEU of lower-cased, normalized, Moses-tokenized text, as published results on Multi30k count it.

    Both sides go through `moses_tokenize` as plain text, and sacreBLEU counts the tokens as they are. The score is
    comparable only with others of the same protocol: it is usually higher than the cased one.

    Args:
        hypotheses: one translation for each sentence, detokenized.
        references: one reference for each sentence, detokenized.
        language: code of the target language, such as ``"de"``.

    Returns:
        the score from 0 to 100 and sacreBLEU's signature.

    Raises:
        InputError: the two differ in length, or are empty.

    """
    _check_lengths(hypotheses, references)
    tokenized = [moses_tokenize(side, language) for side in (hypotheses, references)]
    return _corpus_bleu(*tokenized, tokenize="none")


def moses_tokenize(sentences: Sequence[str], language: str) -> list[str]:
    """Lower-case, normalize punctuation, tokenize: the three Moses steps, in this order, tokens joined by spaces.

    The result equals Multi30k's own ``.lc.norm.tok`` files. The Moses scripts read lines with their end, and one rule
    for quotation marks looks at the character after them, so each sentence is normalized with its line end.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer = MosesPunctNormalizer(lang=language)
    tokenizer = MosesTokenizer(lang=language)
    normalized = (normalizer.normalize(f"{sentence.lower()}\n") for sentence in sentences)
    return [tokenizer.tokenize(sentence, return_str=True) for sentence in normalized]


def _corpus_bleu(hypotheses: Sequence[str], references: Sequence[str], tokenize: str) -> tuple[float, str]:
    from sacrebleu.metrics import BLEU

    _check_lengths(hypotheses, references)
    is_tokenized = tokenize == "none"  # then the text is lower-case already, and lowercase=True only says so
    metric = BLEU(tokenize=tokenize, lowercase=is_tokenized, force=is_tokenized)  # force: no warning about the tokens
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return score, str(metric.get_signature())


def _check_lengths(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise InputError(
            f"BLEU needs one reference a hypothesis: {len(hypotheses)} hypotheses, {len(references)} references"
        )
    if not hypotheses:
        raise InputError("BLEU of no sentences is not defined: no hypotheses and no references")
