"""Fonts, colors and the way a chart is put on a page, shared by every figure."""

import altair as alt

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# The page's own text color: the SVG follows dark mode without being drawn again.
INK = "currentColor"
FAINT = "rgba(128, 128, 128, 0.3)"
# Each has a contrast above 3 against white and against a dark page; orange is the lighter one, in grey too.
BLUE, ORANGE = "rgb(30, 105, 200)", "rgb(214, 112, 24)"
SERIES = [BLUE, ORANGE, "rgb(20, 136, 100)", "rgb(176, 80, 150)", "rgb(130, 110, 40)", "rgb(112, 118, 128)"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3]]
# From nothing to one hue: zero is the page itself in both modes, and the order survives greyscale.
SEQUENTIAL = ["rgba(30, 105, 200, 0)", BLUE]
DIVERGING = [ORANGE, "rgba(214, 112, 24, 0)", "rgba(30, 105, 200, 0)", BLUE]
MASKED = "rgba(128, 128, 128, 0.18)"

CONFIG = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 13, "subtitleFontSize": 12},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "domainColor": FAINT,
        "tickColor": FAINT,
        "gridColor": FAINT,
        "labelFontSize": 11,
        "titleFontSize": 12,
    },
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "labelFontSize": 11},
    "header": {"labelColor": INK, "titleColor": INK},
    "text": {"color": INK},
    "range": {"category": SERIES},
}
EMBED_OPTIONS = {
    "renderer": "svg",
    "actions": {"export": {"svg": True, "png": True}, "source": False, "compiled": False, "editor": False},
}


TIGHT = alt.Scale(paddingInner=0, paddingOuter=0)


def color_scale(domain: tuple[float, float], *, numbers: bool = False) -> alt.Scale:
    """From nothing at 0 to one hue, or to two where the domain goes below 0; paler where numbers stand on it."""
    colors = DIVERGING if domain[0] < 0 else SEQUENTIAL
    stops = [domain[0], 0, 0, domain[1]] if domain[0] < 0 else domain
    return alt.Scale(domain=stops, range=paler(colors) if numbers else colors, clamp=True)


def paler(colors: list[str]) -> list[str]:
    """The same at half their depth, on which the page's text is legible in both modes."""
    return [color.replace("rgb(", "rgba(").replace(")", ", 0.5)") if "rgb(" in color else color for color in colors]


def hatching(cells: alt.Chart, x: str, y: str) -> alt.Chart:
    """A diagonal through each cell: masked is not the same as a weight near zero, in grey neither."""
    return cells.mark_rule(color="gray", strokeWidth=0.7, aria=False).encode(
        x=alt.X(f"{x}:O", bandPosition=0),
        x2=alt.X2(f"{x}:O", bandPosition=1),
        y=alt.Y(f"{y}:O", bandPosition=1),
        y2=alt.Y2(f"{y}:O", bandPosition=0),
    )


def pixels(channel: type, field: str) -> alt.X | alt.Y:
    """A channel whose field holds pixels: no scale, no axis."""
    return channel(f"{field}:Q", scale=None, axis=None)


def words(*lines: str) -> alt.TitleParams:
    """Words above a view: a line for each expression of the page. The number of lines stays, so that nothing moves."""
    return alt.TitleParams(text=alt.expr(f"[{', '.join(lines)}]"), fontSize=12, fontWeight="normal", offset=8)


def house_style() -> None:
    """Give every chart made from now on the book's look: theme, SVG, an export menu with SVG and PNG.

    Call it once in a notebook; a second call changes nothing.
    """

    @alt.theme.register("transformer_lib", enable=True)
    def theme() -> alt.theme.ThemeConfig:
        return {"config": CONFIG}

    alt.renderers.set_embed_options(**EMBED_OPTIONS)
