"""Ways to watch a training: each takes the entries of its log as they come."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer_lib.corpus.files import InputError


def tensorboard(folder: Path) -> Callable[[dict[str, Any]], None]:
    """Write the entries for TensorBoard, to `folder`, through Accelerate's tracker.

    InputError when TensorBoard is not installed.
    """
    from accelerate.tracking import TensorBoardTracker
    from accelerate.utils import is_tensorboard_available

    if not is_tensorboard_available():
        raise InputError('TensorBoard is not installed: pip install "transformer-lib[tensorboard]"')
    tracker = TensorBoardTracker(folder.name, logging_dir=folder.parent)
    started = False

    def watch(entry: dict[str, Any]) -> None:
        nonlocal started
        if not started and hasattr(tracker, "start"):  # older versions of Accelerate begin by themselves
            tracker.start()
        started = True
        tracker.log({name: value for name, value in entry.items() if name != "update"}, step=entry["update"])
        tracker.writer.flush()

    return watch


class LiveChart:
    """The loss curves of a training, redrawn in the notebook's cell as it goes.

    Outside a notebook it draws nothing.
    """

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []
        self.handle: Any = None

    def __call__(self, entry: dict[str, Any]) -> None:
        """Add an entry of the log and redraw."""
        from IPython.display import display

        names = {"loss": "training, smoothed", "dev_loss": "development"}
        new = [{"update": entry["update"], "loss": entry[key], "of": of} for key, of in names.items() if key in entry]
        self.points += new
        if self.handle is None:
            self.handle = display(self.chart(), display_id=True)
        elif new:
            self.handle.update(self.chart())

    def chart(self) -> Any:
        """Both losses over the updates so far."""
        from transformer_lib.charts import line_chart

        return line_chart(self.points, "update", "loss", "of", y_title="nats a target token", points=True)
