"""The command line: `transformer-lib lab | train | average | translate | evaluate | inspect`."""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from transformer_lib.corpus.files import InputError, check_writable, decode_lines, read_lines
from transformer_lib.corpus.lab import write_lab
from transformer_lib.decoding import average_weights
from transformer_lib.run.evaluation import evaluate_corpus
from transformer_lib.run.head_measures import measure_heads
from transformer_lib.run.recipes import recipe_for
from transformer_lib.run.records import environment
from transformer_lib.run.store import load_model, read_tensors, save_model, write_json
from transformer_lib.run.train_command import Train, open_corpus, search_of
from transformer_lib.run.translator import TranslationWarning, Translator


@dataclass(frozen=True)
class Lab:
    """Write the generated English-German lab corpus: for each split a .tsv and a .jsonl with annotations."""

    output: Path = Path("lab")
    """Folder to write to."""
    variant: Literal["lab", "lab-micro"] = "lab"
    """The full corpus, or the small one for experiments of a minute."""
    seed: int = 2017
    """The same seed gives the same bytes."""
    processes: int = 1
    """How many processes generate; the result does not depend on it."""

    def __call__(self) -> None:
        """Write the files and name them."""
        check_writable(self.output)
        for path in write_lab(self.output, seed=self.seed, variant=self.variant, processes=self.processes):
            print(path)


@dataclass(frozen=True)
class Average:
    """Average the weights of several checkpoints of one training (section 6.1)."""

    checkpoints: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of checkpoints."""
    output: Path = Path("average")
    """Folder to write the model to."""

    def __call__(self) -> None:
        """Write the model."""
        check_writable(self.output)
        if not self.checkpoints:
            raise InputError("name the checkpoints to average")
        model, tokenizer = load_model(self.checkpoints[0])
        states = [read_tensors(path / "model.safetensors") for path in self.checkpoints]
        model.load_state_dict(average_weights(states), strict=False)
        save_model(self.output, model, tokenizer)
        print(self.output)


@dataclass(frozen=True)
class Translate:
    """Translate lines from a file or from standard input to standard output."""

    model: str = "lab-en-de"
    """A shipped model, or the folder of your own."""
    input: Path | None = None
    """Text, a sentence a line; standard input when not given."""
    beam_size: int = 4
    """Hypotheses kept at each step (section 6.1)."""
    length_penalty: float = 0.6
    """The exponent alpha of the length penalty."""
    strict: bool = False
    """Refuse lines that are too long, in place of cutting them."""
    device: str = "cpu"
    """Where to translate."""

    def __call__(self) -> None:
        """Print a translation for each line, an empty one for an empty line."""
        translator = Translator.load(self.model, device=self.device)
        if self.input is None and sys.stdin.isatty():
            for line in sys.stdin:
                self.print_translations(translator, [line])
        else:
            self.print_translations(translator, self.read_all())

    def read_all(self) -> list[str]:
        """Every line; InputError names the first byte that is not UTF-8, before anything is printed."""
        if self.input is None:
            return decode_lines(sys.stdin.buffer.read(), "standard input")
        return read_lines(self.input)

    def print_translations(self, translator: Translator, lines: list[str]) -> None:
        """Translations to standard output, warnings to standard error."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TranslationWarning)
            outputs = translator.translate(
                lines,
                beam_size=self.beam_size,
                length_penalty=self.length_penalty,
                strict=self.strict,
                progress=len(lines) > 1,
            )
        for warning in caught:
            print(f"warning: {warning.message}", file=sys.stderr)
        for output in outputs:
            print(output, flush=True)


@dataclass(frozen=True)
class Evaluate:
    """Score a model on the test split of a corpus, in full: BLEU with signature, exact match, phenomena."""

    model: str = "lab-en-de"
    """A shipped model, or the folder of your own."""
    data: str | None = None
    """As for train: a corpus by name, or a tab-separated file. The lab corpus when nothing is given."""
    source: Path | None = None
    """In place of --data: a text file, one sentence a line,"""
    target: Path | None = None
    """and its translation, line by line."""
    output: Path | None = None
    """A JSON file to write the scores to, beside printing them."""
    device: str = "cpu"
    """Where to translate."""

    def __call__(self) -> None:
        """Print the scores as JSON."""
        corpus = open_corpus(self.data, self.source, self.target)
        if self.output is not None:
            check_writable(self.output.parent)
        translator = Translator.load(self.model, device=self.device)
        results = evaluate_corpus(translator.translate, corpus, search_of(recipe_for(self.data or corpus.name)))
        if self.output is not None:
            write_json(self.output, results)
        print(json.dumps(results, indent=2))


@dataclass(frozen=True)
class Inspect:
    """Measure every attention head of a model: how widely and how far it looks, and the BLEU without it."""

    model: str = "lab-en-de"
    """A shipped model, or the folder of your own."""
    data: str | None = None
    """As for train: a corpus by name, or a tab-separated file. The lab corpus when nothing is given."""
    source: Path | None = None
    """In place of --data: a text file, one sentence a line,"""
    target: Path | None = None
    """and its translation, line by line."""
    sentences: int = 1000
    """How many test sentences, from the first; each is translated once for every head."""
    output: Path | None = None
    """A JSON file to write the measures to, beside printing them."""
    device: str = "cpu"
    """Where to translate."""

    def __call__(self) -> None:
        """Print the measures as JSON."""
        if self.sentences < 1:
            raise InputError(f"--sentences must be at least 1, not {self.sentences}")
        corpus = open_corpus(self.data, self.source, self.target)
        if self.output is not None:
            check_writable(self.output.parent)
        translator = Translator.load(self.model, device=self.device)
        measures = measure_heads(translator, list(corpus.test)[: self.sentences], progress=True)
        measures = {"data": corpus.name, **measures, "environment": environment()}
        if self.output is not None:
            write_json(self.output, measures)
        print(json.dumps(measures, indent=2))


COMMANDS: dict[str, Callable[[], None]] = {
    "lab": Lab,
    "train": Train,
    "average": Average,
    "translate": Translate,
    "evaluate": Evaluate,
    "inspect": Inspect,
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; wrong input gives one line on standard error and exit code 2."""
    command = tyro.extras.subcommand_cli_from_dict(COMMANDS, prog="transformer-lib", args=arguments)
    try:
        command()
    except InputError as error:
        print(f"transformer-lib: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
