"""What a clause says, before word order, and the German verb forms that say it."""

from dataclasses import dataclass, field

from transformer_lib.corpus.lab.draft import Draft
from transformer_lib.corpus.lab.german import AUXILIARIES, COPULA, MODALS
from transformer_lib.corpus.lab.lexicon import Adjective, Adverb, Verb
from transformer_lib.corpus.lab.phrases import NounPhrase, Prepositional


@dataclass(slots=True)
class Clause:
    """What a clause says, before word order.

    ``verb`` None stands for the copula with ``adjective``. ``tense`` is present, past, or a modal verb of the present.
    ``objects`` stand in the order of both languages. ``kein`` is the article that carries the negation, if one does.
    """

    subject: NounPhrase
    verb: Verb | None = None
    tense: str = "present"
    negated: bool = False
    adjective: Adjective | None = None
    objects: list[NounPhrase] = field(default_factory=list)
    adverb: Adverb | None = None
    place: Prepositional | None = None
    complement: Prepositional | None = None
    kein: int | None = None
    # German words, created by ``realize_verb``
    finite: int = -1
    ending: list[int] = field(default_factory=list)
    content: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()
    negation: int | None = None
    predicate: int | None = None
    adverb_word: int | None = None


def realize_verb(draft: Draft, clause: Clause, final: bool) -> None:
    """Create the German words of the clause that are not noun phrases. ``final`` joins a separable prefix."""
    if clause.adverb:
        clause.adverb_word = draft.word(clause.adverb.german)
        if clause.adverb.german == "nie":
            draft.require("negation", clause.adverb_word)
    if clause.negated:
        clause.negation = clause.kein if clause.kein is not None else draft.word("nicht")
        if clause.kein is None:
            draft.require("negation", clause.negation)
    if clause.verb is None:
        clause.finite = draft.word(COPULA[clause.tense][clause.subject.person])
        clause.predicate = draft.word(clause.adjective.predicative)
    elif clause.tense == "present":
        _realize_present(draft, clause, final)
    else:
        _realize_bracket(draft, clause)
    _note_verb(draft, clause)


def _realize_present(draft: Draft, clause: Clause, final: bool) -> None:
    verb, person = clause.verb, clause.subject.person
    if verb.prefix and not final:
        clause.finite = draft.word(verb.finite[person])
        clause.ending = [draft.word(verb.prefix)]
        clause.prefix = tuple(clause.ending)
    else:
        clause.finite = draft.word(verb.prefix + verb.finite[person])
    clause.content = (clause.finite,)


def _realize_bracket(draft: Draft, clause: Clause) -> None:
    """A finite verb and, at the end, the participle or the infinitive that carries the meaning."""
    verb, person = clause.verb, clause.subject.person
    finite, ending = (
        (AUXILIARIES[verb.auxiliary], verb.participle)
        if clause.tense == "past"
        else (MODALS[clause.tense], verb.infinitive)
    )
    clause.finite = draft.word(finite[person])
    clause.ending = [draft.word(ending)]
    clause.content = tuple(clause.ending)


def _note_verb(draft: Draft, clause: Clause) -> None:
    draft.agreements.append((clause.subject.head, clause.finite))
    if clause.verb and clause.verb.prefix:
        draft.require("separable", *dict.fromkeys(clause.content + clause.prefix))
