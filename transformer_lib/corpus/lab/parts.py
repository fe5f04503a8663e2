"""Parts that several constructions share."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.german import MODALS
from transformer_lib.corpus.lab.phrases import NounPhrase
from transformer_lib.corpus.lab.sentences import close, main_clause
from transformer_lib.corpus.lab.writer import Writer


def definite_subject(w: Writer) -> NounPhrase:
    """A definite subject without adjective, for a predicate that must not repeat or contradict it."""
    return w.phrase(w.noun("any"), "nom", "known", bare=True)


def copula_tense(w: Writer) -> str:
    """Present, or past where the variant has a past."""
    return "past" if "past" in w.profile.tenses and w.chance(0.3) else "present"


def plain_tense(w: Writer) -> str:
    """A tense without modal verb."""
    tense = w.pick(w.profile.tenses)
    return "present" if tense in MODALS else tense


def somebody(w: Writer) -> NounPhrase:
    """A person as subject."""
    if w.chance(0.4):
        return w.pronoun()
    return w.phrase(w.receiver(), "nom", "known", bare=w.chance(0.5))


def stated(w: Writer, clause: Clause | None) -> bool:
    """Finish the draft with ``clause`` as a statement; False if there is none."""
    if clause is None:
        return False
    close(w.draft, main_clause(w.draft, clause))
    return True


def dependent_tense(clause: Clause) -> str:
    """The tense of a clause that depends on ``clause``."""
    return "past" if clause.tense == "past" else "present"


def same_subject(first: Clause, second: Clause) -> bool:
    """Whether the subjects of two clauses are the same noun, so that the sentence would repeat it."""
    return first.subject.noun is not None and first.subject.noun is second.subject.noun
