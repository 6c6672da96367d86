#!/usr/bin/env python3
"""How long a step of the recipe's training takes with each encoding, in times of one without: training_time.py CACHE

Prints medians with their intervals (JSON). The models take turns, on the same batches; CACHE is a folder with the pieces of a
run (pieces-4000.model), or an empty one.
"""
import json
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../train"))
import data  # noqa: E402
import train  # noqa: E402

# The first is not counted: it is slower, as each batch is new to it.
NAMES = ("none", "none", "learned", "sinusoidal", "shaw", "t5", "transformer_xl", "deberta", "rope", "alibi", "kerple",
         "fire")
ROUNDS, WARM = 40, 5


def main():
    torch.set_num_threads(1)
    pairs, _ = data.split_corpus(train.CORPUS, ["en", "de"])
    pieces = train.find_pieces(os.path.join(sys.argv[1], "pieces-4000.model"), pairs, 4000)
    pairs, runs = data.Pairs(pairs, pieces, data.SEEN), []
    for name in NAMES:
        sys.argv[1:] = ["--encoding", name, "--output", "unused", "--bf16", "--length", "32"]
        runs.append(train.Training(train.parse(), pairs, pieces.vocab_size()))
        runs[-1].model.train()
    found = [[] for _ in runs]
    for _ in range(WARM + ROUNDS):
        for run, own in zip(runs, found):
            begin = time.perf_counter()
            run.train_step()
            own.append(time.perf_counter() - begin)
    result = {}
    for name, own in zip(NAMES[1:], found[1:]):
        ratios = sorted(one / other for one, other in zip(own[WARM:], found[1][WARM:]))
        low = ROUNDS // 2 - round(0.98 * ROUNDS**0.5)  # the interval of a median, by ranks
        result[name] = [round(value, 3) for value in (statistics.median(ratios), ratios[low], ratios[-1 - low])]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
