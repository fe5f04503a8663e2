"""The positional explorer in a real browser: the page's numbers, mouse, keyboard, light and dark, wide and narrow."""

import math
import re

import numpy as np
import pytest
from figure_page import control, open_figure, settle

from transformer_lib.charts import positional_explorer
from transformer_lib.positional_encoding import sinusoids

POSITIONS, D_MODEL = 11, 26
TABLE = sinusoids(POSITIONS, D_MODEL).numpy()
FREQUENCIES = 10_000.0 ** (-np.arange(0, D_MODEL, 2) / D_MODEL)
EXACT = {"rtol": 0, "atol": 1e-9}
# The marks that carry information, by view.
CELLS = ".position_table_group .mark-rect.role-mark path[aria-label]"
WAVES = ".position_waves_group .mark-symbol.role-mark path"
CLOCK = ".position_clock_group .mark-symbol.role-mark path"
HANDS = ".position_clock_group .mark-rule.role-mark line"
DOTS = ".position_dots_group .mark-symbol.role-mark path"
VIEWS = ("table", "waves", "clock", "dots")


@pytest.fixture(scope="module")
def explorer():
    return positional_explorer(D_MODEL, POSITIONS)


@pytest.fixture(scope="module")
def opened(browser, explorer):
    page = open_figure(browser, explorer)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The page of all tests; each chooses what it looks at."""
    yield opened
    assert opened.complaints == []


def rows(page, marks):
    """The data behind marks, in the order in which they are drawn."""
    return page.eval_on_selector_all(marks, "marks => marks.map(mark => mark.__data__.datum)")


def labels(page, marks):
    """What marks say of themselves to a screen reader."""
    found = page.eval_on_selector_all(marks, "marks => marks.map(mark => mark.getAttribute('aria-label'))")
    return [label.replace("−", "-") for label in found]


def column(page, marks, field):
    return np.array([row[field] for row in rows(page, marks)])


def words(page):
    return page.locator("svg.marks").evaluate("svg => svg.textContent").replace("−", "-")


def choose(page, **values):
    """Move sliders by keyboard: to the start, then step by step."""
    for name, value in values.items():
        control(page, name).focus()
        page.keyboard.press("Home")
        for _ in range(value):
            page.keyboard.press("ArrowRight")
    settle(page)


def click(page, marks, index):
    """With the mouse, in the middle of a mark, on whatever lies on top there."""
    page.locator(marks).nth(index).scroll_into_view_if_needed()
    box = page.locator(marks).nth(index).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)


def test_table_is_that_of_the_library(page):
    values = np.full((POSITIONS, D_MODEL), np.nan)
    for row in rows(page, CELLS):
        values[row["position"], row["component"]] = row["value"]
    np.testing.assert_allclose(values, TABLE, **EXACT)


def test_every_cell_of_the_table_says_what_it_holds(page):
    for label, (position, component) in zip(labels(page, CELLS), np.ndindex(TABLE.shape), strict=True):
        start, value = label.rsplit(": ", 1)
        assert start == f"position {position}, component {component}"
        assert abs(float(value) - TABLE[position, component]) <= 0.005 + 1e-9


@pytest.mark.parametrize("pair", [0, 5, 12])
def test_waves_are_the_two_columns_of_the_pair(page, pair):
    choose(page, pair=pair)
    points = rows(page, WAVES)
    for offset, wave in enumerate(["sine", "cosine"]):
        values = [point["value"] for point in points if point["wave"] == wave]
        np.testing.assert_allclose(values, TABLE[:, 2 * pair + offset], **EXACT)


@pytest.mark.parametrize("position", [0, 4, 10])
def test_dot_products_are_those_of_the_library_from_every_position(page, position):
    choose(page, position=position)
    np.testing.assert_allclose(column(page, DOTS, "dot"), TABLE @ TABLE[position], **EXACT)
    assert column(page, DOTS, "position").tolist() == list(range(POSITIONS))


def test_turn_between_the_hands_depends_on_the_shift_and_the_pair_alone(page):
    choose(page, pair=2, shift=3)
    turn, said = 3 * FREQUENCIES[2], set()
    for position in (0, 1, 7):
        choose(page, position=position)
        hands = {row["at"]: math.atan2(row["x"], row["y"]) for row in rows(page, HANDS)}
        angle = hands[position + 3] - hands[position]
        assert math.isclose(angle % (2 * math.pi), turn % (2 * math.pi), abs_tol=1e-9)
        said.add(re.search(r"by ([\d.]+) radians, ([\d.]+)°", words(page)).groups())
    assert said == {(f"{turn:.2f}", f"{math.degrees(turn):.1f}")}


def test_clock_points_are_the_pair_at_every_position(page):
    choose(page, pair=4)
    np.testing.assert_allclose(column(page, CLOCK, "x"), TABLE[:, 8], **EXACT)
    np.testing.assert_allclose(column(page, CLOCK, "y"), TABLE[:, 9], **EXACT)
    assert labels(page, CLOCK)[3] == f"position 3: sine {TABLE[3, 8]:.2f}, cosine {TABLE[3, 9]:.2f}"


def test_words_read_the_numbers_aloud(page):
    choose(page, position=6, pair=1, shift=2)
    text = words(page)
    for line in (
        "The row: position 6.",
        "components 2 and 3,",
        f"Pair 1: a full turn takes {2 * math.pi / FREQUENCIES[1]:.1f} positions.",
        f"At 6: sine {TABLE[6, 2]:.2f}, cosine {TABLE[6, 3]:.2f}",
        f"At 8 (dashed): sine {TABLE[8, 2]:.2f}, cosine {TABLE[8, 3]:.2f}",
        f"The cosine of this turn is {math.cos(2 * FREQUENCIES[1]):.2f}.",
        f"With itself: PE(6) · PE(6) = {D_MODEL / 2:.2f}",
        f"2 ahead: PE(6) · PE(8) = {TABLE[6] @ TABLE[8]:.2f}",
        f"2 back: PE(6) · PE(4) = {TABLE[6] @ TABLE[4]:.2f}",
    ):
        assert line in text


def test_a_shift_beyond_the_table_is_said_and_marks_nothing(page):
    choose(page, position=1, shift=4)
    assert "4 back: no such position here" in words(page)
    assert [row["at"] for row in rows(page, DOTS) if row["marked"]] == [5]


def test_click_on_a_cell_chooses_its_position_and_its_pair(page):
    choose(page, position=0, pair=0)
    click(page, CELLS, 7 * D_MODEL + 9)
    assert [control(page, name).input_value() for name in ("position", "pair")] == ["7", "4"]
    assert "components 8 and 9," in words(page)


@pytest.mark.parametrize("marks", [WAVES, CLOCK, DOTS])
def test_click_on_a_point_chooses_its_position_and_no_pair(page, marks):
    choose(page, position=1, pair=3)
    click(page, marks, column(page, marks, "position").tolist().index(9))
    assert [control(page, name).input_value() for name in ("position", "pair")] == ["9", "3"]


def test_nothing_moves_when_a_slider_does(page):
    def places():
        boxes = [page.locator(f".position_{view}_group").first.bounding_box() for view in VIEWS]
        return [(box["x"], box["y"], box["height"]) for box in boxes]

    choose(page, position=9, pair=12, shift=0)
    before = places()
    choose(page, position=1, pair=0, shift=5)
    assert places() == before


def test_every_control_has_a_name(page):
    inputs = page.locator(".vega-bindings input")
    named = inputs.evaluate_all("inputs => inputs.map(input => input.labels[0]?.innerText.trim())")
    assert [label.split()[0] for label in named] == ["Position", "Pair", "Shift"]


@pytest.mark.parametrize(("width", "mode"), [(1280, "dark"), (360, "light")])
def test_explorer_fits_the_page_and_follows_its_color(browser, explorer, width, mode):
    page = open_figure(browser, explorer, width=width, mode=mode)
    assert page.locator("svg.marks").bounding_box()["width"] <= width - 2 * 16
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".role-axis-label text").first.evaluate("word => getComputedStyle(word).fill") == ink
    table, waves = (page.locator(f".position_{view}_group").first.bounding_box() for view in ("table", "waves"))
    assert (waves["x"] >= table["x"] + table["width"]) == (width == 1280)
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize(("width", "show"), [(1280, ["clock", "waves"]), (1280, ["waves", "clock"]), (360, ["dots"])])
def test_no_words_are_cut_where_they_grow(browser, width, show):
    page = open_figure(browser, positional_explorer(show=show), width=width)
    edge = page.locator("svg.marks").evaluate("svg => svg.getBoundingClientRect().right")
    for choice in {"position": 48, "pair": 0, "shift": 25}, {"position": 24, "pair": 31, "shift": 25}:
        for name in filter(lambda name: control(page, name).count(), choice):
            page.evaluate(f"() => {{ view.signal('{name}', {choice[name]}); }}")
        settle(page)
        ends = page.locator("svg.marks text").evaluate_all("words => words.map(w => w.getBoundingClientRect().right)")
        assert max(ends) <= edge
    page.close()


@pytest.mark.parametrize(("show", "legends"), [(["dots"], 0), (["waves", "clock"], 1), (["table", "waves"], 2)])
def test_parts_draw_alone_with_their_legends_and_without_a_complaint(browser, show, legends):
    page = open_figure(browser, positional_explorer(8, 7, show=show), width=360)
    assert [view for view in VIEWS if page.locator(f".position_{view}_group").count()] == show
    assert page.locator(".role-legend").count() == legends
    assert page.complaints == []
    page.close()
