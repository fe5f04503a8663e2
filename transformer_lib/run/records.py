"""What a run did: a log of JSON lines, and the circumstances that a reader needs to judge a number."""

import json
import platform
import subprocess
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from transformer_lib.corpus.files import shipped, write_atomically
from transformer_lib.run.store import read_json

if TYPE_CHECKING:
    from transformer_lib.charts import AttentionExample


class Log:
    """JSON lines, appended as they come; what lies past the checkpoint resumed from is cut off."""

    def __init__(self, path: Path, keep_until: int = 0, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if read_only:  # one of several processes writes
            return
        kept = [entry for entry in read_log(path) if entry["update"] <= keep_until] if keep_until else []
        write_atomically(self.path, "".join(json.dumps(entry) + "\n" for entry in kept))

    def write(self, update: int, **values: Any) -> dict[str, Any]:
        """Add one line; returns it."""
        entry = {"update": update, **values}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        return entry

    def seconds(self) -> float:
        """Training time that the log knows of."""
        return max((entry.get("seconds", 0.0) for entry in read_log(self.path)), default=0.0)


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log, oldest first; a last line that was cut short is left out."""
    entries = []
    for line in Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []:
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return entries


def environment() -> dict[str, Any]:
    """Versions, device, date and commit: where the numbers of a record were measured."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "device": device,
        "machine": platform.machine(),
        "commit": commit(),
    }


def commit() -> str | None:
    """The commit of the checkout this library is imported from, or None outside one."""
    try:
        here = Path(__file__).parent
        answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def load_record(name: str) -> dict[str, Any]:
    """A recorded run that ships with the book: its recipe, log, results and environment.

    `heads`, where its model was measured (`transformer-lib inspect`), is what is known about each attention head.
    """
    folder = shipped(f"runs/{name}")
    heads = folder / "heads.json"
    measured = {"heads": read_json(heads)} if heads.exists() else {}
    return measured | {
        "recipe": read_json(folder / "recipe.json"),
        "results": read_json(folder / "results.json"),
        "environment": read_json(folder / "environment.json"),
        "log": read_log(folder / "log.jsonl"),
    }


def load_film(name: str | Path) -> dict[str, Any]:
    """A filmed training: one that ships with the book by its name, or a file.

    `moments` are pairs of an update and the `AttentionExample` recorded after it, `losses` pairs of an update and
    the mean loss of the updates before it; `recipe` and `environment` say how and where.
    """
    film = read_json(Path(name) if Path(name).is_file() else shipped(f"films/{name}.json"))
    moments = [(moment["update"], _attention(film, moment)) for moment in film["moments"]]
    return {"moments": moments, **{key: film[key] for key in ("losses", "recipe", "environment")}}


def _attention(film: dict[str, Any], moment: dict[str, Any]) -> "AttentionExample":
    """The weights of a moment, each row brought back to a sum of one, which packing changes a little."""
    from transformer_lib.charts import AttentionExample
    from transformer_lib.charts.packing import unpack

    n_source, n_target = len(film["source"]), len(film["target"])
    sizes = {"encoder": (n_source, n_source), "decoder": (n_target, n_target), "cross": (n_target, n_source)}
    weights = {kind: unpack(moment[kind], (film["layers"], film["heads"], *size)) for kind, size in sizes.items()}
    weights = {kind: matrix / np.maximum(matrix.sum(-1, keepdims=True), 1e-9) for kind, matrix in weights.items()}
    return AttentionExample(film["source"], film["target"], **weights, title=film["title"], gold=film["gold"])
