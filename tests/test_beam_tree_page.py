"""The tree of a beam search in a real browser: what it says, click and keyboard, growth, light and dark, narrow."""

import pytest
from figure_page import control, open_figure, press, settle
from test_beam_tree import HEADS, LAYERS, NODES, SOURCE, make_tree

from transformer_lib.charts import beam_tree
from transformer_lib.charts.style import ORANGE

TREE = make_tree()
START = {"step": 4, "node": 0, "layer": LAYERS, "head": 0}


@pytest.fixture(scope="module")
def chart():
    return beam_tree(TREE)


@pytest.fixture(scope="module")
def opened(browser, chart):
    page = open_figure(browser, chart)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The tree as it is at first."""
    for name, value in START.items():
        opened.evaluate("([name, value]) => { view.signal(name, value); }", [name, value])
    settle(opened)
    yield opened
    assert opened.complaints == []


def rows(page, panel):
    return page.locator(f".{panel}_group [aria-roledescription='rect mark']")


def labels(page, panel):
    """What the rows or cards of a panel say of themselves to a screen reader."""
    return rows(page, panel).evaluate_all("rows => rows.map(row => row.getAttribute('aria-label'))")


def text(index):
    return "".join(TREE.nodes[i].piece for i in TREE.paths[index]).replace("</s>", "").replace("▁", " ").strip()


def assert_told(page, index, *words):
    """The figure tells of the node, in words, with the attention of its own row."""
    said = page.inner_text("#figure")
    for part in (f"“{text(index)}”", *words):
        assert part in said
    weights = TREE.cross[-1, :, index].mean(0)
    for label, piece, weight in zip(labels(page, "looks"), SOURCE, weights, strict=True):
        start, value = label.rsplit(" ", 1)
        assert start == f"source piece {piece}, attention"
        assert abs(float(value) - weight) <= 0.016 + 0.005


def test_every_hypothesis_says_its_text_and_numbers(page):
    found = labels(page, "tree")
    assert len(found) == len(NODES)
    for index, (label, node) in enumerate(zip(found, NODES, strict=True)):
        assert label.startswith(f"“{text(index)}”: ")
        assert f"og-probability −{-node.log_probability:.2f}" in label
        assert (f"score −{-(node.score or 0):.2f}" in label) == (node.score is not None)
    assert sum(label.endswith("the best") for label in found) == 1


def test_the_best_translation_is_told_of_at_first_and_followed_step_by_step(page):
    assert_told(page, 10, "Log-probability −1.30, score −1.00, the best", "Finished at step 4")
    press(page, "step", "ArrowLeft", "ArrowLeft")
    assert_told(page, 4, "Step 2, place 2 of 3, log-probability −1.10", "In the beam")
    assert len(labels(page, "tree")) == sum(step <= 2 for step in TREE.steps)


@pytest.mark.parametrize(
    ("index", "fate"),
    [(2, "Given up at step 2, where"), (3, "Translations have come of it"), (12, "Unfinished when the search stopped")],
)
def test_a_click_and_the_list_tell_of_the_same_hypothesis(page, index, fate):
    rows(page, "tree").nth(index).click()
    settle(page)
    assert_told(page, index, fate)
    assert control(page, "node").input_value() == str(index + 1)
    press(page, "node", "Home", *["ArrowDown"] * (index + 1))
    assert_told(page, index, fate)


def test_the_path_to_the_hypothesis_told_of_is_framed(page):
    rows(page, "tree").nth(11).click()
    settle(page)
    strokes = page.eval_on_selector_all(
        ".tree_group .mark-rect [aria-hidden=true] path, .tree_group .mark-rect[aria-hidden=true] path",
        "cards => cards.map(card => card.getAttribute('stroke'))",
    )
    assert len(strokes) == len(NODES)
    assert {index for index, stroke in enumerate(strokes) if stroke == ORANGE} == set(TREE.paths[11])


def test_a_hypothesis_that_is_not_yet_in_the_tree_is_not_told_of(page):
    rows(page, "tree").nth(11).click()
    press(page, "step", "Home")
    assert_told(page, 1, "Step 1, place 2 of 3")
    press(page, "step", "End")
    assert_told(page, 11)


@pytest.mark.parametrize(("step", "dashed"), [(4, {2, 7}), (3, {2}), (2, {2}), (1, set())])
def test_what_was_given_up_by_a_step_is_dashed(page, step, dashed):
    press(page, "step", "Home", *["ArrowRight"] * (step - 1))
    found = page.eval_on_selector_all(
        ".tree_group .mark-rect[aria-hidden=true] path",
        "cards => cards.map(card => card.getAttribute('stroke-dasharray'))",
    )
    shown = [index for index, made in enumerate(TREE.steps) if made <= step]
    assert {index for index, dash in zip(shown, found, strict=True) if dash == "3,3"} == dashed


def test_layer_and_head_are_chosen_by_keyboard(page):
    press(page, "head", "End")
    press(page, "layer", "Home")
    weights = TREE.cross[0, HEADS - 1, 10]
    shown = [float(label.rsplit(" ", 1)[1]) for label in labels(page, "looks")]
    assert shown == pytest.approx(weights, abs=0.021)
    assert "layer 1, head 3" in page.inner_text("#figure")


def test_tree_grows_when_played(browser, chart):
    page = open_figure(browser, chart)
    control(page, "step_playing").press("Space")
    page.wait_for_function("view.signal('step') == 1", timeout=3000)
    page.wait_for_function("view.signal('step') == 2", timeout=6000)
    assert page.complaints == []
    page.close()


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings input, .vega-bindings select", "inputs => inputs.map(input => input.labels[0]?.textContent)"
    )
    assert [name.split()[0] for name in names] == ["Layer", "Head", "Hypothesis", "Step", "Play"]


@pytest.mark.parametrize(("width", "mode"), [(1280, "light"), (360, "dark")])
def test_tree_fits_the_page_and_follows_its_color(browser, chart, width, mode):
    page = open_figure(browser, chart, width=width, mode=mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".tree_group text").first.evaluate("word => getComputedStyle(word).fill") == ink
    tree, looks = (page.locator(f".{name}_group").bounding_box() for name in ("tree", "looks"))
    assert (looks["x"] >= tree["x"] + tree["width"]) == (width == 1280)
    assert max(tree["width"], looks["width"]) <= 320
    assert "Hund" in page.evaluate("view.toSVG()")
    assert page.complaints == []
    page.close()
