"""Records linear.safetensors, llama3.safetensors and yarn.safetensors: what the model positions/rope-post computes with scaled
rotations, on its own golden inputs, by PyTorch, with the frequencies and rotations of transformers (5.x, float32):
python3 activations.py"""
import pathlib

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import layer_norm, linear, silu
from transformers import PretrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE.parent / "positions/rope-post"
D, H, LAYERS, PAD, EOS, THETA = 64, 4, 2, 96, 0, 10000.0
K = D // H
SCALINGS = {  # of texts that are longer than the original length
    "linear": {"factor": 4.0},
    "llama3": {"factor": 4.0, "low_freq_factor": 0.25, "high_freq_factor": 2.0, "original_max_position_embeddings": 8},
    "yarn": {"factor": 4.0, "beta_fast": 2.0, "beta_slow": 0.25, "original_max_position_embeddings": 8},
}


def rotations(scaling, parameters, length):
    """Cosines and sines [1, length, K]."""
    config = PretrainedConfig(hidden_size=D, num_attention_heads=H, head_dim=K, max_position_embeddings=32)
    config.rope_theta = THETA
    config.rope_parameters = {"rope_type": scaling, "rope_theta": THETA, **parameters}
    frequencies, factor = ROPE_INIT_FUNCTIONS[scaling](config, "cpu")
    angles = torch.cat(2 * [torch.arange(length).float()[:, None] * frequencies], -1)[None]
    return angles.cos() * factor, angles.sin() * factor


class Model:
    def __init__(self, rotation):
        self.weights, self.rotation = load_file(MODEL / "model.safetensors"), rotation

    def linear(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, name, x):
        return layer_norm(x, (D,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], 1e-5)

    def attention(self, name, x, memory, mask, rotate):
        q, k, v = (self.linear(f"{name}.{own}_proj", source).unflatten(-1, (H, K)).transpose(1, 2)
                   for own, source in (("q", x), ("k", memory), ("v", memory)))
        if rotate:
            q, k = apply_rotary_pos_emb(q, k, *(each[:, :x.shape[1]] for each in self.rotation))
        weights = (q @ k.transpose(-1, -2) * K**-0.5).masked_fill(mask, -torch.inf).softmax(-1)
        return self.linear(f"{name}.out_proj", (weights @ v).transpose(1, 2).flatten(-2))

    def stack(self, name, ids, mask, encoded=None):
        x = self.weights["shared.weight"][ids] * D**0.5
        for layer in (f"{name}.layers.{i}" for i in range(LAYERS)):
            x = self.norm(f"{layer}.self_attn_layer_norm", x + self.attention(f"{layer}.self_attn", x, x, mask, True))
            if encoded is not None:
                y = self.attention(f"{layer}.encoder_attn", x, encoded, torch.tensor(False), False)
                x = self.norm(f"{layer}.encoder_attn_layer_norm", x + y)
            y = self.linear(f"{layer}.fc2", silu(self.linear(f"{layer}.fc1", x)))
            x = self.norm(f"{layer}.final_layer_norm", x + y)
        return x

    def logits(self, encoded, target):
        future = torch.ones(2 * [target.shape[1]], dtype=torch.bool).triu(1)
        return self.stack("decoder", target, future, encoded) @ self.weights["shared.weight"].T + self.weights["final_logits_bias"]

    def greedy(self, encoded, steps):
        target = torch.full((1, 1), PAD)
        while target.shape[1] <= steps and EOS not in target:
            target = torch.cat([target, self.logits(encoded, target)[:, -1:].argmax(-1)], 1)
        found = torch.full((steps,), EOS)
        found[:target.shape[1] - 1] = target[0, 1:]
        return found


def activations(rotation, inputs):
    """Sentence by sentence, so that nothing is padded."""
    model, steps = Model(rotation), inputs["greedy_ids"].shape[1]
    found = {name: torch.zeros_like(inputs[name]) for name in ("encoder_output", "logits", "greedy_ids")}
    for i, length in enumerate(inputs["source_lengths"].flatten().tolist()):
        encoded = model.stack("encoder", inputs["source_ids"][i:i + 1, :length].long(), torch.tensor(False))
        found["encoder_output"][i, :length] = encoded[0]
        found["logits"][i] = model.logits(encoded, inputs["decoder_input_ids"][i:i + 1].long())[0]
        found["greedy_ids"][i] = model.greedy(encoded, steps)
    return {**inputs, **found}


with torch.no_grad():
    golden = load_file(MODEL / "golden.safetensors")
    own = activations(rotations("linear", {"factor": 1.0}, 64), golden)  # unscaled: as the model's own golden file has it
    for i, length in enumerate(golden["source_lengths"].flatten().tolist()):
        assert (own["encoder_output"][i, :length] - golden["encoder_output"][i, :length]).abs().max() < 1e-5
    assert (own["logits"] - golden["logits"]).abs().max() < 1e-4 and (own["greedy_ids"] == golden["greedy_ids"]).all()
    for scaling, parameters in SCALINGS.items():
        found = activations(rotations(scaling, parameters, 64), golden)
        print(scaling, "moves logits by up to", float((found["logits"] - golden["logits"]).abs().max()))
        save_file(found, HERE / f"{scaling}.safetensors")
