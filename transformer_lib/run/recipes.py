"""What each corpus is trained with: one recipe a corpus, every number in it."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from transformer_lib.model import TransformerConfig
from transformer_lib.training import TrainingConfig

SIZES = {"tiny": TransformerConfig.tiny, "base": TransformerConfig.base, "big": TransformerConfig.big}


@dataclass(frozen=True)
class Recipe:
    """A training in full: model, vocabulary, schedule, how often to look and to save, and how to decode."""

    config: str = "tiny"  # one of SIZES
    model: dict[str, Any] = field(default_factory=dict)  # fields of TransformerConfig that depart from it
    vocab_size: int = 8000
    max_length: int = 128  # tokens a side; longer pairs are dropped
    training: TrainingConfig = field(default_factory=TrainingConfig)
    evaluate_every: int = 500  # updates
    bleu_sentences: int = 100  # of the development set, translated greedily at each evaluation
    checkpoint_minutes: float = 10  # the paper's interval
    checkpoint_every: int | None = None  # updates; where given, only these checkpoints are averaged
    average_last: int = 5  # checkpoints, section 6.1
    beam_size: int = 4
    length_penalty: float = 0.6

    def __post_init__(self) -> None:
        if self.config not in SIZES:
            raise ValueError(f"config must be one of {', '.join(SIZES)}, not {self.config!r}")
        for name in ("vocab_size", "max_length", "evaluate_every", "average_last", "beam_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.checkpoint_every is not None and self.checkpoint_every < 1:
            raise ValueError(f"checkpoint_every must be at least 1 or None, not {self.checkpoint_every}")
        if self.bleu_sentences < 0 or self.checkpoint_minutes < 0:
            raise ValueError(
                "bleu_sentences and checkpoint_minutes must not be negative, "
                f"got {self.bleu_sentences} and {self.checkpoint_minutes}"
            )

    def transformer_config(self, vocab_size: int) -> TransformerConfig:
        """The model's config for a vocabulary of this many pieces."""
        return SIZES[self.config](vocab_size, **self.model)

    def to_dict(self) -> dict[str, Any]:
        """Every field, as JSON can hold it."""
        return asdict(self)

    def with_training(self, **changes: Any) -> "Recipe":
        """The same recipe with some fields of its training replaced; None leaves one as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, training=replace(self.training, **given))


# The paper's 4,000 warm-up steps are 4 % of its 100,000 updates. A run of a few thousand updates would
# never reach its peak rate with them, so each recipe names its own warm-up and a scale of equation 3.
LAB = Recipe(
    vocab_size=1200,
    training=TrainingConfig(max_updates=5600, max_tokens=1024, warmup_steps=800),
    evaluate_every=500,
    checkpoint_every=100,
    average_last=10,
)
LAB_MICRO = Recipe(
    model={"d_model": 64, "num_layers": 2},
    vocab_size=600,
    training=TrainingConfig(max_updates=600, max_tokens=1024, warmup_steps=150),
    evaluate_every=200,
    checkpoint_every=50,
)
# The published settings (Wu et al. 2021): 2.6 M parameters, a rate that peaks at 5e-3.
MULTI30K = Recipe(
    model={"num_layers": 4, "dropout": 0.3},
    vocab_size=10_000,
    training=TrainingConfig(max_updates=8000, max_tokens=4096, accumulate=2, warmup_steps=2000, rate_scale=2.53),
    evaluate_every=500,
    checkpoint_every=100,
    average_last=10,
    beam_size=5,
)
# For half an hour on a CPU core, whose updates are a quarter of the published 8,192 tokens. The rate peaks at
# 1.2e-3; a run that peaked at 2.9e-3 hardly learned to use its source.
MULTI30K_CPU = Recipe(
    model={"num_layers": 4},
    vocab_size=4000,
    training=TrainingConfig(max_updates=4000, max_tokens=2048, warmup_steps=500, rate_scale=0.3),
    evaluate_every=250,
    checkpoint_every=100,
    average_last=10,
    beam_size=5,
)
# Everyday sentences, in a model that fits on a page: 8 MB in half precision at most.
TATOEBA = Recipe(
    model={"d_ff": 512},
    vocab_size=6000,
    max_length=64,
    training=TrainingConfig(max_updates=16_000, max_tokens=2048, warmup_steps=1000, rate_scale=0.5),
    evaluate_every=500,
    checkpoint_every=250,
    average_last=10,
)
# The paper's settings. An update is eight batches: one for each of its eight GPUs, or all on one GPU in turn.
PAPER_BATCH = {"max_tokens": 25_000 // 8, "accumulate": 8}
WMT14_BASE = Recipe(config="base", vocab_size=37_000, max_length=256, training=TrainingConfig(**PAPER_BATCH))
WMT14_BIG = replace(
    WMT14_BASE,
    config="big",
    training=TrainingConfig(max_updates=300_000, **PAPER_BATCH),
    average_last=20,
)
WMT14_BIG_FRENCH = replace(WMT14_BIG, vocab_size=32_000, model={"dropout": 0.1})
OWN_TEXT = Recipe(
    training=TrainingConfig(max_updates=20_000, max_tokens=4096, warmup_steps=1000, rate_scale=0.4),
    checkpoint_every=500,
)

RECIPES = {
    "lab": LAB,
    "lab-micro": LAB_MICRO,
    "multi30k-en-de": MULTI30K,
    "multi30k-en-fr": MULTI30K,
    "multi30k-cpu": MULTI30K_CPU,
    "tatoeba-en-de": TATOEBA,
    "wmt14-en-de-base": WMT14_BASE,
    "wmt14-en-de-big": WMT14_BIG,
    "wmt14-en-fr-big": WMT14_BIG_FRENCH,
}
CORPUS_OF = {  # the corpus of a recipe, where it is called otherwise
    "multi30k-cpu": "multi30k-en-de",
    "wmt14-en-de-base": "wmt14-en-de",
    "wmt14-en-de-big": "wmt14-en-de",
    "wmt14-en-fr-big": "wmt14-en-fr",
}


def recipe_for(data: str) -> Recipe:
    """The recipe of that name, or the one for a reader's own text."""
    return RECIPES.get(data, OWN_TEXT)


def corpus_of(data: str) -> str:
    """The corpus that a recipe of this name is for; every other name stays as it is."""
    return CORPUS_OF.get(data, data)
