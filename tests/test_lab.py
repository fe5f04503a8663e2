"""The lab corpus: splits, annotations, scoring and files. German itself is checked in test_lab_german.py."""

import json
import re
import time
from collections import Counter

import pytest

from transformer_lib.corpus.files import shipped
from transformer_lib.corpus.lab import (
    PHENOMENA,
    SPLITS,
    Case,
    LabExample,
    generate,
    load_lexicon,
    read_jsonl,
    score_phenomena,
    write_lab,
)

CONTENT_TAGS = re.compile(r"NN|VB|JJ|RB|PRP|MD|WP|WDT|WRB|CD|DT")


@pytest.fixture(scope="module")
def splits() -> dict[str, list[LabExample]]:
    return {split: generate(split) for split in SPLITS}


@pytest.fixture(scope="module")
def sample(splits) -> list[LabExample]:
    """Some of everything, another seed and the small variant included."""
    return [
        *splits["train"][:3000],
        *splits["test"],
        *splits["compositional"],
        *splits["long"],
        *generate("train", 1009, seed=7),
        *generate("train", 1009, variant="lab-micro"),
        *generate("long", 101, variant="lab-micro"),
    ]


def tagged_leaves(tree: str) -> list[tuple[str, str]]:
    return re.findall(r"\(([^ ()]+) ([^ ()]+)\)", tree)


def length(example: LabExample) -> tuple[int, int]:
    return len(example.source_spans), len(example.target_spans)


# Splits


def test_splits_have_their_sizes(splits):
    sizes = {split: len(examples) for split, examples in splits.items()}
    assert sizes == {"train": 50_000, "dev": 1_000, "test": 1_000, "compositional": 1_000, "long": 1_000}


@pytest.mark.parametrize("side", ["source", "target"])
def test_splits_share_no_sentence(splits, side):
    sentences = {split: {getattr(example, side) for example in examples} for split, examples in splits.items()}
    for split in SPLITS:
        others = set().union(*(sentences[other] for other in SPLITS if other != split))
        assert not sentences[split] & others


def test_splits_of_different_seeds_share_no_sentence(splits):
    other_test = {example.source for example in generate("test", 500, seed=11)}
    assert not other_test & {example.source for example in splits["train"]}


def test_examples_are_not_repeated(splits):
    for examples in splits.values():
        assert len({example.source for example in examples}) == len(examples)


def test_each_english_sentence_has_one_translation(splits):
    translation: dict[str, str] = {}
    more = [
        example for seed in (1, 2, 3) for example in generate("train", 20_000, seed=seed, variant="lab-micro")[:9000]
    ]
    for example in [*splits["train"], *more, *generate("train", 20_000, seed=5)]:
        assert translation.setdefault(example.source, example.target) == example.target


def test_generation_is_deterministic_and_a_smaller_size_is_a_prefix():
    assert generate("dev", 211) == generate("dev", 307)[:211]
    assert generate("dev", 211) != generate("dev", 211, seed=2018)


@pytest.mark.parametrize("variant", ["lab", "lab-micro"])
def test_generation_does_not_depend_on_processes(variant):
    alone = [example.to_json() for example in generate("train", 4001, variant=variant)]
    together = [example.to_json() for example in generate("train", 4001, variant=variant, processes=3)]
    assert alone == together


def test_long_is_longer_than_anything_in_training(splits):
    longest_source = max(length(example)[0] for example in splits["train"])
    longest_target = max(length(example)[1] for example in splits["train"])
    assert all(length(example)[0] > longest_source for example in splits["long"])
    assert all(length(example)[1] > longest_target for example in splits["long"])


def test_compositional_words_are_all_known_from_training(splits):
    known = {word.lower() for example in splits["train"] for word in example.source_words()}
    assert {word.lower() for example in splits["compositional"] for word in example.source_words()} <= known


def test_words_occur_often_enough_to_be_learned(splits):
    counts = Counter(word.lower() for example in splits["train"] for word in example.source_words())
    for noun in load_lexicon().nouns:
        assert sum(counts[form] for form in noun.english) >= 100, noun.english
    for adjective in load_lexicon().adjectives:
        assert counts[adjective.english] >= 40, adjective.english
    for verb in load_lexicon().verbs:
        assert sum(counts[form] for form in set(verb.english)) >= 100, verb.english


def test_sentences_have_the_promised_length(splits):
    lengths = [length(example)[0] for example in splits["train"]]
    assert 8 <= sum(lengths) / len(lengths) <= 9
    micro = generate("train", 2003, variant="lab-micro")
    assert max(sum(word.isalpha() for word in example.source_words()) for example in micro) <= 9


def test_lexicon_has_the_promised_size():
    lab, micro = load_lexicon(), load_lexicon("lab-micro")
    assert len(lab.nouns) >= 150
    assert len(lab.verbs) >= 80
    assert len(lab.adjectives) >= 50
    assert (len(micro.nouns), len(micro.verbs)) == (24, 18)


def test_lexicon_has_one_german_entry_for_each_english_one():
    for name, keys in {
        "nouns": ("singular",),
        "adjectives": ("english",),
        "verbs": ("base", "particle", "frame"),
        "adverbs": ("english",),
        "prepositions": ("english",),
    }.items():
        header, *rows = [line.split("\t") for line in shipped(f"lab/{name}.tsv").read_text("utf-8").splitlines()]
        assert all(len(row) == len(header) for row in rows)
        entries = [tuple(row[header.index(key)] for key in keys) for row in rows]
        assert len(set(entries)) == len(entries)
    for noun in load_lexicon().nouns:
        assert noun.english[0] != noun.english[1]
    for verb in load_lexicon().verbs:
        assert verb.english[0] != verb.english[2]


def test_generation_is_fast_enough():
    generate("train", 100)
    start = time.process_time()
    pairs = len(generate("train", 8000))
    assert pairs / (time.process_time() - start) > 4000


# Annotations


def test_prose_is_capitalized_and_punctuated(sample):
    for example in sample:
        for text in (example.source, example.target):
            assert text[0].isupper()
            assert text[-1] in ".?"
            assert "  " not in text
            assert not re.search(r" [,.?]|[,.?]{2}|,\w", text)
        assert example.source[-1] == example.target[-1]


def test_english_article_fits_the_next_sound(sample):
    for example in sample:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", example.source)


def test_spans_slice_to_the_words_and_cover_the_text(sample):
    for example in sample:
        for text, words in ((example.source, example.source_words()), (example.target, example.target_words())):
            assert words == re.findall(r"\w+|[^\w\s]", text)


def test_tree_is_well_formed_and_its_leaves_are_the_source_words(sample):
    for example in sample:
        assert "\n" not in example.tree
        depth = 0
        for index, character in enumerate(example.tree):
            depth += {"(": 1, ")": -1}.get(character, 0)
            assert depth > 0 or index == len(example.tree) - 1
        assert depth == 0
        assert [word for _, word in tagged_leaves(example.tree)] == example.source_words()
        assert re.fullmatch(r"\((S|SQ|SBARQ) .*\)", example.tree)


def test_alignment_is_sorted_in_range_and_without_repeats(sample):
    for example in sample:
        source_length, target_length = length(example)
        assert list(example.alignment) == sorted(set(example.alignment))
        assert all(0 <= i < source_length and 0 <= j < target_length for i, j in example.alignment)


def test_alignment_reaches_every_word_but_german_commas(sample):
    for example in sample:
        linked = {i for i, _ in example.alignment}
        leaves = tagged_leaves(example.tree)
        assert all(index in linked for index, (tag, _) in enumerate(leaves) if CONTENT_TAGS.match(tag))
        reached = {j for _, j in example.alignment}
        free = [word for index, word in enumerate(example.target_words()) if index not in reached]
        assert set(free) <= {","}


def test_alignment_of_nouns_and_adjectives_is_one_to_one(sample):
    for example in sample:
        sources = Counter(i for i, _ in example.alignment)
        targets = Counter(j for _, j in example.alignment)
        for index, (tag, word) in enumerate(tagged_leaves(example.tree)):
            if tag in ("NN", "NNS", "PRP", "CC", "CD", ",", ".") or (tag == "JJ" and word.lower() != "many"):
                (partner,) = [j for i, j in example.alignment if i == index]
                assert sources[index] == 1
                assert targets[partner] == 1


def test_aligned_words_are_translations_in_the_lexicon(sample):
    header, *rows = [line.split("\t") for line in shipped("lab/nouns.tsv").read_text("utf-8").splitlines()]
    nouns = {}
    for row in rows:
        entry = dict(zip(header, row, strict=True))
        plural = entry["de_plural"]
        nouns[entry["singular"]] = {entry["de_singular"], entry["de_oblique"]}
        nouns[entry["plural"]] = {plural, plural + "n"}
    header, *rows = [line.split("\t") for line in shipped("lab/adjectives.tsv").read_text("utf-8").splitlines()]
    adjectives = {row[0]: (row[1], row[2]) for row in rows} | {"many": ("viele", "viel")}
    for example in sample:
        target = example.target_words()
        leaves = tagged_leaves(example.tree)
        for i, j in example.alignment:
            tag, word = leaves[i][0], leaves[i][1].lower()
            if tag in ("NN", "NNS"):
                assert target[j] in nouns[word]
            elif tag == "JJ":
                german, stem = adjectives[word]
                assert target[j].lower() == german or re.fullmatch(f"{stem}e[nrsm]?", target[j].lower())


def test_antecedents_are_nouns_and_every_it_has_one(sample):
    count = 0
    for example in sample:
        leaves = tagged_leaves(example.tree)
        found = dict(example.antecedents)
        for pronoun, noun in example.antecedents:
            assert leaves[pronoun][0] in ("PRP", "WP", "WDT")
            assert leaves[noun][0] in ("NN", "NNS")
            assert noun < pronoun
        places = {index for index, (tag, word) in enumerate(leaves) if tag == "PRP" and word.lower() == "it"}
        assert places <= set(found)
        count += len(places)
    assert count > 500


def test_it_has_one_candidate_only(sample):
    """Before *it* stands exactly one singular noun that is no person (or none and the pronoun is no *it*)."""
    persons = {noun.english[0] for noun in load_lexicon().nouns if "person" in noun.tags}
    for example in sample:
        if len(example.source_spans) > 16:
            continue  # long sentences put a further clause before
        leaves = tagged_leaves(example.tree)
        for pronoun, noun in example.antecedents:
            if leaves[pronoun] == ("PRP", "it"):
                before = [i for i in range(pronoun) if leaves[i][0] == "NN" and leaves[i][1].lower() not in persons]
                assert before == [noun]


# Scoring


def test_test_split_has_150_cases_of_each_phenomenon(splits):
    counts = Counter(case.phenomenon for example in splits["test"] for case in example.cases)
    assert set(counts) == set(PHENOMENA)
    assert min(counts.values()) >= 150


def test_cases_name_words_of_their_phenomenon(sample):
    prefixes = {verb.prefix for verb in load_lexicon().verbs if verb.prefix}
    for example in sample:
        target = [word.lower() for word in example.target_words()]
        for case in example.cases:
            words = [target[index] for index in case.words]
            assert list(case.words) == sorted(set(case.words))
            if case.phenomenon == "antecedent":
                assert words[0] in {"er", "sie", "es", "ihn", "ihm", "ihr"}
            elif case.phenomenon == "negation":
                assert words[0] in {"nicht", "nie"} or words[0].startswith("kein")
            elif case.phenomenon == "separable":
                assert any(word.startswith(tuple(prefixes)) for word in words)


def test_agreement_cases_have_a_noun_between_subject_and_verb(sample):
    nouns = {form for noun in load_lexicon().nouns for forms in (noun.nominative, noun.dative) for form in forms}
    for example in sample:
        target = example.target_words()
        for case in example.cases:
            if case.phenomenon == "agreement":
                (verb,) = case.words
                assert any(word in nouns for index, word in enumerate(target) if index != verb)


def test_score_of_the_references_is_perfect(splits):
    scores = score_phenomena(splits["test"], [example.target for example in splits["test"]])
    assert list(scores) == list(PHENOMENA)
    assert all(right == total >= 150 for right, total in scores.values())


def test_score_of_nothing_is_zero(splits):
    scores = score_phenomena(splits["test"], [""] * len(splits["test"]))
    assert all(right == 0 for right, _ in scores.values())


def made_up(target: str, *cases: Case) -> LabExample:
    spans = tuple(match.span() for match in re.finditer(r"\w+|[^\w\s]", target))
    return LabExample("", target, (), spans, (), "", (), cases)


def test_score_counts_each_phenomenon_by_its_own_words():
    example = made_up(
        "Heute macht der Mann die Lampe nicht auf.",
        Case("verb-position", (1, 7)),
        Case("separable", (1, 7)),
        Case("case", (4, 5)),
        Case("negation", (6,)),
    )
    verb_late = score_phenomena([example], ["Heute der Mann macht die Lampe nicht auf."])
    assert verb_late["verb-position"] == (0, 1)
    assert verb_late["case"] == (1, 1)
    article_wrong = score_phenomena([example], ["Heute macht der Mann den Lampe nicht auf."])
    assert article_wrong["case"] == (0, 1)
    assert article_wrong["verb-position"] == (1, 1)
    negation_lost = score_phenomena([example], ["Heute macht der Mann die Lampe auf."])
    assert negation_lost["negation"] == (0, 1)
    assert negation_lost["separable"] == (1, 1)
    assert negation_lost["antecedent"] == (0, 0)


def test_score_refuses_unequal_numbers():
    with pytest.raises(ValueError, match="1 hypotheses for 2 examples"):
        score_phenomena(generate("test", 2), ["Der Hund schläft."])


# Files and errors


def test_json_keeps_everything(sample):
    for example in sample[::101]:
        line = example.to_json()
        assert "\n" not in line
        assert LabExample.from_json(line) == example
    assert set(json.loads(sample[0].to_json())) == set(LabExample.__slots__)


def test_write_lab_writes_every_split_in_both_forms(tmp_path):
    paths = write_lab(tmp_path / "new" / "lab", variant="lab-micro")
    assert sorted(path.name for path in paths) == sorted(f"{s}.{kind}" for s in SPLITS for kind in ("tsv", "jsonl"))
    assert sorted(path.name for path in (tmp_path / "new" / "lab").iterdir()) == sorted(path.name for path in paths)
    for split in SPLITS:
        examples = read_jsonl(tmp_path / "new" / "lab" / f"{split}.jsonl")
        assert examples == generate(split, variant="lab-micro")
        lines = (tmp_path / "new" / "lab" / f"{split}.tsv").read_text("utf-8").splitlines()
        assert [tuple(line.split("\t")) for line in lines] == [(e.source, e.target) for e in examples]


def test_write_lab_refuses_an_unwritable_folder_before_writing(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OSError, match="file"):
        write_lab(tmp_path / "file", variant="lab-micro")
    assert (tmp_path / "file").read_text() == "kept"


def test_read_jsonl_names_the_line_that_is_wrong(tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text(generate("dev", 1)[0].to_json() + "\n{}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.jsonl, line 2"):
        read_jsonl(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "valid"}, "'valid': expected one of train, dev, test"),
        ({"variant": "lab-huge"}, "'lab-huge': expected one of lab, lab-micro"),
        ({"size": -3}, "-3 is negative"),
        ({"processes": 0}, "processes 0: expected 1 or more"),
    ],
)
def test_generate_refuses_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        generate(**arguments)


def test_generate_gives_up_when_the_grammar_says_nothing_new(monkeypatch):
    same = generate("dev", 2)
    monkeypatch.setattr("transformer_lib.corpus.lab.splits._block", lambda job: same)
    with pytest.raises(ValueError, match="size 3 is more than split 'dev' of 'lab' holds: 2 found"):
        generate("dev", 3)


def test_size_zero_is_empty():
    assert generate("train", 0) == []
