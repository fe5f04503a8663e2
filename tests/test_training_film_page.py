"""The training film in a real browser: slider, Play, small maps, light and dark, wide and narrow."""

import numpy as np
import pytest
from figure_page import control, open_figure, opened
from test_charts import LAYERS, SOURCE, TARGET
from test_explorer_page import assert_told, axis_labels, drawn
from test_training_film import LOSSES, UPDATES, film

from transformer_lib.charts import training_film
from transformer_lib.charts.maps.film_strip import GAP, LABEL, SIDE

FILM = film()


@pytest.fixture(scope="module")
def chart():
    return training_film(FILM, losses=LOSSES)


@pytest.fixture
def page(browser, chart):
    yield from opened(browser, chart)


LARGE, SMALL, FRAMES = "heat_0_marks", "strip_layer_0_marks", "strip_layer_1_marks"


def descriptions(page, marks):
    return page.eval_on_selector_all(f".{marks} path", "marks => marks.map(mark => mark.getAttribute('aria-label'))")


def assert_moment(page, number, kind="cross", layer=LAYERS - 1, head=0):
    """The large map holds the weights of this moment, counted from 1, and the text names its update."""
    assert_told(descriptions(page, LARGE), FILM[number - 1][1], kind, layer, head)
    update, loss = UPDATES[number - 1], LOSSES[number - 1][1]
    assert f"After update {update}, loss {loss:.2f} nats a token." in drawn(page)


def test_film_stands_still_at_its_last_moment_with_its_words(page):
    page.wait_for_timeout(1500)
    assert_moment(page, 3)
    assert axis_labels(page, "query") == TARGET
    assert axis_labels(page, "key") == SOURCE


@pytest.mark.parametrize("number", [1, 2])
def test_slider_goes_through_the_moments_by_keyboard(page, number):
    control(page, "moment").press("Home")
    for _ in range(number - 1):
        control(page, "moment").press("ArrowRight")
    assert f"After update {UPDATES[number - 1]}," in drawn(page)
    assert_moment(page, number)


def test_other_heads_and_kinds_have_their_own_film(page):
    control(page, "kind").select_option(label="decoder self-attention")
    control(page, "layer").press("Home")
    control(page, "head").press("End")
    control(page, "moment").press("Home")
    drawn(page)
    assert_moment(page, 1, "decoder", 0, 2)


def test_play_starts_over_and_ends_at_the_last_moment(page):
    control(page, "moment_playing").check()
    assert "After update 0," in drawn(page)
    page.wait_for_function("view.signal('moment') == 2", timeout=5000)
    page.wait_for_function("view.signal('moment') == 3", timeout=5000)
    page.wait_for_timeout(1500)
    assert_moment(page, 3)


def test_a_film_that_plays_can_be_paused(page):
    control(page, "moment_playing").check()
    control(page, "moment_playing").uncheck()
    moment = page.evaluate("view.signal('moment')")
    page.wait_for_timeout(1500)
    assert page.evaluate("view.signal('moment')") == moment < 3


def small_cells(page):
    """Moment, place in pixels and weight of each cell that is drawn in the small maps."""
    found = page.evaluate(
        """name => {
        const find = item => item.name == name ? item.items : (item.items ?? []).flatMap(find);
        return find(view.scenegraph().root).map(cell => [cell.datum.moment, cell.x, cell.y, cell.datum.weight]);
    }""",
        SMALL,
    )
    return [(int(moment) - 1, x, y, weight) for moment, x, y, weight in found]


def test_small_maps_show_every_moment_of_the_chosen_head(page):
    drawn(page)
    maps, found = np.stack([example.cross[LAYERS - 1, 0] for _, example in FILM]), small_cells(page)
    shown = np.zeros(maps.shape, dtype=bool)
    for moment, x, y, weight in found:
        column, row = (x - (SIDE + GAP) * moment) / SIDE * len(SOURCE), (y - LABEL) / SIDE * len(TARGET)
        cell = moment, round(row), round(column)
        assert abs(weight - maps[cell]) <= 0.016
        shown[cell] = True
    assert shown.sum() == len(found)
    assert shown[maps > 0.05].all()
    assert not shown[maps < 0.03].any()


def test_a_click_on_a_small_map_shows_it_large(page):
    page.locator(f".{FRAMES} path").nth(1).click()
    drawn(page)
    assert_moment(page, 2)
    widths = page.eval_on_selector_all(
        f".{FRAMES} path", "frames => frames.map(frame => Number(frame.getAttribute('stroke-width')))"
    )
    assert [width > 1 for width in widths] == [False, True, False]


def test_small_maps_say_what_the_query_singled_out_attends_to(page):
    assert descriptions(page, FRAMES) == ["update 0", "update 20", "update 300"]
    for _ in range(2):
        control(page, "query").press("ArrowRight")
    drawn(page)
    for text, (update, example) in zip(descriptions(page, FRAMES), FILM, strict=True):
        weights = example.cross[LAYERS - 1, 0, 1]
        start, value = text.rsplit(", ", 1)
        assert start == f"update {update}, query Der attends most to key {SOURCE[weights.argmax()]}"
        assert abs(float(value) - weights.max()) <= 0.016 + 0.005


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings select, .vega-bindings input",
        "inputs => inputs.map(input => input.labels[0]?.innerText.trim())",
    )
    assert len(names) == 6
    assert all(names)


@pytest.mark.parametrize(("width", "mode"), [(1280, "light"), (360, "dark")])
def test_film_fits_the_page_and_follows_its_color(browser, chart, width, mode):
    page = open_figure(browser, chart, width=width, mode=mode)
    assert page.locator("#figure svg.marks").bounding_box()["width"] <= width - 32
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".role-axis-label text").first.evaluate("word => getComputedStyle(word).fill") == ink
    heat, strip = (page.locator(f".{name}_group").first.bounding_box() for name in ("attention_map", "strip"))
    assert (strip["x"] >= heat["x"] + heat["width"]) == (width == 1280)
    assert page.complaints == []
    page.close()
