"""One matrix in two roles (section 3.4)."""

import math

import torch
from reference import assert_close, gradients, random
from torch import nn

from transformer_lib.embedding import TokenEmbedding

VOCAB, D_MODEL = 23, 7
IDS = torch.tensor([[3, 5, 3, 11, 22], [0, 1, 13, 17, 3]])


def embedding() -> TokenEmbedding:
    torch.manual_seed(0)
    return TokenEmbedding(VOCAB, D_MODEL).double()


def test_embedding_is_the_row_times_the_root_of_d_model():
    module = embedding()
    expected = [[[w * math.sqrt(7) for w in module.weight[token].tolist()] for token in row] for row in IDS.tolist()]
    assert_close([module(IDS)], [torch.tensor(expected, dtype=torch.float64)], 1e-12)


def test_logits_are_dot_products_with_every_row():
    module, x = embedding(), random(2, 5, D_MODEL).detach()
    rows = module.weight.tolist()
    expected = [
        [[sum(a * b for a, b in zip(state, row, strict=True)) for row in rows] for state in sentence]
        for sentence in x.tolist()
    ]
    assert_close([module.logits(x)], [torch.tensor(expected, dtype=torch.float64)], 1e-12)
    assert_close([module.logits(x[1, 3])], [module.logits(x)[1, 3]], 1e-12)


def test_embedding_and_logits_have_the_gradients_of_tied_torch_layers():
    module, x = embedding(), random(2, 5, D_MODEL)
    table, linear = nn.Embedding(VOCAB, D_MODEL).double(), nn.Linear(D_MODEL, VOCAB, bias=False).double()
    with torch.no_grad():
        table.weight.copy_(module.weight)
    linear.weight = table.weight
    actual = module.logits(x + module(IDS))
    expected = linear(x + table(IDS) * math.sqrt(D_MODEL))
    assert_close([actual], [expected], 1e-12)
    assert_close(gradients(actual, [x, module.weight]), gradients(expected, [x, table.weight]), 1e-12)


def test_embedding_starts_with_unit_components_and_logits_of_unit_scale():
    torch.manual_seed(0)
    module = TokenEmbedding(4_001, 127)
    assert math.isclose(module.weight.std().item(), 127**-0.5, rel_tol=0.01)
    assert abs(module.weight.mean().item()) < 1e-3
    assert math.isclose(module(torch.arange(4_001).view(1, -1)).std().item(), 1, rel_tol=0.01)
    assert math.isclose(module.logits(torch.randn(101, 127)).std().item(), 1, rel_tol=0.05)


def test_embedding_is_one_matrix_without_bias():
    assert {name: tuple(p.shape) for name, p in embedding().named_parameters()} == {"weight": (VOCAB, D_MODEL)}
