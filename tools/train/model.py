"""An encoder-decoder Transformer (Vaswani et al. 2017) whose parameters have the names of the export layout.

Pre-norm; one embedding matrix for source, target and output; ReLU. B batch, S source, T target, D, H, K as elsewhere.
"""
import json
import math
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from fast import Dropout


@dataclass
class Sizes:
    vocab_size: int
    d_model: int = 128
    attention_heads: int = 4
    ffn_dim: int = 512
    encoder_layers: int = 2
    decoder_layers: int = 2
    dropout: float = 0.1


@dataclass
class StackSizes:
    D: int
    H: int
    K: int


def add_parameters(module, parameters):
    """Registers {"a.weight": tensor}; a dotted name becomes a module, so that state_dict has the name."""
    for name, tensor in parameters.items():
        owner, _, leaf = name.rpartition(".")
        if owner and not hasattr(module, owner):
            module.add_module(owner, nn.Module())
        (module.get_submodule(owner) if owner else module).register_parameter(leaf, nn.Parameter(tensor))


class Attention(nn.Module):
    def __init__(self, sizes, encoding=None):
        super().__init__()
        D = sizes.d_model
        self.stack_sizes = StackSizes(D, sizes.attention_heads, D // sizes.attention_heads)
        self.encoding = encoding
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            layer = nn.Linear(D, D)
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
            self.add_module(name, layer)
        if encoding is not None:
            parameters = encoding.layer_parameters(self.stack_sizes)
            self.position_names = tuple(parameters)
            add_parameters(self, parameters)

    def split(self, x):
        return x.unflatten(-1, (self.stack_sizes.H, self.stack_sizes.K)).transpose(1, 2)

    def forward(self, x, memory, mask, stack=None):
        """x [B, T, D], memory [B, S, D], mask: added to the scores, [B or 1, 1, T or 1, S]."""
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(memory)), self.split(self.v_proj(memory))
        scale, added = self.stack_sizes.K ** -0.5, None
        if self.encoding is not None:
            q, k = self.encoding.rotate(q), self.encoding.rotate(k)
            scale = self.encoding.scale(self.stack_sizes.K)
            added = self.encoding.scores(stack, self, q, k)
        scores = (q * scale) @ k.transpose(-1, -2) + mask
        weights = (scores if added is None else scores + added).softmax(-1)
        context = weights @ v
        added = self.encoding.context(self, weights) if self.encoding is not None else None
        return self.out_proj((context if added is None else context + added).transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    def __init__(self, sizes, encoding, cross):
        super().__init__()
        D = sizes.d_model
        self.dropout = Dropout(sizes.dropout)
        self.self_attn = Attention(sizes, encoding)
        self.self_attn_layer_norm = nn.LayerNorm(D)
        if cross:
            self.encoder_attn = Attention(sizes)
            self.encoder_attn_layer_norm = nn.LayerNorm(D)
        self.fc1, self.fc2 = nn.Linear(D, sizes.ffn_dim), nn.Linear(sizes.ffn_dim, D)
        for layer in (self.fc1, self.fc2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.final_layer_norm = nn.LayerNorm(D)

    def forward(self, x, mask, stack, memory=None, memory_mask=None):
        y = self.self_attn_layer_norm(x)
        x = x + self.dropout(self.self_attn(y, y, mask, stack))
        if memory is not None:
            x = x + self.dropout(self.encoder_attn(self.encoder_attn_layer_norm(x), memory, memory_mask))
        y = F.relu(self.fc1(self.final_layer_norm(x)))
        return x + self.dropout(self.fc2(y))


class Stack(nn.Module):
    def __init__(self, sizes, encoding, layers, causal):
        super().__init__()
        self.D, self.H = sizes.d_model, sizes.attention_heads
        self.causal, self.encoding = causal, encoding
        self.dropout = Dropout(sizes.dropout)
        self.layers = nn.ModuleList(Layer(sizes, encoding, causal) for _ in range(layers))
        self.layer_norm = nn.LayerNorm(sizes.d_model)
        add_parameters(self, encoding.stack_parameters(self))

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.dropout(self.encoding.embed(self, x))
        for layer in self.layers:
            x = layer(x, mask, self, memory, memory_mask)
        return self.layer_norm(x)


class Translator(nn.Module):
    def __init__(self, sizes, encodings, pad_id):
        super().__init__()
        self.sizes, self.encodings, self.pad_id = sizes, encodings, pad_id
        self.shared = nn.Embedding(sizes.vocab_size, sizes.d_model, padding_idx=pad_id)
        nn.init.normal_(self.shared.weight, std=sizes.d_model ** -0.5)
        with torch.no_grad():
            self.shared.weight[pad_id] = 0
        self.encoder = Stack(sizes, encodings[0], sizes.encoder_layers, causal=False)
        self.decoder = Stack(sizes, encodings[1], sizes.decoder_layers, causal=True)

    def embed(self, ids):
        return self.shared(ids) * math.sqrt(self.sizes.d_model)

    def padding(self, ids):
        """[B, 1, 1, S]: -infinity for padding."""
        return torch.zeros(ids.shape, device=ids.device).masked_fill(ids == self.pad_id, -math.inf)[:, None, None]

    def encode(self, source):
        return self.encoder(self.embed(source), self.padding(source))

    def decode(self, encoded, source, target):
        """Decoder inputs [B, T] -> states [B, T, D]. Later inputs, padding among them, are not seen."""
        T = target.shape[1]
        future = torch.full((T, T), -math.inf, device=target.device).triu(1)[None, None]
        return self.decoder(self.embed(target), future, encoded, self.padding(source))

    def logits(self, states):
        return states @ self.shared.weight.T

    def forward(self, source, target):
        return self.logits(self.decode(self.encode(source), source, target))


def export(model, ids, directory, extra):
    """Writes the export layout. ids: {"eos_token_id": …, "pad_token_id": …, "decoder_start_token_id": …}."""
    from safetensors.torch import save_file

    sizes = model.sizes
    encoder, decoder = (encoding.config() for encoding in model.encodings)
    config = {"format": "seq2seq-export-1", **{key: value for key, value in vars(sizes).items() if key != "dropout"},
              "activation": "relu", "pre_norm": True, "layer_norm_eps": 1e-5, "scale_embedding": True,
              "tied_embeddings": True, **ids,
              "position": encoder if encoder == decoder else {"encoder": encoder, "decoder": decoder}, **extra}
    tensors = dict(model.state_dict())
    for name, module in model.named_modules():
        if isinstance(module, Attention) and module.encoding is not None:
            tensors.update({f"{name}.{key}": value for key, value in module.encoding.layer_tensors(module).items()})
    tensors["final_logits_bias"] = torch.zeros(1, sizes.vocab_size)
    os.makedirs(directory, exist_ok=True)
    save_file({name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()},
              os.path.join(directory, "model.safetensors"))
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
