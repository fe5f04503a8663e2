"""What each head adds, in a real browser: numbers, mouse, keyboard, light and dark, wide and narrow."""

import re
from itertools import pairwise

import numpy as np
import pytest
from figure_page import control, open_figure, settle
from test_head_sum import HEADS, TOKENS, WIDTH, make_contributions

from transformer_lib.charts import head_sum

CONTRIBUTIONS = make_contributions()
LENGTHS = ".head_overview_group .mark-rect.role-mark path[aria-label]"
COMPONENTS = ".head_strips_group .mark-rect.role-mark path[aria-label]"
SHARES = ".head_shares_group .mark-rect.role-mark path[aria-label]"


@pytest.fixture(scope="module")
def figure():
    return head_sum(CONTRIBUTIONS, TOKENS)


@pytest.fixture(scope="module")
def opened(browser, figure):
    page = open_figure(browser, figure)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The page of all tests; each begins at the first token with all heads."""
    choose(opened, 0, [0, 1, 2])
    yield opened
    assert opened.complaints == []


def choose(page, token, kept):
    """A token and the heads to add, both counted from 0, chosen by keyboard."""
    control(page, "token").focus()
    page.keyboard.press("Home")
    for _ in range(token):
        page.keyboard.press("ArrowRight")
    for head in range(HEADS):
        if control(page, f"head_{head + 1}").is_checked() != (head in kept):
            control(page, f"head_{head + 1}").focus()
            page.keyboard.press("Space")
    settle(page)


def labels(page, marks):
    found = page.eval_on_selector_all(marks, "marks => marks.map(mark => mark.getAttribute('aria-label'))")
    return [label.replace("−", "-") for label in found]


def words(page):
    return page.locator("svg.marks").evaluate("svg => svg.textContent").replace("−", "-")


def test_overview_shows_the_length_of_every_vector(page):
    found = iter(labels(page, LENGTHS))
    for n, token in enumerate(TOKENS):
        for head in range(HEADS):
            start, length = next(found).rsplit(" ", 1)
            assert start == f"token {token}, head {head + 1}: length"
            assert float(length) == pytest.approx(np.linalg.norm(CONTRIBUTIONS[head, n]), rel=0.006)
    assert next(found, None) is None


@pytest.mark.parametrize(("token", "kept"), [(0, [0, 1, 2]), (3, [0, 2]), (4, [1]), (2, [])])
def test_strips_show_each_head_and_the_sum_of_those_kept(page, token, kept):
    choose(page, token, kept)
    vectors = [*CONTRIBUTIONS[:, token], CONTRIBUTIONS[kept, token].sum(0)]
    names = ["head 1", "head 2", "head 3", "sum"]
    found = iter(labels(page, COMPONENTS))
    for row, (name, vector) in enumerate(zip(names, vectors, strict=True)):
        for component in range(WIDTH):
            text = re.fullmatch(r"(.+), component (\d+): (\S+?)(, left out)?", next(found))
            assert text.groups()[:2] == (name, str(component))
            assert float(text[3]) == pytest.approx(vector[component], rel=0.006, abs=0.002)
            assert bool(text[4]) == (row < HEADS and row not in kept)
    assert next(found, None) is None


@pytest.mark.parametrize(("token", "kept"), [(1, [0, 1, 2]), (4, [0, 2])])
def test_lengths_and_shares_are_those_of_the_sum_of_the_heads_kept(page, token, kept):
    choose(page, token, kept)
    total = CONTRIBUTIONS[kept, token].sum(0)
    found = labels(page, SHARES)
    assert len(found) == HEADS + 1
    shares = []
    for head, text in enumerate(found[:-1]):
        length = float(re.search(r"length ([\d.]+)", text)[1])
        assert length == pytest.approx(np.linalg.norm(CONTRIBUTIONS[head, token]), rel=0.006)
        assert ("left out" in text) == (head not in kept) == ("share" not in text)
        if head in kept:
            shares.append(float(re.search(r"share (\S+)", text)[1]))
            assert shares[-1] == pytest.approx(CONTRIBUTIONS[head, token] @ total / (total @ total), abs=0.006)
    assert sum(shares) == pytest.approx(1, abs=0.02)
    assert found[-1] == f"sum: length {np.linalg.norm(total):#.3g}, share 1.00"
    assert all(text in words(page) for text in found)
    best = kept[int(np.argmax(shares))]
    assert f"Head {best + 1} has the largest share of the sum: {max(shares):.2f}" in words(page)


def test_shares_lie_end_to_end_and_reach_the_sum(page):
    ends = page.eval_on_selector_all(
        SHARES, "bars => bars.map(bar => [bar.__data__.datum.start, bar.__data__.datum.end])"
    )
    for (_, end), (start, _) in pairwise(ends[:HEADS]):
        assert end == pytest.approx(start)
    assert ends[HEADS - 1][1] == pytest.approx(1)
    assert ends[HEADS] == [0, 1]


def test_words_name_the_token_and_the_heads_added(page):
    assert f"Token 1 of {len(TOKENS)}: “It”" in words(page)
    assert "Heads added: 1, 2, 3" in words(page)
    choose(page, 3, [1])
    assert f"Token 4 of {len(TOKENS)}: “.”" in words(page)
    assert re.search(r"Heads added: 2(?!,)", words(page))


def test_without_any_head_the_sum_is_zero_and_said_to_be(page):
    choose(page, 0, [])
    assert "Heads added: none" in words(page)
    assert "No head is left: the sum is zero" in words(page)
    assert labels(page, COMPONENTS)[-1] == f"sum, component {WIDTH - 1}: 0.00"


def test_click_on_a_cell_chooses_its_token(page):
    box = page.locator(LENGTHS).nth(2 * HEADS + 1).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)
    assert control(page, "token").input_value() == "3"
    assert "“dirty”" in words(page)


def test_nothing_moves_when_token_and_heads_change(page):
    def places():
        boxes = [page.locator(f".head_{view}_group").bounding_box() for view in ("overview", "strips", "shares")]
        return [(box["x"], box["y"], box["height"]) for box in boxes]

    before = places()
    choose(page, 4, [1])
    assert places() == before


def test_every_control_has_a_name(page):
    inputs = page.locator(".vega-bindings input")
    named = inputs.evaluate_all("inputs => inputs.map(input => input.labels[0]?.innerText.trim())")
    assert [label.split("\n")[0].split(" ")[0] for label in named] == ["Token", "Head", "Head", "Head"]


@pytest.mark.parametrize(("width", "mode"), [(1280, "dark"), (360, "light")])
def test_figure_of_eight_heads_fits_the_page_and_follows_its_color(browser, width, mode):
    tokens = [f"a_long_piece_{number}" for number in range(30)]
    page = open_figure(browser, head_sum(make_contributions(8, 30, 128), tokens), width=width, mode=mode)
    assert page.locator("svg.marks").bounding_box()["width"] <= width - 2 * 16
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".role-axis-label text").first.evaluate("word => getComputedStyle(word).fill") == ink
    overview, strips = (page.locator(f".head_{view}_group").bounding_box() for view in ("overview", "strips"))
    assert (strips["x"] >= overview["x"] + overview["width"]) == (width == 1280)
    for head in range(1, 9):
        page.evaluate(f"() => {{ view.signal('head_{head}', false); }}")
    settle(page)
    edge = page.locator("svg.marks").evaluate("svg => svg.getBoundingClientRect().right")
    ends = page.locator("svg.marks text").evaluate_all("words => words.map(w => w.getBoundingClientRect().right)")
    assert max(ends) <= edge
    assert page.complaints == []
    page.close()
