"""German of the lab corpus, checked against tables written here and the English trees, not against the generator.

The English tree says what each noun phrase does (subject, object, after a preposition), the verb table which case an
object takes, and the tables below which forms German then needs. Alignment leads to the German words.
"""

import csv
import re
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from transformer_lib.corpus.files import shipped
from transformer_lib.corpus.lab import LabExample, generate

# article and adjective endings: rows are gender (p: plural), columns nominative, accusative, dative
CASES = ("nom", "acc", "dat")
DER = {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die den"}
EIN = {"m": "ein einen einem", "f": "eine eine einer", "n": "ein ein einem", "p": "eine eine einen"}
DIESER = {
    "m": "dieser diesen diesem",
    "f": "diese diese dieser",
    "n": "dieses dieses diesem",
    "p": "diese diese diesen",
}
AFTER_DER = {"m": "e en en", "f": "e e en", "n": "e e en", "p": "en en en"}
AFTER_EIN = {"m": "er en en", "f": "e e en", "n": "es es en", "p": "en en en"}
ALONE = {"p": "e e en"}
PRONOUN = {"m": "er ihn ihm", "f": "sie sie ihr", "n": "es es ihm", "p": "sie sie ihnen"}
ENGLISH_PRONOUNS = {"i": "ich", "we": "wir"}
CONTRACTED = {"im": "in dem", "ins": "in das", "beim": "bei dem"}
PREPOSITIONS = {
    "in": ("in", "dat"),
    "on": ("auf", "dat"),
    "under": ("unter", "dat"),
    "behind": ("hinter", "dat"),
    "near": ("bei", "dat"),
    "beside": ("neben", "dat"),
    "in front of": ("vor", "dat"),
    "with": ("mit", "dat"),
    "into": ("in", "acc"),
    "for": ("für", "acc"),
}
HABEN = {"first": "habe", "third": "hat", "plural": "haben"}
SEIN = {"first": "bin", "third": "ist", "plural": "sind"}
WAR = {"first": "war", "third": "war", "plural": "waren"}
MODAL = {
    "can": {"first": "kann", "third": "kann", "plural": "können"},
    "cannot": {"first": "kann", "third": "kann", "plural": "können"},
    "must": {"first": "muss", "third": "muss", "plural": "müssen"},
    "want": {"first": "will", "third": "will", "plural": "wollen"},
}
BE = {"am": SEIN, "is": SEIN, "are": SEIN, "was": WAR, "were": WAR}
MARKS = set(",.?")


def table(name: str) -> list[dict[str, str]]:
    with shipped(f"lab/{name}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


NOUNS = {row[form]: (row, form == "plural") for row in table("nouns") for form in ("singular", "plural")}
ADJECTIVES = {row["english"]: row for row in table("adjectives")}
VERBS = table("verbs")
NOUN_FORMS = {row[form] for row, _ in NOUNS.values() for form in ("de_singular", "de_oblique", "de_plural")}
NOUN_FORMS |= {row["de_plural"] + "n" for row, _ in NOUNS.values()}


@dataclass
class Node:
    label: str
    children: list["Node"] = field(default_factory=list)
    word: str = ""
    index: int = -1

    def child(self, *labels: str) -> "Node | None":
        return next((child for child in self.children if child.label in labels), None)

    def leaves(self) -> list["Node"]:
        return [self] if self.word else [leaf for child in self.children for leaf in child.leaves()]

    def nodes(self) -> list["Node"]:
        return [self, *(node for child in self.children for node in child.nodes())]


def parse(tree: str) -> Node:
    stack, index = [Node("")], 0
    for token in re.findall(r"\([^ ()]+|\)|[^ ()]+", tree):
        if token[0] == "(":
            stack.append(Node(token[1:]))
        elif token == ")":
            node = stack.pop()
            stack[-1].children.append(node)
        else:
            stack[-1].word, stack[-1].index = token.lower() if token != "I" else "i", index
            index += 1
    return stack[0].children[0]


@dataclass
class Group:
    """A clause as read from the tree: subject node, finite leaf, meaning leaf, objects, kind of German word order."""

    subject: Node
    finite: Node
    lexical: Node | None
    phrase: Node
    order: str
    node: Node


class Reading:
    """One example with its tree and the German words behind each English leaf."""

    def __init__(self, example: LabExample) -> None:
        self.example = example
        self.tree = parse(example.tree)
        self.german = example.target_words()
        self.links: dict[int, list[int]] = {}
        for i, j in example.alignment:
            self.links.setdefault(i, []).append(j)
        self.clauses = list(self._clauses(self.tree, "second", None))

    def words(self, leaf: Node) -> list[str]:
        return [lowered(self.german, j) for j in self.links.get(leaf.index, [])]

    def _clauses(self, node: Node, order: str, antecedent: Node | None):
        if node.label in ("S", "SQ") and node.child("VP", "MD", "VBZ", "VBP", "VBD"):
            subject = node.child("NP") or antecedent
            if subject is not None:
                yield self._clause(node, subject, order)
        for child in node.children:
            if child.label == "SBAR":
                opener = child.children[0]
                head = node.child("NP") if opener.label == "WHNP" else None
                yield from self._clauses(child, "final", head)
            elif child.label == "SQ":
                yield from self._clauses(child, "second", node.child("WHNP"))
            else:
                passes = node.label in ("SBAR",)
                yield from self._clauses(
                    child, order if child.label == "S" else "second", antecedent if passes else None
                )

    def _clause(self, node: Node, subject: Node, order: str) -> Group:
        phrase = node.child("VP")
        finite = node.child("MD", "VBZ", "VBP", "VBD") or phrase.child("MD", "VBZ", "VBP", "VBD")
        if finite.word in ("want", "wants"):
            phrase = phrase.child("S").child("VP").child("VP")
        elif phrase and phrase.child("VP"):
            phrase = phrase.child("VP")
        lexical = phrase.child("VB", "VBZ", "VBP", "VBD") if phrase else None
        if finite.word in BE:
            lexical = None
        first = node.label == "SQ" and node.children[0] is finite and order == "second" and node is self.tree
        return Group(subject, finite, lexical, phrase or node, "first" if first else order, node)


def lowered(words: list[str], index: int) -> str:
    """A word without the capital that only its place at the start gives it."""
    word = words[index]
    return word.lower() if index == 0 and word not in NOUN_FORMS else word


def base_phrase(node: Node) -> Node:
    """The innermost noun phrase that holds the head."""
    while node.child("NP"):
        node = node.child("NP")
    return node


def person_of(subject: Node) -> str:
    head = base_phrase(subject).leaves()[-1]
    if head.word in ("i",):
        return "first"
    if head.label == "NNS" or head.word in ("we", "they"):
        return "plural"
    return "third"


def verb_row(clause: Group) -> dict[str, str]:
    particle = clause.phrase.child("PRT")
    words = {particle.leaves()[0].word} if particle else set()
    words |= {child.children[0].word for child in clause.phrase.children if child.label == "PP"}
    has_clause = any(child.label == "SBAR" and child.children[0].word == "that" for child in clause.phrase.children)
    forms = [row for row in VERBS if clause.lexical.word in (row["base"], row["third"], row["past"])]
    forms = [row for row in forms if (row["frame"] == "dass") == has_clause]
    exact = [row for row in forms if row["particle"] in words]
    (row,) = exact or [row for row in forms if row["particle"] == "-"]
    return row


def tense_of(clause: Group) -> str:
    if clause.finite.word in MODAL or clause.finite.word == "wants":
        return "modal"
    return "past" if clause.finite.label == "VBD" else "present"


def expected_verbs(clause: Group) -> tuple[str, str]:
    """Finite verb and the word at the end of the bracket (empty if none)."""
    person = person_of(clause.subject)
    if clause.lexical is None:
        return BE[clause.finite.word][person], ""
    row, tense = verb_row(clause), tense_of(clause)
    prefix = "" if row["prefix"] == "-" else row["prefix"]
    if tense == "modal":
        return MODAL["want" if clause.finite.word == "wants" else clause.finite.word][person], row["infinitive"]
    if tense == "past":
        return {"haben": HABEN, "sein": SEIN}[row["auxiliary"]][person], row["participle"]
    form = row[{"first": "de_first", "third": "de_third", "plural": "de_plural"}[person]]
    return (prefix + form, "") if clause.order == "final" else (form, prefix)


@pytest.fixture(scope="module")
def readings() -> list[Reading]:
    examples = [
        *generate("train", 3000),
        *generate("test", 1000),
        *generate("compositional", 500),
        *generate("long", 500),
        *generate("train", 1000, seed=31),
        *generate("train", 1000, variant="lab-micro"),
    ]
    return [Reading(example) for example in examples]


def test_reader_finds_every_finite_verb(readings):
    """The checks below see all clauses: each finite English verb belongs to one."""
    for reading in readings:
        finite = {leaf.index for leaf in reading.tree.leaves() if leaf.label in ("MD", "VBZ", "VBP", "VBD")}
        assert finite == {clause.finite.index for clause in reading.clauses}, reading.example.tree
        assert len(finite) == len(reading.clauses)


def test_finite_verb_agrees_with_its_subject_in_both_languages(readings):
    for reading in readings:
        for clause in reading.clauses:
            person = person_of(clause.subject)
            if clause.finite.label == "VBZ":
                assert person == "third"
            elif clause.finite.label == "VBP":
                assert person != "third"
            expected, _ = expected_verbs(clause)
            linked = reading.words(clause.finite)
            if clause.lexical is not None:
                linked += reading.words(clause.lexical)
            assert expected in linked, (reading.example.source, reading.example.target, expected)


def place_of_verbs(reading: Reading, clause: Group) -> tuple[int, int | None]:
    """Where the finite verb and the end of the bracket stand in the German sentence."""
    finite, ending = expected_verbs(clause)
    leaves = clause.phrase.leaves() if clause.lexical is not None else [clause.finite]
    linked = {j for leaf in [clause.finite, *leaves] for j in reading.links.get(leaf.index, [])}
    lexical = set(reading.links.get(clause.lexical.index, [])) if clause.lexical else set()
    own = set(reading.links[clause.finite.index]) | lexical
    (first,) = [j for j in own if lowered(reading.german, j) == finite]
    if not ending:
        return first, None
    last = [j for j in sorted(linked) if reading.german[j] == ending and j != first]
    if clause.order != "final":
        return first, next(j for j in last if j > first)
    return first, max(j for j in last if j < first)


def test_verb_stands_last_in_subordinate_and_relative_clauses(readings):
    seen = 0
    for reading in readings:
        for clause in reading.clauses:
            if clause.order == "final":
                finite, ending = place_of_verbs(reading, clause)
                assert reading.german[finite + 1] in MARKS, reading.example.target
                assert ending in (None, finite - 1)
                seen += 1
    assert seen > 2000


def test_bracket_closes_main_clauses(readings):
    seen = 0
    for reading in readings:
        for clause in reading.clauses:
            if clause.order != "final":
                _, ending = place_of_verbs(reading, clause)
                if ending is not None:
                    assert reading.german[ending + 1] in MARKS | {"und"}, reading.example.target
                    seen += 1
    assert seen > 2000


def test_verb_stands_first_in_yes_no_questions(readings):
    seen = 0
    for reading in readings:
        for clause in reading.clauses:
            if clause.order == "first":
                assert place_of_verbs(reading, clause)[0] == 0
                seen += 1
    assert seen > 200


def test_verb_stands_second_in_main_clauses(readings):
    """What stands before the verb is one constituent: the fronted one if there is one, else the subject."""
    fronted = 0
    for reading in readings:
        for clause in reading.clauses:
            if clause.order != "second":
                continue
            before = [child for child in clause.node.children if child.label in ("ADVP", "PP", "SBAR")]
            before = [child for child in before if child.leaves()[0].index == clause.node.leaves()[0].index]
            if clause.node.label == "SQ":
                outer = next(n for n in reading.tree.nodes() if clause.node in n.children)
                before = [outer.children[0]]
            first = before[0] if before else clause.subject
            fronted += bool(before)
            linked = {j for leaf in first.leaves() for j in reading.links[leaf.index]}
            finite, _ = place_of_verbs(reading, clause)
            start = finite
            while start > 0 and reading.german[start - 1] != "und":
                start -= 1
            words = {j for j in range(start, finite) if reading.german[j] != ","}
            inside = words & linked
            assert words == inside == {j for j in linked if j < finite}, (reading.example.target, first.label)
            assert linked, reading.example.target
    assert fronted > 500


def roles(reading: Reading):
    """Every noun phrase that is not part of a larger one, with its case and the preposition before it."""
    for clause in reading.clauses:
        if clause.subject.label == "NP" and clause.subject in clause.node.children:
            yield clause.subject, "nom", ""
        if clause.lexical is None:
            continue
        row = verb_row(clause)
        cases = {"none": [], "dass": [], "acc": ["acc"], "dat": ["dat"], "dat+acc": ["dat", "acc"]}[row["frame"]]
        objects = [child for child in clause.phrase.children if child.label == "NP"]
        if row["particle_kind"] == "preposition":
            objects = [c.child("NP") for c in clause.phrase.children
                       if c.label == "PP" and c.children[0].word == row["particle"] and c.child("NP")]  # fmt: skip
        if objects:
            yield from ((phrase, case, "") for phrase, case in zip(objects, cases, strict=True))
    verbal = {
        id(c) for clause in reading.clauses for c in clause.phrase.children if c.label == "PP" and is_object(c, clause)
    }
    for node in reading.tree.nodes():
        if node.label == "PP" and node.child("NP") and id(node) not in verbal:
            english = " ".join(child.word for child in node.children if child.label == "IN")
            if english in PREPOSITIONS:
                german, case = PREPOSITIONS[english]
                yield node.child("NP"), case, german


def expected_phrase(words: list[Node], case: str, negated: bool) -> list[str]:
    """German of determiner, adjective and noun."""
    row, plural = NOUNS[words[-1].word]
    slot, column = ("p" if plural else row["gender"]), CASES.index(case)
    determiner = words[0].word if words[0].label in ("DT", "PRP$", "CD") or words[0].word == "many" else ""
    article, endings = expected_article(determiner, slot, column, negated)
    adjectives = [word for word in words if word.label == "JJ" and word.word != "many"]
    modifiers = [ADJECTIVES[word.word]["de_stem"] + endings[slot].split()[column] for word in adjectives]
    if plural:
        noun = row["de_plural"]
        noun += "n" if case == "dat" and noun[-1] not in "ns" else ""
    else:
        noun = row["de_singular"] if case == "nom" else row["de_oblique"]
    return [word for word in (article, *modifiers, noun) if word]


def expected_article(determiner: str, slot: str, column: int, negated: bool) -> tuple[str, dict[str, str]]:
    if determiner in ("two", "three", "many"):
        many = "vielen" if column == 2 else "viele"
        return {"two": "zwei", "three": "drei", "many": many}[determiner], ALONE
    if negated or determiner in ("a", "an", "no", "my", "our"):
        stem = "kein" if negated or determiner == "no" else {"my": "mein", "our": "unser"}.get(determiner, "ein")
        return stem + EIN[slot].split()[column].removeprefix("ein"), AFTER_EIN
    if determiner == "":
        return "", ALONE
    if determiner == "the":
        return DER[slot].split()[column], AFTER_DER
    stem = {"this": "dies", "these": "dies", "every": "jed"}[determiner]
    return stem + DIESER[slot].split()[column].removeprefix("dies"), AFTER_DER


def test_noun_phrases_have_the_case_gender_and_endings_that_their_role_demands(readings):
    seen = dict.fromkeys(CASES, 0)
    for reading in readings:
        negations = {leaf.index for leaf in reading.tree.leaves() if leaf.word in ("not", "cannot")}
        kein = {j for i in negations for j in reading.links[i] if reading.german[j].startswith("kein")}
        for phrase, case, preposition in roles(reading):
            leaves = base_phrase(phrase).leaves()
            if leaves[-1].label == "PRP":
                continue
            places = sorted({j for leaf in leaves for j in reading.links[leaf.index]})
            is_negated = bool(kein & {*places, min(places) - 1})
            if is_negated:
                places = sorted({*places, *(j for j in kein if j == min(places) - 1)})
            assert places == list(range(places[0], places[-1] + 1)), reading.example.target
            german = [lowered(reading.german, j) for j in places]
            if german[0] in CONTRACTED:
                german = [*CONTRACTED[german[0]].split()[1:], *german[1:]]
                assert preposition, reading.example.target
            elif preposition:
                assert lowered(reading.german, places[0] - 1) == preposition
                assert f"{preposition} {german[0]}" not in CONTRACTED.values()
            assert german == expected_phrase(leaves, case, is_negated), (reading.example.source, reading.example.target)
            seen[case] += 1
    assert min(seen.values()) > 1000


def test_personal_pronouns_have_gender_and_case_of_their_antecedent_and_role(readings):
    count = 0
    for reading in readings:
        leaves = reading.tree.leaves()
        antecedent = dict(reading.example.antecedents)
        for phrase, case, _ in roles(reading):
            (*_, head) = base_phrase(phrase).leaves()
            if head.label != "PRP":
                continue
            (german,) = reading.words(head)
            if head.index in antecedent:
                row, plural = NOUNS[leaves[antecedent[head.index]].word]
                assert german == PRONOUN["p" if plural else row["gender"]].split()[CASES.index(case)]
                count += head.word == "it"
            else:
                free = {"he": "er", "she": "sie", "they": "sie", **ENGLISH_PRONOUNS}
                assert german == free[head.word]
    assert count > 800


def test_relative_pronouns_have_gender_of_their_antecedent_and_case_of_their_role(readings):
    count = 0
    for reading in readings:
        leaves = reading.tree.leaves()
        for pronoun, noun in reading.example.antecedents:
            if leaves[pronoun].label not in ("WP", "WDT"):
                continue
            sbar = next(n for n in reading.tree.nodes() if n.label == "SBAR" and n.leaves()[0].index == pronoun)
            case = "acc" if sbar.child("S").child("NP") else "nom"
            row, plural = NOUNS[leaves[noun].word]
            (german,) = reading.words(leaves[pronoun])
            assert german == DER["p" if plural else row["gender"]].split()[CASES.index(case)]
            count += 1
    assert count > 500


def test_subordinate_and_relative_clauses_are_set_off_by_commas(readings):
    for reading in readings:
        for node in reading.tree.nodes():
            if node.label != "SBAR":
                continue
            linked = sorted(j for leaf in node.leaves() if leaf.label not in MARKS for j in reading.links[leaf.index])
            assert linked[0] == 0 or reading.german[linked[0] - 1] == ",", reading.example.target
            assert reading.german[linked[-1] + 1] in MARKS, reading.example.target


def test_nicht_stands_after_objects_and_before_place_predicate_and_bracket(readings):
    count = 0
    for reading in readings:
        for clause in reading.clauses:
            around = [clause.node.child("RB"), *[n.child("RB") for n in clause.node.children if n.label == "VP"]]
            negation = next((leaf for leaf in around if leaf is not None and leaf.word == "not"), None)
            if negation is None or reading.words(negation) != ["nicht"]:
                continue
            (place,) = reading.links[negation.index]
            for child in clause.phrase.children:
                linked = [j for leaf in child.leaves() for j in reading.links[leaf.index]]
                if child.label == "NP" and child is not clause.subject:
                    assert max(linked) < place, reading.example.target
                elif child.label == "ADJP" or (child.label == "PP" and not is_object(child, clause)):
                    assert min(linked) > place, reading.example.target
            _, ending = place_of_verbs(reading, clause)
            assert ending is None or ending > place
            count += 1
    assert count > 300


def is_object(phrase: Node, clause: Group) -> bool:
    return clause.lexical is not None and verb_row(clause)["particle"] == phrase.children[0].word


def test_nouns_alone_are_capitalized(readings):
    for reading in readings:
        for word in reading.german[1:]:
            assert word[0].isupper() == (word in NOUN_FORMS), (word, reading.example.target)


def combinations(reading: Reading) -> set[tuple[str, str]]:
    """Adjective with noun and verb with object of a sentence, pronouns replaced by what they stand for."""
    leaves, antecedent = reading.tree.leaves(), dict(reading.example.antecedents)

    def noun(phrase: Node) -> str:
        head = base_phrase(phrase).leaves()[-1]
        head = leaves[antecedent.get(head.index, head.index)]
        return NOUNS[head.word][0]["singular"] if head.word in NOUNS else ""

    found = set()
    for first, second in pairwise(leaves):
        if first.label == "JJ" and second.label in ("NN", "NNS"):
            found.add((first.word, NOUNS[second.word][0]["singular"]))
    for clause in reading.clauses:
        if clause.lexical is None:
            found.add(
                (next(n for n in clause.node.nodes() if n.label == "ADJP").leaves()[0].word, noun(clause.subject))
            )
            continue
        row = verb_row(clause)
        verb, kinds = (
            f"{row['base']} {row['particle']}",
            ("NP", "PP") if row["particle_kind"] == "preposition" else "NP",
        )
        objects = [
            child
            for child in clause.phrase.children
            if child.label in kinds and (child.label == "NP" or child.child("NP"))
        ]
        objects += [node.child("NP") for node in reading.tree.nodes() if is_gap(node, clause)]
        found |= {(verb, noun(objects[-1]))} if objects and row["frame"] not in ("none", "dass") else set()
    return found


def is_gap(node: Node, clause: Group) -> bool:
    """Whether ``node`` is a noun phrase whose relative pronoun is the object of ``clause``."""
    relative = node.child("SBAR") if node.label == "NP" else None
    return relative is not None and clause.node in relative.children and clause.node.child("NP") is not None


def test_every_compositional_sentence_has_a_combination_that_training_never_has():
    trained: set[tuple[str, str]] = set()
    for example in generate("train"):
        trained |= combinations(Reading(example))
    compositional = generate("compositional", 500)
    for example in compositional:
        assert combinations(Reading(example)) - trained, example.source
    held_out = set().union(*(combinations(Reading(example)) - trained for example in compositional))
    for example in [*generate("test", 500), *generate("dev", 500)]:
        assert not combinations(Reading(example)) & held_out, example.source
