"""Who watches a training: TensorBoard's files and the live chart of a notebook."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from transformer_lib.corpus.files import InputError
from transformer_lib.run.watchers import LiveChart, tensorboard

LOG = [
    {"update": 10, "loss": 3.5, "rate": 0.001, "tokens": 700, "seconds": 2.0},
    {"update": 20, "loss": 2.5, "rate": 0.002, "tokens": 710, "seconds": 4.0},
    {"update": 20, "dev_loss": 2.25, "dev_bleu": 7.0, "seconds": 5.0},
]


def test_tensorboard_reads_back_every_value(tmp_path):
    watch = tensorboard(tmp_path / "run" / "tensorboard")
    for entry in LOG:
        watch(entry)
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {"loss", "rate", "tokens", "seconds", "dev_loss", "dev_bleu"}
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [(10, 3.5), (20, 2.5)]
    assert [(event.step, event.value) for event in events.Scalars("dev_loss")] == [(20, 2.25)]


def test_a_missing_tensorboard_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("accelerate.utils.is_tensorboard_available", lambda: False)
    with pytest.raises(InputError, match=r"transformer-lib\[tensorboard\]"):
        tensorboard(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_live_chart_shows_both_losses_and_is_redrawn_in_place(monkeypatch):
    shown = []

    class Handle:
        def update(self, chart):
            shown.append(("redrawn", chart))

    def display(chart, display_id):
        shown.append(("shown", chart))
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    watch = LiveChart()
    for entry in LOG:
        watch(entry)
    assert [how for how, _ in shown] == ["shown", "redrawn", "redrawn"]
    values = shown[-1][1].to_dict()["data"]["values"]
    assert [(row["update"], row["loss"], row["of"]) for row in values] == [
        (10, 3.5, "training, smoothed"),
        (20, 2.5, "training, smoothed"),
        (20, 2.25, "development"),
    ]
