"""Whether a pronoun can mean one phrase only."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.phrases import THIRD, NounPhrase


def is_only_candidate(antecedent: NounPhrase, clause: Clause) -> bool:
    """Whether a pronoun for ``antecedent`` cannot mean another phrase of ``clause``."""
    if antecedent.article is not None and _is_quantified(antecedent):
        return False
    others = [phrase for phrase in (clause.subject, *clause.objects) if phrase is not antecedent]
    tags = antecedent.noun.tags
    if antecedent.person != THIRD:
        return all(other.person == THIRD for other in others)
    if "person" in tags:
        return bool(tags & {"he", "she"}) and not any(_pronoun_of(o) & tags & {"he", "she"} for o in others)
    return all(_is_plural_or_human(other) for other in others)


def _is_quantified(phrase: NounPhrase) -> bool:
    return "every)" in phrase.english.tree or "(DT no)" in phrase.english.tree


def _pronoun_of(phrase: NounPhrase) -> frozenset[str]:
    return phrase.noun.tags if phrase.noun else frozenset(("he", "she"))


def _is_plural_or_human(phrase: NounPhrase) -> bool:
    """Whether *it* cannot mean ``phrase``; a child or a girl could be *it* to some, so it counts as neither."""
    return phrase.person != THIRD or phrase.noun is None or (phrase.noun.gender != "n" and "person" in phrase.noun.tags)
