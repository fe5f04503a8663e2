"""Questions."""

from transformer_lib.corpus.lab.draft import join, leaf
from transformer_lib.corpus.lab.parts import copula_tense, definite_subject, plain_tense
from transformer_lib.corpus.lab.phrases import THIRD, NounPhrase
from transformer_lib.corpus.lab.sentences import close, opened_question, question, subject_question
from transformer_lib.corpus.lab.writer import STATIVE, Writer


def yes_no_question(w: Writer) -> bool:
    """*Does the dog sleep?* and *Is the dog tired?*"""
    if w.chance(0.2):
        clause = w.description(definite_subject(w), copula_tense(w))
    else:
        clause = w.clause(style="known", tense=plain_tense(w), adverb=False)
    if clause is None:
        return False
    close(w.draft, question(w.draft, clause), "?")
    return True


def adverb_question(w: Writer) -> bool:
    """*Where does the dog sleep?*, *when* and *why*."""
    word, german = w.pick((("where", "wo"), ("why", "warum"), ("when", "wann")))
    verb = w.verb(w.pick(w.profile.frames))
    if (word == "where" and "place" not in verb.features) or (word == "when" and verb.infinitive in STATIVE):
        return False
    negate = None if word == "why" else False
    clause = w.clause(verb=verb, tense=plain_tense(w), style="known", negate=negate, adverb=False, place=False)
    close(w.draft, opened_question(w.draft, "WRB", word, german, clause), "?")
    return True


def participant_question(w: Writer) -> bool:
    """*Who sees the dog?* and *What does the man buy?*"""
    if w.chance(0.5):
        return _who(w)
    verb = w.verb("acc")
    if verb.object <= {"person", "animal", "tame_animal", "wild_animal", "rideable"}:
        return False
    clause = w.clause(verb=verb, tense=plain_tense(w), style="known", negate=False, adverb=False, objects=False)
    close(w.draft, opened_question(w.draft, "WP", "what", "was", clause), "?")
    return True


def _who(w: Writer) -> bool:
    number = w.draft.word("wer")
    who = NounPhrase(join("WHNP", leaf("WP", "who", number)), [number], number, THIRD, True, None, None)
    frame = w.pick(w.profile.frames)
    clause = w.clause(frame, subject=who, tense=plain_tense(w), style="known", negate=False, adverb=False)
    close(w.draft, subject_question(w.draft, clause), "?")
    return True
