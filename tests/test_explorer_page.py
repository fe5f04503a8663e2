"""The attention explorer in a real browser: mouse, keyboard, light and dark, wide and narrow."""

import re

import numpy as np
import pytest
from figure_page import control, open_figure, opened, settle
from test_charts import HEADS, LAYERS, SOURCE, TARGET, make_example, padded_example

from transformer_lib.charts import attention_explorer, bar_chart, heat_map, house_style, line_chart
from transformer_lib.charts.packing import pack, unpack

EXAMPLE = make_example(title="five and seven tokens", gold=[(1, 0)])
WEIGHTS = {"encoder": EXAMPLE.encoder, "decoder": EXAMPLE.decoder, "cross": EXAMPLE.cross}


@pytest.fixture(scope="module")
def explorer():
    return attention_explorer([EXAMPLE, make_example(SOURCE[:2], TARGET[:3], title="two and three tokens")])


@pytest.fixture
def page(browser, explorer):
    yield from opened(browser, explorer)


def cells(page):
    """What each cell says of itself to a screen reader, row by row."""
    return page.eval_on_selector_all(
        "[aria-roledescription='rect mark']", "cells => cells.map(cell => cell.getAttribute('aria-label'))"
    )


def expected_cells(example, kind, layer, head):
    queries, keys = example.labels(kind)
    weights = getattr(example, kind)[layer, head]
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            yield query, key, weights[i, j], kind == "decoder" and j > i


def assert_cells(page, example, kind, layer, head):
    assert_told(cells(page), example, kind, layer, head)


def assert_told(found, example, kind, layer, head):
    """What cells say of themselves is what the example holds."""
    expected = list(expected_cells(example, kind, layer, head))
    assert len(found) == len(expected)
    for text, (query, key, weight, masked) in zip(found, expected, strict=True):
        if masked:
            assert text == f"query {query} may not attend to key {key}"
        else:
            start, value = text.rsplit(", ", 1)
            assert start == f"query {query} attends to key {key}"
            assert abs(float(value) - weight) <= 0.016 + 0.005


def axis_labels(page, side):
    """Words along the axis of the heat map, as the eye meets them."""
    words = page.eval_on_selector_all(
        f".role-axis[aria-label*=\"titled '{side}'\"] .role-axis-label text",
        "words => words.map(word => [word.getCTM().e, word.getCTM().f, word.textContent])",
    )
    return [word for *_, word in sorted(words, key=lambda word: word[0 if side == "key" else 1])]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_kind_chosen_by_keyboard_shows_its_weights_with_its_words(page, kind):
    steps = list(WEIGHTS).index(kind)
    control(page, "kind").focus()
    for _ in range(steps):
        page.keyboard.press("ArrowDown")
    settle(page)
    queries, keys = EXAMPLE.labels(kind)
    assert axis_labels(page, "query") == list(queries)
    assert axis_labels(page, "key") == list(keys)
    assert_cells(page, EXAMPLE, kind, 0, 0)


def test_cross_attention_asks_with_the_target_and_answers_with_the_source(page):
    control(page, "kind").select_option(label="cross-attention")
    settle(page)
    assert axis_labels(page, "query") == TARGET
    assert axis_labels(page, "key") == SOURCE


def test_layer_and_head_chosen_by_keyboard_change_the_cells(page):
    for name in ("layer", "head"):
        control(page, name).focus()
        page.keyboard.press("End")
    settle(page)
    assert_cells(page, EXAMPLE, "encoder", LAYERS - 1, HEADS - 1)


def test_another_sentence_brings_its_own_words(page):
    control(page, "sentence").select_option(label="two and three tokens")
    control(page, "kind").select_option(label="cross-attention")
    settle(page)
    assert axis_labels(page, "query") == TARGET[:3]
    assert axis_labels(page, "key") == SOURCE[:2]


def strongest(example, query):
    weights = example.encoder[0, 0, query]
    return example.source[weights.argmax()], weights.max()


def assert_singled_out(page, query):
    """The sentence above the map and the cells agree on the query that stands out."""
    key, weight = strongest(EXAMPLE, query)
    said = re.search(r"Query “(.+)” attends most to key “(.+)”, ([\d.]+)", page.inner_text("#figure"))
    assert said.groups()[:2] == (SOURCE[query], key)
    assert abs(float(said[3]) - weight) <= 0.016 + 0.005
    opacity = page.eval_on_selector_all(
        "[aria-roledescription='rect mark']", "cells => cells.map(cell => Number(cell.getAttribute('opacity') ?? 1))"
    )
    rows = [opacity[i * len(SOURCE) : (i + 1) * len(SOURCE)] for i in range(len(SOURCE))]
    assert [min(row) == max(row) == 1 for row in rows] == [i == query for i in range(len(SOURCE))]


def test_hover_singles_out_the_query_under_the_pointer(page):
    page.locator("[aria-roledescription='rect mark']").nth(2 * len(SOURCE) + 1).hover()
    settle(page)
    assert_singled_out(page, 2)


def test_query_chosen_by_keyboard_is_singled_out_as_by_hover(page):
    control(page, "query").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert_singled_out(page, 3)


def test_masked_cells_are_hatched(page):
    control(page, "kind").select_option(label="decoder self-attention")
    settle(page)
    assert "Hatched: masked" in page.inner_text("#figure")
    strokes = page.locator(".mark-rule line[stroke=gray]").count()
    assert strokes == len(TARGET) * (len(TARGET) - 1) // 2


def drawn(page):
    settle(page)
    return page.inner_text("#figure")


def test_outlines_are_explained_where_there_are_any(page):
    assert "Outlined" not in drawn(page)
    control(page, "kind").select_option(label="cross-attention")
    assert "Outlined: aligned words." in drawn(page)
    assert page.locator("#figure path[stroke='rgb(214, 112, 24)']").count() == 1
    control(page, "sentence").select_option(label="two and three tokens")
    assert "Outlined" not in drawn(page)


def test_padded_queries_and_keys_are_hatched_and_named(browser):
    page = open_figure(browser, attention_explorer(padded_example()))
    assert "Hatched: masked or padding" in drawn(page)
    masked = [text for text in cells(page) if "may not attend" in text]
    assert len(masked) == 7 * 7 - 5 * 5 == page.locator(".mark-rule line[stroke=gray]").count()
    assert all("<pad>" in text for text in masked)
    control(page, "query").press("End")
    assert "Query “<pad>” may not attend to any key." in drawn(page)
    assert page.complaints == []
    page.close()


LONG = make_example([f"s{i}" for i in range(1, 74)], [f"t{i}" for i in range(1, 68)], gold=[(60, 72)])
WINDOW = 48


@pytest.fixture(scope="module")
def long_page(browser):
    page = open_figure(browser, attention_explorer(LONG))
    yield page
    complaints = page.complaints
    page.close()
    assert complaints == []


def assert_window(page, kind, queries, keys):
    """The cells are those of 48 queries and 48 keys from these on, counted from 0, with the weights of LONG."""
    found, (query_tokens, key_tokens) = cells(page), LONG.labels(kind)
    assert len(found) == WINDOW**2
    for text, (i, j) in zip(found, np.ndindex(WINDOW, WINDOW), strict=True):
        query, key = query_tokens[queries + i], key_tokens[keys + j]
        start, value = text.rsplit(", ", 1)
        assert start == f"query {query} attends to key {key}"
        assert abs(float(value) - getattr(LONG, kind)[0, 0, queries + i, keys + j]) <= 0.016 + 0.005
    assert axis_labels(page, "query") == list(query_tokens[queries : queries + WINDOW])
    assert axis_labels(page, "key") == list(key_tokens[keys : keys + WINDOW])


def test_a_long_sentence_is_drawn_through_a_window_that_the_keyboard_moves(long_page):
    assert "Drawn: queries 1 to 48 of 73, keys 1 to 48 of 73." in drawn(long_page)
    assert_window(long_page, "encoder", 0, 0)
    control(long_page, "first_query").press("ArrowRight")
    control(long_page, "first_key").press("End")
    assert "Drawn: queries 2 to 49 of 73, keys 26 to 73 of 73." in drawn(long_page)
    assert_window(long_page, "encoder", 1, 25)


def test_every_token_can_be_chosen_and_the_window_follows(long_page):
    control(long_page, "first_key").press("Home")
    control(long_page, "query").press("End")
    text = drawn(long_page)
    assert "Drawn: queries 26 to 73 of 73, keys 1 to 48 of 73." in text
    assert control(long_page, "first_query").input_value() == "26"
    weights = LONG.encoder[0, 0, 72]
    key = re.search(r"Query “s73” attends most to key “(.+?)”", text)[1]
    assert key == LONG.source[weights.argmax()]
    outside = re.search(r"Outside of these: ([\d.]+) of the weight of “s73”", text)[1]
    assert abs(float(outside) - weights[WINDOW:].sum()) <= 0.05
    control(long_page, "first_query").press("Home")
    assert "Outside of these: " + outside in drawn(long_page)
    assert f"s1  {unpacked(weights[0]):.2f}" in words_beside_lines(long_page)


def words_beside_lines(page):
    return page.eval_on_selector_all(
        ".attention_lines_group .mark-text text", "words => words.map(word => word.textContent)"
    )


def unpacked(weight):
    return unpack(pack(np.array([weight])), (1,))[0]


def test_the_window_fits_each_kind_of_attention_and_keeps_the_outlines(long_page):
    control(long_page, "kind").select_option(label="cross-attention")
    control(long_page, "first_query").press("End")
    control(long_page, "first_key").press("End")
    assert "Drawn: queries 20 to 67 of 67, keys 26 to 73 of 73." in drawn(long_page)
    assert_window(long_page, "cross", 19, 25)
    row = LONG.cross[0, 0, min(72, len(LONG.target) - 1)]
    keys = [f"s{j + 1}  {unpacked(row[j]):.2f}" for j in range(25, 73)]
    assert set(keys) <= set(words_beside_lines(long_page))
    outlines = long_page.locator("#figure path[stroke='rgb(214, 112, 24)']")
    assert outlines.count() == 1
    control(long_page, "first_key").press("ArrowLeft")
    drawn(long_page)
    assert outlines.count() == 0


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings select, .vega-bindings input",
        "inputs => inputs.map(input => input.labels[0]?.innerText.trim())",
    )
    assert len(names) == 5
    assert all(names)


def test_export_menu_offers_svg_and_png_only(page):
    assert page.eval_on_selector_all(".vega-actions a", "links => links.map(link => link.textContent)") == [
        "Save as SVG",
        "Save as PNG",
    ]
    svg = page.evaluate("view.toSVG()")
    assert svg.count("<path") > len(SOURCE) ** 2
    assert "sleeps" in svg


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_explorer_fits_the_page_and_follows_its_color(browser, explorer, width, mode):
    page = open_figure(browser, explorer, width=width, mode=mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#figure svg.marks").bounding_box()["width"] <= width - 32
    label = page.locator(".role-axis-label text").first
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert label.evaluate("word => getComputedStyle(word).fill") == ink
    map_box, lines_box = (
        page.locator(f".{name}_group").bounding_box() for name in ("attention_map", "attention_lines")
    )
    beside = lines_box["x"] >= map_box["x"] + map_box["width"]
    assert beside == (width == 1280)
    assert page.complaints == []
    page.close()


def figures():
    """Every chapter figure, also the ones with one series, a mask, negative values."""
    columns = {"step": [1, 2, 3], "tiny": [3.0, 2.0, 1.5], "base": [4.0, 1.0, 0.5]}
    yield "lines", line_chart(columns, "step", ["tiny", "base"], log_y=True, points=True, title="Loss")
    yield "bars", bar_chart({"word": ["der", "die"], "p": [0.7, 0.3]}, "p", "word")
    yield "columns", bar_chart({"length": [1, 2], "count": [7, 3]}, "length", "count", horizontal=False)
    mask = [[True, False], [True, True]]
    yield "mask", heat_map([[1, 0], [0.4, 0.6]], row_title="query", column_title="key", mask=mask, show_values=True)
    yield "signs", heat_map([[-1, 0.5, 1]], row_title="position", column_title="dimension", width="container")


@pytest.mark.parametrize(("name", "chart"), list(figures()))
def test_chapter_figures_draw_without_a_complaint(browser, name, chart):
    house_style()
    page = open_figure(browser, chart, width=360)
    assert page.locator("#figure svg [role=graphics-symbol]").count() > 0, name
    assert page.complaints == []
    page.close()
