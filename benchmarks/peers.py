"""The same post-norm Transformer three times, each as a module from a batch to its summed, smoothed loss.

Sizes, positions, the tied matrix, dropout and loss agree; what remains of each library is its way to compute.
`torch.nn.Transformer` and Marian have biases in their attention, this model has none: the record counts parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_lib.embedding import TokenEmbedding
from transformer_lib.loss import label_smoothing_loss
from transformer_lib.masking import causal_mask
from transformer_lib.model import Transformer, TransformerConfig
from transformer_lib.positional_encoding import SinusoidalPositions
from transformer_lib.run.engine import objective_for
from transformer_lib.training import SummedLoss

SMOOTHING = 0.1


def this_model(config: TransformerConfig, device: torch.device) -> nn.Module:
    """As the trainer runs it."""
    return objective_for(Transformer(config), SMOOTHING, device)


def plain_model(config: TransformerConfig, device: torch.device) -> nn.Module:
    """The chapters' code alone."""
    return SummedLoss(Transformer(config), SMOOTHING)


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` without its final norms, which post-norm stacks do not have."""

    def __init__(self, config: TransformerConfig, inner_dropout: bool) -> None:
        super().__init__()
        self.pad_id = config.pad_id
        self.embedding = TokenEmbedding(config.vocab_size, config.d_model)
        self.positions, self.dropout = SinusoidalPositions(config.d_model), nn.Dropout(config.dropout)
        self.stacks = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        self.stacks.encoder.norm = self.stacks.decoder.norm = None
        for module in self.stacks.modules():
            if not inner_dropout and isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if not inner_dropout and isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0  # the one between the two linear layers

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.positions(self.embedding(ids)))

    def forward(self, source: Tensor, target_in: Tensor, target_out: Tensor, real: Tensor) -> Tensor:
        """Nats, summed over the real target tokens."""
        padding = source == self.pad_id
        states = self.stacks(
            self.embed(source),
            self.embed(target_in),
            tgt_mask=~causal_mask(target_in.size(1), source.device),
            src_key_padding_mask=padding,
            tgt_key_padding_mask=target_in == self.pad_id,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return label_smoothing_loss(self.embedding.logits(states), target_out, SMOOTHING, self.pad_id)


def torch_transformer(config: TransformerConfig, device: torch.device) -> nn.Module:
    """Dropout where the paper has it."""
    return TorchTransformer(config, inner_dropout=False)


def torch_transformer_as_it_comes(config: TransformerConfig, device: torch.device) -> nn.Module:
    """With the class's own dropout, which also drops attention weights and inner activations."""
    return TorchTransformer(config, inner_dropout=True)


class Marian(nn.Module):
    """Hugging Face's `MarianMTModel` with PyTorch's fused attention."""

    def __init__(self, config: TransformerConfig) -> None:
        from transformers import MarianConfig, MarianMTModel

        super().__init__()
        sizes = {
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in {
                "layers": config.num_layers,
                "ffn_dim": config.d_ff,
                "attention_heads": config.num_heads,
                "layerdrop": 0.0,
            }.items()
        }
        self.pad_id = config.pad_id
        self.model = MarianMTModel(
            MarianConfig(
                vocab_size=config.vocab_size,
                d_model=config.d_model,
                **sizes,
                activation_function="relu",
                dropout=config.dropout,
                attention_dropout=0.0,
                activation_dropout=0.0,
                max_position_embeddings=config.max_positions,
                static_position_embeddings=True,
                scale_embedding=True,
                share_encoder_decoder_embeddings=True,
                tie_word_embeddings=True,
                pad_token_id=config.pad_id,
                eos_token_id=config.eos_id,
                decoder_start_token_id=config.bos_id,
                use_cache=False,
                attn_implementation="sdpa",
            )
        )

    def forward(self, source: Tensor, target_in: Tensor, target_out: Tensor, real: Tensor) -> Tensor:
        """Nats, summed over the real target tokens."""
        logits = self.model(
            input_ids=source,
            attention_mask=(source != self.pad_id).long(),
            decoder_input_ids=target_in,
            decoder_attention_mask=(target_in != self.pad_id).long(),
            use_cache=False,
        ).logits
        return label_smoothing_loss(logits, target_out, SMOOTHING, self.pad_id)


def marian(config: TransformerConfig, device: torch.device) -> nn.Module:
    """Dropout where the paper has it."""
    return Marian(config)


CONTENDERS: dict[str, Callable[[TransformerConfig, torch.device], nn.Module]] = {
    "this model": this_model,
    "this model, chapters' code alone": plain_model,
    "torch.nn.Transformer": torch_transformer,
    "torch.nn.Transformer, its own dropout": torch_transformer_as_it_comes,
    "Marian (transformers)": marian,
}
