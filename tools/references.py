"""What the chapters refer to: titles, sections, equations, figures and cited works, by label."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import yaml
from pybtex.database import Person, parse_file
from pybtex.richtext import Text

from tools import address

LABEL = re.compile(r"^\(([\w-]+)\)=[ \t]*$", re.MULTILINE)
LABELLED_HEADING = re.compile(r"^\(([\w-]+)\)=\s*\n+#+ +(.+)$", re.MULTILINE)
LABELLED_EQUATION = re.compile(r"\$\$[ \t]*\(([\w-]+)\)[ \t]*$", re.MULTILINE)
NAMED_FIGURE = re.compile(r"^```+\{figure\}[^\n]*\n(?::[^\n]*\n)*?:name: *([\w-]+)", re.MULTILINE)
TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Target:
    """Something that can be referred to: where it stands, and the words for it."""

    link: str
    text: str


@dataclass
class References:
    """Every target of the book. Equations and figures are numbered through, in reading order, as on the pages."""

    repository: str
    documents: dict[str, Target] = field(default_factory=dict)
    sections: dict[str, Target] = field(default_factory=dict)
    equations: dict[str, Target] = field(default_factory=dict)
    figures: dict[str, Target] = field(default_factory=dict)
    works: dict[str, tuple[str, str]] = field(default_factory=dict)  # key -> (authors, year)

    def page(self, document: str) -> str:
        """Address of a page of the published book."""
        return f"{address.site(self.repository)}/{document}.html"

    def file(self, path: str) -> str:
        """Address of a file below `book/`, on its own."""
        return f"{address.raw(self.repository)}/main/book/{path}"


def reading_order(root: Path) -> list[str]:
    """The pages of the book as the table of contents has them."""
    contents = yaml.safe_load((root / "_toc.yml").read_text())
    return [contents["root"], *(chapter["file"] for part in contents["parts"] for chapter in part["chapters"])]


def markdown(path: Path) -> str:
    """The prose of a page: a Markdown file, or the Markdown cells of a notebook."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def collect(root: Path) -> References:
    """Read every page of the book and note what it defines."""
    references = References(address.repository(root), works=cited_works(root / "references.bib"))
    for document in reading_order(root):
        paths = [path for suffix in (".ipynb", ".md") if (path := root / "book" / (document + suffix)).exists()]
        if paths:
            collect_page(references, document, markdown(paths[0]))
    return references


def collect_page(references: References, document: str, text: str) -> None:
    page = references.page(document)
    references.documents[document] = Target(page, TITLE.search(text)[1])
    for label, heading in LABELLED_HEADING.findall(text):
        references.sections[label] = Target(f"{page}#{label}", heading)
    for label in LABELLED_EQUATION.findall(text):
        references.equations[label] = Target(f"{page}#equation-{label}", str(len(references.equations) + 1))
    for label in NAMED_FIGURE.findall(text):
        references.figures[label] = Target(f"{page}#{label}", f"Fig. {len(references.figures) + 1}")


def cited_works(path: Path) -> dict[str, tuple[str, str]]:
    """Authors (as in a citation) and year of every work in a BibTeX file."""
    entries = parse_file(str(path)).entries
    return {key: (authors(entry.persons["author"]), entry.fields["year"]) for key, entry in entries.items()}


def authors(persons: list[Person]) -> str:
    names = [last_name(person) for person in persons]
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."


def last_name(person: Person) -> str:
    return " ".join(str(Text.from_latex(part)) for part in (*person.prelast_names, *person.last_names))
