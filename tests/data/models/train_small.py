"""Trains the two small models of make_marian.py for a moment, so that they end sentences and their beams compete:

    train_small.py CORPUS_DIRECTORY OUTPUT STEPS

Writes OUTPUT/joint.spm and, with Marian's names, opus.npz (a Transformer) and student.npz (Bergamot's kind: SSRU in the decoder).
Needs numpy, sentencepiece, torch. Weights are rounded to what float16 holds, so that they compress.
"""
import gzip
import math
import os
import random
import sys

import numpy
import sentencepiece
import torch
from torch.nn import functional

VOCAB, D, HEADS, LAYERS = 1000, 64, 4, 2
WIDTHS = {"opus": 160, "student": 128}
ACTIVATIONS = {"opus": functional.silu, "student": functional.relu}


def initial(kind):
    """Parameters by Marian's names."""
    torch.manual_seed(7)
    weights = {"Wemb": torch.randn(VOCAB, D) * D ** -0.5, "decoder_ff_logit_out_b": torch.zeros(1, VOCAB)}

    def matrix(name, suffix, rows, columns, bias=True):
        weights[f"{name}_W{suffix}"] = torch.randn(rows, columns) * (2 / (rows + columns)) ** 0.5
        if bias:
            weights[f"{name}_b{suffix}"] = torch.zeros(1, columns)

    def norm(name):
        weights[f"{name}_ln_scale"], weights[f"{name}_ln_bias"] = torch.ones(1, D), torch.zeros(1, D)

    for stack in ["encoder", "decoder"]:
        for layer in range(1, LAYERS + 1):
            at = f"{stack}_l{layer}"
            blocks = ["self"] if stack == "encoder" else ["context"] if kind == "student" else ["self", "context"]
            for block in blocks:
                for letter in "qkvo":
                    matrix(f"{at}_{block}", letter, D, D)
                norm(f"{at}_{block}_Wo")
            if stack == "decoder" and kind == "student":
                matrix(f"{at}_rnn", "", D, D, bias=False)
                matrix(f"{at}_rnn", "f", D, D)
                norm(f"{at}_rnn_ffn")
            matrix(f"{at}_ffn", "1", D, WIDTHS[kind])
            matrix(f"{at}_ffn", "2", WIDTHS[kind], D)
            norm(f"{at}_ffn_ffn")
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def positions(count):
    w = torch.exp(-torch.arange(D // 2) * (math.log(10000) / (D // 2 - 1)))
    angles = torch.arange(count)[:, None] * w
    return torch.cat([angles.sin(), angles.cos()], 1)


class Network:
    """Post-norm, by specification; `product(name, x)` is x W, which an int8 twin computes otherwise."""

    def __init__(self, kind, weights):
        self.kind, self.w = kind, weights

    def product(self, name, x):
        return x @ self.w[name]

    def embed(self, ids):
        return self.w["Wemb"][ids] * D ** 0.5

    def logits(self, x):
        return x @ self.w["Wemb"].T + self.w["decoder_ff_logit_out_b"]

    def affine(self, name, suffix, x):
        return self.product(f"{name}_W{suffix}", x) + self.w[f"{name}_b{suffix}"]

    def norm(self, name, x):
        return functional.layer_norm(x, (D,), self.w[f"{name}_ln_scale"][0], self.w[f"{name}_ln_bias"][0], 1e-6)

    def attention(self, name, x, over, mask):
        split = lambda y: y.unflatten(-1, (HEADS, D // HEADS)).transpose(-2, -3)
        q, k, v = (split(self.affine(name, letter, y)) for letter, y in [("q", x), ("k", over), ("v", over)])
        scores = q @ k.transpose(-1, -2) / (D // HEADS) ** 0.5 + mask
        y = (scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2)
        return self.norm(f"{name}_Wo", x + self.affine(name, "o", y))

    def ffn(self, name, x):
        y = ACTIVATIONS[self.kind](self.affine(name, "1", x))
        return self.norm(f"{name}_ffn", x + self.affine(name, "2", y))

    def ssru(self, name, x, state):
        """x [..., T, D]; the state before it and after it [..., D]."""
        gate, value, out = torch.sigmoid(self.affine(name, "f", x)), self.product(f"{name}_W", x), []
        for t in range(x.shape[-2]):
            state = gate[..., t, :] * state + (1 - gate[..., t, :]) * value[..., t, :]
            out.append(state)
        return self.norm(f"{name}_ffn", x + torch.relu(torch.stack(out, -2))), state

    def encode(self, ids, mask):
        x = self.embed(ids) + positions(ids.shape[-1])
        for layer in range(1, LAYERS + 1):
            x = self.attention(f"encoder_l{layer}_self", x, x, mask)
            x = self.ffn(f"encoder_l{layer}_ffn", x)
        return x

    def decode(self, embedded, encoded, mask, states, first=0):
        """Embeddings of the words before, with zeros for the first; SSRU states [layers], which are replaced."""
        T = embedded.shape[-2]
        x = embedded + positions(first + T)[first:]
        causal = torch.full((T, T), -math.inf).triu(1)
        for layer in range(1, LAYERS + 1):
            if self.kind == "student":
                x, states[layer - 1] = self.ssru(f"decoder_l{layer}_rnn", x, states[layer - 1])
            else:
                x = self.attention(f"decoder_l{layer}_self", x, x, causal)
            x = self.attention(f"decoder_l{layer}_context", x, encoded, mask)
            x = self.ffn(f"decoder_l{layer}_ffn", x)
        return self.logits(x)


def train(kind, pairs, steps):
    weights = initial(kind)
    network, optimizer = Network(kind, weights), torch.optim.Adam(weights.values(), lr=3e-3, betas=(0.9, 0.98))
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min((step + 1) / 100, 1) * (1 - step / steps)
        batch = random.sample(pairs, 64)
        source, target = (torch.tensor([row[side] + [-1] * (max(len(r[side]) for r in batch) - len(row[side]))
                                        for row in batch]) for side in (0, 1))
        mask = torch.where(source < 0, -1e9, 0.0)[:, None, None, :]
        encoded = network.encode(source.clamp(min=0), mask)
        before = torch.cat([torch.zeros(64, 1, D), network.embed(target[:, :-1].clamp(min=0))], 1)
        logits = network.decode(before, encoded, mask, [torch.zeros(64, D)] * LAYERS)
        loss = functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(kind, step + 1, round(loss.item(), 3), flush=True)
    return {name: weight.detach().half().float().numpy() for name, weight in weights.items()}


def main(corpus, output, steps):
    torch.set_num_threads(1)
    random.seed(7)
    os.makedirs(output, exist_ok=True)
    sides = [gzip.open(os.path.join(corpus, f"train.{language}.gz"), "rt", encoding="utf-8").read().splitlines()
             for language in ("en", "de")]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sides[0][::5] + sides[1][::5]), model_prefix=os.path.join(output, "joint"),
        vocab_size=VOCAB, eos_id=0, unk_id=1, bos_id=-1, pad_id=-1, eos_piece="</s>", num_threads=1, minloglevel=2,
        normalization_rule_name="identity", character_coverage=0.9995)
    os.replace(os.path.join(output, "joint.model"), os.path.join(output, "joint.spm"))
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(output, "joint.spm"))
    pairs = [(pieces.encode(a) + [0], pieces.encode(b) + [0]) for a, b in zip(*sides) if len(a) < 40 and len(b) < 50]
    for kind in WIDTHS:
        numpy.savez(os.path.join(output, f"{kind}.npz"), **train(kind, pairs, steps))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
