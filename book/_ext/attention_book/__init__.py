"""The book's Sphinx extension: local front-end files, export marks, roles, the map, and the links of each chapter."""

from sphinx.application import Sphinx

from attention_book import assets, cells, figure_one, landmarks, links


def setup(app: Sphinx) -> dict[str, bool | str]:
    for part in (assets, cells, figure_one, landmarks, links):
        part.connect(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
