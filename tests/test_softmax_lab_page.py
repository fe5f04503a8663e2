"""The softmax lab in a real browser: its numbers are those of equation 1, and every control has its effect."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from figure_page import control, open_figure, opened, settle
from test_explorer_page import axis_labels, cells
from test_softmax_lab import D_K, KEY, KEYS, MASK, QUERIES, QUERY, SCORES, make_lab

from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.charts import softmax_lab
from transformer_lib.inspection import entropy

# What the marks of a view are drawn from.
DATA = r"""name => {
    const found = [];
    const visit = mark => {
        if (mark.name?.replace(/(_\d+)?_marks$/, "") === name) found.push(...mark.items.map(item => ({...item.datum})));
        else if (mark.marktype === "group") mark.items.forEach(group => group.items.forEach(visit));
    };
    visit(view.scenegraph().root);
    return found;
}"""


@pytest.fixture(scope="module")
def page(browser):
    yield from opened(browser, make_lab())


@pytest.fixture(autouse=True)
def beginning(page):
    """The controls stand as they stood at first."""
    set_controls(page)


def set_controls(page, *, masked=True, divided=True, temperature=1.0, query=0):
    control(page, "masked").set_checked(masked)
    control(page, "divided").set_checked(divided)
    control(page, "temperature").fill(str(temperature))
    control(page, "query").fill(str(query))
    settle(page)


def data(page, view):
    settle(page)
    return page.evaluate(DATA, view)


def weights(page):
    rows = data(page, "heat")
    assert [(row["query"], row["key"]) for row in rows] == list(itertools.product(range(1, 6), range(1, 8)))
    return torch.tensor([row["weight"] for row in rows], dtype=torch.float64).reshape(5, 7)


def expected_weights(masked=True, divided=True, temperature=1.0):
    """What `scaled_dot_product_attention` gives for the scores as exact as the page has them."""
    logits = SCORES.double().round(decimals=3) / (math.sqrt(D_K) if divided else 1) / temperature
    keys = torch.eye(7, dtype=torch.float64) * math.sqrt(7)  # their own width divides them again
    return scaled_dot_product_attention(logits, keys, keys, MASK if masked else None)[1]


STATES = [
    {"masked": masked, "divided": divided, "temperature": temperature}
    for masked in (True, False)
    for divided, temperature in ((True, 1.0), (True, 4.0), (False, 0.25), (False, 1.5))
]


@pytest.mark.parametrize("state", STATES)
def test_weights_are_those_of_equation_1_for_every_choice(page, state):
    set_controls(page, **state)
    found, expected = weights(page), expected_weights(**state)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    sums = found.sum(1)
    np.testing.assert_allclose(sums, [1, 1, 0 if state["masked"] else 1, 1, 1], atol=1e-12)
    bars = data(page, "entropy")
    np.testing.assert_allclose([bar["entropy"] for bar in bars], entropy(expected), atol=1e-12)
    open_keys = MASK.sum(1) if state["masked"] else torch.full((5,), 7)
    np.testing.assert_allclose([bar["most"] for bar in bars], open_keys.clamp(min=1).log2(), atol=1e-6)


def test_weights_are_those_of_the_model_within_the_rounding_of_the_scores(page):
    _, expected = scaled_dot_product_attention(QUERY, KEY, KEY, MASK)
    np.testing.assert_allclose(weights(page), expected, atol=0.0005)


def test_rows_still_sum_to_1_after_many_choices(page):
    page.evaluate(
        """async () => { for (let i = 0; i < 200; i++) {
            await view.signal("divided", i % 2 == 0).signal("temperature", 0.25 + i % 16 / 4).runAsync();
        } }"""
    )
    set_controls(page)
    np.testing.assert_allclose(weights(page), expected_weights(), atol=1e-12)


def test_large_scores_do_not_overflow(browser):
    lab = softmax_lab([[4000.0, 3999.0, -4000.0]], ["q"], ["a", "b", "c"], d_k=2)
    page = open_figure(browser, lab)
    control(page, "divided").uncheck()
    found = [row["weight"] for row in data(page, "heat")]
    np.testing.assert_allclose(found, torch.tensor([4000.0, 3999.0, -4000.0]).double().softmax(-1), atol=1e-12)
    page.close()


def test_rows_are_queries_and_columns_are_keys(page):
    assert axis_labels(page, "query") == QUERIES
    assert axis_labels(page, "key") == KEYS
    expected = expected_weights()
    for text, (i, j) in zip(cells(page), itertools.product(range(5), range(7)), strict=True):
        allowed = f"query {QUERIES[i]} attends to key {KEYS[j]}, {expected[i, j]:.2f}"
        assert text == (allowed if MASK[i, j] else f"query {QUERIES[i]} may not attend to key {KEYS[j]}")


def test_bars_say_their_entropy_and_the_most_it_could_be(page):
    bars = page.locator("[aria-roledescription='bar']").all()
    found = entropy(expected_weights())
    most = MASK.sum(1).clamp(min=1).log2()
    assert [bar.get_attribute("aria-label") for bar in bars] == [
        f"query {word}: entropy {bits:.2f} of at most {limit:.2f} bits"
        for word, bits, limit in zip(QUERIES, found, most, strict=True)
    ]
    assert f"Mean of all queries, dashed: {found.mean():.2f} bits" in page.inner_text("#figure")


def hatched(page):
    return page.locator(".mark-rule line[stroke=gray]").count()


def test_mask_division_and_temperature_answer_to_the_keyboard(page):
    assert hatched(page) == (~MASK).sum()
    for name, key in (("masked", "Space"), ("divided", "Space"), ("temperature", "ArrowRight")):
        control(page, name).press(key)
    np.testing.assert_allclose(weights(page), expected_weights(False, False, 1.25), atol=1e-12)
    assert "softmax of q·k / 1.25" in page.inner_text("#figure")
    assert hatched(page) == 0


def assert_row_in_words(page, query):
    expected = expected_weights()
    text = page.inner_text("#figure")
    assert f"Query “{QUERIES[query]}”: {entropy(expected)[query]:.2f} of at most" in text
    first, second = expected[query].argsort(descending=True)[:2]
    said = re.search(r"Most to “(.+)”, ([\d.]+); then “(.+)”, ([\d.]+)", text)
    strongest = [KEYS[first], f"{expected[query, first]:.2f}", KEYS[second], f"{expected[query, second]:.2f}"]
    assert list(said.groups()) == strongest


def test_query_under_the_pointer_is_told_in_words(page):
    page.locator("[aria-roledescription='rect mark']").nth(7 + 2).hover()
    settle(page)
    assert_row_in_words(page, 1)
    page.mouse.move(0, 0)


def test_query_chosen_by_keyboard_is_told_in_words(page):
    control(page, "query").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert_row_in_words(page, 4)


def test_closed_query_and_query_of_one_key_are_told_in_words(page):
    set_controls(page, query=3)
    assert "Query “kleine” may not attend to any key." in page.inner_text("#figure")
    set_controls(page, query=4)
    assert "Query “Hund”: 0.00 of at most 0.00 bits" in page.inner_text("#figure")
    assert "Most to “sleeps”, 1.00" in page.inner_text("#figure")


def places(page):
    return [page.locator(f".{name}_group").bounding_box() for name in ("attention_map", "entropies")]


def test_nothing_moves_when_a_control_does(page):
    before = places(page)
    for state in ({"masked": False}, {"divided": False, "temperature": 0.25}, {"query": 2}, {"query": 3}):
        set_controls(page, **state)
        assert places(page) == before


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings input", "inputs => inputs.map(i => i.labels[0]?.innerText.trim())"
    )
    assert [re.sub(r"\s*[\d.]+$", "", name) for name in names] == [
        "Mask",
        "Divide by √",
        "Temperature",
        "Query (0: all)",
    ]


@pytest.mark.parametrize(("width", "mode"), [(1280, "dark"), (360, "light"), (360, "dark")])
def test_lab_fits_the_page_and_follows_its_color(browser, width, mode):
    page = open_figure(browser, make_lab(), width=width, mode=mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#figure svg.marks").bounding_box()["width"] <= width - 32
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".role-axis-label text").first.evaluate("word => getComputedStyle(word).fill") == ink
    heat, bars = places(page)
    assert (bars["x"] >= heat["x"] + heat["width"]) == (width == 1280)
    assert page.complaints == []
    page.close()
