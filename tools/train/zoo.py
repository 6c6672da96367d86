#!/usr/bin/env python3
"""Trains the models of the experiment, one after another in each of --workers processes, and skips those that are done.

    zoo.py --output DIRECTORY [--workers N] [ENCODING:SEED[:OPTION=VALUE…] …] [-- OPTIONS OF train.py …]

Each model is written to OUTPUT/ENCODING-SEED[-OPTION=VALUE…]; these options of train.py are its own. Without a list: all of
docs/encodings-compared.md.
"""
import argparse
import os
import subprocess
import sys
import threading

NAMES = ["sinusoidal", "learned", "shaw", "t5", "transformer_xl", "deberta", "rope", "alibi", "none", "kerple", "fire", "rope-none"]
CHOSEN = dict.fromkeys(NAMES, 0.006) | {"sinusoidal": 0.003}  # the rates with the lowest loss on the development text
ALL = [*(f"{name}:1:rate={CHOSEN[name] * factor:g}" for name in NAMES for factor in (1, 0.5, 2)),
       "shaw:1:rate=0.003:length=16", "t5:1:rate=0.003:length=128", "fire:1:rate=0.003:length=8",
       *(f"{name}:1:rate={CHOSEN[name]:g}:encoder-layers=6" for name in ("sinusoidal", "rope", "alibi")),
       *(f"{name}:2:rate={CHOSEN[name]:g}" for name in NAMES)]


def main():
    own, rest = sys.argv[1:], []
    if "--" in own:
        own, rest = own[: own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("models", nargs="*", default=ALL)
    options = parser.parse_args(own)
    queue, lock, failed = list(options.models), threading.Lock(), []
    os.makedirs(options.output, exist_ok=True)

    def work():
        while True:
            with lock:
                if not queue:
                    return
                name, seed, *own = queue.pop(0).split(":")
            directory = os.path.join(options.output, "-".join([name, seed, *own]))
            if os.path.exists(os.path.join(directory, "config.json")):
                continue
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "train.py")
            command = [sys.executable, script, "--output", directory, "--encoding", name, "--seed", seed,
                       *rest, *("--" + option for option in own)]
            if subprocess.run(command, check=False).returncode != 0:
                failed.append(directory)

    workers = [threading.Thread(target=work) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
