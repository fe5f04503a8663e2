"""What happens after each update of a run: bar, log, development loss, checkpoint, and the decision to stop."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

from transformer_lib.run.recipes import Recipe
from transformer_lib.run.records import Log
from transformer_lib.training import Update

LOG_EVERY = 25  # updates


class Progress:
    """Follows a training loop: `after_update` is its callback, and True from it stops the loop.

    `checkpoint(update)` and `development_loss()` are the run's; leaving the context writes a last checkpoint.
    """

    def __init__(
        self,
        recipe: Recipe,
        log: Log,
        start: int,
        *,
        checkpoint: Callable[[int], None],
        development_loss: Callable[[], float],
        max_minutes: float | None = None,
        quiet: bool = False,
    ) -> None:
        self.recipe, self.log, self.update, self.saved = recipe, log, start, start
        self.checkpoint, self.development_loss = checkpoint, development_loss
        self.max_minutes, self.quiet = max_minutes, quiet
        self.interrupted = threading.Event()
        self.since_log: list[Update] = []
        self.seconds_before = log.seconds()

    def __enter__(self) -> "Progress":
        self.began = time.monotonic()
        total = self.recipe.training.max_updates
        self.bar = tqdm(initial=self.update, total=total, unit="update", disable=self.quiet, dynamic_ncols=True)
        self.signals = catch_interrupt(self.interrupted)
        self.signals.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.signals.__exit__(None, None, None)
        self.bar.close()
        if error[0] is None and self.saved != self.update:
            self.checkpoint(self.update)
        if self.interrupted.is_set():
            self.say(f"stopped after update {self.update}; --resume continues exactly there")

    @property
    def seconds(self) -> float:
        """Training time so far, earlier sessions included."""
        return self.seconds_before + time.monotonic() - self.began

    def after_update(self, update: Update) -> bool:
        """Note an update; True when training should stop."""
        self.update = update.number
        self.since_log.append(update)
        self.bar.update()
        if update.number % LOG_EVERY == 0:
            self.write_log()
        if update.number % self.recipe.evaluate_every == 0:
            self.evaluate()
        if update.number % self.recipe.checkpoint_every == 0:
            self.checkpoint(update.number)
            self.saved = update.number
        return self.interrupted.is_set() or (self.max_minutes is not None and self.seconds >= 60 * self.max_minutes)

    def write_log(self) -> None:
        """One line for the updates since the last one."""
        tokens = sum(update.tokens for update in self.since_log)
        loss = sum(update.loss * update.tokens for update in self.since_log) / tokens
        rate = self.since_log[-1].rate
        self.log.write(
            self.update, loss=round(loss, 4), rate=float(f"{rate:.4g}"), tokens=tokens, seconds=round(self.seconds, 1)
        )
        self.bar.set_postfix(loss=f"{loss:.3f}", rate=f"{rate:.1e}")
        self.since_log.clear()

    def evaluate(self) -> None:
        """Cross-entropy on the development set, to the log and to the person who waits."""
        loss = self.development_loss()
        self.log.write(self.update, dev_loss=round(loss, 4), seconds=round(self.seconds, 1))
        self.say(f"update {self.update}: development loss {loss:.3f} nats a token")

    def say(self, text: str) -> None:
        """A line above the bar."""
        if not self.quiet:
            tqdm.write(text)


@contextmanager
def catch_interrupt(interrupted: threading.Event) -> Iterator[None]:
    """Let the update in progress end when Ctrl-C or SIGTERM comes; a second Ctrl-C ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can take signals
        return

    def note(number: int, frame: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
