"""The constructions of the corpus by name."""

# A construction builds one sentence in the writer's draft. It returns False when the words it drew do not fit; the
# caller draws again.

from collections.abc import Callable

from transformer_lib.corpus.lab import intervening, it, long, questions, statements
from transformer_lib.corpus.lab.writer import Writer

Construction = Callable[[Writer], bool]


def _by_name(*constructions: Construction) -> dict[str, Construction]:
    return {construction.__name__: construction for construction in constructions}


CONSTRUCTIONS = _by_name(
    statements.statement,
    statements.description,
    statements.fronted_adverb,
    statements.fronted_place,
    statements.subordinate_clause,
    statements.reported,
    questions.yes_no_question,
    questions.adverb_question,
    questions.participant_question,
    it.it_described,
    it.it_acted_on,
    it.it_condition,
    intervening.subject_relative,
    intervening.object_relative,
    intervening.relative_object,
    intervening.attractor,
)
LONG_CONSTRUCTIONS = _by_name(long.long_reported, long.long_relative, long.long_coordination, long.long_it)
