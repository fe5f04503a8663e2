"""MyST to the Markdown that Jupyter, Colab and Kaggle render: no role and no directive remains."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.references import LABEL, LABELLED_EQUATION, References, Target

FENCE = re.compile(r"^(?P<ticks>`{3,})(?:\{(?P<name>[\w:-]+)\})?[ \t]*(?P<argument>.*)$")
OPTION = re.compile(r"^:([\w-]+): *(.*)$")
ROLE_OR_CODE = re.compile(
    r"\{(?P<role>[a-zA-Z][\w:-]*)\}`(?P<content>[^`]+)`|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)", re.S
)
TITLED = re.compile(r"^(?P<text>.*?)\s*<(?P<target>[^<>]+)>$", re.S)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
LEFT_OVER = re.compile(r"^:::|\{[a-zA-Z][\w:-]*\}`|^`{3,}\{|^\([\w-]+\)=|\[\^[^\]]+\]", re.MULTILINE)
ADMONITIONS = {"note": "Note", "tip": "Tip", "warning": "Warning", "important": "Important"}


class UnknownConstructError(ValueError):
    """The text uses a role, directive or label that this edition cannot show."""


@dataclass(frozen=True)
class Block:
    """A run of lines: prose (no name, no fence), a plain code fence (name ""), or a directive."""

    lines: list[str]
    name: str | None = None
    argument: str = ""

    def options(self) -> dict[str, str]:
        """The `:key: value` lines that head a directive."""
        pairs = [OPTION.match(line) for line in self.lines[: self.head()]]
        return {pair[1]: pair[2] for pair in pairs}

    def body(self) -> str:
        return "\n".join(self.lines[self.head() :]).strip("\n")

    def head(self) -> int:
        return next((i for i, line in enumerate(self.lines) if not OPTION.match(line)), len(self.lines))


def to_plain(text: str, references: References) -> str:
    """Resolve everything that is MyST in one Markdown cell; `UnknownConstructError` names what cannot be."""
    plain = "\n".join(rendered(block, references) for block in blocks(text.split("\n")))
    prose = "\n".join("\n".join(block.lines) for block in blocks(plain.split("\n")) if block.name is None)
    if left := LEFT_OVER.search(re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", prose)):
        raise UnknownConstructError(f"cannot show {left[0]!r}")
    return plain


def blocks(lines: list[str]) -> Iterator[Block]:
    """Split at fences; a fence ends at the first line that is at least as many backticks and nothing else."""
    prose: list[str] = []
    position = 0
    while position < len(lines):
        fence = FENCE.match(lines[position])
        if fence is None:
            prose.append(lines[position])
            position += 1
            continue
        if prose:
            yield Block(prose)
            prose = []
        end = closing(lines, position, len(fence["ticks"]))
        if fence["name"]:
            yield Block(lines[position + 1 : end], fence["name"], fence["argument"].strip())
        else:
            yield Block(lines[position : end + 1], "")
        position = end + 1
    if prose:
        yield Block(prose)


def closing(lines: list[str], start: int, ticks: int) -> int:
    ends = (i for i in range(start + 1, len(lines)) if re.fullmatch(f"`{{{ticks},}}[ \t]*", lines[i]))
    return next(ends, len(lines))


def rendered(block: Block, references: References) -> str:
    if block.name is None:
        return prose_to_plain("\n".join(block.lines), references)
    if block.name == "":
        return "\n".join(block.lines)
    if block.name in ADMONITIONS:
        return quoted(ADMONITIONS[block.name], to_plain(block.body(), references))
    if block.name not in DIRECTIVES:
        raise UnknownConstructError(f"cannot show the directive {{{block.name}}}")
    return DIRECTIVES[block.name](block, references)


def quoted(title: str, body: str) -> str:
    lines = ([f"**{title}**", ""] if title else []) + body.split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def admonition(block: Block, references: References) -> str:
    return quoted(prose_to_plain(block.argument, references), to_plain(block.body(), references))


def dropdown(block: Block, references: References) -> str:
    body = to_plain(block.body(), references)
    return f"<details><summary>{block.argument}</summary>\n\n{body}\n\n</details>"


def figure(block: Block, references: References) -> str:
    options = block.options()
    image = f"![{options.get('alt', '')}]({references.file(block.argument)})"
    number = references.figures[options["name"]].text + " " if "name" in options else ""
    caption = to_plain(block.body(), references).strip()
    return f"{image}\n\n{number}{caption}".strip()


DIRECTIVES: dict[str, Callable[[Block, References], str]] = {
    "admonition": admonition,
    "dropdown": dropdown,
    "figure": figure,
    "margin": admonition,
}


def prose_to_plain(text: str, references: References) -> str:
    """Prose without its labels, with equation numbers written out, roles as words and links as full addresses."""
    text = re.sub(LABEL.pattern + r"\n?", "", text, flags=re.MULTILINE)
    text = LABELLED_EQUATION.sub(lambda found: rf"\tag{{{references.equations[found[1]].text}}}$$", text)
    text = ROLE_OR_CODE.sub(lambda found: role(found, references), text)
    return LINK.sub(lambda found: absolute(found, references), text)


def role(found: re.Match, references: References) -> str:
    name, content = found["role"], found["content"]
    if name is None:
        return found[0]
    if name not in ROLES:
        raise UnknownConstructError(f"cannot show the role {{{name}}}")
    try:
        return ROLES[name](content, references)
    except KeyError as error:
        raise UnknownConstructError(f"{{{name}}}`{content}` refers to nothing: {error}") from error


def reference(content: str, targets: dict[str, Target], form: str = "{}") -> str:
    """A link for `label` or `words <label>`; without words, the target's own in `form`."""
    titled = TITLED.match(content)
    target = targets[titled["target"] if titled else content]
    return f"[{titled['text'] if titled else form.format(target.text)}]({target.link})"


def cited_in_text(content: str, references: References) -> str:
    works = [references.works[key.strip()] for key in content.split(",")]
    page = references.page("bibliography")
    return ", ".join(f"{authors} [[{year}]({page})]" for authors, year in works)


def cited_in_parentheses(content: str, references: References) -> str:
    works = [references.works[key.strip()] for key in content.split(",")]
    page = references.page("bibliography")
    return "[" + ", ".join(f"[{authors}, {year}]({page})" for authors, year in works) + "]"


ROLES: dict[str, Callable[[str, References], str]] = {
    "cite": cited_in_parentheses,
    "cite:p": cited_in_parentheses,
    "cite:t": cited_in_text,
    "doc": lambda content, references: reference(content, references.documents),
    "eq": lambda content, references: reference(content, references.equations, "({})"),
    "numref": lambda content, references: reference(content, references.figures),
    "ref": lambda content, references: reference(content, references.sections | references.figures),
}


def absolute(found: re.Match, references: References) -> str:
    """A link to another chapter as its page, an image of the book by its full address, all else as it is."""
    document, _, anchor = found["target"].partition("#")
    if found["image"] and "://" not in document:
        return f"![{found['text']}]({references.file(document)})"
    stem = document.rsplit(".", 1)[0]
    if document.endswith((".ipynb", ".md")) and stem in references.documents:
        return f"[{found['text']}]({references.page(stem)}{'#' + anchor if anchor else ''})"
    return found[0]
