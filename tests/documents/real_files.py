#!/usr/bin/env python3
"""Translates the documents in real_files.tsv, to be read beside their sources: real_files.py FERRY MODEL FOLDER

A line of the list is as measure_texts.py has it. Into FOLDER come, by number, the source (the first 8 kB, up to the end
of a paragraph), its translation (.out), and the messages and the exit status (.err)."""
import pathlib
import subprocess
import sys

import measure_texts

MOST_BYTES = 8192


def main(ferry, model, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, path) in enumerate(measure_texts.listed("real_files.tsv"), 1):
        source = measure_texts.read(name, path, MOST_BYTES)
        done = subprocess.run([ferry, "translate", "--threads", "1", "-m", model, "--format", name], input=source,
                              capture_output=True, check=False)
        file = folder / f"{number:02}.{name}"
        file.write_bytes(source)
        pathlib.Path(f"{file}.out").write_bytes(done.stdout)
        pathlib.Path(f"{file}.err").write_bytes(done.stderr + f"exit status {done.returncode}\n".encode())
        print(file.name, path, done.stderr.decode().strip().split("\n")[-1], sep="\t", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
