"""How long the vectors of `head_sum` are, for all tokens, and what share of the sum they make up at the chosen one."""

import altair as alt

from ..style import BLUE, FAINT, INK, ORANGE, SEQUENTIAL, TIGHT, pixels

# Room for words left of each view, and a view's own width: views below each other begin and end at one line.
LEFT, WIDTH = 80, 212
WORD, BAR, NUMBERS = 16, 20, 36  # height of a token's row and of a share's, width of the column of numbers


def overview_panel(heads: int, n: int, *, longest: float) -> alt.LayerChart:
    """The length of what each head adds at each token; a click chooses the token."""
    cells = (
        alt.Chart(alt.sequence(0, n * heads, as_="cell"))
        .transform_calculate(token=f"floor(datum.cell / {heads}) + 1", head=f"datum.cell % {heads} + 1")
        .transform_calculate(
            word="words[datum.token - 1]", length=f"sqrt(products[datum.token - 1][(datum.head - 1) * {heads + 1}])"
        )
        .transform_calculate(
            about="'token ' + datum.word + ', head ' + datum.head + ': length ' + format(datum.length, '.3g')"
        )
    )
    x = alt.X("head:O", title="head", axis=_plain(orient="top", labelAngle=0), scale=TIGHT)
    y = alt.Y("token:O", title="token", axis=_word_axis(), scale=TIGHT)
    legend = alt.Legend(orient="bottom", title="length of what is added", gradientLength=140, tickCount=3)
    color = alt.Color("length:Q", scale=alt.Scale(domain=[0, longest], range=SEQUENTIAL), legend=legend)
    tooltip = ["word:N", "head:O", alt.Tooltip("length:Q", format=".3g")]
    rectangles = cells.mark_rect(stroke=FAINT, strokeWidth=0.5, cursor="pointer").encode(
        x, y, color, description="about:N", tooltip=tooltip
    )
    size = {"width": heads * min(36, WIDTH // heads), "height": n * WORD}
    return alt.layer(rectangles, _frame()).properties(name="head_overview", **size)


def _frame() -> alt.Chart:
    """Around the chosen token, in pixels: a place on the map's own scale would have all of it drawn anew."""
    row = alt.Chart(alt.sequence(0, 1, as_="once"))
    row = row.transform_calculate(top=f"(token - 1) * {WORD}", bottom=f"token * {WORD}")
    frame = row.mark_rect(filled=False, stroke=INK, strokeWidth=1.5, aria=False)
    return frame.encode(x=alt.value(0), x2=alt.value("width"), y=pixels(alt.Y, "top"), y2="bottom:Q")


def _plain(**options: object) -> alt.Axis:
    return alt.Axis(ticks=False, domain=False, labelOverlap=False, **options)


def _word_axis() -> alt.Axis:
    weight = alt.condition("datum.value == token", alt.value("bold"), alt.value("normal"))
    return _plain(
        labelExpr="words[datum.value - 1]",
        labelFontWeight=weight,
        labelLimit=60,
        minExtent=LEFT - 16,
        maxExtent=LEFT - 16,
    )


def name_of(head: str, heads: int) -> str:
    """The name of a strip, in the language of the page; number `heads` is the sum."""
    return f"({head} < {heads} ? 'head ' + ({head} + 1) : 'sum')"


def shares_of(heads: int) -> alt.Chart:
    """Length and share of each head, and of the sum, the row of head number `heads`; shares laid end to end."""
    pairs = alt.Chart(alt.sequence(0, (heads + 1) * heads, as_="pair"))
    pairs = pairs.transform_calculate(head=f"floor(datum.pair / {heads})", other=f"datum.pair % {heads}")
    # A head's dot product with the sum is the sum of its dot products with the heads kept.
    pairs = pairs.transform_calculate(
        product="kept[datum.head] && kept[datum.other] ? products[token - 1][datum.pair] : 0"
    )
    return (
        pairs.transform_aggregate(along="sum(product)", groupby=["head"])
        .transform_joinaggregate(square="sum(along)")
        .transform_calculate(
            kept=f"datum.head == {heads} || kept[datum.head]",
            length=f"sqrt(datum.head < {heads} ? products[token - 1][datum.head * {heads + 1}] : max(datum.square, 0))",
            share=f"datum.square > 0 ? (datum.head < {heads} ? datum.along / datum.square : 1) : 0",
        )
        .transform_window(end="sum(share)", sort=[alt.SortField("head")], frame=[None, 0])
        .transform_calculate(start=f"datum.head < {heads} ? datum.end - datum.share : 0")
        .transform_calculate(end="datum.start + datum.share", number="datum.kept ? format(datum.share, '.2f') : '–'")
        .transform_calculate(
            said=f"{name_of('datum.head', heads)} + (datum.kept ? '' : ', left out') + ': length '"
            " + format(datum.length, '.3g') + (datum.kept ? ', share ' + datum.number : '')"
        )
    )


def shares_panel(heads: int) -> alt.LayerChart:
    """The shares of the heads laid end to end: together they reach the sum."""
    shares = shares_of(heads)
    y = alt.Y(
        "head:O",
        title=None,
        scale=TIGHT,
        axis=_plain(labelExpr=name_of("datum.value", heads), minExtent=LEFT, maxExtent=LEFT),
    )
    bars = shares.mark_bar(height=BAR - 6).encode(
        alt.X(
            "start:Q", title="share of the sum", scale=alt.Scale(nice=False), axis=alt.Axis(format="~g", tickCount=5)
        ),
        y,
        x2="end:Q",
        color=alt.condition("datum.share < 0", alt.value(ORANGE), alt.value(BLUE)),
        description="said:N",
        tooltip=alt.Tooltip("said:N", title="adds"),
    )
    # A line at 1, so that the axis reaches the sum even when all heads are left out.
    whole = alt.Chart(alt.sequence(0, 1, as_="once")).mark_rule(color=FAINT, aria=False).encode(x=alt.datum(1))
    numbers = shares.mark_text(align="right", color=INK, aria=False).encode(alt.X(value=WIDTH), y, text="number:N")
    size = {"width": WIDTH - NUMBERS, "height": (heads + 1) * BAR}
    return alt.layer(whole, bars, numbers, _largest(shares, heads)).properties(name="head_shares", **size)


def _largest(shares: alt.Chart, heads: int) -> alt.Chart:
    """The sentence above the shares."""
    most = shares.transform_filter(f"datum.head < {heads}").transform_window(
        place="row_number()", sort=[alt.SortField("share", order="descending")]
    )
    said = "datum.square > 0 ? 'Head ' + (datum.head + 1) + ' has the largest share of the sum: ' + datum.number"
    said = most.transform_filter("datum.place == 1").transform_calculate(
        said=f"{said} : 'No head is left: the sum is zero'"
    )
    text = said.mark_text(align="left", baseline="bottom", color=INK, fontSize=12, aria=False)
    return text.encode(alt.X(value=-LEFT), alt.Y(value=-8), text="said:N")
