"""Figure 1 as a map: what its blocks say and where they lead, without drawing it; and the directive that places it."""

import sys
from io import StringIO
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from IPython.core.interactiveshell import InteractiveShell
from sphinx.application import Sphinx

from tools.references import reading_order
from transformer_lib.charts import figure_one
from transformer_lib.charts.architecture.blocks import (
    ADD_NORM,
    BLOCKS,
    BY_NAME,
    DECODER_BLOCKS,
    ENCODER_BLOCKS,
    HEIGHT,
    MAP,
    STACKS,
    WIDTH,
    arrows,
)

ROOT = Path(__file__).parents[1]
SVG = "{http://www.w3.org/2000/svg}"
LINKS = {block.document: f"{block.document}.html" for block in MAP}


def links(svg):
    return ElementTree.fromstring(svg).findall(f"{SVG}a")


def seen(element):
    """The words that are drawn in an element."""
    lines = element.find(f"{SVG}text").findall(f"{SVG}tspan")
    return " ".join("".join(line.itertext()) for line in lines)


@pytest.mark.parametrize("block", MAP, ids=lambda block: block.name)
def test_every_block_belongs_to_a_chapter_of_the_book(block):
    assert block.document in reading_order(ROOT)
    assert (ROOT / "book" / f"{block.document}.ipynb").exists()


def test_every_block_is_a_link_to_its_chapter_in_the_order_of_the_forward_pass():
    found = links(figure_one(LINKS).svg)
    assert [link.get("href") for link in found] == [f"{block.document}.html" for block in MAP]
    assert [seen(link) for link in found] == [f"{' '.join(block.lines)} {block.section}" for block in MAP]


def test_links_are_named_one_by_one_beginning_with_the_words_that_are_seen():
    found = links(figure_one(LINKS).svg)
    names = [link.get("aria-label") for link in found]
    assert len(set(names)) == len(MAP)
    for link, block, name in zip(found, MAP, names, strict=True):
        assert name.startswith(" ".join(block.lines))
        assert name.endswith(f", section {block.section}, chapter {int(block.document[:2])}")
        assert link.find(f"{SVG}title").text == name


def test_a_map_without_addresses_has_every_block_and_no_link():
    svg = figure_one().svg
    assert "<a" not in svg
    assert "opens" not in svg
    assert len([text for text in ElementTree.fromstring(svg).iter(f"{SVG}tspan") if text.get("x")]) == sum(
        len(block.lines) for block in MAP
    )


def test_only_blocks_with_an_address_are_links():
    found = links(figure_one({"06_feed_forward": "elsewhere/6"}).svg)
    assert [link.get("href") for link in found] == ["elsewhere/6"] * 2


def test_addresses_are_escaped():
    (link,) = links(figure_one({"03_attention": 'a?b=1&c="2"'}).svg)
    assert link.get("href") == 'a?b=1&c="2"'


def test_a_document_that_no_block_belongs_to_is_an_error():
    with pytest.raises(ValueError, match="no block of Figure 1 belongs to 30_attention"):
        figure_one({"03_attention": "3", "30_attention": "30"})


def test_ids_are_unique_and_name_title_and_description():
    root = ElementTree.fromstring(figure_one(LINKS).svg)
    ids = {element.get("id"): element for element in root.iter() if element.get("id")}
    assert len(ids) == sum(element.get("id") is not None for element in root.iter())
    assert ids[root.get("aria-labelledby")].text.startswith("Figure 1")
    assert "encoder" in ids[root.get("aria-describedby")].text
    assert root.get("role") == "group", "an image would hide its links from a screen reader"


def test_notebooks_show_the_drawing():
    shown, _ = InteractiveShell.instance().display_formatter.format(figure_one(LINKS))
    assert shown["text/html"] == figure_one(LINKS).svg


def test_blocks_stand_apart_inside_the_figure():
    boxes = [(block.left, block.top, block.left + block.width, block.bottom) for block in MAP]
    assert all(left >= 0 and top >= 0 and right <= WIDTH and bottom <= HEIGHT for left, top, right, bottom in boxes)
    for one, other in combinations(boxes, 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_each_stream_passes_its_blocks_in_order():
    for stream in (ENCODER_BLOCKS, DECODER_BLOCKS):
        for low, high in pairwise(stream):
            assert any(
                tail[1] == low.top and head[1] == high.bottom and tail[0] == head[0] for tail, *_, head in arrows()
            ), f"{low.name} to {high.name}"


def test_every_sum_has_a_residual_connection_around_its_sublayer():
    residual = [points for points in arrows() if len(points) == 4]
    sums = [(block, BLOCKS[index - 1]) for index, block in enumerate(BLOCKS) if block.lines == ADD_NORM]
    assert len(sums) == len(residual) == 5
    for total, sublayer in sums:
        (around,) = [points for points in residual if points[0][0] == total.x and points[-1][1] == total.y]
        assert around[0][1] > sublayer.bottom
        assert abs(around[-1][0] - total.x) == total.width / 2
        assert all(abs(x - total.x) > total.width / 2 for x, _ in around[1:3])


def test_the_memory_goes_from_the_encoder_to_cross_attention():
    (memory,) = [points for points in arrows() if len(points) == 5]
    encoder, reader = BY_NAME["encoder"], BY_NAME["decoder.cross_attention"]
    assert memory[0][1] == encoder.top
    assert memory[-1] == (reader.left, reader.y)


def test_frames_hold_the_layers_and_nothing_else():
    for stack in STACKS:
        inside = {
            block.name
            for block in BLOCKS
            if stack.bottom < block.y < stack.frame_bottom and abs(block.x - stack.x) < stack.width / 2
        }
        assert inside == {block.name for block in BLOCKS if block.name.startswith(f"{stack.name}.")}


def write_site(folder, chapters):
    """A book of empty chapters, and in a folder of its own the page with the map."""
    (folder / "front").mkdir(parents=True)
    connected = "from attention_book import figure_one\n\ndef setup(app):\n    figure_one.connect(app)\n"
    (folder / "conf.py").write_text(f"html_theme = 'basic'\n{connected}")
    (folder / "front" / "map.rst").write_text("Map\n===\n\n.. figure-one::\n")
    (folder / "index.rst").write_text("Book\n====\n\n.. toctree::\n   :glob:\n\n   *\n   front/map\n")
    for name in chapters:
        (folder / f"{name}.rst").write_text(f"{name}\n{'=' * len(name)}\n")


def build(folder, monkeypatch):
    """The page with the map, and the warnings of the build."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "book" / "_ext"), *sys.path])
    warnings, out = StringIO(), folder / "_out"
    Sphinx(folder, folder, out, folder / "_trees", "html", status=None, warning=warnings).build()
    return (out / "front" / "map.html").read_text(), warnings.getvalue()


def test_directive_resolves_addresses_and_a_renamed_chapter_is_a_warning(tmp_path, monkeypatch):
    write_site(tmp_path, LINKS)
    page, warnings = build(tmp_path, monkeypatch)
    assert warnings == ""
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    assert [link.get("href") for link in links(svg)] == [f"../{block.document}.html" for block in MAP]

    (tmp_path / "05_masks.rst").rename(tmp_path / "05_masking.rst")
    page, warnings = build(tmp_path, monkeypatch)
    assert "Figure 1 links to a chapter that is not there: 05_masks" in warnings
    assert "map.rst:4" in warnings
    assert "05_masks.html" not in page
