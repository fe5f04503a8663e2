"""The shape tracer in a real browser: keyboard, mouse, film; light and dark, wide and narrow."""

import pytest
from figure_page import COLORS, open_figure
from test_shape_tracer import make_traced

from transformer_lib.charts import shape_tracer
from transformer_lib.charts.architecture.blocks import BLOCKS, BY_NAME, MAP
from transformer_lib.run.tracing import STEPS

SIZES = {"n_src": 5, "n_tgt": 7, "n_q": 7, "n_k": 5, "heads": 3, "d_k": 11, "d_model": 33, "d_ff": 41, "vocab": 301}
TRACED = [
    make_traced(
        tuple(SIZES[axis] for axis in step.axes.split()),
        step.axes.split(),
        block=step.block,
        name=step.name,
        change=f"What happened in step {number}, in a sentence that needs a second line of words.",
    )
    for number, step in enumerate(STEPS, 1)
]
CORNERS = """parts => parts.map((part) => part.getBoundingClientRect()).filter((box) => box.width)
    .map((box) => [box.left, box.top, box.right, box.bottom])"""
RUN = "async () => { await view.runAsync(); }"
FIRST_OF_DECODER = 1 + [step.block for step in STEPS].index("target")


@pytest.fixture(scope="module")
def tracer():
    return shape_tracer(TRACED)


@pytest.fixture(scope="module")
def opened(browser, tracer):
    page = open_figure(browser, tracer)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The figure at its first step; it has complained of nothing afterwards."""
    go_to(opened, 1)
    yield opened
    assert opened.complaints == []


def go_to(page, step):
    page.evaluate("async (step) => { await view.signal('step', step).runAsync(); }", step)


def told(page, kind):
    """What marks of a kind say to a screen reader."""
    marks = page.locator(f"[aria-roledescription='{kind} mark'][aria-label]")
    return marks.evaluate_all("marks => marks.map(mark => mark.getAttribute('aria-label'))")


def slider(page):
    return page.locator(".vega-bindings [name=step]")


def assert_shows(page, step):
    """Words, pictures and the marked block are those of a step, counted from 1."""
    tensor = TRACED[step - 1]
    block = BY_NAME[tensor.block]
    heading = page.locator(".role-title-text").text_content()
    assert heading.strip() == " ".join(block.lines) + block.where
    words = told(page, "text")
    assert f"{tensor.name}: {tensor.shape}" in words
    assert tensor.change in words
    assert page.evaluate("view.signal('step')") == step
    assert [name for name in told(page, "rect") if name.endswith("shown now")] == [
        name for name in told(page, "rect") if name.startswith(f"{block.title}, from step")
    ]
    heads = [] if tensor.values.ndim == 1 else [1] if tensor.values.ndim == 2 else [1, 2, 3]
    assert page.locator(".mark-image image").count() == len(heads)


def test_every_step_is_reached_by_keyboard(page):
    slider(page).focus()
    for step in range(1, len(TRACED) + 1):
        assert_shows(page, step)
        page.keyboard.press("ArrowRight")
        page.evaluate(RUN)
    page.keyboard.press("Home")
    page.evaluate(RUN)
    assert_shows(page, 1)


def test_a_click_on_a_block_goes_to_its_first_step(page):
    boxes = page.locator("[aria-roledescription='rect mark'][aria-label]")
    assert boxes.count() == len(BLOCKS)
    for block in ("decoder.cross_attention", "source", "encoder"):
        target = boxes.nth([other.name for other in BLOCKS].index(block)).bounding_box()
        page.mouse.click(target["x"] + target["width"] / 2, target["y"] + target["height"] / 2)
        page.evaluate(RUN)
        assert_shows(page, 1 + [step.block for step in STEPS].index(block))
        assert slider(page).input_value() == str(page.evaluate("view.signal('step')"))


def test_the_block_of_the_step_has_a_second_line_around_it(page):
    go_to(page, FIRST_OF_DECODER)
    rings = page.locator("path[stroke-width='2'][stroke='currentColor']")
    assert rings.count() == 1
    ring = rings.bounding_box()
    index = [block.name for block in BLOCKS].index("target")
    box = page.locator("[aria-roledescription='rect mark'][aria-label]").nth(index).bounding_box()
    assert ring["x"] < box["x"] < box["x"] + box["width"] < ring["x"] + ring["width"]
    assert ring["y"] < box["y"] < box["y"] + box["height"] < ring["y"] + ring["height"]


def test_nothing_moves_and_nothing_is_cut_off_from_step_to_step(page):
    places = set()
    drawing = page.locator("#figure svg.marks").bounding_box()
    for step in range(1, len(TRACED) + 1):
        go_to(page, step)
        boxes = page.eval_on_selector_all("#figure [aria-roledescription='rect mark'][aria-label]", CORNERS)
        words = page.eval_on_selector_all("#figure [aria-roledescription='text mark'][aria-label]", CORNERS)
        places.add(str([boxes, [(left, top) for left, top, *_ in words]]))
        for left, top, right, bottom in page.eval_on_selector_all("#figure svg.marks :is(text, image)", CORNERS):
            assert drawing["x"] <= left <= right <= drawing["x"] + drawing["width"]
            assert drawing["y"] <= top <= bottom <= drawing["y"] + drawing["height"]
    assert len(places) == 1
    assert page.locator("#figure svg.marks").bounding_box() == drawing


def test_film_starts_still_and_ends_at_the_last_step(browser):
    page = open_figure(browser, shape_tracer(TRACED[:2]))
    page.wait_for_timeout(1300)
    assert page.evaluate("view.signal('step')") == 1
    page.locator(".vega-bindings [name=step_playing]").check()
    page.wait_for_function("view.signal('step') == 2", timeout=5000)
    page.wait_for_timeout(1300)
    assert page.evaluate("view.signal('step')") == 2
    assert page.complaints == []
    page.close()


def test_export_holds_every_block(page):
    svg = page.evaluate("view.toSVG()")
    assert all(line.replace("&", "&amp;") in svg for block in MAP[:-1] for line in block.lines)


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("mode", COLORS)
def test_tracer_fits_the_page_and_follows_its_color(browser, tracer, width, mode):
    page = open_figure(browser, tracer, width=width, mode=mode)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#figure svg.marks").bounding_box()["width"] <= 700
    diagram, tensor = (page.locator(f".{name}_group").bounding_box() for name in ("figure_one", "tensor"))
    assert (tensor["x"] >= diagram["x"] + diagram["width"]) == (width == 1280)
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator("svg.marks text").first.evaluate("word => getComputedStyle(word).fill") == ink
    assert page.complaints == []
    page.close()


def test_words_of_the_diagram_stay_inside_their_blocks(page):
    words = page.locator(".figure_one_group .mark-text text")
    placed = {word.text_content(): word.bounding_box() for word in words.all()}
    for text in ("Masked multi-head", "Encoder: N layers", "probabilities", "(shifted right)"):
        block = next(block for block in BLOCKS if text in block.lines)
        box = page.locator("[aria-roledescription='rect mark'][aria-label]").nth(BLOCKS.index(block)).bounding_box()
        assert box["x"] <= placed[text]["x"]
        assert placed[text]["x"] + placed[text]["width"] <= box["x"] + box["width"]
