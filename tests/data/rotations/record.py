"""Records rotations.json: frequencies of scaled rotations, and the factor of cosines and sines, as transformers computes them
(5.x, modeling_rope_utils.ROPE_INIT_FUNCTIONS, float32): python3 record.py > rotations.json"""
import json

from transformers import PretrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

CASES = [  # scaling, theta, dims, and parameters by their names there
    ("linear", 10000.0, 32, {"factor": 4.0}),
    ("linear", 500.0, 8, {"factor": 1.5}),
    ("llama3", 500000.0, 64, {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                              "original_max_position_embeddings": 8192}),
    ("llama3", 10000.0, 32, {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 2.0,
                             "original_max_position_embeddings": 32}),
    ("yarn", 10000.0, 32, {"factor": 4.0, "original_max_position_embeddings": 32}),
    ("yarn", 10000.0, 64, {"factor": 16.0, "original_max_position_embeddings": 4096}),
    ("yarn", 150000.0, 64, {"factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 32.0, "beta_slow": 1.0}),
    ("yarn", 1000000.0, 128, {"factor": 2.0, "original_max_position_embeddings": 32768, "beta_fast": 16.0, "beta_slow": 2.0,
                              "attention_factor": 1.25}),
]
NAMES = {"original_max_position_embeddings": "original_length", "beta_fast": "fast", "beta_slow": "slow",
         "high_freq_factor": "fast", "low_freq_factor": "slow"}
USUAL = {"yarn": {"fast": 32.0, "slow": 1.0}}  # which the functions fill in


def config(scaling, theta, dims, parameters):
    found = PretrainedConfig(hidden_size=2 * dims, num_attention_heads=2, head_dim=dims, max_position_embeddings=int(
        parameters.get("original_max_position_embeddings", 32) * parameters["factor"]))
    found.rope_theta = theta
    found.rope_parameters = {"rope_type": scaling, "rope_theta": theta, **parameters}
    found.rope_scaling = found.rope_parameters
    return found


rows = []
for scaling, theta, dims, parameters in CASES:
    frequencies, length = ROPE_INIT_FUNCTIONS[scaling](config(scaling, theta, dims, parameters), "cpu")
    own = {NAMES.get(key, key): value for key, value in parameters.items()}
    own = {**USUAL.get(scaling, {}), **own} | ({"attention_factor": float(length)} if scaling == "yarn" else {})
    rows.append({"scaling": scaling, "theta": theta, "dims": dims, **own,
                 "frequencies": [float(each) for each in frequencies.double()], "length": float(length)})
print("[" + ",\n ".join(json.dumps(row) for row in rows) + "]")
