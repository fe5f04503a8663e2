"""The lab corpus: English-German sentence pairs that a grammar generates, with the truth about each."""

# >>> example = generate("test", 1)[0]
# >>> len(example.source_words()) == len(example.source_spans)
# True

from transformer_lib.corpus.lab.example import Case, LabExample
from transformer_lib.corpus.lab.lexicon import VARIANTS, Lexicon, load_lexicon
from transformer_lib.corpus.lab.phenomena import PHENOMENA, score_phenomena
from transformer_lib.corpus.lab.profile import SPLITS
from transformer_lib.corpus.lab.splits import generate
from transformer_lib.corpus.lab.storage import read_jsonl, write_lab

__all__ = [
    "PHENOMENA",
    "SPLITS",
    "VARIANTS",
    "Case",
    "LabExample",
    "Lexicon",
    "generate",
    "load_lexicon",
    "read_jsonl",
    "score_phenomena",
    "write_lab",
]
