"""Sinusoids against the formula in plain math, and the vectors that are learned instead."""

import copy
import math

import pytest
import torch
from reference import assert_close, random, sinusoid, sinusoid_table

from transformer_lib.positional_encoding import LearnedPositions, SinusoidalPositions, sinusoids

D_MODEL = 13


@pytest.mark.parametrize("d_model", [1, 2, 7, 16, 101])
def test_sinusoids_match_the_formula(d_model):
    assert_close([sinusoids(67, d_model)], [sinusoid_table(67, d_model)], 1e-12)


@pytest.mark.parametrize("position", [511, 4_099, 104_729])
def test_sinusoids_match_the_formula_far_out(position):
    row = sinusoids(position + 1, D_MODEL)[-1]
    expected = [sinusoid(position, column, D_MODEL) for column in range(D_MODEL)]
    assert_close([row], [torch.tensor(expected, dtype=torch.float64)], 1e-9)


@pytest.mark.parametrize("offset", [1, 5, 37])
def test_shifted_sinusoids_are_a_linear_function_that_no_position_changes(offset):
    """PE(pos + k) = M_k PE(pos), with M_k built of rotations by the angles of k alone."""
    d_model = 22
    shift = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = offset / 10_000 ** (i / d_model)
        rotation = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        shift[i : i + 2, i : i + 2] = torch.tensor(rotation, dtype=torch.float64)
    table = sinusoids(211, d_model)
    assert_close([table[offset:]], [table[:-offset] @ shift.T], 1e-12)


def test_shift_matrix_fitted_on_some_positions_holds_for_all():
    """Without the formula: least squares on every fifth position finds the matrix, the others obey it."""
    table, offset = sinusoids(2_007, 6), 7
    now, later = table[:-offset], table[offset:]
    matrix = torch.linalg.lstsq(now[::5], later[::5]).solution
    assert_close([now @ matrix], [later], 1e-10)


def test_wavelengths_go_from_two_pi_towards_ten_thousand_times_as_much():
    table = sinusoids(2, 512)
    angles = torch.atan2(table[1, 0::2], table[1, 1::2])  # how far one position turns each pair
    assert angles[0].item() == pytest.approx(1)
    assert angles[-1].item() == pytest.approx(10_000 ** -(510 / 512))
    ratios = angles[1:] / angles[:-1]
    assert_close([ratios], [torch.full_like(ratios, 10_000 ** (-2 / 512))], 1e-9)


def test_sinusoids_are_made_on_the_device_asked_for():
    assert sinusoids(3, D_MODEL, "meta").device.type == "meta"


def test_sinusoidal_positions_add_the_table():
    x = random(2, 7, D_MODEL)
    out = SinusoidalPositions(D_MODEL)(x)
    assert_close([out - x], [sinusoid_table(7, D_MODEL).expand(2, -1, -1)], 1e-6)
    assert torch.equal(torch.autograd.grad(out.sum(), x)[0], torch.ones_like(x))


@pytest.mark.parametrize("make", [SinusoidalPositions, lambda d_model: LearnedPositions(d_model, 31)])
def test_start_is_the_position_of_the_first_token(make):
    positions, x = make(D_MODEL), torch.randn(2, 23, D_MODEL)
    whole = positions(x)
    for start in (0, 1, 11, 22):
        assert torch.equal(positions(x[:, start:], start=start), whole[:, start:])


@pytest.mark.parametrize(("n", "start"), [(512, 0), (513, 0), (1_201, 0), (1, 512), (3, 1_999)])
def test_sinusoidal_table_grows_to_what_is_asked_for(n, start):
    positions = SinusoidalPositions(3)
    out = positions(torch.zeros(1, n, 3), start=start)
    assert_close([out[0].double()], [sinusoid_table(start + n, 3)[start:]], 1e-6)
    fresh = sinusoids(start + n, 3).float()
    assert torch.equal(out[0], fresh[start:])
    assert torch.equal(positions(torch.zeros(1, 5, 3))[0], fresh[:5] if n >= 5 else sinusoids(5, 3).float())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("n", [7, 601])
def test_positions_keep_the_type_of_what_they_are_added_to(dtype, n):
    x = torch.zeros(1, n, 3, dtype=dtype)
    for positions in (SinusoidalPositions(3), SinusoidalPositions(3).to(dtype), LearnedPositions(3, n).to(dtype)):
        out = positions(x)
        assert out.dtype == dtype
        assert out.abs().max() > 0
    precision = max(torch.finfo(dtype).eps, 1e-6)
    assert_close([SinusoidalPositions(3).to(dtype)(x)[0].double()], [sinusoid_table(n, 3)], precision)


def test_table_that_grew_in_inference_mode_can_be_trained_with():
    positions = SinusoidalPositions(3)
    with torch.inference_mode():
        positions(torch.zeros(1, 601, 3))
    x = random(1, 601, 3, dtype=torch.float32)
    assert torch.equal(torch.autograd.grad(positions(x).sum(), x)[0], torch.ones_like(x))
    assert torch.equal(copy.deepcopy(positions)(x), positions(x))


def test_sinusoidal_positions_learn_and_save_nothing():
    positions = SinusoidalPositions(D_MODEL)
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_learned_positions_add_one_vector_a_position():
    positions, x = LearnedPositions(D_MODEL, 11), torch.randn(2, 7, D_MODEL)
    out = positions(x)
    for sentence in range(2):
        for place in range(7):
            assert torch.equal(out[sentence, place], x[sentence, place] + positions.weight[place])
    grad = torch.autograd.grad(out.sum(), positions.weight)[0]
    assert (grad[:7] == 2).all()
    assert (grad[7:] == 0).all()


def test_learned_positions_start_at_the_scale_of_the_embedding_matrix():
    torch.manual_seed(0)
    assert math.isclose(LearnedPositions(127, 1_009).weight.std().item(), 127**-0.5, rel_tol=0.01)


def test_learned_positions_end_at_their_limit():
    positions = LearnedPositions(D_MODEL, 11)
    assert positions(torch.zeros(1, 11, D_MODEL)).shape == (1, 11, D_MODEL)
    assert positions(torch.zeros(1, 1, D_MODEL), start=10).shape == (1, 1, D_MODEL)
    for n, start in ((12, 0), (1, 11), (5, 7)):
        with pytest.raises(ValueError, match=rf"\b{start + n}\b.*\b11\b"):
            positions(torch.zeros(1, n, D_MODEL), start=start)
