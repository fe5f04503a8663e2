"""The words of the lab corpus, read from the tables in ``data/lab``."""

# Every column of the tables is described in ``data/lab/README.md``.

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from transformer_lib.corpus.files import shipped

VARIANTS = ("lab", "lab-micro")


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun: forms for (singular, plural) in both languages, gender ``m``, ``f`` or ``n``, and tags for its sense."""

    english: tuple[str, str]
    nominative: tuple[str, str]
    accusative: tuple[str, str]
    dative: tuple[str, str]
    gender: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective: its German predicative form, the stem that takes endings, and the tags of nouns it suits.

    ``impersonal`` ones also say something about the weather or the surroundings: *it is cold* needs no antecedent.
    """

    english: str
    predicative: str
    stem: str
    impersonal: bool
    modifies: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb: ``english`` is (base, third person, past); ``finite`` is (first, third, plural) without the prefix."""

    english: tuple[str, str, str]
    particle: str
    particle_kind: str
    infinitive: str
    finite: tuple[str, str, str]
    participle: str
    auxiliary: str
    prefix: str
    frame: str
    subject: frozenset[str]
    object: frozenset[str]
    features: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb: its kind (time, frequency, place), the tense it needs, and whether it may open a sentence."""

    english: str
    german: str
    kind: str
    tense: str
    front: bool


@dataclass(frozen=True, slots=True, eq=False)
class Preposition:
    """A preposition: the case it governs, what it is used for, and the tags of the nouns that may follow."""

    english: str
    german: str
    case: str
    use: str
    object: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """All words of one variant of the corpus."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    adverbs: tuple[Adverb, ...]
    prepositions: tuple[Preposition, ...]


@cache
def load_lexicon(variant: str = "lab") -> Lexicon:
    """The lexicon of ``variant``; ``lab-micro`` keeps the rows marked ``micro``. Raises ``ValueError`` for others."""
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}: expected one of {', '.join(VARIANTS)}")
    tables = {name: _rows(shipped(f"lab/{name}.tsv"), micro=variant == "lab-micro") for name in _READERS}
    return Lexicon(**{name: tuple(read(row) for row in tables[name]) for name, read in _READERS.items()})


def _rows(path: Path, micro: bool) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row for row in rows if row["micro"] == "yes" or not micro]


def _words(cell: str) -> frozenset[str]:
    return frozenset() if cell == "-" else frozenset(cell.split())


def _text(cell: str) -> str:
    return "" if cell == "-" else cell


def _noun(row: dict[str, str]) -> Noun:
    singular, plural, oblique = row["de_singular"], row["de_plural"], row["de_oblique"]
    return Noun(
        english=(row["singular"], row["plural"]),
        nominative=(singular, plural),
        accusative=(oblique, plural),
        dative=(oblique, plural if plural.endswith(("n", "s")) else plural + "n"),
        gender=row["gender"],
        tags=_words(row["tags"]),
    )


def _adjective(row: dict[str, str]) -> Adjective:
    return Adjective(row["english"], row["german"], row["de_stem"], row["impersonal"] == "yes", _words(row["modifies"]))


def _verb(row: dict[str, str]) -> Verb:
    return Verb(
        english=(row["base"], row["third"], row["past"]),
        particle=_text(row["particle"]),
        particle_kind=_text(row["particle_kind"]),
        infinitive=row["infinitive"],
        finite=(row["de_first"], row["de_third"], row["de_plural"]),
        participle=row["participle"],
        auxiliary=row["auxiliary"],
        prefix=_text(row["prefix"]),
        frame=row["frame"],
        subject=_words(row["subject"]),
        object=_words(row["object"]),
        features=_words(row["features"]),
    )


def _adverb(row: dict[str, str]) -> Adverb:
    return Adverb(row["english"], row["german"], row["kind"], row["tense"], row["front"] == "yes")


def _preposition(row: dict[str, str]) -> Preposition:
    return Preposition(row["english"], row["german"], row["case"], row["use"], _words(row["object"]))


_READERS = {
    "nouns": _noun,
    "adjectives": _adjective,
    "verbs": _verb,
    "adverbs": _adverb,
    "prepositions": _preposition,
}
