"""The charts' colors to eyes of every kind: contrast on both pages, order, and signs told apart."""

import itertools
import re

import altair as alt
import numpy as np
import pytest

from transformer_lib.charts import style

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # WCAG 2.2, relative luminance of linear sRGB
# Full color blindness of three kinds, on linear sRGB: Machado, Oliveira and Fernandes, "A physiologically-based model
# for simulation of color vision deficiency", IEEE TVCG 15(6), 2009, severity 1.0. And what a grey printer makes of it.
EYES = {
    "all three cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "grey": np.tile(LUMINANCE, (3, 1)),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
PAGES = {"light": ("#ffffff", "#222832"), "dark": ("#121212", "#ced6dd")}  # background and text of the site
FOR_GRAPHICS, FOR_TEXT = 3, 4.5  # WCAG 2.2, success criteria 1.4.11 and 1.4.3
APART = 10  # CIE 1976: a step of about 2 is just seen side by side, one of 10 at a glance


def rgba(color: str) -> np.ndarray:
    """Red, green, blue and opacity, each from 0 to 1, of a CSS color."""
    named = {"white": "#ffffff", "black": "#000000", "gray": "#808080"}.get(color, color)
    if named.startswith("#"):
        return np.array([int(named[i : i + 2], 16) for i in (1, 3, 5)] + [255]) / 255
    red, green, blue, *opacity = map(float, re.findall(r"[\d.]+", named))
    return np.array([red / 255, green / 255, blue / 255, *(opacity or [1.0])])


def page_and_ink(mode: str) -> tuple[np.ndarray, np.ndarray]:
    return tuple(rgba(color)[:3] for color in PAGES[mode])


def over(color: np.ndarray, page: np.ndarray) -> np.ndarray:
    """What a browser draws: opacity mixes the stored values, not the light."""
    return color[3] * color[:3] + (1 - color[3]) * page


def scale(stops: list[str], steps: int = 101) -> np.ndarray:
    """Colors along a scale as Vega interpolates them: each channel on its own, opacity too."""
    corners = np.array([rgba(stop) for stop in stops])
    at = np.linspace(0, len(stops) - 1, steps)
    return np.stack([np.interp(at, range(len(stops)), channel) for channel in corners.T], axis=-1)


def light(color: np.ndarray) -> np.ndarray:
    """Linear sRGB."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    darker, lighter = sorted(light(color) @ LUMINANCE + 0.05 for color in (one, other))
    return lighter / darker


def lab(linear: np.ndarray) -> np.ndarray:
    """CIELAB of linear sRGB, white point D65."""
    share = XYZ @ np.clip(linear, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: np.ndarray, other: np.ndarray, eyes: str) -> float:
    """CIE 1976 distance of two colors as these eyes see them."""
    return np.linalg.norm(lab(EYES[eyes] @ light(one)) - lab(EYES[eyes] @ light(other)))


modes = pytest.mark.parametrize("mode", PAGES)
every_eye = pytest.mark.parametrize("eyes", EYES)


def test_the_measures_agree_with_known_values():
    white, black, red = (rgba(color)[:3] for color in ("white", "black", "rgb(255, 0, 0)"))
    assert contrast(white, black) == pytest.approx(21)
    np.testing.assert_allclose(lab(light(red)), [53.24, 80.09, 67.20], atol=0.05)
    for eyes, matrix in EYES.items():
        np.testing.assert_allclose(np.sum(matrix, axis=1), 1, atol=1e-5, err_msg=f"{eyes}: white stays white")


@modes
@pytest.mark.parametrize("color", style.SERIES)
def test_every_series_stands_out_from_the_page(mode, color):
    page, _ = page_and_ink(mode)
    assert contrast(rgba(color)[:3], page) >= FOR_GRAPHICS


@modes
def test_text_is_legible(mode):
    page, ink = page_and_ink(mode)
    assert style.INK == "currentColor"
    assert contrast(ink, page) >= FOR_TEXT


@modes
@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
def test_numbers_are_legible_on_every_color_of_a_scale(mode, domain):
    page, ink = page_and_ink(mode)
    colors = scale(style.color_scale(domain, numbers=True).range)
    assert min(contrast(ink, over(color, page)) for color in colors) >= FOR_TEXT


@modes
@every_eye
def test_a_larger_weight_is_further_from_the_page(mode, eyes):
    page, _ = page_and_ink(mode)
    seen = np.array([EYES[eyes] @ light(over(color, page)) for color in scale(style.SEQUENTIAL)])
    steps = np.diff(seen @ LUMINANCE)
    assert (steps < 0).all() if mode == "light" else (steps > 0).all()
    assert contrast(over(rgba(style.SEQUENTIAL[0]), page), page) == 1
    assert contrast(rgba(style.SEQUENTIAL[-1])[:3], page) >= FOR_GRAPHICS


@modes
@every_eye
def test_both_sides_of_a_diverging_scale_leave_the_page_alike(mode, eyes):
    page, _ = page_and_ink(mode)
    colors = scale(style.DIVERGING, 301)
    away = np.array([difference(over(color, page), page, eyes) for color in colors])
    negative, positive = away[:101], away[200:]
    assert (np.diff(negative) < 0).all()
    assert (np.diff(positive) > 0).all()
    assert away[100] == pytest.approx(0, abs=1e-9)


@every_eye
def test_the_two_signs_are_told_apart(eyes):
    negative, *_, positive = (rgba(color)[:3] for color in style.DIVERGING)
    assert difference(negative, positive, eyes) >= APART


@every_eye
def test_blue_and_orange_are_told_apart(eyes):
    assert difference(rgba(style.BLUE)[:3], rgba(style.ORANGE)[:3], eyes) >= APART


def test_series_differ_in_dash_where_eyes_do_not_tell_their_colors_apart():
    assert len(style.DASHES) >= len(style.SERIES)
    alike = {
        (one, other)
        for eyes in EYES
        for one, other in itertools.combinations(range(len(style.SERIES)), 2)
        if difference(rgba(style.SERIES[one])[:3], rgba(style.SERIES[other])[:3], eyes) < APART
    }
    assert alike, "every pair is told apart by color alone: the dashes could go"
    assert all(style.DASHES[one] != style.DASHES[other] for one, other in alike)


@modes
def test_the_hatching_of_a_masked_cell_is_seen(mode):
    """Its fill alone would look like a small weight: the diagonal through it is what says masked."""
    page, _ = page_and_ink(mode)
    masked = over(rgba(style.MASKED), page)
    drawn = style.hatching(alt.Chart(), "column", "row").to_dict()["mark"]
    assert contrast(rgba(drawn["color"])[:3], masked) >= FOR_GRAPHICS
