"""Train the lab model once more and film what it attends to in one sentence: `python -m tools.film`, ten minutes.

The training is that of `transformer-lib train --data lab`; the film goes to `data/films/lab-en-de.json`.
"""

import json
import tempfile
from pathlib import Path

from transformer_lib.corpus.files import write_atomically
from transformer_lib.corpus.lab import generate
from transformer_lib.corpus.sources import load_corpus
from transformer_lib.run.filming import film_training
from transformer_lib.run.recipes import recipe_for

# Of the test split: never trained on. "it" could stand for either noun, and German must say which.
SENTENCE = "The father cleans the cup because it is not new."
MOMENTS = (0, 100, 200, 300, 400, 500, 800, 1400, 2800, 5600)  # updates
FILM = Path("data/films/lab-en-de.json")

if __name__ == "__main__":
    example = next(example for example in generate("test") if example.source == SENTENCE)
    with tempfile.TemporaryDirectory() as folder:
        film = film_training(
            Path(folder),
            load_corpus("lab"),
            recipe_for("lab"),
            (example.source, example.target),
            MOMENTS,
            alignment=example.alignment,
            device="cpu",
        )
    write_atomically(FILM, json.dumps(film, ensure_ascii=False) + "\n")
    print(f"{FILM}: {FILM.stat().st_size / 1024:.0f} KiB")
