"""The directive `{figure-one}`: Figure 1 of the paper as a map, every block linked to its chapter."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from transformer_lib.charts import figure_one
from transformer_lib.charts.architecture.blocks import MAP

logger = logging.getLogger(__name__)


def connect(app: Sphinx) -> None:
    app.add_directive("figure-one", FigureOneDirective)


class FigureOneDirective(SphinxDirective):
    """Addresses come from the names of documents; a block whose chapter is gone is a warning, which stops the build."""

    def run(self) -> list[nodes.Node]:
        # A chapter may be renamed while this page stays as it is: read it again at every build.
        self.env.note_reread()
        documents = {block.document for block in MAP}
        for missing in sorted(documents - self.env.found_docs):
            logger.warning("Figure 1 links to a chapter that is not there: %s", missing, location=self.get_location())
        address = self.env.app.builder.get_relative_uri
        links = {name: address(self.env.docname, name) for name in documents & self.env.found_docs}
        return [nodes.raw("", figure_one(links).svg, format="html")]
