"""Batches on their way to the device: each process's share of an update, made ready in the background on a GPU."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import torch

from transformer_lib.batching import Batch, TokenBatches

Item = TypeVar("Item")
Work = tuple[list[Batch], int]  # the batches of an update, and its real target tokens in all processes
AHEAD = 4  # updates prepared in advance


class SharedBatches:
    """What one of `world` processes computes of each update of `data`.

    Every process knows the whole plan, since it follows from the seed. So the number of tokens of an
    update is known without asking the others, and any number of processes makes the same updates.
    """

    def __init__(self, data: TokenBatches, rank: int = 0, world: int = 1, *, pinned: bool = False) -> None:
        self.data, self.rank, self.world, self.pinned = data, rank, world, pinned

    def updates(self, start: int = 0, accumulate: int = 1) -> Iterator[Work]:
        """This process's batches of update `start` + 1 and all that follow."""
        work = self.shares(start, accumulate)
        return in_background(pinned(work), AHEAD) if self.pinned else work

    def shares(self, start: int, accumulate: int) -> Iterator[Work]:
        """The same, made when it is asked for."""
        indices = self.data.indices(start * accumulate)
        while True:
            plan = [next(indices) for _ in range(accumulate)]
            tokens = sum(self.data.target_tokens(rows) for rows in plan)
            yield [self.collate(rows) for rows in self.share(plan)], tokens

    def share(self, plan: list[np.ndarray]) -> list[np.ndarray]:
        """Whole batches where they come out even, else some rows of each batch, and perhaps none of a short one."""
        if len(plan) % self.world == 0:
            return plan[self.rank :: self.world]
        return [rows[self.rank :: self.world] for rows in plan]

    def collate(self, rows: np.ndarray) -> Batch:
        """The batch of these rows; of no rows, a sentence of which nothing is asked: all processes must take part."""
        if len(rows):
            return self.data.collate(rows)
        source, begin, nothing = (torch.tensor([[i]]) for i in (self.data.eos_id, self.data.bos_id, self.data.pad_id))
        return Batch(source, begin, nothing, torch.tensor([], dtype=torch.long))


def pinned(work: Iterator[Work]) -> Iterator[Work]:
    """Put batches into memory from which a GPU can copy while it computes."""
    for batches, tokens in work:
        yield [batch.pin_memory() for batch in batches], tokens


def in_background(items: Iterator[Item], ahead: int) -> Iterator[Item]:
    """The same items, prepared by a thread that stays `ahead` of who takes them; its errors are raised here."""
    ready: queue.Queue = queue.Queue(maxsize=ahead)
    done = threading.Event()

    def prepare() -> None:
        try:
            for item in items:
                while not put(ready, (item, None)):
                    if done.is_set():
                        return
            ready.put((None, StopIteration()))
        except BaseException as error:
            ready.put((None, error))

    threading.Thread(target=prepare, daemon=True).start()
    try:
        while True:
            item, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item
    finally:
        done.set()


def put(ready: queue.Queue, entry: object) -> bool:
    """Add to a queue; False when it stays full for a while, so that who waits can look around."""
    try:
        ready.put(entry, timeout=0.1)
    except queue.Full:
        return False
    return True
