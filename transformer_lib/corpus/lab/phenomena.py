"""Scoring translations by phenomenon: which points of which sentences came out right."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from transformer_lib.corpus.files import InputError
from transformer_lib.corpus.lab.example import LabExample

PHENOMENA = ("antecedent", "case", "verb-position", "separable", "negation", "agreement")

_WORD = re.compile(r"\w+|[^\w\s]")


def score_phenomena(examples: Sequence[LabExample], hypotheses: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each phenomenon, how many of its cases ``hypotheses`` get right, and how many there are.

    A case is right when each of its words stands in the hypothesis where it stands in the reference: at the same
    index if both have the same number of words, otherwise at the place a longest-matching-blocks alignment of the two
    word sequences gives it. Words are compared with their capitals, except the first of the sentence. For
    ``verb-position`` the words are the finite verb and the rest of its bracket, so a verb of the right form in the
    wrong place is wrong.

    Raises:
        ValueError: the numbers of examples and hypotheses differ.

    """
    if len(examples) != len(hypotheses):
        raise InputError(f"{len(hypotheses)} hypotheses for {len(examples)} examples: expected one for each")
    right, total = dict.fromkeys(PHENOMENA, 0), dict.fromkeys(PHENOMENA, 0)
    for example, hypothesis in zip(examples, hypotheses, strict=True):
        matched = _matched_words(example.target_words(), _WORD.findall(hypothesis))
        for case in example.cases:
            total[case.phenomenon] += 1
            right[case.phenomenon] += matched.issuperset(case.words)
    return {name: (right[name], total[name]) for name in PHENOMENA}


def _matched_words(reference: list[str], hypothesis: list[str]) -> set[int]:
    """Indices of the reference words that the hypothesis has in their place."""
    reference, hypothesis = _uncapitalized(reference), _uncapitalized(hypothesis)
    if len(reference) == len(hypothesis):
        return {index for index, pair in enumerate(zip(reference, hypothesis, strict=True)) if pair[0] == pair[1]}
    blocks = SequenceMatcher(None, reference, hypothesis, autojunk=False).get_matching_blocks()
    return {block.a + offset for block in blocks for offset in range(block.size)}


def _uncapitalized(words: list[str]) -> list[str]:
    return [words[0].lower(), *words[1:]] if words else words
