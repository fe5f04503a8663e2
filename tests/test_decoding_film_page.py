"""The film of a translation in a real browser: its numbers, slider and Play, light and dark, wide and narrow."""

import pytest
from figure_page import control, open_figure, press, settle
from test_decoding_film import CANDIDATES, HEADS, LAYERS, SOURCE, TARGET, make_steps

from transformer_lib.charts import decoding_film

STEPS = make_steps()
BEFORE = ["<s>", "“Der”", "“Der kleine”", "“Der kleine Hund”", "“Der kleine Hund.”"]


@pytest.fixture(scope="module")
def film():
    return decoding_film(STEPS)


@pytest.fixture(scope="module")
def opened(browser, film):
    page = open_figure(browser, film)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The film as it is at first."""
    for name, value in {"step": 1, "layer": LAYERS, "head": 0}.items():
        opened.evaluate("([name, value]) => { view.signal(name, value); }", [name, value])
    settle(opened)
    yield opened
    assert opened.complaints == []


def told(page, panel):
    """What the rows of a panel say of themselves to a screen reader."""
    return page.eval_on_selector_all(
        f".{panel}_group [aria-roledescription='rect mark']", "rows => rows.map(row => row.getAttribute('aria-label'))"
    )


def words(page):
    """Words of a panel's title, line by line."""
    return page.eval_on_selector_all(
        ".role-title-text text", "titles => titles.map(title => [...title.children].map(line => line.textContent))"
    )


def assert_candidates(page, step):
    rows = [
        f"step {step}: {piece}, probability {p:.2f}{', taken' * (piece == TARGET[step - 1])}"
        for piece, p in CANDIDATES[step - 1]
    ]
    rows.append(f"step {step}: all others, probability {1 - sum(p for _, p in CANDIDATES[step - 1]):.2f}")
    assert told(page, "next_pieces") == rows


def assert_attention(page, weights):
    for text, piece, weight in zip(told(page, "looks"), SOURCE, weights, strict=True):
        start, value = text.rsplit(" ", 1)
        assert start == f"source piece {piece}, attention"
        assert abs(float(value) - weight) <= 0.016 + 0.005


def test_every_step_shows_its_candidates_and_the_attention_with_which_its_piece_was_chosen(page):
    for step in range(1, len(TARGET) + 1):
        assert_candidates(page, step)
        assert_attention(page, STEPS.cross[-1, :, step - 1].mean(0))
        (left, right) = [lines for lines in words(page) if len(lines) > 1]
        assert left == [f"Step {step} of 5: after", BEFORE[step - 1], f"the model takes “{TARGET[step - 1]}”"]
        strongest = SOURCE[STEPS.cross[-1, :, step - 1].mean(0).argmax()]
        assert right[0] == f"Attention: layer {LAYERS}, mean of its heads"
        assert right[1].startswith(f"Most on “{strongest}”, 0.")
        press(page, "step", "ArrowRight")


def test_layer_and_head_are_chosen_by_keyboard(page):
    press(page, "step", "ArrowRight")
    press(page, "head", "End")
    assert_attention(page, STEPS.cross[-1, -1, 1])
    press(page, "layer", "Home")
    press(page, "head", "ArrowLeft")
    assert_attention(page, STEPS.cross[0, HEADS - 2, 1])
    assert "Attention: layer 1, head 2" in page.inner_text("#figure")


def test_the_piece_taken_is_marked_by_more_than_color(page):
    texts = page.eval_on_selector_all(
        ".next_pieces_group text", "texts => texts.map(text => [text.textContent, text.getAttribute('font-weight')])"
    )
    assert ["0.50 ✓", "bold"] in texts
    assert ["▁Der", "bold"] in texts
    assert sum("✓" in text for text, _ in texts) == 1
    assert [text for text, weight in texts if weight == "bold"] == ["▁Der", "0.50 ✓"]


def test_film_starts_still_and_plays_when_asked(browser, film):
    page = open_figure(browser, film)
    page.wait_for_timeout(1300)
    assert page.evaluate("view.signal('step')") == 1
    control(page, "step_playing").press("Space")
    page.wait_for_function("view.signal('step') == 2", timeout=6000)
    assert page.complaints == []
    page.close()


def test_every_control_has_a_name(page):
    names = page.eval_on_selector_all(
        ".vega-bindings input", "inputs => inputs.map(input => input.labels[0]?.innerText.trim())"
    )
    assert [name.split()[0] for name in names] == ["Layer", "Head", "Step", "Play"]


@pytest.mark.parametrize(("width", "mode"), [(1280, "light"), (360, "dark")])
def test_film_fits_the_page_and_follows_its_color(browser, film, width, mode):
    page = open_figure(browser, film, width=width, mode=mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator(".looks_group text").first.evaluate("word => getComputedStyle(word).fill") == ink
    pieces, looks = (page.locator(f".{name}_group").bounding_box() for name in ("next_pieces", "looks"))
    assert (looks["x"] >= pieces["x"] + pieces["width"]) == (width == 1280)
    assert max(pieces["width"], looks["width"]) <= 320
    assert "Der" in page.evaluate("view.toSVG()")
    assert page.complaints == []
    page.close()
