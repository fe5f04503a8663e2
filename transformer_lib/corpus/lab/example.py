"""What one sentence pair of the lab corpus carries, and its JSON form."""

import json
from dataclasses import asdict, dataclass

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One scored point of a sentence: the target words (by index) that must be right for ``phenomenon``."""

    phenomenon: str
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LabExample:
    """An English sentence, its German translation, and the truth about both.

    Words are counted from 0; a punctuation mark is a word of its own.

    Attributes:
        source: English, cased and punctuated.
        target: German, cased and punctuated.
        source_spans: first and past-the-end character of each source word.
        target_spans: the same for the target.
        alignment: (source word, target word) pairs that translate each other, sorted.
        tree: constituency tree of the source in Penn brackets, on one line; its leaves are the source words.
        antecedents: (pronoun, head word of its antecedent) in the source, for personal and relative pronouns
            whose antecedent stands in the sentence.
        cases: the points that :func:`score_phenomena` counts.

    """

    source: str
    target: str
    source_spans: Pairs
    target_spans: Pairs
    alignment: Pairs
    tree: str
    antecedents: Pairs
    cases: tuple[Case, ...]

    def source_words(self) -> list[str]:
        """The words of the source."""
        return [self.source[start:end] for start, end in self.source_spans]

    def target_words(self) -> list[str]:
        """The words of the target."""
        return [self.target[start:end] for start, end in self.target_spans]

    def to_json(self) -> str:
        """One line of JSON, without a line break."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> "LabExample":
        """The example that :meth:`to_json` wrote. Raises ``KeyError`` or ``ValueError`` if the line is no example."""
        fields = json.loads(line)
        return cls(
            source=fields["source"],
            target=fields["target"],
            source_spans=_pairs(fields["source_spans"]),
            target_spans=_pairs(fields["target_spans"]),
            alignment=_pairs(fields["alignment"]),
            tree=fields["tree"],
            antecedents=_pairs(fields["antecedents"]),
            cases=tuple(Case(case["phenomenon"], tuple(case["words"])) for case in fields["cases"]),
        )


def _pairs(rows: list[list[int]]) -> Pairs:
    return tuple((first, second) for first, second in rows)
