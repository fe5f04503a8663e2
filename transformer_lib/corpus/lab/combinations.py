"""Which words go together, and which of these combinations stay out of training."""

# A combination (adjective with noun, verb with object) is *reserved* by a hash of its English words: the choice is the
# same for every seed. Training, dev and test use the others only; each compositional sentence has a reserved one.

import zlib
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from transformer_lib.corpus.lab.lexicon import Adjective, Lexicon, Noun, Verb, load_lexicon

RESERVED_ONE_IN = 12


class Partners(NamedTuple):
    """The words that go with a word: those met in training, and the reserved ones."""

    trained: tuple
    reserved: tuple


class Combinations(NamedTuple):
    """Partners of every word of a lexicon, verbs by frame, and groups of nouns."""

    adjectives: dict[Noun, Partners]
    objects: dict[Verb, Partners]
    verbs_for_object: dict[Noun, Partners]
    subjects: dict[Verb, tuple[Noun, ...]]
    verbs_for_subject: dict[tuple[Noun, str], tuple[Verb, ...]]
    verbs: dict[str, tuple[Verb, ...]]
    groups: dict[str, tuple[Noun, ...]]


@cache
def combinations(variant: str) -> Combinations:
    """The combinations of the lexicon of ``variant``."""
    lexicon = load_lexicon(variant)
    frames = {verb.frame for verb in lexicon.verbs}
    adjectives = {
        noun: _partners((a, adjective_noun_key(a, noun)) for a in lexicon.adjectives if a.modifies & noun.tags)
        for noun in lexicon.nouns
    }
    return Combinations(
        adjectives=adjectives,
        objects={
            verb: _partners((noun, verb_object_key(verb, noun)) for noun in lexicon.nouns if verb.object & noun.tags)
            for verb in lexicon.verbs
        },
        verbs_for_object={noun: _verbs_for_object(lexicon, noun) for noun in lexicon.nouns},
        subjects={verb: tuple(n for n in lexicon.nouns if verb.subject & n.tags) for verb in lexicon.verbs},
        verbs_for_subject={
            (noun, frame): tuple(v for v in lexicon.verbs if v.frame == frame and v.subject & noun.tags)
            for noun in lexicon.nouns
            for frame in frames
        },
        verbs={frame: tuple(verb for verb in lexicon.verbs if verb.frame == frame) for frame in frames},
        groups={name: tuple(noun for noun in lexicon.nouns if suits(noun.tags)) for name, suits in _GROUPS.items()},
    )


_GROUPS = {
    "any": lambda tags: True,
    "person": lambda tags: "person" in tags,
    "animal": lambda tags: "animal" in tags,
    "acting": lambda tags: bool(tags & {"person", "animal"}),
    "no person": lambda tags: "person" not in tags,
    "portable": lambda tags: "portable" in tags,
}


def is_reserved(combination: str) -> bool:
    """Whether a combination, written as :func:`adjective_noun_key` or :func:`verb_object_key` does, is reserved."""
    return zlib.crc32(combination.encode()) % RESERVED_ONE_IN == 0


def adjective_noun_key(adjective: Adjective, noun: Noun) -> str:
    """For example ``red apple``."""
    return f"{adjective.english} {noun.english[0]}"


def verb_object_key(verb: Verb, noun: Noun) -> str:
    """For example ``look for apple``."""
    return " ".join([word for word in (verb.english[0], verb.particle, noun.english[0]) if word])


def _verbs_for_object(lexicon: Lexicon, noun: Noun) -> Partners:
    verbs = [v for v in lexicon.verbs if v.frame in ("acc", "dat") and v.object & noun.tags and "person" in v.subject]
    return _partners((verb, verb_object_key(verb, noun)) for verb in verbs)


def _partners(keyed: Iterable[tuple[object, str]]) -> Partners:
    trained, reserved = [], []
    for word, key in keyed:
        (reserved if is_reserved(key) else trained).append(word)
    return Partners(tuple(trained), tuple(reserved))
