"""A sentence pair while it is being built."""

# A German word is created once, by :meth:`Draft.word`, and from then on is known by its number. English phrases say
# which German words each of their words translates, so the alignment follows from the construction; word order is
# decided later, as lists of numbers. The English words are the leaves of the tree.

import re
from typing import NamedTuple

from transformer_lib.corpus.lab.example import Case, LabExample

_LEAF = re.compile(r" ([^ ()]+)\)")
_PUNCTUATION = frozenset(",.?")


class English(NamedTuple):
    """An English phrase: its tree in brackets and, for each leaf, the numbers of the German words it translates."""

    tree: str
    links: tuple[tuple[int, ...], ...]


def join(label: str, *parts: English | None) -> English:
    """One phrase ``label`` over ``parts`` in order; parts that are None are left out."""
    trees, links = [label], []
    for part in parts:
        if part is not None:
            trees.append(part.tree)
            links += part.links
    return English(f"({' '.join(trees)})", tuple(links))


def leaf(tag: str, word: str, *links: int) -> English:
    """One English word with its part of speech."""
    return English(f"({tag} {word})", (links,))


class Draft:
    """The German words of a sentence under construction, and what will be asked about them."""

    __slots__ = (
        "agreements",
        "antecedents",
        "cases",
        "english",
        "forms",
        "german",
        "nouns",
        "reserved",
        "target",
        "target_spans",
    )

    def __init__(self) -> None:
        """An empty sentence."""
        self.forms: list[str] = []
        self.nouns: set[int] = set()
        self.cases: list[tuple[str, tuple[int, ...]]] = []
        self.agreements: list[tuple[int, int]] = []  # (subject, finite verb)
        self.antecedents: list[tuple[int, int]] = []  # (pronoun, noun)
        self.reserved = 0  # word combinations kept out of training
        self.english: English = English("", ())
        self.german: list[int] = []
        self.target = ""
        self.target_spans: tuple[tuple[int, int], ...] = ()

    def word(self, form: str) -> int:
        """Create a German word and return its number."""
        self.forms.append(form)
        return len(self.forms) - 1

    def require(self, phenomenon: str, *words: int) -> None:
        """Note that ``words`` must be right for ``phenomenon``."""
        self.cases.append((phenomenon, words))

    def finish(self, english: English, german: list[int]) -> None:
        """Set both sentences; ``german`` may close clauses with commas that the next mark makes superfluous."""
        self.english = english
        is_mark = [self.forms[number] in _PUNCTUATION for number in german]
        self.german = [
            number for index, number in enumerate(german) if not (self.forms[number] == "," and is_mark[index + 1])
        ]
        target, self.target_spans = _prose([self.forms[number] for number in self.german])
        self.target = _capitalized(target)

    def length(self) -> tuple[int, int]:
        """Numbers of words, English and German."""
        return len(self.english.links), len(self.german)

    def example(self) -> LabExample:
        """The finished pair with everything that is known about it."""
        tree = _capitalized_leaf(self.english.tree)
        source, source_spans = _prose(_LEAF.findall(tree))
        place = {number: index for index, number in enumerate(self.german)}
        alignment = sorted([(i, place[number]) for i, link in enumerate(self.english.links) for number in link])
        source_of = {j: i for i, j in reversed(alignment)}
        return LabExample(
            source=source,
            target=self.target,
            source_spans=source_spans,
            target_spans=self.target_spans,
            alignment=tuple(alignment),
            tree=tree,
            antecedents=tuple(sorted([(source_of[place[a]], source_of[place[b]]) for a, b in self.antecedents])),
            cases=self._placed_cases(place),
        )

    def _placed_cases(self, place: dict[int, int]) -> tuple[Case, ...]:
        nouns = [place[number] for number in self.nouns]
        cases = [Case(name, tuple(sorted([place[number] for number in words]))) for name, words in self.cases]
        for subject, verb in self.agreements:
            low, high = sorted((place[subject], place[verb]))
            if any(low < noun < high for noun in nouns):
                cases.append(Case("agreement", (place[verb],)))
        return tuple(cases)


def _prose(words: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Words as text, marks attached to the word before; and the character span of each word."""
    parts, spans, length = [], [], 0
    for word in words:
        if parts and word not in _PUNCTUATION:
            parts.append(" ")
            length += 1
        parts.append(word)
        spans.append((length, length + len(word)))
        length += len(word)
    return "".join(parts), tuple(spans)


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _capitalized_leaf(tree: str) -> str:
    start = _LEAF.search(tree).start(1)
    return tree[:start] + tree[start].upper() + tree[start + 1 :]
