"""Attention step by step in a real browser: what the page computes is equation 1, for every query and step."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from figure_page import control, open_figure, opened, settle
from test_attention_steps import D_K, D_V, KEY, KEYS, MASK, QUERIES, QUERY, VALUE, make_steps, parameters
from test_softmax_lab_page import data

from transformer_lib.attention import scaled_dot_product_attention

CHART = make_steps()
SHIPPED = [
    torch.tensor(parameters(CHART)[f"{side}_vectors"], dtype=torch.float64) for side in ("query", "key", "value")
]
SCORES = SHIPPED[0] @ SHIPPED[1].T
OUTPUT, WEIGHTS = scaled_dot_product_attention(*SHIPPED, MASK)


@pytest.fixture(scope="module")
def page(browser):
    yield from opened(browser, CHART)


@pytest.fixture(autouse=True)
def beginning(page):
    """The controls stand as they stood at first."""
    choose(page, 0)
    show(page, 5)


def choose(page, query):
    control(page, "chosen_query").fill(str(query + 1))
    settle(page)


def show(page, step):
    control(page, "step").fill(str(step))
    settle(page)


def column(page, view, field):
    return np.array([row[field] for row in data(page, view)])


def strip(page, view, width):
    """The numbers of a view's vectors, a row each."""
    return column(page, view, "number").reshape(-1, width)


@pytest.mark.parametrize("query", range(5))
def test_every_stage_is_that_of_equation_1(page, query):
    choose(page, query)
    exact = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(strip(page, "query_vector", D_K), SHIPPED[0][[query]], **exact)
    np.testing.assert_allclose(strip(page, "key_vectors", D_K), SHIPPED[1], **exact)
    np.testing.assert_allclose(column(page, "score", "score"), SCORES[query], **exact)
    np.testing.assert_allclose(column(page, "scaled", "scaled"), SCORES[query] / math.sqrt(D_K), **exact)
    np.testing.assert_allclose(column(page, "weights", "weight"), WEIGHTS[query], **exact)
    weighted = WEIGHTS[query][:, None] * SHIPPED[2]
    np.testing.assert_allclose(strip(page, "weighted_values", D_V), weighted, **exact)
    np.testing.assert_allclose(strip(page, "output", D_V), OUTPUT[[query]], **exact)


def test_numbers_are_those_of_the_model_within_the_rounding_of_the_vectors(page):
    choose(page, 4)
    output, weights = scaled_dot_product_attention(QUERY, KEY, VALUE, MASK)
    sizes = QUERY[4].abs() @ KEY.abs().T
    assert (np.abs(column(page, "score", "score") - (QUERY[4] @ KEY.T).numpy()) <= 1.1e-4 * sizes.numpy()).all()
    np.testing.assert_allclose(column(page, "weights", "weight"), weights[4], atol=1e-4)
    np.testing.assert_allclose(strip(page, "output", D_V)[0], output[4], atol=3e-4)


def test_query_that_may_attend_nowhere_gets_zeros_and_is_told_so(page):
    choose(page, 2)
    assert not column(page, "weights", "weight").any()
    assert not strip(page, "output", D_V).any()
    assert "It may attend to no key: the weights are zero." in page.inner_text("#figure")
    assert "Largest q·k" not in page.inner_text("#figure")


def number(value):
    """As the page writes it: no minus sign before 0.00."""
    return f"{round(float(value), 2) + 0:.2f}"


def labels(page, view):
    """What the marks of a view say of themselves to a screen reader, in order."""
    containers = f"[class*=' {view}_']"  # a number follows the view's name
    return page.eval_on_selector_all(
        f"{containers} [aria-label], {containers}[aria-label]",
        "marks => marks.map(mark => mark.getAttribute('aria-label').replaceAll('\u2212', '-'))",
    )


def test_cells_and_numbers_say_which_query_and_which_key_they_belong_to(page):
    choose(page, 1)
    pairs = list(itertools.product(range(7), range(D_K)))
    assert labels(page, "key_vectors") == [
        f"key {KEYS[k]}, component {i + 1}: {number(SHIPPED[1][k, i])}, "
        f"times query {number(SHIPPED[0][1, i])} is {number(SHIPPED[0][1, i] * SHIPPED[1][k, i])}"
        for k, i in pairs
    ]
    assert labels(page, "score") == [
        f"query Der, key {word}: q·k is {number(score)}" for word, score in zip(KEYS, SCORES[1], strict=True)
    ]
    assert labels(page, "weights") == [
        f"query Der attends to key {KEYS[k]}, {number(WEIGHTS[1, k])}"
        if MASK[1, k]
        else f"query Der may not attend to key {KEYS[k]}"
        for k in range(7)
    ]
    assert labels(page, "output") == [f"output for Der, component {i + 1}: {number(OUTPUT[1, i])}" for i in range(D_V)]


def test_words_are_buttons_for_their_queries(page):
    assert labels(page, "words") == [f"query {word}" for word in QUERIES]
    page.locator("[aria-label='query Hund']").click()
    settle(page)
    assert control(page, "chosen_query").input_value() == "4"
    np.testing.assert_allclose(strip(page, "query_vector", D_K), SHIPPED[0][[3]])


def test_slider_chooses_by_keyboard_and_the_figure_says_so_in_words(page):
    control(page, "chosen_query").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    settle(page)
    best = SCORES[4].argmax()
    text = page.inner_text("#figure").replace("−", "-")
    assert "Query “schläft”: 7 keys of width 11" in text
    assert f"Largest q·k: {SCORES[4, best]:.2f}, key “{KEYS[best]}”" in text
    assert f"Its weight after the softmax: {WEIGHTS[4, best]:.2f}" in text


def test_largest_score_in_words_is_one_that_is_not_masked(page):
    choose(page, 3)
    assert f"key “{KEYS[6]}”" in page.inner_text("#figure")
    assert SCORES[3].argmax() != 6


def test_masked_keys_are_hatched_and_named(page):
    choose(page, 1)
    closed = int((~MASK[1]).sum())
    assert page.locator(".mark-rule line[stroke=gray]").count() == closed
    assert page.inner_text("#figure").count("masked") == closed


STAGES = {"key_vectors": 1, "score": 2, "scaled": 3, "weights": 4, "weighted_values": 5, "output": 5}


@pytest.mark.parametrize("step", range(1, 6))
def test_steps_come_one_after_another(page, step):
    show(page, step)
    assert {view: len(data(page, view)) > 0 for view in STAGES} == {view: step >= at for view, at in STAGES.items()}
    assert ("Output: all values" in page.inner_text("#figure")) == (step == 5)


def test_play_goes_through_the_steps_from_the_first(page):
    page.wait_for_timeout(1500)
    assert control(page, "step").input_value() == "5"
    control(page, "step_playing").press("Space")
    page.wait_for_function("Number(document.querySelector('[name=step]').value) < 3")
    control(page, "step_playing").press("Space")


def places(page):
    """The corner of each view, and of what stands last in it."""
    last = [".comparison_group .role-legend", ".mixture_group .role-legend"]
    boxes = [page.locator(name).bounding_box() for name in (".comparison_group", ".mixture_group", *last)]
    return [(box["x"], box["y"]) for box in boxes]


def test_nothing_moves_when_a_control_does(page):
    before = places(page)
    for query, step in ((2, 5), (4, 1), (1, 3)):
        choose(page, query)
        show(page, step)
        assert places(page) == before


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings input", "inputs => inputs.map(i => i.labels[0]?.innerText.trim())"
    )
    assert [re.sub(r"\s*\d+$", "", name) for name in names] == ["Query", "Steps shown", "Play"]


@pytest.mark.parametrize(("width", "mode"), [(1280, "dark"), (360, "light"), (360, "dark")])
def test_figure_fits_the_page_and_follows_its_color(browser, width, mode):
    page = open_figure(browser, CHART, width=width, mode=mode)
    assert page.locator("#figure svg.marks").bounding_box()["width"] <= min(width - 32, 680)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator("[class*=' score_'] text").first.evaluate("word => getComputedStyle(word).fill") == ink
    left, right, *_ = places(page)
    assert (right[0] > left[0] + 300) == (right[1] == left[1]) == (width == 1280)
    assert page.complaints == []
    page.close()
