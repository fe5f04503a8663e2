"""All heads at a glance and the loss without each, in a real browser: mouse, keyboard, pictures, words."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from figure_page import control, open_figure, opened, press, settle
from test_charts import HEADS, LAYERS, SOURCE, TARGET, make_example
from test_heads import KINDS, make_grid, make_matrix, numbers

from transformer_lib.charts import AttentionExample
from transformer_lib.charts.maps.heads import _sheet
from transformer_lib.charts.maps.pictures import SHADES

EXAMPLE = make_example(title="five and seven tokens")
ENTROPY, DISTANCE = numbers(seed=1), numbers(seed=2, low=0, high=40)
LOSSES, BASELINE = numbers(seed=3, low=-9, high=24), 27.5
LABELS = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
PACKING_ERROR = 0.016 + 0.005


@pytest.fixture(scope="module")
def grid():
    other = make_example(SOURCE[:2], TARGET[:3], title="two and three tokens")
    return written_once(make_grid([EXAMPLE, other], entropy=ENTROPY, distance=DISTANCE))


@pytest.fixture(scope="module")
def matrix():
    return written_once(make_matrix(LOSSES, EXAMPLE, BASELINE))


def written_once(chart):
    """The chart for many pages: what is slow about opening one is writing it as JSON."""
    text = chart.to_json(indent=None)
    return SimpleNamespace(to_json=lambda **options: text)


@pytest.fixture
def grid_page(browser, grid):
    yield from opened(browser, grid)


@pytest.fixture
def matrix_page(browser, matrix):
    yield from opened(browser, matrix)


def chosen(page):
    """Kind, layer and head that the controls show."""
    return tuple(int(control(page, name).input_value()) for name in ("kind", "layer", "head"))


def described(page, start):
    """What the marks say of themselves to a screen reader, of those that begin so."""
    return page.eval_on_selector_all(
        f"[aria-label^='{start}']", "marks => marks.map(mark => mark.getAttribute('aria-label'))"
    )


def assert_map(page, kind, layer, head, example: AttentionExample = EXAMPLE):
    """The large map shows this head, with its words."""
    queries, keys = example.labels(kind)
    weights = getattr(example, kind)[layer, head]
    found = described(page, "query ")
    assert len(found) == weights.size
    for text, (i, j) in zip(found, np.ndindex(weights.shape), strict=True):
        if kind == "decoder" and j > i:
            assert text == f"query {queries[i]} may not attend to key {keys[j]}"
        else:
            start, value = text.rsplit(", ", 1)
            assert start == f"query {queries[i]} attends to key {keys[j]}"
            assert abs(float(value) - weights[i, j]) <= PACKING_ERROR


def number(text):
    return float(text.replace("\N{MINUS SIGN}", "-"))


def captions(page, place):
    """Texts of one of the two captions below the small maps, in reading order."""
    words = page.locator(".small_maps_group .mark-text").nth(place).locator("text")
    found = words.evaluate_all("words => words.map(word => [word.textContent, word.getBoundingClientRect()])")
    return [text for text, _ in sorted(found, key=lambda word: (round(word[1]["top"]), word[1]["left"]))]


def in_order(measure, kind):
    flat = measure[kind].ravel()
    indexes = sorted(range(flat.size), key=lambda index: -flat[index])
    return [f"{index // HEADS + 1}.{index % HEADS + 1}" for index in indexes], [flat[index] for index in indexes]


def test_small_maps_stand_in_the_order_that_the_reader_chooses_by_keyboard(grid_page):
    in_model = [f"{layer}.{head}" for layer in range(1, LAYERS + 1) for head in range(1, HEADS + 1)]
    assert captions(grid_page, 0) == in_model
    assert captions(grid_page, 1) == [""] * len(in_model)
    press(grid_page, "kind", "ArrowDown", "ArrowDown")
    press(grid_page, "order", "ArrowDown", "ArrowDown")
    heads, values = in_order(DISTANCE, "cross")
    assert captions(grid_page, 0) == heads
    np.testing.assert_allclose([number(text) for text in captions(grid_page, 1)], values, atol=0.051)


def test_each_small_map_says_which_head_it_is_and_its_value(grid_page):
    assert described(grid_page, "layer ") == [
        f"layer {layer}, head {head}" for layer in range(1, LAYERS + 1) for head in range(1, HEADS + 1)
    ]
    press(grid_page, "order", "ArrowDown")
    for text, value in zip(described(grid_page, "layer "), ENTROPY["encoder"].ravel(), strict=True):
        assert abs(number(re.fullmatch(r"layer \d, head \d, entropy (.+)", text)[1]) - value) <= 0.0051


def shades(page, sheet):
    """Opacity at the middle of each cell of the picture of all heads: `(place, query, key)`, with `[r, g, b]`."""
    pixels = page.evaluate(
        """async ([width, height]) => {
            const image = new Image();
            image.src = view.signal("picture");
            await image.decode();
            const canvas = Object.assign(document.createElement("canvas"), { width, height });
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0, canvas.width, canvas.height);
            return Array.from(context.getImageData(0, 0, canvas.width, canvas.height).data);
        }""",
        [sheet.width, sheet.height],
    )
    return np.array(pixels).reshape(sheet.height, sheet.width, 4)


def expected_opacity(weights):
    """Of the shade that a weight falls into; nothing for the smallest."""
    level = np.rint(np.sqrt(weights) * 63)
    return sum(np.where((first <= level) & (level < end), (first + end - 1) / 2 / 63, 0) for first, end in SHADES)


@pytest.mark.parametrize(("kind", "order"), [("encoder", None), ("decoder", ENTROPY), ("cross", DISTANCE)])
def test_the_picture_shows_the_weights_of_every_head_in_its_place(grid_page, kind, order):
    press(grid_page, "kind", *["ArrowDown"] * KINDS.index(kind))
    press(grid_page, "order", *["ArrowDown"] * (0 if order is None else 1 + (order is DISTANCE)))
    heads = in_order(order, kind)[0] if order else [f"{i + 1}.{j + 1}" for i, j in np.ndindex(LAYERS, HEADS)]
    sheet, pixels = _sheet(LAYERS, HEADS), shades(grid_page, _sheet(LAYERS, HEADS))
    for place, name in enumerate(heads):
        layer, head = (int(part) - 1 for part in name.split("."))
        weights = getattr(EXAMPLE, kind)[layer, head]
        rows, columns = (((np.arange(n) + 0.5) / n * sheet.side).astype(int) for n in weights.shape)
        top, left = place // sheet.columns * sheet.down, place % sheet.columns * sheet.across
        found = pixels[np.ix_(top + rows, left + columns)]
        masked = np.triu(np.ones(weights.shape, dtype=bool), 1) & (kind == "decoder")
        opacity = np.where(masked, 0.18, expected_opacity(weights))
        np.testing.assert_allclose(found[..., 3] / 255, opacity, atol=0.02)
        assert (found[masked][:, 0] == found[masked][:, 2]).all()
        blue = (found[..., 3] > 0) & ~masked
        assert (found[blue][:, 2] > found[blue][:, 0]).all()


def test_a_click_on_a_small_map_opens_that_head(grid_page):
    press(grid_page, "kind", "ArrowDown", "ArrowDown")
    press(grid_page, "order", "ArrowDown")
    grid_page.locator("[aria-label^='layer 2, head 3,']").click()
    settle(grid_page)
    assert chosen(grid_page) == (2, 2, 3)
    assert_map(grid_page, "cross", 1, 2)
    place = in_order(ENTROPY, "cross")[0].index("2.3") + 1
    value = f"{ENTROPY['cross'][1, 2]:.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"Layer 2, head 3: {value}, number {place} of {LAYERS * HEADS}." in grid_page.inner_text("#figure")


def frame(page):
    """The head whose frame stands out."""
    widths = page.eval_on_selector_all(
        "[aria-label^='layer ']", "frames => frames.map(frame => Number(frame.getAttribute('stroke-width')))"
    )
    assert widths.count(2) == 1
    return divmod(widths.index(2), HEADS)


def test_sliders_open_a_head_as_a_click_does(grid_page):
    press(grid_page, "layer", "End")
    press(grid_page, "head", "ArrowRight")
    assert_map(grid_page, "encoder", LAYERS - 1, 1)
    assert frame(grid_page) == (LAYERS - 1, 1)


def test_a_click_on_a_cell_keeps_its_query(grid_page):
    grid_page.locator("[aria-label^='query dog attends to key small']").click()
    grid_page.mouse.move(1, 1)
    settle(grid_page)
    assert control(grid_page, "query").input_value() == "3"
    assert "Query “dog” attends most to" in grid_page.inner_text("#figure")


def test_another_sentence_brings_its_own_words_and_maps(grid_page):
    before = grid_page.evaluate("view.signal('picture')")
    control(grid_page, "sentence").select_option(label="two and three tokens")
    settle(grid_page)
    assert len(described(grid_page, "query ")) == 4
    assert grid_page.evaluate("view.signal('picture')") != before


def sentence(kind, layer, head):
    before, after = f"{BASELINE:.1f}", f"{BASELINE - LOSSES[kind][layer, head]:.1f}"
    if before == after:
        change = f"stays at {after}"
    else:
        change = f"{'falls' if LOSSES[kind][layer, head] > 0 else 'rises'} from {before} to {after}"
    return f"Without {LABELS[kind]} head {head + 1} of layer {layer + 1}, BLEU {change}."


def test_every_cell_says_what_is_lost_and_shows_the_number(matrix_page):
    cells = [(kind, layer, head) for kind in KINDS for layer, head in np.ndindex(LAYERS, HEADS)]
    assert described(matrix_page, "Without ") == [sentence(*cell) for cell in cells]
    for kind in KINDS:
        shown = matrix_page.locator(f".{kind}_losses_group .role-mark.mark-text text").all_text_contents()
        np.testing.assert_allclose([number(text) for text in shown], LOSSES[kind].ravel(), atol=0.051)


def test_the_legend_of_losses_is_written_in_plain_numbers(matrix_page):
    written = matrix_page.locator(".cross_losses_group .role-legend-label text").all_text_contents()
    ticks = [number(text) for text in written]
    assert ticks == sorted(ticks)
    assert ticks[-1] >= 10
    assert not [text for text in written if "e" in text]


def test_losses_and_gains_are_told_apart_in_words(matrix_page):
    told = " ".join(described(matrix_page, "Without "))
    assert "falls from" in told
    assert "rises from" in told


def test_a_small_loss_is_no_change(browser):
    losses = {kind: np.full((LAYERS, HEADS), 0.01) for kind in KINDS}
    page = open_figure(browser, make_matrix(losses, EXAMPLE, baseline=27.5, unit="chrF"))
    assert described(page, "Without ")[0] == ("Without encoder self-attention head 1 of layer 1, chrF stays at 27.5.")
    page.close()


def told(page):
    """The lines of words above the views, each list of lines as one."""
    lines = page.eval_on_selector_all(
        ".role-title-text text", "words => words.map(word => [...word.childNodes].map(line => line.textContent))"
    )
    return [" ".join(line) for line in lines]


def test_a_click_on_a_loss_opens_the_head_and_says_what_happens_without_it(matrix_page):
    for kind, layer, head in [("decoder", 1, 2), ("encoder", 0, 1)]:
        matrix_page.locator(f"[aria-label='{sentence(kind, layer, head)}']").click(position={"x": 3, "y": 3})
        settle(matrix_page)
        assert chosen(matrix_page) == (KINDS.index(kind), layer + 1, head + 1)
        assert_map(matrix_page, kind, layer, head)
        assert sentence(kind, layer, head) in told(matrix_page)


def middle(mark):
    box = mark.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_click_on_the_number_is_a_click_on_its_cell(matrix_page):
    number_of_layer_2 = matrix_page.locator(".cross_losses_group .role-mark.mark-text text").nth(HEADS)
    matrix_page.mouse.click(*middle(number_of_layer_2))
    settle(matrix_page)
    assert chosen(matrix_page) == (2, 2, 1)


def test_controls_choose_a_head_as_a_click_does(matrix_page):
    press(matrix_page, "kind", "Home", "ArrowDown")
    press(matrix_page, "layer", "End")
    press(matrix_page, "head", "Home", "ArrowRight")
    assert_map(matrix_page, "decoder", LAYERS - 1, 1)
    assert sentence("decoder", LAYERS - 1, 1) in told(matrix_page)
    frames = matrix_page.locator(".mark-rect path[stroke-width='2']")
    assert frames.count() == 1
    cell = matrix_page.locator(f"[aria-label='{sentence('decoder', LAYERS - 1, 1)}']")
    assert middle(frames) == middle(cell)


@pytest.mark.parametrize("name", ["grid", "matrix"])
def test_every_control_has_a_name_and_export_is_complete(browser, request, name):
    for page in opened(browser, request.getfixturevalue(name)):
        names = page.eval_on_selector_all(
            ".vega-bindings select, .vega-bindings input",
            "inputs => inputs.map(input => input.labels[0]?.innerText.trim())",
        )
        for label, start in zip(names[-4:], ["Attention", "Layer", "Head", "Query (0: all)"], strict=True):
            assert label.startswith(start)
        assert "sleeps" in page.evaluate("view.toSVG()")


@pytest.mark.parametrize(("width", "mode"), [(1280, "light"), (360, "dark")])
@pytest.mark.parametrize("name", ["grid", "matrix"])
def test_the_figure_fits_the_page_and_follows_its_color(browser, request, name, width, mode):
    page = open_figure(browser, request.getfixturevalue(name), width=width, mode=mode)
    drawing = page.locator("#figure svg.marks").bounding_box()
    assert drawing["x"] + drawing["width"] <= width
    label = page.locator(".role-axis-label text").first
    assert label.evaluate("word => getComputedStyle(word).fill") == page.evaluate(
        "getComputedStyle(document.body).color"
    )
    overview, large = (page.locator(selector).first.bounding_box() for selector in OVERVIEW_AND_MAP[name])
    assert (large["x"] >= overview["x"] + overview["width"]) == (width == 1280)
    assert page.complaints == []
    page.close()


OVERVIEW_AND_MAP = {
    "grid": (".small_maps_group", ".attention_map_group"),
    "matrix": (".encoder_losses_group", ".attention_map_group"),
}
