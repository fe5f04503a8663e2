"""Sentences with *it*."""

# *It* is unambiguous by design: its antecedent is the one noun phrase before it that is singular and no person.

from transformer_lib.corpus.lab.antecedents import is_only_candidate
from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.parts import dependent_tense, same_subject, somebody, stated
from transformer_lib.corpus.lab.phrases import NounPhrase, referring_pronoun
from transformer_lib.corpus.lab.sentences import close, coordinated, fronted, main_clause, subordinate
from transformer_lib.corpus.lab.writer import REASONS, Writer


def introducing_it(w: Writer, bare: bool = False) -> tuple[Clause, NounPhrase] | None:
    """A clause in which one phrase alone can be *it*, and that phrase, ``bare`` of an adjective if wanted."""
    if w.chance(0.25):
        return _animal_subject(w, bare)
    verb = w.verb("acc")
    clause = w.clause(verb=verb, adverb=False, place=False, objects=False, negate=False, style="specific")
    noun = w.object_noun(clause)
    if "person" in noun.tags:
        return None
    clause.objects.append(w.phrase(noun, "acc", "specific", plural=False, bare=bare))
    found = clause.objects[0]
    return (clause, found) if is_only_candidate(found, clause) else None


def _animal_subject(w: Writer, bare: bool) -> tuple[Clause, NounPhrase]:
    animal = w.noun("animal")
    subject = w.phrase(animal, "nom", "specific", plural=False, bare=bare)
    return w.clause("none", subject=subject, adverb=False, negate=False, place=False), subject


def it_described(w: Writer) -> bool:
    """*The woman buys the lamp because it is cheap.*"""
    return stated(w, explained_by_it(w))


def explained_by_it(w: Writer) -> Clause | None:
    """*The woman buys the lamp because it is cheap*; the lamp has no adjective that this could contradict."""
    found = introducing_it(w, bare=True)
    if found is None:
        return None
    clause, antecedent = found
    dependent = w.description(referring_pronoun(w.draft, antecedent, "nom"), dependent_tense(clause))
    if dependent is None:
        return None
    clause.complement = subordinate(w.draft, w.pick(REASONS), dependent)
    return clause


def it_acted_on(w: Writer) -> bool:
    """*The woman finds the lamp and the man repairs it.*, *... because the man needs it.*"""
    found = introducing_it(w)
    if found is None:
        return False
    clause, antecedent = found
    second = _acting_on(w, antecedent, dependent_tense(clause), negate=None)
    if second is None or second.verb is clause.verb or same_subject(clause, second):
        return False
    if w.chance(0.5):
        clause.complement = subordinate(w.draft, w.pick(REASONS), second)
        return stated(w, clause)
    close(w.draft, coordinated(w.draft, main_clause(w.draft, clause), main_clause(w.draft, second)))
    return True


def _acting_on(
    w: Writer, antecedent: NounPhrase, tense: str, negate: bool | None, subject: NounPhrase | None = None
) -> Clause | None:
    """Somebody does something to *it*."""
    verb = w.partner(w.words.verbs_for_object[antecedent.noun])
    if verb is None:
        return None
    subject = subject or somebody(w)
    pronoun = referring_pronoun(w.draft, antecedent, verb.frame)
    clause = w.clause(verb=verb, subject=subject, tense=tense, negate=negate, adverb=False, place=False, objects=False)
    clause.objects.append(pronoun)
    return clause


def it_condition(w: Writer) -> bool:
    """*If the apple is sour, we sell it.*"""
    noun = w.noun("no person")
    antecedent = w.phrase(noun, "nom", "known", plural=False, bare=True)
    condition = w.description(antecedent, negate=w.chance(0.15))
    consequence = _acting_on(w, antecedent, "present", negate=None, subject=w.pronoun())
    if condition is None or consequence is None:
        return False
    front = subordinate(w.draft, "if", condition, comma=False)
    close(w.draft, fronted(w.draft, front, consequence, comma=True))
    return True
