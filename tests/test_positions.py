"""The positional explorer as data: what its page is told, and what it refuses."""

import pytest

from transformer_lib.charts import house_style, positional_explorer

POSITIONS, D_MODEL = 11, 26


def views(chart):
    return [view["name"] for view in chart.to_dict()["concat"]]


def sliders(chart):
    """The controls by name, in the order of the page."""
    patch = chart.to_dict()["usermeta"]["embedOptions"]["patch"]
    signals = [change["value"] for change in patch if "bind" in change.get("value", {})]
    return {signal["name"]: signal["bind"] | {"value": signal["value"]} for signal in signals}


def test_page_is_given_the_formula_and_no_numbers():
    text = positional_explorer().to_json(indent=None)
    assert '"values": [{' not in text
    assert "datasets" not in positional_explorer().to_dict()
    assert "pow(10000, " in text
    assert len(text) <= 32 * 1024


def test_size_does_not_grow_with_the_table():
    small, large = (len(positional_explorer(d_model, 40).to_json(indent=None)) for d_model in (4, 100))
    assert abs(large - small) < 200


def test_sliders_cover_every_position_pair_and_shift():
    found = sliders(positional_explorer(D_MODEL, POSITIONS))
    assert list(found) == ["position", "pair", "shift"]
    ends = {name: (slider["min"], slider["max"]) for name, slider in found.items()}
    assert ends == {"position": (0, POSITIONS - 1), "pair": (0, D_MODEL // 2 - 1), "shift": (0, POSITIONS // 2)}


def test_first_choice_stays_within_a_small_table():
    found = sliders(positional_explorer(2, 3))
    assert all(slider["min"] <= slider["value"] <= slider["max"] for slider in found.values())


@pytest.mark.parametrize(
    ("show", "controls"),
    [
        (["table", "waves"], ["position", "pair"]),
        (["clock"], ["position", "pair", "shift"]),
        (["dots", "clock"], ["position", "pair", "shift"]),
        (["dots"], ["position", "shift"]),
    ],
)
def test_views_come_in_the_order_asked_for_with_the_controls_they_need(show, controls):
    chart = positional_explorer(D_MODEL, POSITIONS, show=show)
    assert views(chart) == [f"position_{view}" for view in show]
    assert list(sliders(chart)) == controls


def test_specification_is_deterministic():
    house_style()
    first, second = (positional_explorer().to_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d_model": 7}, "d_model = 7: expected an even number"),
        ({"d_model": 0}, "d_model = 0: expected an even number"),
        ({"positions": 1}, "positions = 1: expected at least 2"),
        ({"d_model": 128, "positions": 33}, "table of 4,224 cells is too large"),
        ({"show": "table"}, "show = 'table': expected a list of table, waves, clock, dots"),
        ({"show": []}, "show = .*expected a list"),
        ({"show": ["clock", "compass"]}, "'compass'.*expected a list"),
        ({"show": ["clock", "clock"]}, "show = .*each once"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        positional_explorer(**arguments)


def test_a_large_model_is_drawn_without_its_table():
    assert views(positional_explorer(512, 50, show=["clock", "dots"])) == ["position_clock", "position_dots"]
