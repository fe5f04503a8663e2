"""The whole Transformer: against PyTorch's, by its properties, and by its sizes."""

import dataclasses
import itertools
import json
import math
import subprocess
import sys
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from reference import (
    assert_close,
    assert_same_gradients,
    match_stacks,
    parameters_by_formula,
    random,
    share_weights,
    sinusoid_table,
    without_shape_checks,
)
from torch import nn

from transformer_lib.attention import fused_attention, scaled_dot_product_attention
from transformer_lib.embedding import TokenEmbedding
from transformer_lib.feed_forward import FeedForward
from transformer_lib.model import Transformer, TransformerConfig, count_parameters
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.positional_encoding import LearnedPositions, SinusoidalPositions

VOCAB, HEADS, LAYERS, N_SRC, N_TGT = 23, 3, 2, 11, 7
PRIMES = {"d_model": 13, "d_ff": 17, "num_heads": HEADS, "num_layers": LAYERS, "d_k": 5, "d_v": 7, "dropout": 0.0}
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 3], [9, 18, 7, 22, 5, 4, 3, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 9, 8, 7, 6, 15, 4], [2, 4, 5, 16, 0, 0, 0]])
REAL_TARGET = TARGET != 0


def config(**changes) -> TransformerConfig:
    return TransformerConfig(**{"vocab_size": VOCAB, **PRIMES, **changes})


def model(seed: int = 0, parts: dict | None = None, **changes) -> Transformer:
    """A small model in float64, in training mode, without dropout."""
    torch.manual_seed(seed)
    return Transformer(config(**changes), **(parts or {})).double()


# --- against nn.Transformer ---


def torch_logits(theirs: nn.Transformer, weight: torch.Tensor) -> torch.Tensor:
    """Embedding, positions and output layer written out around PyTorch's stacks."""
    d_model = weight.size(1)

    def embed(ids: torch.Tensor) -> torch.Tensor:
        positions = sinusoid_table(ids.size(1), d_model).float().double()  # our table is kept in float32
        return weight[ids] * math.sqrt(d_model) + positions

    padding = {"src_key_padding_mask": SOURCE == 0, "memory_key_padding_mask": SOURCE == 0}
    barred = torch.ones(N_TGT, N_TGT, dtype=torch.bool).triu(1)
    states = theirs(embed(SOURCE), embed(TARGET), tgt_mask=barred, tgt_key_padding_mask=TARGET == 0, **padding)
    return states @ weight.T


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("bias", [True, False])
def test_model_matches_torch(norm, bias):
    """Logits at every position, and the gradient of every parameter, the tied matrix included."""
    sizes = {"d_model": 15, "d_k": None, "d_v": None, "norm": norm}
    ours = model(parts={"attention": partial(MultiHeadAttention, bias=bias)}, **sizes)
    theirs = nn.Transformer(15, HEADS, LAYERS, LAYERS, 17, 0.0, batch_first=True, norm_first=norm == "pre").double()
    if norm == "post":
        theirs.encoder.norm = theirs.decoder.norm = None
    matches = share_weights(match_stacks, ours, theirs)
    assert len(matches) == len(list(ours.parameters())) - 1
    weight = ours.output.weight.detach().clone().requires_grad_()
    actual, expected = ours(SOURCE, TARGET), torch_logits(theirs, weight)
    assert_close([actual], [expected])
    for logits in (actual, expected):
        (logits * random(*logits.shape, seed=3).detach()).sum().backward()
    assert_same_gradients(matches)
    assert_close([ours.output.weight.grad], [weight.grad])


def test_model_gives_one_row_of_logits_for_each_target_position():
    assert model()(SOURCE, TARGET).shape == (2, N_TGT, VOCAB)
    assert model().encode(SOURCE).shape == (2, N_SRC, 13)


def test_decoding_from_memory_matches_the_whole_pass():
    transformer = model()
    memory = transformer.encode(SOURCE)
    logits = transformer.decode(TARGET, memory, SOURCE)
    assert torch.equal(logits, transformer(SOURCE, TARGET))
    assert torch.equal(logits, transformer.decode_states(TARGET, memory, SOURCE) @ transformer.output.weight.T)


# --- who can know what ---


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("t", range(N_TGT))
def test_future_target_tokens_change_nothing_before_them(norm, t):
    transformer = model(norm=norm)
    target = TARGET[:1]
    changed = target.clone()
    changed[:, t:] = (changed[:, t:] + 5) % 19 + 1
    before, after = transformer(SOURCE[:1], target), transformer(SOURCE[:1], changed)
    assert_close([after[:, :t]], [before[:, :t]], 1e-12)
    assert ((after - before)[:, t:].abs().amax(-1) > 1e-6).all()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_future_target_tokens_receive_no_gradient(norm):
    """Logits at t move with the embeddings up to t, with every word of the source, and with nothing else."""
    transformer, embedded = model(norm=norm), []
    for positions in (transformer.source_positions, transformer.target_positions):
        positions.register_forward_hook(lambda _, __, x: embedded.append(x))
    logits = transformer(SOURCE[:1], TARGET[:1])
    for t in range(N_TGT):
        source, target = torch.autograd.grad(logits[0, t].square().sum(), embedded, retain_graph=True)
        assert (target[0, t + 1 :] == 0).all()
        assert (target[0, : t + 1].abs().amax(-1) > 1e-9).all()
        assert (source[0].abs().amax(-1) > 1e-9).all()


def test_own_causal_mask_is_used():
    """With a mask that shows everything, the future leaks: the seam works and the test above can fail."""
    open_mask = {"causal_mask": lambda n, device=None: torch.ones(n, n, dtype=torch.bool, device=device)}
    transformer, changed = model(parts=open_mask), TARGET[:1].clone()
    changed[:, -1] = 19
    difference = transformer(SOURCE[:1], changed) - transformer(SOURCE[:1], TARGET[:1])
    assert (difference.abs().amax(-1) > 1e-6).all()


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("source_width", "target_width"), [(7, 4), (7, 5), (8, 4), (11, 7), (29, 19)])
def test_padding_changes_nothing_at_real_positions(norm, source_width, target_width):
    """The second pair has 7 and 4 tokens; alone, and padded to any width, it gets the same logits."""
    transformer = model(norm=norm)
    source, target = SOURCE[1:, :7], TARGET[1:, :4]
    padded_source = F.pad(source, (0, source_width - 7))
    padded_target = F.pad(target, (0, target_width - 4))
    assert_close([transformer.encode(padded_source)[:, :7]], [transformer.encode(source)], 1e-12)
    assert_close([transformer(padded_source, padded_target)[:, :4]], [transformer(source, target)], 1e-12)


def loss(transformer: Transformer, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """A random weighting of the logits at real positions."""
    weighting = random(29, VOCAB, seed=5).detach()[: target.size(1)]
    return ((transformer(source, target) * weighting)[target != 0]).sum()


def test_padding_changes_no_gradient():
    """A batch with padding has the gradients of its sentences one by one, without any."""
    batched, single = model(), model()
    loss(batched, SOURCE, TARGET).backward()
    loss(single, SOURCE[:1], TARGET[:1]).backward()
    loss(single, SOURCE[1:, :7], TARGET[1:, :4]).backward()
    assert_close([p.grad for p in batched.parameters()], [p.grad for p in single.parameters()])


def test_padding_follows_pad_id():
    """The same model with another padding token: the ids 0 and 17 exchange their roles."""
    swap = torch.arange(VOCAB)
    swap[0], swap[17] = 17, 0
    one, other = model(pad_id=0), model(pad_id=17)
    with torch.no_grad():
        other.output.weight.copy_(one.output.weight[swap])
    assert_close([other(swap[SOURCE], swap[TARGET])[..., swap]], [one(SOURCE, TARGET)], 1e-12)


def test_encoder_without_positions_is_permutation_equivariant():
    order = torch.randperm(N_SRC, generator=torch.Generator().manual_seed(1))
    source = SOURCE[:1]
    blind, sighted = model(parts={"positions": lambda config: nn.Identity()}), model()
    assert_close([blind.encode(source[:, order])], [blind.encode(source)[:, order]], 1e-12)
    assert_close([blind(source[:, order], TARGET[:1])], [blind(source, TARGET[:1])], 1e-12)
    assert not torch.allclose(sighted.encode(source[:, order]), sighted.encode(source)[:, order], atol=1e-3)


@pytest.mark.parametrize("attend", [fused_attention, scaled_dot_product_attention])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_sentence_of_padding_alone_gives_no_nan(attend, dtype, norm):
    """Nothing may be attended to: not in the encoder, not in the memory, not in the decoder."""
    transformer = model(parts={"attend": attend}, norm=norm).to(dtype)
    source, target = SOURCE.clone(), TARGET.clone()
    source[1], target[1] = 0, 0
    logits = transformer(source, target)
    assert logits.dtype == dtype
    assert logits.isfinite().all()
    logits.float().square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in transformer.parameters())


def test_padding_before_the_first_token_gives_no_nan():
    transformer, target = model(), TARGET.flip(1)  # the first queries of the second row may attend nowhere
    logits = transformer(SOURCE, target)
    loss(transformer, SOURCE, target).backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in transformer.parameters())


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_plain_and_fused_attention_give_the_same_model(norm):
    fused = model(norm=norm)
    plain = model(norm=norm, parts={"attend": scaled_dot_product_attention})
    assert_close([plain(SOURCE, TARGET)], [fused(SOURCE, TARGET)], 1e-12)
    assert_close([plain.float()(SOURCE, TARGET)], [fused.float()(SOURCE, TARGET)], 1e-5)


def test_pre_norm_and_post_norm_differ():
    """The same weights in another order of operations, and two final norms more."""
    post, pre = model(norm="post"), model(norm="pre")
    missing = pre.load_state_dict(post.state_dict(), strict=False)
    assert missing.missing_keys == [f"{s}.final_norm.{p}" for s in ("encoder", "decoder") for p in ("weight", "bias")]
    assert not torch.allclose(post(SOURCE, TARGET), pre(SOURCE, TARGET), atol=0.1)
    assert not [name for name, _ in post.named_parameters() if "final_norm" in name]


# --- tied weights and sizes ---


def test_tied_embeddings_are_one_tensor():
    transformer = model()
    uses = transformer.source_embedding, transformer.target_embedding, transformer.output
    assert len({use.weight.data_ptr() for use in uses}) == 1
    with torch.no_grad():
        transformer.output.weight[5] = 7.0
    assert (transformer.source_embedding(torch.tensor([[5]])) == 7 * math.sqrt(13)).all()


def test_untied_embeddings_are_three_tensors():
    transformer = model(tie_embeddings=False)
    uses = transformer.source_embedding, transformer.target_embedding, transformer.output
    assert len({use.weight.data_ptr() for use in uses}) == 3
    assert not torch.equal(uses[0].weight, uses[1].weight)
    assert not torch.equal(uses[1].weight, uses[2].weight)


def test_tied_matrix_gathers_the_gradients_of_its_three_uses():
    tied, untied = model(), model(tie_embeddings=False)
    untied.load_state_dict(tied.state_dict())
    for transformer in (tied, untied):
        loss(transformer, SOURCE, TARGET).backward()
    parts = [use.weight.grad for use in (untied.source_embedding, untied.target_embedding, untied.output)]
    assert all(part.abs().max() > 1e-3 for part in parts)
    assert_close([tied.output.weight.grad], [sum(parts)])


@pytest.mark.parametrize(
    ("preset", "least", "most"), [(TransformerConfig.base, 63e6, 64e6), (TransformerConfig.big, 213e6, 215e6)]
)
def test_paper_models_have_the_parameters_of_table_3(preset, least, most):
    with torch.device("meta"):
        count = count_parameters(Transformer(preset(37_000)))
    assert least < count < most
    assert count == parameters_by_formula(preset(37_000))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre"},
        {"tie_embeddings": False},
        {"positions": "learned", "max_positions": 29},
        {"d_model": 15, "d_k": None, "d_v": None},
        {"num_layers": 1, "num_heads": 1},
    ],
)
def test_parameters_match_the_formula(changes):
    assert count_parameters(model(**changes)) == parameters_by_formula(config(**changes))


def test_presets_have_the_sizes_of_the_paper():
    base, big = TransformerConfig.base(37_000), TransformerConfig.big(37_000)
    names = "num_layers", "d_model", "d_ff", "num_heads", "dropout"
    assert [getattr(base, name) for name in names] == [6, 512, 2048, 8, 0.1]
    assert [getattr(big, name) for name in names] == [6, 1024, 4096, 16, 0.3]
    for preset in (base, big, TransformerConfig.tiny(37_000)):
        assert (preset.norm, preset.positions, preset.tie_embeddings) == ("post", "sinusoidal", True)
        assert preset.attention_dropout == preset.activation_dropout == 0
        assert preset.vocab_size == 37_000


@pytest.mark.parametrize("preset", [TransformerConfig.base, TransformerConfig.big, TransformerConfig.tiny])
def test_preset_takes_changes(preset):
    changed = preset(101, d_model=48, dropout=0.0)
    assert changed == dataclasses.replace(preset(101), d_model=48, dropout=0.0)
    assert changed.d_model == 48


# --- the config ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(["vocab_size", "d_model", "d_ff", "num_heads", "num_layers", "max_positions"], [0, -7]),
        *itertools.product(["d_k", "d_v"], [0, -7]),
        *itertools.product(["dropout", "attention_dropout", "activation_dropout"], [-0.1, 1.0, 1.5, math.nan]),
        ("norm", "middle"),
        ("positions", "rotary"),
    ],
)
def test_config_error_names_field_and_value(name, value):
    with without_shape_checks(), pytest.raises(ValueError, match=rf"^{name} must be .*not {value!r}$"):
        config(**{name: value})


@pytest.mark.parametrize("sizes", [{"d_k": None}, {"d_v": None}, {"d_k": None, "d_v": None}])
def test_config_without_equal_share_for_each_head_is_an_error(sizes):
    with pytest.raises(ValueError, match=r"d_model = 13 is not divisible by num_heads = 3: give d_k and d_v"):
        config(**sizes)


def test_config_accepts_the_ends_of_its_ranges():
    assert Transformer(config(num_layers=1, d_ff=1, max_positions=1, dropout=0.0, attention_dropout=0.99))
    assert config(d_model=15, d_k=None, d_v=None).d_k is None


def test_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config().d_model = 17


def test_config_survives_json():
    changes = {"norm": "pre", "positions": "learned", "max_positions": 31, "tie_embeddings": False, "pad_id": 5}
    for original in (config(), config(**changes), TransformerConfig.big(37_000)):
        assert TransformerConfig.from_dict(json.loads(json.dumps(original.to_dict()))) == original
    assert set(config().to_dict()) == {field.name for field in dataclasses.fields(TransformerConfig)}


def test_config_from_dict_names_unknown_fields():
    with pytest.raises(ValueError, match=r"flash.*rope"):
        TransformerConfig.from_dict({**config().to_dict(), "rope": True, "flash": 2})


def test_config_from_dict_checks_values():
    with pytest.raises(ValueError, match="d_ff must be at least 1, not 0"):
        TransformerConfig.from_dict({**config().to_dict(), "d_ff": 0})


# --- parts of one's own ---


def test_own_attend_is_called_by_every_attention():
    shapes = []

    def spy(query, key, value, mask=None):
        shapes.append((query.size(-2), key.size(-2)))
        return scaled_dot_product_attention(query, key, value, mask)

    logits = model(parts={"attend": spy})(SOURCE, TARGET)
    assert shapes == LAYERS * [(N_SRC, N_SRC)] + LAYERS * [(N_TGT, N_TGT), (N_TGT, N_SRC)]
    assert_close([logits], [model()(SOURCE, TARGET)], 1e-12)


class OwnAttention(MultiHeadAttention):
    """A learner's class."""


class OwnFeedForward(FeedForward):
    """A learner's class."""


class OwnEmbedding(TokenEmbedding):
    """A learner's class."""


@pytest.mark.parametrize(
    ("part", "own", "count"),
    [
        ("attention", OwnAttention, 3 * LAYERS),
        ("feed_forward", OwnFeedForward, 2 * LAYERS),
        ("embedding", OwnEmbedding, 1),
    ],
)
def test_own_part_takes_every_place_of_the_original(part, own, count):
    transformer, original = model(parts={part: own}), own.__mro__[1]
    assert [type(module) for module in transformer.modules() if isinstance(module, original)] == [own] * count
    assert torch.equal(transformer(SOURCE, TARGET), model()(SOURCE, TARGET))


def test_own_attend_changes_the_result():
    def uniform(query, key, value, mask=None):
        return value.mean(-2, keepdim=True).expand(*query.shape[:-1], -1), None

    assert not torch.allclose(model(parts={"attend": uniform})(SOURCE, TARGET), model()(SOURCE, TARGET), atol=1e-3)


def test_own_positions_are_built_for_source_and_target():
    given = []

    def own(config: TransformerConfig) -> nn.Module:
        given.append(config)
        return LearnedPositions(config.d_model, 29)

    transformer = model(parts={"positions": own})
    assert given == [config()] * 2
    assert transformer.source_positions.weight is not transformer.target_positions.weight


def test_unknown_part_is_a_type_error_that_names_it():
    with pytest.raises(TypeError, match="attends"):
        Transformer(config(), attends=fused_attention)


# --- dropout, initialization, modes ---


def dropped_and_outputs(transformer: Transformer, places: tuple[type[nn.Module], ...]) -> tuple[list, list]:
    """The tensors that went into a live dropout, and those that came out of `places`, in one training pass."""
    dropped, outputs = [], []
    for module in transformer.modules():
        if isinstance(module, nn.Dropout) and module.p > 0:
            module.register_forward_hook(lambda _, given, __: dropped.append(given[0]))
        elif isinstance(module, places):
            module.register_forward_hook(lambda _, __, output: outputs.append(output))
    transformer(SOURCE, TARGET)
    return dropped, outputs


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_where_the_paper_puts_it(norm):
    """On the output of each sub-layer and on the two sums of embedding and position (section 5.4), nowhere else."""
    transformer = model(dropout=0.3, norm=norm)
    dropped, outputs = dropped_and_outputs(transformer, (MultiHeadAttention, FeedForward, SinusoidalPositions))
    assert len(dropped) == 2 + 2 * LAYERS + 3 * LAYERS
    assert {id(x) for x in dropped} == {id(x) for x in outputs}


def test_activation_dropout_falls_inside_every_feed_forward():
    dropped, outputs = dropped_and_outputs(model(activation_dropout=0.3), (FeedForward,))
    assert len(dropped) == len(outputs) == 2 * LAYERS
    assert all(x.size(-1) == 17 and (x >= 0).all() for x in dropped)


def test_attention_dropout_reaches_every_attention():
    asked = []

    def spy(query, key, value, mask=None, **options):
        asked.append(options)
        return fused_attention(query, key, value, mask)

    transformer = model(attention_dropout=0.3, parts={"attend": spy})
    transformer(SOURCE, TARGET)
    transformer.eval()(SOURCE, TARGET)
    assert asked == 3 * LAYERS * [{"dropout": 0.3}] + 3 * LAYERS * [{}]


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout", "activation_dropout"])
def test_dropout_acts_in_training_and_not_in_evaluation(kind):
    transformer = model(**{kind: 0.3})
    assert not torch.allclose(transformer(SOURCE, TARGET), transformer(SOURCE, TARGET))
    transformer.eval()
    assert torch.equal(transformer(SOURCE, TARGET), transformer(SOURCE, TARGET))
    assert_close([transformer(SOURCE, TARGET)], [model()(SOURCE, TARGET)], 1e-12)


def test_same_seed_gives_the_same_model_and_another_seed_does_not():
    weights = [torch.cat([p.detach().flatten() for p in model(seed).parameters()]) for seed in (0, 0, 1)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_linear_layers_start_glorot_uniform_with_zero_biases():
    torch.manual_seed(0)
    transformer = Transformer(
        TransformerConfig(VOCAB, d_model=127, d_ff=131, num_heads=3, d_k=41, d_v=43, num_layers=1)
    )
    linears = [module for module in transformer.modules() if isinstance(module, nn.Linear)]
    assert len(linears) == 3 * 4 + 2 * 2
    for linear in linears:
        bound = math.sqrt(6 / (linear.in_features + linear.out_features))
        assert 0.99 * bound < linear.weight.abs().max().item() <= bound
        assert linear.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
        assert linear.bias is None or (linear.bias == 0).all()


@pytest.mark.parametrize("tied", [True, False])
def test_embeddings_start_with_variance_one_over_d_model(tied):
    torch.manual_seed(0)
    transformer = Transformer(TransformerConfig(1_009, **{**PRIMES, "d_model": 127}, tie_embeddings=tied))
    for use in (transformer.source_embedding, transformer.target_embedding, transformer.output):
        assert use.weight.std().item() == pytest.approx(127**-0.5, rel=0.02)


def test_first_logits_have_unit_scale():
    """What N(0, 1/d_model) is for: the untrained model's logits neither vanish nor explode."""
    torch.manual_seed(0)
    transformer = Transformer(TransformerConfig.tiny(1_009)).eval()
    logits = transformer(torch.randint(4, 1_009, (3, 17)), torch.randint(4, 1_009, (3, 13)))
    assert 0.7 < logits.std().item() < 1.4


# --- positions in the model ---


def test_state_has_no_table_of_positions_and_restores_the_model():
    transformer, other = model(0), model(1)
    state = transformer.state_dict()
    assert not [name for name in state if "positions" in name]
    assert {tensor.data_ptr() for tensor in state.values()} == {p.data_ptr() for p in transformer.parameters()}
    other.load_state_dict(state)
    assert torch.equal(other(SOURCE, TARGET), transformer(SOURCE, TARGET))


def test_learned_positions_are_saved_and_limited():
    transformer = model(positions="learned", max_positions=N_SRC)
    assert transformer(SOURCE, TARGET).shape == (2, N_TGT, VOCAB)
    assert [name for name in transformer.state_dict() if "positions" in name] == [
        "source_positions.weight",
        "target_positions.weight",
    ]
    with pytest.raises(ValueError, match=r"\b13\b.*\b11\b"):
        transformer(F.pad(SOURCE, (0, 2)), TARGET)


def test_sinusoidal_model_has_no_longest_sentence():
    transformer = model(max_positions=5).eval()
    with torch.no_grad():
        long = transformer(F.pad(SOURCE, (0, 700)), F.pad(TARGET, (0, 600)))
        assert_close([long[:, :N_TGT][REAL_TARGET]], [transformer(SOURCE, TARGET)[REAL_TARGET]], 1e-6)


# --- PyTorch's tracers ---

TRACED = """
import torch
from transformer_lib.model import Transformer, TransformerConfig

torch.manual_seed(0)
sizes = dict(d_model=13, d_ff=17, num_heads=3, num_layers=1, d_k=5, d_v=7)
model = Transformer(TransformerConfig(23, **sizes)).eval()
source, target = torch.tensor([[4, 5, 3], [6, 3, 0]]), torch.tensor([[2, 7, 8, 9, 11], [2, 4, 0, 0, 0]])
expected = model(source, target)
exported = torch.export.export(model, (source, target), strict=False).module()
torch.testing.assert_close(exported(source, target), expected)
torch.testing.assert_close(torch.compile(model, backend="eager", fullgraph=True)(source, target), expected)
print("same logits")
"""


def test_model_can_be_exported_and_compiled():
    """In a process of its own, where no shape checks wrap the layers."""
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "same logits"
