"""The constructions of the split *long*: clauses of the corpus, put together more deeply than training does."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.intervening import with_subject_relative
from transformer_lib.corpus.lab.it import explained_by_it
from transformer_lib.corpus.lab.parts import dependent_tense, stated
from transformer_lib.corpus.lab.sentences import close, coordinated, main_clause, subordinate
from transformer_lib.corpus.lab.statements import reporting
from transformer_lib.corpus.lab.writer import REASONS, Writer


def _rich(w: Writer, tense: str | None = None) -> Clause:
    """A clause with an object and, where the verb allows it, a place."""
    frame = w.pick([frame for frame in w.profile.frames if frame != "none"])
    return w.clause(frame, tense=tense, place=True, adverb=False, style="specific")


def _with_reason(w: Writer, clause: Clause) -> Clause:
    dependent = _rich(w, dependent_tense(clause))
    clause.complement = subordinate(w.draft, w.pick(REASONS), dependent)
    return clause


def long_reported(w: Writer) -> bool:
    """*The man says that the woman gives the child a book because the dog sees the cat.*"""
    close(w.draft, main_clause(w.draft, reporting(w, _with_reason(w, _rich(w)))))
    return True


def long_relative(w: Writer) -> bool:
    """*The dog that sees the cats follows the man although the woman calls the boy.*"""
    noun = w.noun("acting")
    subject = with_subject_relative(w, w.phrase(noun, "nom", "specific"))
    frame = w.pick([f for f in ("acc", "dat", "dat+acc") if w.words.verbs_for_subject[noun, f]])
    clause = w.clause(frame, subject=subject, place=True, adverb=False, negate=False, style="specific")
    return stated(w, _with_reason(w, clause))


def long_coordination(w: Writer) -> bool:
    """*The man buys the lamp in the city and the woman helps the boy because the girl needs a book.*"""
    first, second = main_clause(w.draft, _rich(w)), main_clause(w.draft, _with_reason(w, _rich(w)))
    close(w.draft, coordinated(w.draft, first, second))
    return True


def long_it(w: Writer) -> bool:
    """*The woman buys the lamp because it is cheap and the man gives the child a book in the city.*"""
    clause = explained_by_it(w)
    if clause is None:
        return False
    close(w.draft, coordinated(w.draft, main_clause(w.draft, clause), main_clause(w.draft, _rich(w))))
    return True
