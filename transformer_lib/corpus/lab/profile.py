"""What the two variants of the corpus differ in: sizes, lengths, and how often each choice is made."""

from dataclasses import dataclass

SPLITS = ("train", "dev", "test", "compositional", "long")


@dataclass(frozen=True, slots=True)
class Profile:
    """Sizes of the splits, the longest sentence outside *long* (in words, marks included), and weights of choices.

    ``constructions`` maps the name of a construction in :mod:`grammar` to its weight. ``frames`` and ``tenses`` are
    drawn from uniformly, as are the determiners, so a form that stands three times is three times as frequent.
    """

    sizes: dict[str, int]
    max_words: int
    constructions: dict[str, int]
    long_constructions: dict[str, int]
    frames: tuple[str, ...]
    tenses: tuple[str, ...]
    determiners: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    pronouns: tuple[str, ...]
    pronoun_rate: float
    adjective_rate: float
    plural_rate: float
    negation_rate: float
    adverb_rate: float
    place_rate: float


def _draws(words: str) -> tuple[str, ...]:
    """``the*3 a`` as (the, the, the, a); ``-`` is no determiner."""
    pairs = [entry.partition("*") for entry in words.split()]
    return tuple(word.replace("-", "") for word, _, count in pairs for _ in range(int(count or 1)))


LAB = Profile(
    sizes={"train": 50_000, "dev": 1_000, "test": 1_000, "compositional": 1_000, "long": 1_000},
    max_words=16,
    constructions={
        "statement": 18,
        "description": 5,
        "fronted_adverb": 8,
        "fronted_place": 4,
        "yes_no_question": 7,
        "adverb_question": 5,
        "participant_question": 4,
        "subordinate_clause": 7,
        "reported": 5,
        "it_described": 10,
        "it_acted_on": 10,
        "it_condition": 5,
        "subject_relative": 5,
        "object_relative": 4,
        "relative_object": 4,
        "attractor": 7,
    },
    long_constructions={
        "long_reported": 3,
        "long_relative": 3,
        "long_coordination": 3,
        "long_it": 3,
    },
    frames=_draws("none*8 acc*10 dat*3 dat+acc*3"),
    tenses=_draws("present*10 past*6 can must want"),
    determiners={
        "any": (
            _draws("the*9 a*5 this*2 my*2 our every no"),
            _draws("the*8 -*4 these*2 my*2 our two many three no"),
        ),
        "specific": (_draws("the*9 a*5 this*2 my*2 our"), _draws("the*8 -*4 these*2 my*2 our two many three")),
        "known": (_draws("the*6 this my our"), _draws("the*6 these my our")),
    },
    pronouns=_draws("I*2 we he she they"),
    pronoun_rate=0.2,
    adjective_rate=0.3,
    plural_rate=0.33,
    negation_rate=0.2,
    adverb_rate=0.2,
    place_rate=0.4,
)

MICRO = Profile(
    sizes={"train": 12_000, "dev": 500, "test": 500, "compositional": 500, "long": 500},
    max_words=10,
    constructions={
        "statement": 30,
        "description": 10,
        "fronted_adverb": 12,
        "yes_no_question": 12,
        "it_described": 44,
        "it_acted_on": 24,
    },
    long_constructions={"long_coordination": 1, "long_it": 1},
    frames=_draws("none*2 acc*4 dat"),
    tenses=_draws("present"),
    determiners={
        "any": (_draws("the*3 a*2"), _draws("the")),
        "specific": (_draws("the*3 a*2"), _draws("the")),
        "known": (_draws("the"), _draws("the")),
    },
    pronouns=("he", "she", "they"),
    pronoun_rate=0.25,
    adjective_rate=0.25,
    plural_rate=0.25,
    negation_rate=0.2,
    adverb_rate=0.2,
    place_rate=0.3,
)

PROFILES = {"lab": LAB, "lab-micro": MICRO}
