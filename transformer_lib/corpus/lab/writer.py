"""Random choice of words that make sense together, in clauses."""

from transformer_lib.corpus.lab.clauses import Clause
from transformer_lib.corpus.lab.german import MODALS
from transformer_lib.corpus.lab.lexicon import Adverb, Noun, Verb
from transformer_lib.corpus.lab.phrase_writer import PhraseWriter
from transformer_lib.corpus.lab.phrases import THIRD, NounPhrase

OBJECT_CASES = {"none": (), "acc": ("acc",), "dat": ("dat",), "dat+acc": ("dat", "acc"), "dass": ()}
REASONS = ("because", "although")
ANIMATE = frozenset({"person", "animal"})
STATIVE = frozenset(("mögen", "lieben", "hassen", "kennen", "brauchen", "gehören", "sterben", "brennen"))


class Writer(PhraseWriter):
    """Chooses clauses, on top of the phrases."""

    def tense(self, subject_is_animate: bool, verb: Verb) -> str:
        """A tense; modal verbs only where somebody acts."""
        tense = self.pick(self.profile.tenses)
        no_modal = not subject_is_animate or verb.infinitive in STATIVE
        return "present" if tense in MODALS and no_modal else tense

    def clause(
        self,
        frame: str | None = None,
        verb: Verb | None = None,
        subject: NounPhrase | None = None,
        tense: str | None = None,
        negate: bool | None = None,
        adverb: bool | None = None,
        place: bool | None = None,
        style: str = "any",
        objects: bool = True,
    ) -> Clause:
        """A clause with a full verb; whatever is None is chosen. ``objects=False`` leaves a gap for the object."""
        verb = verb or self.verb(frame or self.pick(self.profile.frames), subject)
        tense = tense or self.tense(bool(verb.subject & ANIMATE), verb)
        negated = self.chance(self.profile.negation_rate) if negate is None else negate
        negated = negated and tense not in ("must", "want")
        subject = subject or self.subject(verb, "known" if negated else style)
        clause = Clause(subject, verb, tense, negated)
        if objects:
            self._add_objects(clause, style)
        self._add_circumstances(clause, adverb, place)
        return clause

    def verb(self, frame: str, subject: NounPhrase | None = None) -> Verb:
        """A verb of ``frame`` that ``subject`` can be the subject of."""
        if subject is not None and subject.noun is not None:
            return self.pick(self.words.verbs_for_subject[subject.noun, frame])
        verb = self.pick(self.words.verbs[frame])
        while subject is not None and "person" not in verb.subject:
            verb = self.pick(self.words.verbs[frame])
        return verb

    def _add_objects(self, clause: Clause, style: str) -> None:
        cases = OBJECT_CASES[clause.verb.frame]
        for case in cases:
            noun = self.receiver() if len(cases) == 2 and case == "dat" else self.object_noun(clause)
            if not clause.negated:
                clause.objects.append(self.phrase(noun, case, "specific" if len(cases) == 2 else style))
            elif case == cases[-1] and self.chance(0.4):
                clause.objects.append(self.kein_phrase(noun, case))
                clause.kein = clause.objects[-1].article
            else:
                clause.objects.append(self.phrase(noun, case, "known"))

    def receiver(self) -> Noun:
        """A person to whom something is given."""
        return self.noun("person")

    def object_noun(self, clause: Clause) -> Noun:
        """An object of the verb, not the same noun as the subject."""
        reserved = self.draft.reserved
        while (noun := self.partner(self.words.objects[clause.verb])) is clause.subject.noun:
            self.draft.reserved = reserved
        return noun

    def _add_circumstances(self, clause: Clause, adverb: bool | None, place: bool | None) -> None:
        has_object = bool(clause.objects)
        adverb = self.chance(self.profile.adverb_rate) if adverb is None else adverb
        place = self.chance(self.profile.place_rate) if place is None else place
        if place and not (clause.negated and has_object):
            clause.place = self.place(clause.verb)
        if adverb and not clause.negated and clause.verb.infinitive not in STATIVE:
            clause.adverb = self.middle_adverb(clause.tense)

    def middle_adverb(self, tense: str) -> Adverb:
        """An adverb of time or, without a modal verb, of frequency."""
        kinds = ("time",) if tense in MODALS else ("time", "frequency")
        return self.pick(self.adverbs(self.pick(kinds), tense))

    def description(self, subject: NounPhrase, tense: str = "present", negate: bool | None = None) -> Clause | None:
        """*Subject is adjective*; None if the adjective does not suit, or could make *it* impersonal."""
        adjective = self.partner(self.words.adjectives[subject.noun])
        if adjective is None or (subject.is_pronoun and subject.person == THIRD and adjective.impersonal):
            return None
        negated = self.chance(self.profile.negation_rate) if negate is None else negate
        return Clause(subject, None, tense, negated, adjective)
