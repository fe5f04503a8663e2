"""Translate text with a trained model."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from tqdm import tqdm

from transformer_lib.batching import pad
from transformer_lib.corpus.files import InputError, shipped
from transformer_lib.corpus.tokenizer import Tokenizer
from transformer_lib.decoding import beam_search
from transformer_lib.inspection import by_word, record_attention
from transformer_lib.model import Transformer
from transformer_lib.run.store import load_model, save_model

if TYPE_CHECKING:
    from transformer_lib.charts import AttentionExample


class TranslationWarning(UserWarning):
    """A line was not translated as it stood."""


class Translator:
    """A model and its vocabulary, from text to text."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer, max_source_tokens: int = 256) -> None:
        self.model, self.tokenizer, self.max_source_tokens = model.eval(), tokenizer, max_source_tokens
        if model.config.positions == "learned":
            self.max_source_tokens = min(max_source_tokens, model.config.max_positions - 1)

    @classmethod
    def load(
        cls, name: str | Path, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> "Translator":
        """A shipped model by its name, or one from a folder; InputError says what is wrong with it."""
        return cls(*load_model(find_model(name), device=device, dtype=dtype))

    def save(self, folder: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write the model to a folder that `load` reads; `dtype=torch.float16` halves it."""
        save_model(Path(folder), self.model, self.tokenizer, dtype)

    def translate(
        self,
        sentences: Sequence[str],
        *,
        beam_size: int = 4,
        length_penalty: float = 0.6,
        max_extra_tokens: int = 50,
        strict: bool = False,
        progress: bool = False,
    ) -> list[str]:
        """The best translation of each sentence (section 6.1); empty in, empty out.

        A sentence of over `max_source_tokens` tokens is cut there, with a TranslationWarning that names
        its line; with `strict` it is an InputError before anything is translated. `progress` draws a bar
        on standard error.
        """
        if isinstance(sentences, str):
            raise InputError("translate takes a list of sentences, got one string")
        sources = self.encode(sentences, strict)
        outputs = [""] * len(sources)
        bar = tqdm(total=len(sources), unit="line", disable=not progress, leave=False)
        bar.update(sum(not source for source in sources))
        for rows in self.groups(sources):
            found = beam_search(
                self.model,
                self.source_batch([sources[row] for row in rows]),
                beam_size=beam_size,
                length_penalty=length_penalty,
                max_extra_tokens=max_extra_tokens,
                num_hypotheses=1,
            )
            for row, hypotheses in zip(rows, found, strict=True):
                outputs[row] = self.tokenizer.decode(hypotheses[0].tokens)
            bar.update(len(rows))
        bar.close()
        return outputs

    def encode(self, sentences: Sequence[str], strict: bool) -> list[list[int]]:
        """Tokens of each sentence, cut to what the model is meant to read."""
        sources = self.tokenizer.encode_all([sentence.strip() for sentence in sentences])
        for number, source in enumerate(sources, 1):
            if len(source) > self.max_source_tokens:
                message = f"line {number} has {len(source)} tokens, more than {self.max_source_tokens}"
                if strict:
                    raise InputError(message)
                warnings.warn(f"{message}: the rest was cut off", TranslationWarning, stacklevel=3)
        return [source[: self.max_source_tokens] for source in sources]

    def groups(self, sources: list[list[int]], max_tokens: int = 2048) -> Iterator[list[int]]:
        """Rows of similar length to be decoded together; rows without a token are left out."""
        group: list[int] = []
        for row in sorted((row for row, source in enumerate(sources) if source), key=lambda row: len(sources[row])):
            if group and (len(group) + 1) * len(sources[row]) > max_tokens:
                yield group
                group = []
            group.append(row)
        if group:
            yield group

    def source_batch(self, sources: list[list[int]]) -> torch.Tensor:
        """Source ids as the model was trained to read them: with eos, padded, on its device."""
        config = self.model.config
        return pad([[*source, config.eos_id] for source in sources], config.pad_id).to(self.device)

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return next(self.model.parameters()).device

    def attention(
        self, sentence: str, translation: str | None = None, *, unit: Literal["piece", "word"] = "piece"
    ) -> "AttentionExample":
        """All attention while the model reads `sentence` and writes `translation` (its own if None).

        The decoder's rows are labelled with what it has read so far: bos, then the translation's pieces, or its
        words, whose pieces `inspection.by_word` puts together.
        """
        from transformer_lib.charts import AttentionExample

        if translation is None:
            translation = self.translate([sentence])[0]
        source, target = self.encode([sentence.strip(), translation.strip()], strict=True)
        if not source:
            raise InputError("the sentence is empty: there is nothing to attend to")
        target_ids = torch.tensor([[self.model.config.bos_id, *target]], device=self.device)
        with torch.inference_mode(), record_attention(self.model) as maps:
            self.model(self.source_batch([source]), target_ids)
        read, read_units = self.units(sentence.strip(), unit)
        written, written_units = self.units(translation.strip(), unit)
        reading, writing = [*read_units, len(read)], [0, *(1 + index for index in written_units)]  # eos, bos
        sides = {"encoder": (reading, reading), "decoder": (writing, writing), "cross": (writing, reading)}
        weights = {kind: by_word(torch.cat(getattr(maps, kind)).float().cpu(), *sides[kind]) for kind in sides}
        return AttentionExample([*read, "</s>"], ["<s>", *written], **weights, title=sentence.strip())

    def units(self, text: str, unit: Literal["piece", "word"]) -> tuple[list[str], list[int]]:
        """The pieces or words of a text, and for each of its pieces the number of its unit."""
        if unit not in ("piece", "word"):
            raise ValueError(f'unit must be "piece" or "word", not {unit!r}')
        if unit == "word":
            return self.tokenizer.words(text)
        pieces = self.tokenizer.pieces(text)
        return pieces, list(range(len(pieces)))


def find_model(name: str | Path) -> Path:
    """The folder of a model: a folder as it is, else a shipped model of that name; InputError lists those."""
    if Path(name).is_dir():
        return Path(name)
    known = sorted(path.name for path in shipped("checkpoints").iterdir() if path.is_dir())
    if str(name) not in known:
        raise InputError(f"no model {str(name)!r}: expected a folder, or one of the shipped models {', '.join(known)}")
    return shipped(f"checkpoints/{name}")
