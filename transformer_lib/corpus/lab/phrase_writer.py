"""Random choice of words that make sense together, in phrases."""

from collections.abc import Sequence
from functools import cache
from random import Random

from transformer_lib.corpus.lab.combinations import Combinations, Partners, combinations
from transformer_lib.corpus.lab.draft import Draft, join, leaf
from transformer_lib.corpus.lab.lexicon import Adjective, Adverb, Lexicon, Noun, Preposition, Verb, load_lexicon
from transformer_lib.corpus.lab.phrases import (
    NounPhrase,
    Prepositional,
    free_pronoun,
    noun_phrase,
    prepositional_phrase,
)
from transformer_lib.corpus.lab.profile import PROFILES, Profile


class PhraseWriter:
    """Chooses phrases for one draft after another, from one source of randomness.

    With ``use_reserved`` it also chooses combinations that are kept out of training, and counts them in the draft.
    """

    def __init__(self, variant: str, random: Random, use_reserved: bool = False) -> None:
        """A writer of ``variant`` with the numbers of ``random``."""
        self.lexicon: Lexicon = load_lexicon(variant)
        self.words: Combinations = combinations(variant)
        self.profile: Profile = PROFILES[variant]
        self.random = random.random
        self.use_reserved = use_reserved
        self.draft = Draft()
        self.variant = variant

    def chance(self, rate: float) -> bool:
        """True at ``rate``."""
        return self.random() < rate

    def pick(self, items: Sequence):
        """One of ``items``, each as likely."""
        return items[int(self.random() * len(items))]

    def partner(self, partners: Partners):
        """A word that goes with another; None if there is none."""
        reserved = partners.reserved if self.use_reserved else ()
        if reserved and (not partners.trained or self.chance(0.4)):
            self.draft.reserved += 1
            return self.pick(reserved)
        return self.pick(partners.trained) if partners.trained else None

    # Noun phrases

    def noun(self, group: str) -> Noun:
        """A noun of a group of :class:`Combinations`."""
        return self.pick(self.words.groups[group])

    def phrase(
        self, noun: Noun, case: str, style: str = "any", plural: bool | None = None, bare: bool = False
    ) -> NounPhrase:
        """A phrase of ``noun``; ``bare`` leaves the adjective out, ``style`` names the determiners of the profile."""
        plural = self.chance(self.profile.plural_rate) if plural is None else plural
        determiner = self.pick(self.profile.determiners[style][plural])
        if not determiner and case == "dat":  # "Er hilft Lehrern" is correct, and nobody says it
            determiner = "the"
        bare = bare or (case == "nom" and not determiner)
        return noun_phrase(self.draft, noun, plural, determiner, self._attribute(noun, bare), case)

    def _attribute(self, noun: Noun, bare: bool) -> Adjective | None:
        wanted = not bare and self.chance(self.profile.adjective_rate)
        return self.partner(self.words.adjectives[noun]) if wanted else None

    def kein_phrase(self, noun: Noun, case: str) -> NounPhrase:
        """An indefinite phrase inside a negated clause: *not ... a* is *kein*."""
        plural = self.chance(self.profile.plural_rate)
        attribute = self._attribute(noun, bare=False)
        return noun_phrase(self.draft, noun, plural, "" if plural else "a", attribute, case, negated=True)

    def subject(self, verb: Verb, style: str = "any") -> NounPhrase:
        """A subject that ``verb`` allows."""
        if "person" in verb.subject and self.chance(self.profile.pronoun_rate):
            return self.pronoun()
        return self.phrase(self.pick(self.words.subjects[verb]), "nom", style)

    def pronoun(self) -> NounPhrase:
        """A personal pronoun as subject."""
        return free_pronoun(self.draft, self.pick(self.profile.pronouns))

    # Places and adverbs

    def prepositional(self, preposition: Preposition, style: str = "specific", bare: bool = False) -> Prepositional:
        """``preposition`` with a noun that suits it."""
        noun = self.pick(nouns_with(self.variant, preposition.object))
        return prepositional_phrase(self.draft, preposition, self.phrase(noun, preposition.case, style, bare=bare))

    def prepositions(self, use: str) -> tuple[Preposition, ...]:
        """The prepositions of one use."""
        return prepositions_of(self.variant, use)

    def place(self, verb: Verb) -> Prepositional | None:
        """Where, where to or for whom, if ``verb`` allows one of these; otherwise None."""
        if "into" in verb.features and self.prepositions("direction"):
            return self.prepositional(self.pick(self.prepositions("direction")))
        if "for" in verb.features and self.prepositions("benefit"):
            return self.prepositional(self.pick(self.prepositions("benefit")), bare=True)
        return self.location(enclosing=verb.frame != "none") if "place" in verb.features else None

    def location(self, enclosing: bool) -> Prepositional:
        """A place; ``enclosing`` leaves only *in*."""
        adverbs = self.adverbs("place", "present")
        if adverbs and self.chance(0.2):
            return self.place_adverb(self.pick(adverbs))
        places = self.prepositions("place")
        return self.prepositional(places[0] if enclosing or self.chance(0.4) else self.pick(places))

    def place_adverb(self, adverb: Adverb) -> Prepositional:
        """An adverb that stands where a prepositional phrase could."""
        number = self.draft.word(adverb.german)
        return Prepositional(join("ADVP", leaf("RB", adverb.english, number)), [number])

    def adverbs(self, kind: str, tense: str) -> tuple[Adverb, ...]:
        """Adverbs of ``kind`` that agree with ``tense``; a modal verb counts as present."""
        return adverbs_of(self.variant, kind, "past" if tense == "past" else "present")


@cache
def nouns_with(variant: str, tags: frozenset[str]) -> tuple[Noun, ...]:
    """Nouns that carry one of ``tags``."""
    return tuple(noun for noun in load_lexicon(variant).nouns if noun.tags & tags)


@cache
def prepositions_of(variant: str, use: str) -> tuple[Preposition, ...]:
    """Prepositions of one use, in the order of the table."""
    return tuple(p for p in load_lexicon(variant).prepositions if p.use == use)


@cache
def adverbs_of(variant: str, kind: str, tense: str) -> tuple[Adverb, ...]:
    """Adverbs of ``kind`` that agree with ``tense``."""
    return tuple(a for a in load_lexicon(variant).adverbs if a.kind == kind and a.tense in ("any", tense))
