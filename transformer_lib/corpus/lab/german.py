"""German inflection: articles, adjective endings, pronouns and contractions, as tables."""

# A *slot* is the row of a table: ``m``, ``f``, ``n`` for the singular, ``p`` for the plural of any gender.

CASES = ("nom", "acc", "dat")
SLOTS = ("m", "f", "n", "p")


def _table(nominative: str, accusative: str, dative: str) -> dict[tuple[str, str], str]:
    lines = dict(zip(CASES, (nominative, accusative, dative), strict=True))
    return {
        (case, slot): "" if form == "-" else form
        for case, line in lines.items()
        for slot, form in zip(SLOTS, line.split(), strict=True)
    }


def _stem(stem: str, endings: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    return {place: stem + ending for place, ending in endings.items()}


_DER_ENDINGS = _table("er e es e", "en e es e", "em er em en")
_EIN_ENDINGS = _table("- e - e", "en e - e", "em er em en")
_UNCHANGED = _table("- - - -", "- - - -", "- - - -")

WEAK = _table("e e e en", "en e e en", "en en en en")
MIXED = _table("er e es en", "en e es en", "en en en en")
STRONG = _table("er e es e", "en e es e", "em er em en")

# English determiner -> (German forms, adjective endings that follow)
DETERMINERS = {
    "the": (_table("der die das die", "den die das die", "dem der dem den"), WEAK),
    "this": (_stem("dies", _DER_ENDINGS), WEAK),
    "these": (_stem("dies", _DER_ENDINGS), WEAK),
    "every": (_stem("jed", _DER_ENDINGS), WEAK),
    "a": (_stem("ein", _EIN_ENDINGS), MIXED),
    "no": (_stem("kein", _EIN_ENDINGS), MIXED),
    "my": (_stem("mein", _EIN_ENDINGS), MIXED),
    "our": (_stem("unser", _EIN_ENDINGS), MIXED),
    "two": (_stem("zwei", _UNCHANGED), STRONG),
    "three": (_stem("drei", _UNCHANGED), STRONG),
    "many": (_stem("viel", _DER_ENDINGS), STRONG),
    "": (_UNCHANGED, STRONG),
}

RELATIVE = _table("der die das die", "den die das die", "dem der dem denen")
THIRD_PERSON = _table("er sie es sie", "ihn sie es sie", "ihm ihr ihm ihnen")

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("bei", "dem"): "beim",
}

# (first person, third person, plural), the order of ``Verb.finite``
AUXILIARIES = {
    "haben": ("habe", "hat", "haben"),
    "sein": ("bin", "ist", "sind"),
}
COPULA = {"present": AUXILIARIES["sein"], "past": ("war", "war", "waren")}
MODALS = {
    "can": ("kann", "kann", "können"),
    "must": ("muss", "muss", "müssen"),
    "want": ("will", "will", "wollen"),
}
