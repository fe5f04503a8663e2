"""Noun phrases, pronouns and prepositional phrases in both languages."""

from typing import NamedTuple

from transformer_lib.corpus.lab.draft import Draft, English, join, leaf
from transformer_lib.corpus.lab.german import CONTRACTIONS, DETERMINERS, RELATIVE, THIRD_PERSON
from transformer_lib.corpus.lab.lexicon import Adjective, Noun, Preposition

FIRST, THIRD, PLURAL = 0, 1, 2  # places in ``Verb.finite``

_TAGS = {"my": "PRP$", "our": "PRP$", "two": "CD", "three": "CD", "many": "JJ"}
_UNINFLECTED = ("two", "three", "")

# English pronoun -> (German nominative, person)
FREE_PRONOUNS = {
    "I": ("ich", FIRST),
    "we": ("wir", PLURAL),
    "he": ("er", THIRD),
    "she": ("sie", THIRD),
    "they": ("sie", PLURAL),
}


class NounPhrase(NamedTuple):
    """A noun phrase or pronoun: English side, German words in order, head word, and what a verb must agree with.

    ``article`` is the German article (or None), ``noun`` the lexicon entry (None for a pronoun without antecedent).
    """

    english: English
    german: list[int]
    head: int
    person: int
    is_pronoun: bool
    article: int | None
    noun: Noun | None


class Prepositional(NamedTuple):
    """A prepositional phrase or an adverb of place."""

    english: English
    german: list[int]


def slot_of(noun: Noun, plural: bool) -> str:
    """Row of the inflection tables."""
    return "p" if plural else noun.gender


def noun_phrase(
    draft: Draft,
    noun: Noun,
    plural: bool,
    determiner: str,
    adjective: Adjective | None,
    case: str,
    negated: bool = False,
) -> NounPhrase:
    """Build determiner, adjective and noun; ``negated`` makes *a* or no article of a negated clause *kein*."""
    forms, endings = DETERMINERS["no" if negated else determiner]
    place = (case, slot_of(noun, plural))
    article = draft.word(forms[place]) if forms[place] else None
    modifier = draft.word(adjective.stem + endings[place]) if adjective else None
    head = draft.word(getattr(noun, _NOUN_FORMS[case])[plural])
    draft.nouns.add(head)
    german = [number for number in (article, modifier, head) if number is not None]
    if modifier is not None or (article is not None and determiner not in _UNINFLECTED):
        draft.require("case", *german)
    if determiner == "no" or negated:
        draft.require("negation", article)
    english = _english_noun_phrase(noun, plural, determiner, adjective, (article, modifier, head))
    return NounPhrase(english, german, head, PLURAL if plural else THIRD, False, article, noun)


_NOUN_FORMS = {"nom": "nominative", "acc": "accusative", "dat": "dative"}


def _english_noun_phrase(noun, plural, determiner, adjective, numbers) -> English:
    article, modifier, head = numbers
    word = noun.english[plural]
    first = adjective.english if adjective else word
    if determiner == "a" and first[0] in "aeiou":
        determiner = "an"
    return join(
        "NP",
        leaf(_TAGS.get(determiner, "DT"), determiner, article) if determiner else None,
        leaf("JJ", adjective.english, modifier) if adjective else None,
        leaf("NNS" if plural else "NN", word, head),
    )


def free_pronoun(draft: Draft, word: str) -> NounPhrase:
    """A personal pronoun in the nominative."""
    german, person = FREE_PRONOUNS[word]
    number = draft.word(german)
    return NounPhrase(join("NP", leaf("PRP", word, number)), [number], number, person, True, None, None)


def referring_pronoun(draft: Draft, antecedent: NounPhrase, case: str) -> NounPhrase:
    """*He*, *she*, *it*, *they* or *them* for ``antecedent``, with German gender and number taken from it."""
    plural = antecedent.person == PLURAL
    number = draft.word(THIRD_PERSON[case, slot_of(antecedent.noun, plural)])
    word = _english_pronoun(antecedent.noun, plural, case)
    draft.antecedents.append((number, antecedent.head))
    if word == "it":
        draft.require("antecedent", number)
    english = join("NP", leaf("PRP", word, number))
    return NounPhrase(english, [number], number, antecedent.person, True, None, antecedent.noun)


def _english_pronoun(noun: Noun, plural: bool, case: str) -> str:
    if plural:
        return "they" if case == "nom" else "them"
    return "he" if "he" in noun.tags else "she" if "she" in noun.tags else "it"


def relative_pronoun(draft: Draft, antecedent: NounPhrase, case: str) -> NounPhrase:
    """*Who* or *that* and its German form; the English side is the WHNP."""
    plural = antecedent.person == PLURAL
    number = draft.word(RELATIVE[case, slot_of(antecedent.noun, plural)])
    draft.antecedents.append((number, antecedent.head))
    draft.require("case", number)
    word = leaf("WP", "who", number) if "person" in antecedent.noun.tags else leaf("WDT", "that", number)
    return NounPhrase(join("WHNP", word), [number], number, antecedent.person, True, None, antecedent.noun)


def prepositional_phrase(draft: Draft, preposition: Preposition, phrase: NounPhrase) -> Prepositional:
    """Preposition and noun phrase; *in dem* becomes *im*, one German word for two English ones."""
    article = phrase.article
    contraction = CONTRACTIONS.get((preposition.german, draft.forms[article])) if article is not None else None
    if contraction:
        draft.forms[article] = contraction
        number, german = article, phrase.german
    else:
        number = draft.word(preposition.german)
        german = [number, *phrase.german]
    words = [leaf("IN", word, number) for word in preposition.english.split()]
    return Prepositional(join("PP", *words, phrase.english), german)


def with_phrase(phrase: NounPhrase, modifier: Prepositional) -> NounPhrase:
    """A noun phrase with a prepositional phrase after its noun."""
    return phrase._replace(
        english=join("NP", phrase.english, modifier.english), german=[*phrase.german, *modifier.german]
    )
