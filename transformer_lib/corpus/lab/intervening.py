"""Relative clauses and prepositional phrases, which stand between a subject and its verb."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.parts import copula_tense, plain_tense, somebody, stated
from transformer_lib.corpus.lab.phrases import NounPhrase, relative_pronoun, with_phrase
from transformer_lib.corpus.lab.sentences import with_relative
from transformer_lib.corpus.lab.writer import ANIMATE, Writer


def with_subject_relative(w: Writer, phrase: NounPhrase) -> NounPhrase:
    """``phrase`` with *who sees the dog* or *that sleeps*."""
    relative = relative_pronoun(w.draft, phrase, "nom")
    frame = w.pick(("none", "acc", "acc", "dat"))
    frame = frame if w.words.verbs_for_subject[phrase.noun, frame] else "none"
    tense = plain_tense(w)
    clause = w.clause(frame, subject=relative, tense=tense, negate=w.chance(0.1), adverb=False, place=False,
                      style="specific")  # fmt: skip
    return with_relative(w.draft, phrase, clause, relative)


def with_object_relative(w: Writer, phrase: NounPhrase) -> NounPhrase | None:
    """``phrase`` with *that the woman buys*."""
    candidates = w.words.verbs_for_object[phrase.noun]
    verb = w.partner(candidates)
    if verb is None or verb.frame != "acc":
        return None
    relative = relative_pronoun(w.draft, phrase, "acc")
    clause = w.clause(
        verb=verb, subject=somebody(w), tense=plain_tense(w), negate=w.chance(0.1), adverb=False, place=False,
        objects=False,
    )  # fmt: skip
    return with_relative(w.draft, phrase, clause, relative)


def _about(w: Writer, subject: NounPhrase) -> Clause | None:
    """A short clause about ``subject``: a verb without object, or an adjective if it has none yet."""
    if "(JJ" not in subject.english.tree and (not w.words.verbs_for_subject[subject.noun, "none"] or w.chance(0.4)):
        return w.description(subject, copula_tense(w), negate=w.chance(0.1))
    if not w.words.verbs_for_subject[subject.noun, "none"]:
        return None
    return w.clause("none", subject=subject, negate=w.chance(0.1), adverb=False, place=w.chance(0.2))


def subject_relative(w: Writer) -> bool:
    """*The dog that sees the cats is tired.*"""
    noun = w.noun("acting")
    return stated(w, _about(w, with_subject_relative(w, w.phrase(noun, "nom", "specific", bare=w.chance(0.5)))))


def object_relative(w: Writer) -> bool:
    """*The book that the woman buys is old.*"""
    noun = w.noun("no person")
    subject = with_object_relative(w, w.phrase(noun, "nom", "specific", bare=True))
    return subject is not None and stated(w, _about(w, subject))


def relative_object(w: Writer) -> bool:
    """*The man knows the woman who feeds the dogs.*"""
    verb = w.verb("acc")
    if verb.prefix:
        return False
    clause = w.clause(verb=verb, tense="present", negate=False, adverb=False, place=False, objects=False)
    noun = w.object_noun(clause)
    phrase = w.phrase(noun, "acc", "specific", bare=True)
    acts = noun.tags & {"person", "animal"} and w.chance(0.6)
    phrase = with_subject_relative(w, phrase) if acts else with_object_relative(w, phrase)
    if phrase is None or (not acts and "person" in noun.tags):
        return False
    clause.objects.append(phrase)
    return stated(w, clause)


def attractor(w: Writer) -> bool:
    """*The dog near the houses sleeps.*"""
    return stated(w, _about(w, _with_place(w)))


def _with_place(w: Writer) -> NounPhrase:
    """A subject with a prepositional phrase of the other number more often than not."""
    noun = w.noun("acting" if w.chance(0.7) else "portable")
    acts = bool(noun.tags & ANIMATE)
    subject = w.phrase(noun, "nom", "specific", bare=not acts or w.chance(0.6))
    company = "person" in noun.tags and w.chance(0.4)
    preposition = w.pick(w.prepositions("company" if company else "place"))
    return with_phrase(subject, w.prepositional(preposition, bare=w.chance(0.6)))
