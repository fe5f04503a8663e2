"""The two word orders of a clause: English, and German with the finite verb first, second or final."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.draft import Draft, English, join, leaf
from transformer_lib.corpus.lab.german import MODALS
from transformer_lib.corpus.lab.phrases import FIRST, PLURAL, THIRD


def german_clause(draft: Draft, clause: Clause, order: str, front: list[int] | None = None) -> list[int]:
    """German words of the clause with the finite verb ``second``, ``first`` or ``final``.

    ``front`` fills the place before a second verb; without it the subject does. In a final clause ``front`` is what
    introduces it, for example the relative pronoun.
    """
    subject, verbs = clause.subject.german, [clause.finite, *clause.ending]
    middle = _middle_field(clause)
    if order != "second" or front is not None or clause.ending:
        draft.require("verb-position", *verbs)
    after = clause.complement.german if clause.complement else []
    if order == "final":
        return [*(front or []), *subject, *middle, *clause.ending, clause.finite, *after]
    opening = [clause.finite, *subject] if order == "first" or front is not None else [*subject, clause.finite]
    return [*(front or []), *opening, *middle, *clause.ending, *after]


def _middle_field(clause: Clause) -> list[int]:
    """Pronouns, adverb, full objects, *nicht*, place, predicate: in this order."""
    words = [number for phrase in clause.objects if phrase.is_pronoun for number in phrase.german]
    if clause.adverb_word is not None:
        words.append(clause.adverb_word)
    words += [number for phrase in clause.objects if not phrase.is_pronoun for number in phrase.german]
    if clause.negated and clause.kein is None:
        words.append(clause.negation)
    if clause.place:
        words += clause.place.german
    if clause.predicate is not None:
        words.append(clause.predicate)
    return words


def english_clause(clause: Clause, with_subject: bool = True) -> English:
    """The declarative clause: ``S`` over subject, adverb of frequency and verb phrase."""
    frequency = _adverb(clause) if clause.adverb and clause.adverb.kind == "frequency" else None
    subject = clause.subject.english if with_subject else None
    return join("S", subject, frequency, _finite_phrase(clause))


def english_question(clause: Clause) -> English:
    """The clause as a question: ``SQ`` over the finite verb, the subject and the rest."""
    if clause.verb is None:
        return join("SQ", _copula(clause), clause.subject.english, _negation(clause), _predicate(clause))
    helper = _helper(clause)
    return join("SQ", helper, clause.subject.english, _negation(clause), _base_phrase(clause))


def _finite_phrase(clause: Clause) -> English:
    if clause.verb is None:
        complement = clause.complement.english if clause.complement else None
        return join("VP", _copula(clause), _negation(clause), _predicate(clause), complement)
    if clause.tense in MODALS:
        return _modal_phrase(clause)
    if clause.negated:
        return join("VP", _helper(clause), _negation(clause), _base_phrase(clause))
    base, third, past = clause.verb.english
    if clause.tense == "past":
        return _lexical_phrase(clause, "VBD", past, (clause.finite, *clause.content))
    form = (third, "VBZ") if clause.subject.person == THIRD else (base, "VBP")
    return _lexical_phrase(clause, form[1], form[0], clause.content + _own_prefix(clause))


def _modal_phrase(clause: Clause) -> English:
    if clause.tense == "want":
        form = ("wants", "VBZ") if clause.subject.person == THIRD else ("want", "VBP")
        infinitive = join("S", join("VP", leaf("TO", "to", *clause.content), _base_phrase(clause)))
        return join("VP", leaf(form[1], form[0], clause.finite), infinitive)
    if clause.negated:
        return join("VP", leaf("MD", "cannot", clause.finite, clause.negation), _base_phrase(clause))
    return join("VP", leaf("MD", clause.tense, clause.finite), _base_phrase(clause))


def _base_phrase(clause: Clause) -> English:
    return _lexical_phrase(clause, "VB", clause.verb.english[0], clause.content + _own_prefix(clause))


def _own_prefix(clause: Clause) -> tuple[int, ...]:
    """The German prefix translates the English verb unless an English particle does."""
    return () if clause.verb.particle else clause.prefix


def _lexical_phrase(clause: Clause, tag: str, form: str, links: tuple[int, ...]) -> English:
    verb, objects = clause.verb, [phrase.english for phrase in clause.objects]
    rest = [clause.place.english] if clause.place else []
    if clause.adverb and clause.adverb.kind != "frequency":
        rest.append(_adverb(clause))
    if clause.complement:
        rest.append(clause.complement.english)
    if verb.particle:
        objects = _with_particle(clause, objects)
    return join("VP", leaf(tag, form, *links), *objects, *rest)


def _with_particle(clause: Clause, objects: list[English]) -> list[English]:
    particle = clause.verb.particle
    numbers = clause.prefix or clause.content
    if clause.verb.particle_kind == "preposition":
        return [join("PP", leaf("IN", particle, *numbers), *objects)]
    word = join("PRT", leaf("RP", particle, *numbers))
    is_pronoun = any(phrase.is_pronoun for phrase in clause.objects)
    return [*objects, word] if is_pronoun else [word, *objects]


def _helper(clause: Clause) -> English:
    """*Do*, *does*, *did*, or the modal verb of a question."""
    if clause.tense in MODALS:
        return leaf("MD", clause.tense, clause.finite)
    if clause.tense == "past":
        return leaf("VBD", "did", clause.finite)
    return leaf("VBZ", "does", clause.finite) if clause.subject.person == THIRD else leaf("VBP", "do", clause.finite)


_BE = {"present": {FIRST: "am", THIRD: "is", PLURAL: "are"}, "past": {FIRST: "was", THIRD: "was", PLURAL: "were"}}


def _copula(clause: Clause) -> English:
    tag = "VBD" if clause.tense == "past" else "VBZ" if clause.subject.person == THIRD else "VBP"
    return leaf(tag, _BE[clause.tense][clause.subject.person], clause.finite)


def _predicate(clause: Clause) -> English:
    return join("ADJP", leaf("JJ", clause.adjective.english, clause.predicate))


def _negation(clause: Clause) -> English | None:
    return leaf("RB", "not", clause.negation) if clause.negated else None


def _adverb(clause: Clause) -> English:
    return join("ADVP", leaf("RB", clause.adverb.english, clause.adverb_word))
