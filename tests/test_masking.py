"""Who may attend to whom: True is yes."""

import pytest
import torch
from torch import nn

from transformer_lib.masking import causal_mask, padding_mask


def test_padding_mask_is_true_at_real_tokens():
    ids = torch.tensor([[5, 7, 2, 0, 0], [3, 0, 11, 13, 2]])
    mask = padding_mask(ids, 0)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[True, True, True, False, False]], [[True, False, True, True, True]]]


@pytest.mark.parametrize("pad_id", [0, 1, 7, 11])
def test_padding_mask_follows_pad_id(pad_id):
    ids = torch.tensor([[0, 1, 7], [11, 7, 0]])
    expected = [[[token != pad_id for token in row]] for row in ids.tolist()]
    assert padding_mask(ids, pad_id).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 7])
def test_causal_mask_shows_a_query_itself_and_the_past(n):
    mask = causal_mask(n)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[key <= query for key in range(n)] for query in range(n)]


def test_causal_mask_is_the_opposite_of_torch():
    """PyTorch marks what is barred."""
    barred = nn.Transformer.generate_square_subsequent_mask(7) == float("-inf")
    assert torch.equal(causal_mask(7), ~barred)


def test_causal_mask_is_made_on_the_device_asked_for():
    assert causal_mask(3, "meta").device.type == "meta"
    assert causal_mask(3, torch.device("meta")).device.type == "meta"


def test_masks_combine_to_one_row_a_query():
    ids = torch.tensor([[5, 7, 0, 0], [3, 11, 13, 2]])
    mask = causal_mask(4) & padding_mask(ids, 0)
    assert mask.shape == (2, 4, 4)
    for sentence, query, key in torch.cartesian_prod(torch.arange(2), torch.arange(4), torch.arange(4)).tolist():
        assert mask[sentence, query, key].item() == (key <= query and ids[sentence, key].item() != 0)
