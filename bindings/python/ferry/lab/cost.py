"""What a positional encoding costs: models of one shape with random weights that differ by nothing else, measured in turns
on one thread."""
from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

from .. import inspect
from .._native import FerryError, Status
from .statistics import median_interval

SHAPE = {"d_model": 512, "heads": 8, "ffn_width": 2048, "encoder_layers": 6, "decoder_layers": 6, "vocab": 1024}  # Vaswani
SOURCE, LONGEST = 32, 2000
# The encoder over a sentence, or a step of the decoder at this target token, without the output matrix; then in how many
# rounds each encoding takes a turn of how many runs, of which the fastest counts.
CASES = (("encoder", SOURCE, 15, 5), ("encoder", 512, 7, 1), ("encoder", LONGEST, 3, 1),
         ("step", 1, 21, 5), ("step", 64, 21, 5), ("step", 512, 21, 5))


def _timer(model: Any, kind: str, length: int) -> inspect.Timer | None:
    """None: longer than the encoding permits."""
    try:
        return inspect.Timer(model, length) if kind == "encoder" else inspect.Timer(model, SOURCE, length)
    except FerryError as error:
        if error.status is not Status.LIMIT:
            raise
        return None


def measure(encodings: Sequence[str] | None = None, longest: int = 0, say: Callable[[str], object] = lambda _: None
            ) -> dict[str, Any]:
    """Of these encodings (None: all), and of none, to which they are compared. `longest`: only lengths up to it."""
    known, shape = inspect.encodings(), dict[str, Any](SHAPE)
    names = list(dict.fromkeys([known[0], *(known if encodings is None else encodings)]))
    models = [inspect.untrained(name, **shape) for name in names]
    found: list[dict[str, Any]] = [{"name": name, "kind": inspect.scheme(model, "encoder").kind, "encoder_s": {},
                                    "encoder_ratio": {}, "step_s": {}, "step_ratio": {}, "thread_bytes": None}
                                   for name, model in zip(names, models)]
    for kind, length, rounds, runs in CASES:
        if 0 < longest < length:
            continue
        say(f"{kind} {length}")
        timers = [_timer(model, kind, length) for model in models]
        seconds = np.array([[min(timer.run() for _ in range(runs)) if timer else math.nan for timer in timers]
                            for _ in range(rounds)])
        for index, (each, timer) in enumerate(zip(found, timers)):
            own = seconds[: rounds if timer else 0, index]
            each[kind + "_s"][str(length)] = median_interval(own)
            each[kind + "_ratio"][str(length)] = median_interval(own / seconds[: len(own), 0])
            if timer:
                memory = timer.memory
                each |= {"table_bytes": memory.tables, "row_bytes": memory.row, "cache_bytes": memory.token}
                if length == LONGEST:
                    each["thread_bytes"] = memory.tables + memory.row * LONGEST + memory.thread
    return {"isa": inspect.isa(models[0]), "shape": SHAPE, "encodings": found}
