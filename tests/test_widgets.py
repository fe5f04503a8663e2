"""Figures with a kernel, without a browser: what controls do is called as a front end calls it."""

import threading
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from test_charts import TARGET, make_example, parameters

from transformer_lib.charts import Silencing, explore, silence
from transformer_lib.charts.live.controls import OWN_FOLDER
from transformer_lib.charts.live.live_figure import LiveFigure
from transformer_lib.charts.live.waiting import ProgressBar, in_words
from transformer_lib.corpus.files import InputError
from transformer_lib.decoding import greedy_search
from transformer_lib.inspection import silence_heads
from transformer_lib.run.live import layers_and_heads, without_heads, word_scores
from transformer_lib.run.translator import Translator

SENTENCE = "The ladies wash the cup because it is dirty."
ENDS = ("cross", 2, 3)  # without this head the shipped model ends its translation early
SIZES = {"small": (2, 3), "large": (3, 5)}


def attend(sentence):
    if "unknown" in sentence:
        raise ValueError("no such word: <unknown>")
    return make_example(sentence.split(), TARGET)


def words_of(attend, sentence, **options):
    """A widget whose drawing is the words of the sentence: charts take time."""
    return explore(attend, sentence, draw=lambda example: list(example.source), **options)


def wait_until(happens):
    until = time.monotonic() + 10
    while not happens():
        assert time.monotonic() < until, "did not happen"
        time.sleep(0.005)


def compare(model, sentence, heads):
    return Silencing(heads, [model, *sentence.split()], [], [0.0] * (2 + len(sentence.split())))


def compare_models(heads=(), **changes):
    options = {"size": SIZES.get, "models": list(SIZES), "load": str} | changes
    return silence(compare, "one two", heads, **options)


def own_folder(load):
    return words_of(lambda model, sentence: attend(f"{model} {sentence}"), "one", models=["small"], load=load)


# Sentences


def test_widget_redraws_for_the_readers_sentence():
    widget = explore(attend, "one two")
    assert parameters(widget.drawing)["tokens"]["value"][0][0] == ["one", "two"]
    widget.inputs[0].box.value = "three four five"
    assert parameters(widget.drawing)["tokens"]["value"][0][0] == ["three", "four", "five"]
    assert "Drawn." in widget.message.value


def test_widget_says_what_went_wrong_and_keeps_the_figure():
    widget = words_of(attend, "one two")
    before, sentence = widget.drawing, widget.inputs[0].box
    sentence.value = "unknown"
    assert "no such word: &lt;unknown&gt;" in widget.message.value
    assert 'role="alert"' in widget.message.value
    assert widget.drawing is before
    assert not sentence.disabled
    sentence.value = "one two"
    assert widget.drawing is before
    assert "unknown" not in widget.message.value
    sentence.value = "three"
    assert widget.drawing == ["three"]


@pytest.mark.parametrize("empty", ["", " \t"])
def test_widget_does_not_draw_an_empty_sentence(empty):
    with pytest.raises(ValueError, match="the sentence is empty"):
        words_of(attend, empty)
    widget = words_of(attend, "one")
    widget.inputs[0].box.value = empty
    assert "the sentence is empty" in widget.message.value
    assert widget.drawing == ["one"]


def test_widget_draws_the_same_sentence_once():
    asked = []
    widget = words_of(lambda sentence: asked.append(sentence) or attend(sentence), "one")
    widget.button.click()
    widget.inputs[0].box.value = " one "
    assert asked == ["one"]


def test_widget_button_tries_a_failed_sentence_again():
    attempts = []

    def busy_at_first(sentence):
        attempts.append(sentence)
        if attempts == ["one", "two"]:
            raise RuntimeError("busy")
        return attend(sentence)

    widget = words_of(busy_at_first, "one")
    widget.inputs[0].box.value = "two"
    assert "RuntimeError busy" in widget.message.value
    widget.button.click()
    assert widget.drawing == ["two"]


def test_widget_survives_an_interrupt():
    def interrupted(sentence):
        if sentence == "two":
            raise KeyboardInterrupt
        return attend(sentence)

    widget = words_of(interrupted, "one")
    widget.inputs[0].box.value = "two"
    assert "interrupted" in widget.message.value
    widget.inputs[0].box.value = "three"
    assert widget.drawing == ["three"]


def test_widget_draws_any_figure_of_a_sentence():
    widget = explore(str.split, "one two", draw=len)
    assert widget.drawing == 2
    widget.inputs[0].box.value = "one two three"
    assert widget.drawing == 3


def test_widget_shows_its_figure_as_an_output_of_each_cell_that_asks():
    InteractiveShell.instance()
    widget = explore(attend, "one two")
    with capture_output() as captured:
        widget._ipython_display_()
        widget._ipython_display_()
        widget.inputs[0].box.value = "three"
    drawn = [output for output in captured.outputs if "vegaEmbed" in output.data.get("text/html", "")]
    assert ['"one", "two"' in output.data["text/html"] for output in drawn] == [True, True, False, False]
    assert [bool(output.update) for output in drawn] == [False, False, True, True]
    assert '"three"' in drawn[-1].data["text/html"]


# Waiting


def test_bar_appears_for_slow_work_and_follows_its_steps():
    appeared = threading.Event()
    bar = ProgressBar(appeared.set, patience=0)
    with bar.during_work() as report:
        assert appeared.wait(10)
        assert "<progress" in bar.box.value
        assert "value" not in bar.box.value
        report(3, 11)
        assert 'value="27"' in bar.box.value
    assert bar.box.value == ""
    with bar.during_work():
        wait_until(lambda: "<progress" in bar.box.value)
        assert "value" not in bar.box.value


def test_bar_shows_the_steps_done_before_it_appeared():
    appeared = threading.Event()
    bar = ProgressBar(appeared.set, patience=0.05)
    with bar.during_work() as report:
        report(1, 4)
        assert bar.box.value == ""
        assert appeared.wait(10)
        assert 'value="25"' in bar.box.value


def test_bar_stays_away_from_quick_work_and_goes_after_an_error():
    bar = ProgressBar(lambda: pytest.fail("the bar appeared"), patience=0.05)
    with pytest.raises(RuntimeError), bar.during_work():
        raise RuntimeError
    time.sleep(0.1)
    assert bar.box.value == ""


def test_slow_widget_takes_no_second_choice_until_it_has_drawn():
    seen = []

    def slow(sentence, report):
        if sentence == "two":
            wait_until(lambda: widget.button.disabled)
            report(1, 2)
            seen.append((widget.bar.box.value, widget.message.value, widget.inputs[0].box.disabled))
            widget.button.click()
        return attend(sentence)

    widget = words_of(slow, "one")
    widget.bar.patience = 0
    widget.inputs[0].box.value = "two"
    ((bar, message, used_disabled),) = seen
    assert 'value="50"' in bar
    assert "Working" in message
    assert not used_disabled  # it has the keyboard
    assert (widget.bar.box.value, widget.button.disabled) == ("", False)
    assert widget.drawing == ["two"]


def test_slow_widget_is_enabled_again_after_an_error():
    def fails(sentence):
        if sentence == "two":
            wait_until(lambda: widget.button.disabled)
            raise ValueError("no")
        return attend(sentence)

    widget = words_of(fails, "one")
    widget.bar.patience = 0
    widget.inputs[0].box.value = "two"
    assert (widget.bar.box.value, widget.button.disabled) == ("", False)


@pytest.mark.parametrize("slow", [True, False])
def test_a_slow_first_drawing_shows_controls_and_bar_at_once_and_all_only_once(slow):
    InteractiveShell.instance()
    bars = []

    def draw(report):
        if slow:
            wait_until(lambda: captured.outputs)
            bars.append(widgets[0].bar.box.value)
        return "drawn"

    widgets = []

    class Watched(LiveFigure):
        def _draw(self):
            widgets.append(self)
            super()._draw()

    with capture_output() as captured:
        widget = Watched(draw, [], button="Draw", hint="", patience=0 if slow else 60)
        widget._ipython_display_()
    assert ["<progress" in bar for bar in bars] == [True] * slow
    controls, figure = captured.outputs
    assert controls.data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.controls.model_id
    assert figure.data["text/plain"] == "'drawn'"
    assert not widget.button.disabled
    with capture_output() as again:
        widget._ipython_display_()
    assert len(again.outputs) == 2


@pytest.mark.parametrize(
    ("error", "words"),
    [(InputError("no model"), "no model"), (KeyError("x"), "KeyError 'x'"), (ValueError(), "ValueError")],
)
def test_errors_are_put_in_words(error, words):
    assert in_words(error) == words


# Models


def test_widget_loads_the_model_chosen_and_keeps_it_for_the_next_sentence():
    loaded = []
    models = ["small", "large"]
    widget = words_of(
        lambda model, sentence: attend(f"{model} {sentence}"),
        "one",
        models=models,
        load=lambda name: loaded.append(name) or name.upper(),
    )
    model, sentence = widget.inputs
    assert widget.drawing == ["SMALL", "one"]
    model.name.value = "large"
    sentence.box.value = "two"
    assert widget.drawing == ["LARGE", "two"]
    assert loaded == models


def test_widget_takes_the_model_of_a_folder(tmp_path):
    widget = own_folder(lambda name: name.removeprefix(str(tmp_path)))
    model, _ = widget.inputs
    assert model.folder.layout.display == "none"
    model.name.value = OWN_FOLDER
    assert model.folder.layout.display is None
    assert widget.drawing == ["small", "one"]  # nothing is drawn before a folder is given
    widget.button.click()
    assert "no folder given" in widget.message.value
    model.folder.value = f"{tmp_path}own"
    assert widget.drawing == ["own", "one"]


def test_a_wrong_folder_says_what_is_wrong_and_the_old_model_stays(tmp_path):
    widget = explore(Translator.attention, "The dog sleeps.", models=["lab-en-de"], load=Translator.load)
    before, (model, _) = widget.drawing, widget.inputs
    model.name.value = OWN_FOLDER
    model.folder.value = str(tmp_path / "nothing")
    assert "expected a folder, or one of the shipped models" in widget.message.value
    model.folder.value = str(tmp_path)
    assert "config.json is missing" in widget.message.value
    assert widget.drawing is before
    model.name.value = "lab-en-de"
    assert widget.drawing is before
    assert "Drawn." in widget.message.value


def test_models_need_names_and_a_way_to_load_them():
    with pytest.raises(ValueError, match="no `load`"):
        explore(attend, "one", models=["small"])
    with pytest.raises(ValueError, match="expected a list of names, got 'small'"):
        explore(attend, "one", models="small", load=str)
    with pytest.raises(InputError, match="no model 'nothing'"):
        explore(Translator.attention, "one", models=["nothing"], load=Translator.load)


# Heads


def test_heads_are_ticked_by_kind_layer_and_head():
    widget = compare_models([("cross", 1, 2)])
    *_, boxes = widget.inputs
    assert boxes.kind.value == "cross"
    labels = [[box.description for box in row.children] for row in boxes.grid.children]
    assert labels == [[f"layer {layer}, head {head}" for head in (1, 2, 3)] for layer in (1, 2)]
    boxes.kind.value = "encoder"
    boxes.grid.children[0].children[1].value = True
    assert "encoder self-attention layer 1 head 2; cross-attention layer 2 head 3" in boxes.said.value
    assert widget.drawing.silent == (("cross", 1, 2),)  # until the button is pressed
    widget.button.click()
    assert widget.drawing.silent == (("encoder", 0, 1), ("cross", 1, 2))


def test_heads_fit_the_model_chosen_and_keep_the_ticks_that_it_has():
    widget = compare_models([("encoder", 1, 2)])
    model, _, boxes = widget.inputs
    model.name.value = "large"
    assert widget.drawing.silent == (("encoder", 1, 2),)
    boxes.boxes["encoder", 1, 2].value = False
    boxes.boxes["decoder", 2, 4].value = boxes.boxes["cross", 0, 1].value = True
    widget.button.click()
    assert widget.drawing.silent == (("decoder", 2, 4), ("cross", 0, 1))
    model.name.value = "small"
    assert len(boxes.boxes) == 3 * 2 * 3
    assert (widget.drawing.words[0], widget.drawing.silent) == ("small", (("cross", 0, 1),))


@pytest.mark.parametrize("head", [("encoder", 2, 0), ("cross", 0, 3), ("decoder", -1, 0), ("both", 0, 0)])
def test_unknown_head_is_refused(head):
    with pytest.raises(ValueError, match=r"no head .*encoder, decoder, cross, layers 0 to 1, heads 0 to 2"):
        compare_models([head])


# Translations with and without heads


@pytest.fixture(scope="module")
def translator():
    return Translator.load("lab-en-de")


def test_silencing_marks_words_that_differ_by_more_than_color():
    shown = Silencing([ENDS], ["sie", "ist", "<neu>"], ["es", "ist"], [0.5, -0.25, 3.0, 0.0])
    page = ElementTree.fromstring(shown._repr_html_().replace("<br>", "<br/>"))
    assert [element.text for element in page.iter("u")] == ["sie", "<neu>", "es"]
    assert [element.text for element in page.iter("small")] == ["0.50", "−0.25", "3.00", "0"]
    assert "2 places: “sie” becomes “es”, “<neu>” is gone" in shown.summary
    assert "loses 3.25 nats in all: its probability falls by a factor of 26." in shown.summary
    assert "Without cross-attention layer 3 head 4: es ist" in repr(shown)


def test_silencing_puts_sameness_gains_and_much_in_words():
    assert Silencing([], ["a"], ["a"], [0, 0]).summary == (
        "The two translations are the same. The first translation stays as likely as it was."
    )
    assert (
        "gains 0.10 nats in all: its probability rises by a factor of 1.11."
        in Silencing([], ["a"], ["a"], [-0.1, 0]).summary
    )
    assert "more than a million" in Silencing([], ["a"], ["a"], [0, 700]).summary
    many = Silencing([], list("abcdefghi"), list("a1c2e3g4i"), np.zeros(10))
    assert "4 places: “b” becomes “1”, “d” becomes “2”, “f” becomes “3”, 1 more." in many.summary
    assert "(nothing)" in Silencing([], ["a"], [], [0, 0])._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lost": [0.1, 0.2]}, "lost: expected a finite number for each of 2 words and for the end"),
        ({"lost": [0.1, float("nan"), 0.0]}, "lost: expected a finite number"),
        ({"words": "ab"}, "words: expected a list of words"),
        ({"words_without": "ab"}, "words_without: expected a list of words"),
    ],
)
def test_silencing_refuses_what_does_not_fit(changes, message):
    fields = {"silent": [ENDS], "words": ["a", "b"], "words_without": [], "lost": [0.0, 0.0, 0.0]}
    with pytest.raises(ValueError, match=message):
        Silencing(**fields | changes)


def test_loss_is_the_log_probability_that_each_word_loses(translator):
    steps = []
    found = without_heads(translator, SENTENCE, [ENDS], report=lambda *step: steps.append(step))
    translation = translator.translate([SENTENCE])[0]
    before = word_scores(translator, SENTENCE, translation)
    with silence_heads(translator.model, [ENDS]):
        without = translator.translate([SENTENCE])[0]
        after = word_scores(translator, SENTENCE, translation)
    assert "".join(found.words) == translation.replace(" ", "")
    assert "".join(found.words_without) == without.replace(" ", "")
    np.testing.assert_allclose(found.lost, before - after, atol=1e-5)
    assert len(found.words) != len(found.words_without)
    assert found.words[found.lost.argmax()] == ","  # where it would rather end
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_word_scores_add_up_to_the_score_of_the_search(translator):
    translation = translator.translate([SENTENCE], beam_size=1)[0]
    source, target = translator.encode([SENTENCE, translation], strict=True)
    scores = word_scores(translator, SENTENCE, translation)
    hypothesis = greedy_search(translator.model, translator.source_batch([source]))[0]
    assert list(hypothesis.tokens) == target
    assert scores.sum().item() == pytest.approx(hypothesis.log_probability, abs=1e-3)


def test_no_head_silenced_loses_nothing(translator):
    found = without_heads(translator, SENTENCE, [])
    assert (found.words, abs(found.lost).max()) == (found.words_without, 0)


def test_without_heads_refuses_empty_sentences_and_unknown_heads(translator):
    with pytest.raises(InputError, match="the sentence is empty"):
        without_heads(translator, " ", [])
    with pytest.raises(ValueError, match="no head"):
        without_heads(translator, SENTENCE, [("encoder", 3, 0)])
    with pytest.raises(InputError, match="more than 256"):
        without_heads(translator, "dog " * 300, [])


def test_silence_on_the_shipped_model():
    widget = silence(without_heads, SENTENCE, [ENDS], size=layers_and_heads, models=["lab-en-de"], load=Translator.load)
    assert "is gone" in widget.drawing.summary
    widget.inputs[2].boxes[ENDS].value = False
    widget.button.click()
    assert widget.drawing.silent == ()
    assert "are the same" in widget.drawing.summary
