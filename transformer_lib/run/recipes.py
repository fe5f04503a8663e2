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
    checkpoint_every: int = 500  # updates
    average_last: int = 5  # checkpoints, section 6.1
    beam_size: int = 4
    length_penalty: float = 0.6

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
# For half an hour on a CPU, whose updates are a quarter of the published 8,192 tokens. The rate peaks at 1.2e-3;
# a run that peaked at 2.9e-3 hardly learned to use its source.
MULTI30K = Recipe(
    model={"num_layers": 4},
    vocab_size=4000,
    training=TrainingConfig(max_updates=4000, max_tokens=2048, warmup_steps=500, rate_scale=0.3),
    evaluate_every=250,
    checkpoint_every=100,
    average_last=10,
    beam_size=5,
)
OWN_TEXT = Recipe(training=TrainingConfig(max_updates=20_000, max_tokens=4096, warmup_steps=1000, rate_scale=0.4))

RECIPES = {
    "lab": LAB,
    "lab-micro": LAB_MICRO,
    "multi30k-en-de": MULTI30K,
    "multi30k-en-fr": MULTI30K,
}


def recipe_for(data: str) -> Recipe:
    """The recipe of a known corpus, or the one for a reader's own text."""
    return RECIPES.get(data, OWN_TEXT)
