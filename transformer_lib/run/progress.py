"""What happens between updates: bar, log, development scores, checkpoints, and the decision to stop."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from transformer_lib.corpus.files import InputError
from transformer_lib.run.hardware import Hardware
from transformer_lib.run.recipes import Recipe
from transformer_lib.run.records import Log
from transformer_lib.training import READ_EVERY, Update, read_losses

LOG_EVERY_ON_CPU = 10  # updates; reading the loss is free there
AGREE_EVERY = 10  # updates between two moments at which several processes agree what to do

Watcher = Callable[[dict[str, Any]], None]  # is given every entry of the log


class Progress:
    """Follows a training loop: `after_update` is its callback, and True from it stops the loop.

    `checkpoint(update)` and `development()`, which returns scores by name, are the run's. Leaving the
    context writes a last checkpoint. Where several processes train, each has one of these; they do the
    same things at the same updates, and the main one speaks.
    """

    def __init__(
        self,
        recipe: Recipe,
        log: Log,
        hardware: Hardware,
        start: int,
        *,
        checkpoint: Callable[[int], None],
        development: Callable[[], dict[str, float]],
        max_minutes: float | None = None,
        quiet: bool = False,
        watchers: Sequence[Watcher] = (),
    ) -> None:
        self.recipe, self.log, self.hardware, self.update, self.saved = recipe, log, hardware, start, start
        self.checkpoint, self.development, self.watchers = checkpoint, development, watchers
        self.max_minutes, self.quiet = max_minutes, quiet or not hardware.is_main
        self.interrupted = threading.Event()
        self.log_every = READ_EVERY if hardware.device.type == "cuda" else LOG_EVERY_ON_CPU
        self.unread: list[Update] = []
        self.seconds_before = log.seconds()
        self.shown: dict[str, str] = {}  # beside the bar
        self.failure: OSError | None = None  # of the last attempt to write a checkpoint

    def __enter__(self) -> "Progress":
        self.began = self.logged_at = self.saved_at = time.monotonic()
        total = self.recipe.training.max_updates
        self.bar = tqdm(initial=self.update, total=total, unit="update", disable=self.quiet, dynamic_ncols=True)
        self.signals = catch_interrupt(self.interrupted)
        self.signals.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.signals.__exit__(None, None, None)
        self.bar.close()
        if error[0] is None:
            self.write_log()
            if self.saved != self.update:
                self.save()
            if self.failure is not None:
                raise InputError(
                    f"the checkpoint of update {self.update} could not be written: {self.failure}; "
                    f"the last one is of update {self.saved}"
                )
        if self.interrupted.is_set():
            self.say(f"stopped after update {self.saved}; --resume continues exactly there")

    @property
    def seconds(self) -> float:
        """Training time so far, earlier sessions included."""
        return self.seconds_before + time.monotonic() - self.began

    def after_update(self, update: Update) -> bool:
        """Note an update; True when training should stop."""
        self.update = update.number
        self.unread.append(update)
        self.bar.update()
        if update.number % self.log_every == 0:
            self.write_log()
        if update.number % self.recipe.evaluate_every == 0:
            self.write_log()  # also finds out whether there is still something to evaluate
            self.evaluate()
        if self.all_agree(self.is_checkpoint_due()) or self.is_regular_checkpoint():
            self.save()
        return self.all_agree(self.is_over())

    def is_regular_checkpoint(self) -> bool:
        """True at the updates whose checkpoints are averaged."""
        return self.recipe.checkpoint_every is not None and self.update % self.recipe.checkpoint_every == 0

    def is_checkpoint_due(self) -> bool:
        """True when the recipe's minutes have passed since the last checkpoint."""
        return time.monotonic() - self.saved_at >= 60 * self.recipe.checkpoint_minutes

    def is_over(self) -> bool:
        """True when someone has asked to stop, or the time is up."""
        return self.interrupted.is_set() or (self.max_minutes is not None and self.seconds >= 60 * self.max_minutes)

    def all_agree(self, wish: bool) -> bool:
        """What one process wishes, all do; at updates that are rare enough for the question not to cost."""
        if self.hardware.world > 1 and self.update % AGREE_EVERY:
            return False
        return self.hardware.any(wish)

    def save(self) -> None:
        """Write a checkpoint of finite weights; a disk that refuses it is reported, and training goes on."""
        self.write_log()  # reads every loss so far, and raises where one is not finite
        try:
            self.checkpoint(self.update)
            self.saved, self.failure = self.update, None
        except OSError as error:
            self.failure = error
            tqdm.write(f"update {self.update}: no checkpoint: {error}; the last one is of update {self.saved}")
        self.saved_at = time.monotonic()

    def write_log(self) -> None:
        """One entry for the updates since the last one."""
        if not self.unread:
            return
        losses = read_losses(self.unread)
        tokens = sum(update.tokens for update in self.unread)
        loss = sum(loss * update.tokens for loss, update in zip(losses, self.unread, strict=True)) / tokens
        rate, now = self.unread[-1].rate, time.monotonic()
        speed, self.logged_at = tokens / (now - self.logged_at), now
        self.unread.clear()
        self.note(loss=round(loss, 4), rate=float(f"{rate:.4g}"), tokens=tokens)
        self.show(loss=f"{loss:.3f}", rate=f"{rate:.1e}", speed=f"{speed:,.0f} tokens/s")

    def evaluate(self) -> None:
        """Scores on the development set, to the log and to the person who waits."""
        if not self.hardware.is_main:
            return
        scores = self.development()
        self.note(**{name: round(value, 4) for name, value in scores.items()})
        shown = {"perplexity": f"{math.exp(min(scores['dev_loss'], 100)):.2f}"}
        if "dev_bleu" in scores:
            shown["BLEU"] = f"{scores['dev_bleu']:.1f}"
        self.show(**shown)
        self.say(f"update {self.update}: development " + ", ".join(f"{name} {value}" for name, value in shown.items()))
        self.logged_at = time.monotonic()  # evaluation is not counted in the speed

    def note(self, **values: Any) -> None:
        """Add an entry to the log and tell everyone who watches."""
        if self.hardware.is_main:
            entry = self.log.write(self.update, **values, seconds=round(self.seconds, 1))
            for watch in self.watchers:
                watch(entry)

    def show(self, **values: str) -> None:
        """Put values beside the bar, which itself shows the time left."""
        self.shown |= values
        self.bar.set_postfix(self.shown)

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
