"""Fonts, colors and the way a chart is put on a page, shared by every figure."""

import altair as alt

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# The page's own text color: the SVG follows dark mode without being drawn again.
INK = "currentColor"
FAINT = "rgba(128, 128, 128, 0.3)"
# Luminance near 0.2, so that each has a contrast of about 4 against white and against a dark page.
BLUE, ORANGE = "rgb(47, 122, 214)", "rgb(198, 98, 16)"
SERIES = [BLUE, ORANGE, "rgb(20, 136, 100)", "rgb(176, 80, 150)", "rgb(130, 110, 40)", "rgb(112, 118, 128)"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3]]
# From nothing to one hue: zero is the page itself in both modes, and the order survives greyscale.
SEQUENTIAL = ["rgba(47, 122, 214, 0)", BLUE]
DIVERGING = [ORANGE, "rgba(198, 98, 16, 0)", "rgba(47, 122, 214, 0)", BLUE]
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


def hatching(cells: alt.Chart, x: str, y: str) -> alt.Chart:
    """A diagonal through each cell: masked is not the same as a weight near zero, in grey neither."""
    return cells.mark_rule(color="gray", strokeWidth=0.7, aria=False).encode(
        x=alt.X(f"{x}:O", bandPosition=0),
        x2=alt.X2(f"{x}:O", bandPosition=1),
        y=alt.Y(f"{y}:O", bandPosition=1),
        y2=alt.Y2(f"{y}:O", bandPosition=0),
    )


def house_style() -> None:
    """Give every chart made from now on the book's look: theme, SVG, an export menu with SVG and PNG.

    Call it once in a notebook; a second call changes nothing.
    """

    @alt.theme.register("transformer_lib", enable=True)
    def theme() -> alt.theme.ThemeConfig:
        return {"config": CONFIG}

    alt.renderers.set_embed_options(**EMBED_OPTIONS)
