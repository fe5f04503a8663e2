"""Main clauses, and clauses that depend on them."""

from transformer_lib.corpus.lab.antecedents import is_only_candidate
from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.german import MODALS
from transformer_lib.corpus.lab.parts import copula_tense, definite_subject, dependent_tense, same_subject, stated
from transformer_lib.corpus.lab.phrases import referring_pronoun
from transformer_lib.corpus.lab.sentences import close, fronted, main_clause, subordinate
from transformer_lib.corpus.lab.writer import REASONS, Writer


def statement(w: Writer) -> bool:
    """*The man gave the woman a book.*"""
    close(w.draft, main_clause(w.draft, w.clause()))
    return True


def description(w: Writer) -> bool:
    """*The old house was not empty.*"""
    clause = w.description(definite_subject(w), copula_tense(w))
    return stated(w, clause)


def fronted_adverb(w: Writer) -> bool:
    """*Yesterday the dog slept.*"""
    clause = w.clause(adverb=False)
    kinds = ("time",) if clause.tense in MODALS or clause.negated else ("time", "time", "frequency")
    adverb = w.pick([adverb for adverb in w.adverbs(w.pick(kinds), clause.tense) if adverb.front])
    close(w.draft, fronted(w.draft, w.place_adverb(adverb), clause))
    return True


def fronted_place(w: Writer) -> bool:
    """*In the garden the dog slept.*"""
    verb = w.verb("none")
    if "place" not in verb.features:
        return False
    front = w.prepositional(w.pick(w.prepositions("place")))
    close(w.draft, fronted(w.draft, front, w.clause(verb=verb, place=False, adverb=False)))
    return True


def subordinate_clause(w: Writer) -> bool:
    """*The man laughs because he is happy.*, *... while the woman works.*"""
    clause = w.clause(adverb=False, negate=False, place=False)
    dependent = _about_subject(w, clause) if w.chance(0.5) else _about_another(w, clause)
    if dependent is None or (not dependent.subject.is_pronoun and same_subject(clause, dependent)):
        return False
    word = w.pick((*REASONS, "while")) if dependent.verb and not dependent.negated else w.pick(REASONS)
    clause.complement = subordinate(w.draft, word, dependent)
    return stated(w, clause)


def _about_subject(w: Writer, clause: Clause) -> Clause | None:
    """A clause about the subject of ``clause``: *he*, *she*, *they*, or *it* where nothing else could be meant."""
    subject = clause.subject
    if subject.noun is None or "(JJ" in subject.english.tree or not is_only_candidate(subject, clause):
        return None
    pronoun = referring_pronoun(w.draft, subject, "nom")
    return w.description(pronoun, dependent_tense(clause))


def _about_another(w: Writer, clause: Clause) -> Clause:
    frame = w.pick(("none", "none", "acc"))
    return w.clause(frame, tense=dependent_tense(clause), adverb=False, style="specific")


def reported(w: Writer) -> bool:
    """*The man says that the dog is tired.*"""
    if w.chance(0.3):
        dependent = w.description(definite_subject(w), copula_tense(w))
    else:
        dependent = w.clause(style="specific", adverb=False, place=False)
    if dependent is None:
        return False
    close(w.draft, main_clause(w.draft, reporting(w, dependent)))
    return True


def reporting(w: Writer, dependent: Clause) -> Clause:
    """*Somebody says that* and ``dependent``; what was said in the past is past."""
    tense = "past" if dependent.tense == "past" and w.chance(0.5) else "present"
    clause = w.clause("dass", tense=tense, style="specific", negate=False, adverb=False, place=False)
    clause.complement = subordinate(w.draft, "that", dependent)
    return clause
