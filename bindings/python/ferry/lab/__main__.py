"""python -m ferry.lab: compares models by their positional encodings, draws encodings, scores translations."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from typing import Callable

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from .. import inspect
from .._native import FerryError
from .._translator import Model
from . import cost, measure, pictures, record, report


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _zoo(arguments: argparse.Namespace) -> list[pathlib.Path]:
    """The models of a folder: this build's encodings in their order, then others by name."""
    models: list[pathlib.Path] = arguments.models
    if len(models) == 1 and models[0].is_dir():
        order = inspect.encodings()
        folder = models[0]
        models = sorted(folder.glob("*.gguf"), key=lambda path: (
            order.index(path.stem) if path.stem in order else len(order), path.stem))
        arguments.source = arguments.source or folder / "test.en"
        arguments.reference = arguments.reference or folder / "test.de"
        if not models:
            raise FerryError(f"{folder}: holds no models")
    return models


def compare(arguments: argparse.Namespace) -> None:
    models, comparison = _zoo(arguments), measure.Comparison({}, None)
    arguments.output.mkdir(parents=True, exist_ok=True)  # minutes later would be a bad time to learn that it cannot be made
    if models and not (arguments.source and arguments.reference):
        raise FerryError("expected --source and --reference")
    if models:
        comparison = measure.compare(models, arguments.source, arguments.reference, seeds=arguments.seeds,
                                     beam=arguments.beam, threads=arguments.threads, say=_say)
    if not arguments.no_cost:
        names = arguments.encodings.split(",") if arguments.encodings else None
        comparison.numbers["cost"] = cost.measure(names, arguments.longest, say=_say)
    overview = ("encodings", "What the encodings do", "Rows that are added to embeddings; numbers that are added to scores, and "
                "vectors that queries and keys are multiplied with, by distance; angles of rotations, by distance.",
                lambda _: pictures.overview([Model(path) for path in models]))
    print(report.write(comparison, arguments.output, [overview] if models else []))


def records(arguments: argparse.Namespace) -> None:
    text = record.Text(arguments.source, arguments.reference)
    known = {own["path"]: own for own in record.load(arguments.output)} if arguments.output.exists() else {}
    for path in arguments.models:
        _say(os.fspath(path))
        known[os.fspath(path)] = record.record(path, text, beam=arguments.beam, threads=arguments.threads)
        record.save(arguments.output, list(known.values()))


def score(arguments: argparse.Namespace) -> None:
    reference, lines = record.read_pair(arguments.reference, arguments.translation)
    for metric in (BLEU(), CHRF()):
        print(metric.corpus_score(lines, [reference]), metric.get_signature())


def _measuring(command: argparse.ArgumentParser, needs_text: bool) -> None:
    command.add_argument("--source", type=pathlib.Path, required=needs_text, help="lines of text")
    command.add_argument("--reference", type=pathlib.Path, required=needs_text, help="their translations")
    command.add_argument("--beam", type=int, default=1)
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ferry.lab", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], object], words: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=words, description=words)
        command.set_defaults(run=run)
        return command

    one = add("compare", compare, "compare trained models on a text with its translation, and the cost of all encodings")
    one.add_argument("models", nargs="*", type=pathlib.Path, metavar="MODEL",
                     help="model files, or a folder of them with test.en and test.de; none: the cost alone")
    _measuring(one, needs_text=False)
    one.add_argument("--seeds", type=pathlib.Path, metavar="RECORDS", help="records of other seeds of the models")
    one.add_argument("--encodings", help="only the cost of these: alibi,rope")
    one.add_argument("--longest", type=int, default=0, help="only the cost of lengths up to this one")
    one.add_argument("--no-cost", action="store_true", help="only the models")
    one.add_argument("--output", type=pathlib.Path, default=pathlib.Path("encodings"), help="folder for the page and its parts")
    more = add("record", records, "measure models for later comparisons, in which they need not be there")
    more.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    more.add_argument("--output", type=pathlib.Path, required=True, metavar="RECORDS", help="a file, to which they are added")
    _measuring(more, needs_text=True)
    pictures.add_arguments(add("pictures", pictures.draw, "draw positional encodings, or attention weights"))
    two = add("score", score, "BLEU and chrF of a translation, by sacrebleu")
    two.add_argument("translation", type=pathlib.Path)
    two.add_argument("reference", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except (FerryError, OSError, ValueError) as error:
        _say(f"ferry.lab: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
