"""The positional encodings, as PyTorch computes them: the formulas of docs/encodings.md and docs/export-layout.md.

An encoding has no state of its own. It registers parameters on a stack (`stack_parameters`) and on each of the stack's
self-attentions (`layer_parameters`), under the names of the export layout, and is asked at fixed places of the forward
pass. B batch, T positions, H heads, K head width, D model width; distances d = j - i run from -(T - 1) to T - 1.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


def distances(T, device):
    """[2T - 1]: every distance j - i that T positions have, ascending."""
    return torch.arange(-(T - 1), T, device=device)


def by_key(x):
    """[..., T, 2T - 1], a number for each query and distance -> [..., T, T], a number for each query and key."""
    T = x.shape[-2]
    flat = F.pad(x, (0, 1)).flatten(-2)[..., T - 1: T - 1 + T * (2 * T - 1)]
    return flat.unflatten(-1, (T, 2 * T - 1))[..., :T]


def by_distance(x):
    """The inverse of by_key: [..., T, T] -> [..., T, 2T - 1], 0 where a query has no key at that distance."""
    T = x.shape[-1]
    flat = F.pad(F.pad(x, (0, T - 1)).flatten(-2), (T - 1, 1))
    return flat.unflatten(-1, (T, 2 * T))[..., : 2 * T - 1]


def sinusoids(positions, D):
    """[len, D]: sines in the first half, cosines in the second; positions may be negative."""
    k = torch.arange(D // 2, dtype=torch.float64, device=positions.device)
    angles = positions.double()[:, None] / 10000 ** (k / (D // 2))
    return torch.cat([angles.sin(), angles.cos()], -1).float()


class Encoding:
    """`none`: nothing. The base of all others."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def config(self):
        return {"type": TYPES_BY_CLASS[type(self)], **self.parameters}

    def stack_parameters(self, stack):
        return {}

    def layer_parameters(self, stack):
        return {}

    def layer_tensors(self, attention):
        """What the export layout stores of one self-attention: {name: tensor}."""
        return {name: attention.get_parameter(name) for name in attention.position_names}

    def embed(self, stack, x):
        """x [B, T, D]: the scaled embeddings."""
        return x

    def rotate(self, x):
        """x [B, H, T, K]: queries or keys."""
        return x

    def scale(self, K):
        return K ** -0.5

    def scores(self, stack, attention, q, k):
        """Added to scale·q·kᵀ: [B, H, T, T], or what broadcasts to it. q, k [B, H, T, K], unscaled. None: nothing."""
        return None

    def context(self, attention, weights):
        """Added to weights·v: [B, H, T, K]. None: nothing."""
        return None


class Learned(Encoding):
    """Gehring et al. 2017."""

    def stack_parameters(self, stack):
        return {"embed_positions.weight": torch.randn(self.parameters["max_positions"], stack.D) * stack.D ** -0.5}

    def embed(self, stack, x):
        return x + stack.get_parameter("embed_positions.weight")[: x.shape[1]]


class Sinusoidal(Encoding):
    """Vaswani et al. 2017, section 3.5."""

    def embed(self, stack, x):
        return x + sinusoids(torch.arange(x.shape[1], device=x.device), x.shape[2]).to(x.dtype)


class Shaw(Encoding):
    """Shaw et al. 2018, equations 3 to 5."""

    def layer_parameters(self, stack):
        rows = 2 * self.parameters["clip"] + 1
        return {"rel_k": torch.randn(rows, stack.K) * stack.K ** -0.5, "rel_v": torch.randn(rows, stack.K) * 0.02}

    def rows(self, table, T):
        L = self.parameters["clip"]
        return table[distances(T, table.device).clamp(-L, L) + L]

    def scores(self, stack, attention, q, k):
        return by_key(q @ self.rows(attention.rel_k, q.shape[2]).T) * self.scale(q.shape[3])

    def context(self, attention, weights):
        return by_distance(weights) @ self.rows(attention.rel_v, weights.shape[-1])


class T5(Encoding):
    """Raffel et al. 2020, section 2.1; buckets as in the published code."""

    def stack_parameters(self, stack):
        return {"rel_bias.weight": torch.zeros(self.parameters["num_buckets"], stack.H)}

    def buckets(self, d, causal):
        n, most = self.parameters["num_buckets"], self.parameters["max_distance"]
        bucket = torch.zeros_like(d)
        if causal:
            d = (-d).clamp(min=0)
        else:
            n //= 2
            bucket += (d > 0) * n
            d = d.abs()
        exact = n // 2
        far = exact + (torch.log(d.clamp(min=1).float() / exact) / math.log(most / exact) * (n - exact)).long()
        return bucket + torch.where(d < exact, d, far.clamp(max=n - 1))

    def scores(self, stack, attention, q, k):
        T = q.shape[2]
        bias = stack.get_parameter("rel_bias.weight")[self.buckets(distances(T, q.device), stack.causal)]
        return by_key(bias.T[:, None].expand(-1, T, -1))


class TransformerXL(Encoding):
    """Dai et al. 2019, section 3.3; R[t] of the signed distance t = i - j."""

    def layer_parameters(self, stack):
        weight = nn.init.xavier_uniform_(torch.empty(stack.D, stack.D))
        return {"r_proj.weight": weight, "u": torch.zeros(stack.H, stack.K), "v": torch.zeros(stack.H, stack.K)}

    def scores(self, stack, attention, q, k):
        B, H, T, K = q.shape
        R = sinusoids(-distances(T, q.device), H * K).to(q.dtype)
        r = (R @ attention.get_parameter("r_proj.weight").T).unflatten(-1, (H, K)).transpose(0, 1)  # [H, 2T - 1, K]
        content = attention.u[:, None] @ k.transpose(-1, -2)  # [B, H, 1, T]
        return (content + by_key((q + attention.v[:, None]) @ r.transpose(-1, -2))) * self.scale(K)


class DeBERTa(Encoding):
    """He et al. 2021, equation 4."""

    def stack_parameters(self, stack):
        return {"rel_embeddings.weight": torch.randn(2 * self.parameters["clip"], stack.D) * stack.D ** -0.5}

    def layer_parameters(self, stack):
        return {"pos_q.weight": nn.init.xavier_uniform_(torch.empty(stack.D, stack.D)),
                "pos_q.bias": torch.zeros(stack.D),
                "pos_k.weight": nn.init.xavier_uniform_(torch.empty(stack.D, stack.D))}

    def scale(self, K):
        return (3 * K) ** -0.5

    def scores(self, stack, attention, q, k):
        B, H, T, K = q.shape
        c = self.parameters["clip"]
        P = stack.get_parameter("rel_embeddings.weight")
        delta = (c - distances(T, q.device)).clamp(0, 2 * c - 1)  # δ(i, j) = clamp(i - j + c), and d = j - i
        rows = P[delta]  # [2T - 1, D]
        pos_k = (rows @ attention.get_parameter("pos_k.weight").T).unflatten(-1, (H, K)).transpose(0, 1)
        pos_q = F.linear(rows, attention.get_parameter("pos_q.weight"), attention.get_parameter("pos_q.bias"))
        pos_q = pos_q.unflatten(-1, (H, K)).transpose(0, 1)
        # For a key j, by_key of k·pos_q runs over distances i - j: δ(j, i) is that row, transposed.
        c2p = by_key(q @ pos_k.transpose(-1, -2))
        p2c = by_key(k @ pos_q.transpose(-1, -2)).transpose(-1, -2)
        return (c2p + p2c) * self.scale(K)


class RoPE(Encoding):
    """Su et al. 2021, equation 34, on the pairs (x_k, x_{k + K/2})."""

    def rotate(self, x):
        T, K = x.shape[-2:]
        k = torch.arange(K // 2, dtype=torch.float64, device=x.device)
        angles = torch.arange(T, device=x.device).double()[:, None] * self.parameters["theta"] ** (-2 * k / K)
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x.float().chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class ALiBi(Encoding):
    """Press et al. 2022, section 3; |i - j| in the encoder, too."""

    def slopes(self, H):
        n = 2 ** int(math.log2(H))
        return [2 ** (-8 * (h + 1) / n) if h < n else 2 ** (-8 * (2 * (h - n) + 1) / (2 * n)) for h in range(H)]

    def scores(self, stack, attention, q, k):
        T = q.shape[2]
        slopes = torch.tensor(self.slopes(q.shape[1]), device=q.device)
        return by_key((-slopes[:, None, None] * distances(T, q.device).abs()).expand(-1, T, -1))


class KERPLE(Encoding):
    """Chi et al. 2022, the logarithmic form: -p·ln(1 + a·|i - j|). p and a are kept positive as in the published code."""

    LEAST = 0.01

    def layer_parameters(self, stack):
        return {"kerple_p": torch.rand(stack.H) * 2, "kerple_a": torch.rand(stack.H)}

    def layer_tensors(self, attention):
        return {name: value.clamp(min=self.LEAST) for name, value in super().layer_tensors(attention).items()}

    def scores(self, stack, attention, q, k):
        T = q.shape[2]
        p, a = (value[:, None, None] for value in self.layer_tensors(attention).values())
        return by_key((-p * torch.log1p(a * distances(T, q.device).abs())).expand(-1, T, -1))


class FIRE(Encoding):
    """Li et al. 2023: MLP(psi(|i - j|) / psi(max(L, i, j))), psi(x) = ln(1 + |c|·x).

    The paper is about decoders, where max(i, j) = i. The threshold is learned as a multiple of where it starts."""

    start = 8.0

    def layer_parameters(self, stack):
        width = self.parameters["width"]
        hidden, output = nn.Linear(1, width), nn.Linear(width, stack.H)
        return {"fire_c": torch.tensor([0.1]), "fire_threshold": torch.ones(1),
                "fire_w1": hidden.weight.detach()[:, 0].clone(), "fire_b1": hidden.bias.detach().clone(),
                "fire_w2": output.weight.detach().clone(), "fire_b2": output.bias.detach().clone()}

    def layer_tensors(self, attention):
        tensors = super().layer_tensors(attention)
        tensors["fire_threshold"] = (tensors["fire_threshold"] * self.start).abs()
        return tensors

    def scores(self, stack, attention, q, k):
        t = self.layer_tensors(attention)
        position = torch.arange(q.shape[2], device=q.device)
        distance = (position[:, None] - position).abs()
        farthest = torch.maximum(torch.maximum(position[:, None], position), t["fire_threshold"])
        ratio = torch.log1p(t["fire_c"].abs() * distance) / (torch.log1p(t["fire_c"].abs() * farthest) + 1e-6)
        hidden = torch.relu(ratio[..., None] * t["fire_w1"] + t["fire_b1"])
        return (hidden @ t["fire_w2"].T + t["fire_b2"]).permute(2, 0, 1)


# The parameters of each type are what `config.json` writes under "position", with the values of the experiment.
TYPES = {
    "none": (Encoding, {}),
    "learned": (Learned, {"max_positions": 256}),
    "sinusoidal": (Sinusoidal, {"layout": "split", "exponent_divisor": "half"}),
    "shaw": (Shaw, {"clip": 16}),
    "t5": (T5, {"num_buckets": 32, "max_distance": 128}),
    "transformer_xl": (TransformerXL, {}),
    "deberta": (DeBERTa, {"clip": 32}),
    "rope": (RoPE, {"theta": 10000.0, "layout": "half"}),
    "alibi": (ALiBi, {}),
    "kerple": (KERPLE, {}),
    "fire": (FIRE, {"width": 32}),
}
TYPES_BY_CLASS = {row[0]: name for name, row in TYPES.items()}


def make_one(name, length):
    kind, parameters = TYPES[name]
    lengths = {key: length for key in ("clip", "max_distance") if key in parameters and length is not None}
    encoding = kind(**{**parameters, **lengths})
    if kind is FIRE and length is not None:
        encoding.start = float(length)
    return encoding


def make(name, length=None):
    """`NAME` for both stacks, or `ENCODER-DECODER`: (encoder's encoding, decoder's encoding). `length`: of the parameters that
    are lengths (Shaw's and DeBERTa's clip, T5's max_distance, where FIRE's threshold starts), instead of those in TYPES."""
    sides = name.split("-")
    if not 1 <= len(sides) <= 2 or any(side not in TYPES for side in sides):
        raise SystemExit(f"encoding: expected one of {', '.join(TYPES)}, or two joined by '-', found '{name}'")
    return tuple(make_one(side, length) for side in (sides[0], sides[-1]))
