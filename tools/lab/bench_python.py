"""What Python adds: the lines of a text in one call, and one by one, beside the program, alternating; and the time from Ctrl-C to
its exception: bench_python.py FERRY MODEL.gguf TEXT"""
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time

import ferry

program, model, path = sys.argv[1:]
ROUNDS = 5
lines = open(path, encoding="utf-8").read().splitlines()
translator = ferry.Translator(ferry.Model(model), beam=1, scores=False)  # as the program does


def of_program(*options):
    done = subprocess.run([program, "bench", "translate", "-m", model, "-i", path, "--beam", "1", "--json", *options],
                          check=True, capture_output=True)
    return json.loads(done.stdout)["translate_s"]


def of_python(texts):
    begin = time.perf_counter()
    list(translator.translate(texts)) if isinstance(texts, list) else [translator.translate(text) for text in texts]
    return time.perf_counter() - begin


def interrupted(**options):
    """Milliseconds, of a call that would take minutes."""
    at = []

    def interrupt():
        time.sleep(0.3)
        at.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        list(ferry.Translator(ferry.Model(model), beam=4, **options).translate(1000 * lines))
    except KeyboardInterrupt:
        return 1e3 * (time.perf_counter() - at[0])


rounds = [(of_program(), of_python(lines), of_program("--single"), of_python(tuple(lines))) for _ in range(ROUNDS)]
together, python_together, single, python_single = map(statistics.median, zip(*rounds))
print(f"in one call: the program {together:.3f} s, Python {python_together:.3f} s, {python_together / together:.2f} x")
print(f"one by one:  the program {single:.3f} s, Python {python_single:.3f} s, {python_single / single:.2f} x, "
      f"{1e6 * (python_single - single) / len(lines):.0f} µs a line more")
for name, options in (("without callbacks", {}), ("with progress", {"progress": lambda done, total: None}), ("2 threads", {"threads": 2})):
    times = [interrupted(**options) for _ in range(2 * ROUNDS)]
    print(f"Ctrl-C {name}: median {statistics.median(times):.1f} ms, at most {max(times):.1f} ms")
