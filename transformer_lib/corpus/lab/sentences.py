"""From clauses to sentences: main clauses, clauses joined to them, and the closing mark."""

from transformer_lib.corpus.lab.clauses import Clause, realize_verb
from transformer_lib.corpus.lab.draft import Draft, English, join, leaf
from transformer_lib.corpus.lab.phrases import NounPhrase, Prepositional
from transformer_lib.corpus.lab.word_order import english_clause, english_question, german_clause

SUBORDINATORS = {"because": "weil", "although": "obwohl", "while": "während", "if": "wenn", "that": "dass"}


def main_clause(draft: Draft, clause: Clause) -> Prepositional:
    """Subject, finite verb, rest."""
    realize_verb(draft, clause, final=False)
    return Prepositional(english_clause(clause), german_clause(draft, clause, "second"))


def fronted(draft: Draft, front: Prepositional, clause: Clause, comma: bool = False) -> Prepositional:
    """``front`` before the clause, which German then inverts; ``comma`` sets it off in both languages."""
    realize_verb(draft, clause, final=False)
    opening, words = [front.english], front.german
    if comma:
        mark = draft.word(",")
        opening, words = [*opening, leaf(",", ",", mark)], [*words, mark]
    english = english_clause(clause)
    return Prepositional(_inside(opening, english), german_clause(draft, clause, "second", words))


def _inside(opening: list[English], clause: English) -> English:
    """The parts of ``opening`` as first children of ``clause``."""
    trees = " ".join([part.tree for part in opening])
    links = tuple([link for part in opening for link in part.links])
    return English(f"(S {trees} {clause.tree[3:]}", links + clause.links)


def subordinate(draft: Draft, word: str, clause: Clause, comma: bool = True) -> Prepositional:
    """A clause introduced by ``word``, its German verb last; ``comma`` sets it off on both sides."""
    realize_verb(draft, clause, final=True)
    number = draft.word(SUBORDINATORS[word])
    german = german_clause(draft, clause, "final", [number])
    english = join("SBAR", leaf("IN", word, number), english_clause(clause))
    return Prepositional(english, [draft.word(","), *german, draft.word(",")] if comma else german)


def with_relative(draft: Draft, phrase: NounPhrase, clause: Clause, relative: NounPhrase) -> NounPhrase:
    """``phrase`` with a relative clause; ``relative`` is its subject, or the object that its clause lacks."""
    is_subject = clause.subject is relative
    realize_verb(draft, clause, final=True)
    front = [] if is_subject else relative.german
    german = german_clause(draft, clause, "final", front)
    english = join("SBAR", relative.english, english_clause(clause, with_subject=not is_subject))
    return phrase._replace(
        english=join("NP", phrase.english, english),
        german=[*phrase.german, draft.word(","), *german, draft.word(",")],
    )


def question(draft: Draft, clause: Clause) -> Prepositional:
    """A question answered by yes or no."""
    realize_verb(draft, clause, final=False)
    return Prepositional(english_question(clause), german_clause(draft, clause, "first"))


def opened_question(draft: Draft, tag: str, word: str, german: str, clause: Clause) -> Prepositional:
    """A question for something other than the subject: *where*, *why*, *when*, *what*."""
    realize_verb(draft, clause, final=False)
    number = draft.word(german)
    opening = join("WHNP" if tag == "WP" else "WHADVP", leaf(tag, word, number))
    english = join("SBARQ", opening, english_question(clause))
    return Prepositional(english, german_clause(draft, clause, "second", [number]))


def subject_question(draft: Draft, clause: Clause) -> Prepositional:
    """A question for the subject, which is *who*."""
    realize_verb(draft, clause, final=False)
    verb_phrase = english_clause(clause, with_subject=False)
    english = join("SBARQ", clause.subject.english, English(f"(SQ{verb_phrase.tree[2:]}", verb_phrase.links))
    return Prepositional(english, german_clause(draft, clause, "second"))


def coordinated(draft: Draft, first: Prepositional, second: Prepositional) -> Prepositional:
    """Two main clauses with *and*."""
    number = draft.word("und")
    english = join("S", first.english, leaf("CC", "and", number), second.english)
    return Prepositional(english, [*first.german, number, *second.german])


def close(draft: Draft, sentence: Prepositional, mark: str = ".") -> None:
    """Finish ``draft`` with the closing mark inside the outermost constituent."""
    number = draft.word(mark)
    english = English(
        f"{sentence.english.tree[:-1]} (. {mark}))",
        (*sentence.english.links, (number,)),
    )
    draft.finish(english, [*sentence.german, number])
