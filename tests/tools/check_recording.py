"""Compares what `ferry verify --record` wrote with what transformers computed for the same texts:
check_recording.py RECORDING MODEL_DIRECTORY LINE_COUNT"""

import array
import json
import pathlib
import struct
import sys

CODES = {"I32": "i", "F32": "f", "U8": "B", "I64": "q"}


def read(path):
    """Tensors as (shape, array), and the metadata."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        tensors[name] = tensor["shape"], array.array(CODES[tensor["dtype"]], data[8 + size + begin:8 + size + end])
    return tensors, metadata


def row(tensor, *index):
    """The numbers at tensor[index]."""
    shape, numbers = tensor
    start = 0
    for at, length in zip(index, shape):
        start = start * length + at
    size = 1
    for length in shape[len(index):]:
        size *= length
    return list(numbers[start * size:(start + 1) * size])


def main():
    directory = pathlib.Path(sys.argv[2])
    lines = json.loads((directory / "golden.json").read_text(encoding="utf-8"))["lines"][:int(sys.argv[3])]
    found, metadata = read(sys.argv[1])
    golden, _ = read(directory / "golden.safetensors")
    assert "logits.3" in golden
    assert set(metadata) == {"ferry", "model", "kernels"} and len(metadata["model"]) == 32, metadata
    assert bytes(found["texts"][1]).decode().splitlines() == [line["text"] for line in lines]
    (count, tokens), _ = found["greedy_ids"]
    assert count == len(lines) and tokens == min(32, max(len(line["greedy"]["ids"][0]) - 1 for line in lines)), tokens
    for i, line in enumerate(lines):
        length = row(found["source_lengths"], i)[0]
        assert row(found["source_ids"], i)[:length] == line["input_ids"], (i, line["input_ids"])
        expected = line["greedy"]["ids"][0][1:][:tokens]
        assert row(found["greedy_ids"], i)[:len(expected)] == expected, (i, expected)
        inputs = row(found["decoder_input_ids"], i)
        assert inputs[:len(expected)] == line["greedy"]["ids"][0][:len(expected)], (i, inputs)
        if f"logits.{i}" not in golden:  # of the first lines alone
            continue
        outputs = golden[f"encoder_output.{i}"]
        for position in range(length):
            state = row(outputs, *([0] * (len(outputs[0]) - 2)), position)
            worst = max(abs(a - b) for a, b in zip(row(found["encoder_output"], i, position), state, strict=True))
            assert worst < 2e-4, (i, position, worst)
        teacher, steps = line["decoder_input_ids"], 0
        while steps < min(tokens, len(teacher)) and teacher[steps] == inputs[steps]:
            logits = golden[f"logits.{i}"]
            expected = row(logits, *([0] * (len(logits[0]) - 2)), steps)
            worst = max(abs(a - b) for a, b in zip(row(found["logits"], i, steps), expected, strict=True))
            assert worst < 2e-4, (i, steps, worst)
            steps += 1
        assert steps > 1


main()
