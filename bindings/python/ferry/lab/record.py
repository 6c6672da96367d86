"""What one model makes of a text and its translation, line by line: all that a comparison needs of it, and that a file can
keep for later ones (JSON, compressed)."""
from __future__ import annotations

import hashlib
import json
import lzma
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable

import numpy as np

from .. import _native, inspect
from .._translator import Model, Translator
from .probes import log_softmax, pairs_of, probe
from .statistics import Array

BUCKETS = ((1, 8), (9, 16), (17, 31), (32, 47), (48, 63), (64, 95), (96, 127), (128, None))  # source pieces
EARLY = 0.7  # a translation that ends by itself with fewer times the pieces of the reference stops early
REPEATED = 16  # pieces of which some stand three times in a row, at most
OF_TRANSLATIONS, OF_REFERENCES = ("length_ratio", "early_stop", "repetition"), ("nats", "end_nats")
Record = dict[str, Any]


class Text:
    """Lines and their translations."""

    def __init__(self, source: pathlib.Path, reference: pathlib.Path):
        self.sources, self.references = read_pair(source, reference)
        self.names = source.name, reference.name
        self.hash = hashlib.sha256("\n".join(self.sources + self.references).encode()).hexdigest()


def read_pair(first: pathlib.Path, second: pathlib.Path) -> tuple[list[str], list[str]]:
    """The lines of two files, as many of each."""
    one, other = (path.read_text(encoding="utf-8").split("\n") for path in (first, second))
    for lines in (one, other):
        if lines[-1] == "":
            lines.pop()
    if not one:
        raise ValueError(f"{first}: expected lines of text, found none")
    if len(one) != len(other):
        raise ValueError(f"{second}: expected {len(one)} lines, as {first} has, found {len(other)}")
    return one, other


def bucket_of(pieces: int) -> int:
    """-1: none."""
    return sum(least <= pieces for least, _ in BUCKETS) - 1


def repeats(ids: Iterable[int]) -> bool:
    """Whether 1 to REPEATED ids stand three times in a row."""
    own = list(ids)
    for width in range(1, REPEATED + 1):
        run = 0
        for i in range(width, len(own)):
            run = run + 1 if own[i] == own[i - width] else 0
            if run == 2 * width:
                return True
    return False


def nats_of(model: Model, source: Any, inputs: Any) -> Array | None:
    """-ln p of each piece of the reference and of its end; None: the sentence is too long for the model."""
    if not len(source):
        return None
    try:
        logits = inspect.logits(model, [source], [inputs])[0]
    except _native.FerryError as error:
        if error.status is not _native.Status.LIMIT:
            raise
        return None
    expected = [*inputs[1:], inspect.sizes(model).eos_id]
    found: Array = -log_softmax(logits)[np.arange(len(expected)), expected]
    return found


def options(beam: int, batch: int) -> dict[str, Any]:
    return {"beam": beam, "nbest": 1, "batch": batch, "scores": False, "max_source": 1 << 20}  # lines are compared whole


class _Lines:
    """Of each line and metric a sum, and what to divide it by."""

    def __init__(self, model: Model, text: Text, beam: int, batch: int, threads: int):
        self.model = model
        none = len(inspect.tokenize(model, ""))
        self.sources = [inspect.tokenize(model, line) for line in text.sources]
        self.pieces = [max(0, len(ids) - none) for ids in self.sources]
        self.targets, self.lead = inspect.targets(model, text.references)
        self.translator = Translator(model, threads=threads, **options(beam, batch))
        found = inspect.translated(self.translator, text.sources)
        limit = inspect.scheme(model, "encoder").limit
        self.failures = [f"a sentence of {len(ids)} tokens: the model's positions end at {limit}"
                         if 0 < limit < len(ids) else each.error for ids, (each, _) in zip(self.sources, found)]
        self.translations = ["" if failure else each.text for failure, (each, _) in zip(self.failures, found)]
        with ThreadPoolExecutor(threads) as pool:
            nats = list(pool.map(lambda pair: nats_of(model, *pair), zip(self.sources, self.targets)))
        self.rows = [self._count(line, ids, own) for line, ((_, ids), own) in enumerate(zip(found, nats))]

    def _count(self, line: int, ids: Any, nats: Array | None) -> dict[str, tuple[float, float]]:
        found = dict.fromkeys((*OF_REFERENCES, *OF_TRANSLATIONS), (0.0, 0.0))
        if not self.pieces[line]:
            return found
        reference = self.targets[line][self.lead :]
        if nats is not None:
            pieces = nats[self.lead - 1 : -1]
            found |= {"nats": (round(pieces.sum(), 2), len(pieces)), "end_nats": (round(nats[-1], 2), 1)}
        if self.failures[line] is None:
            ended = int(len(ids) > 0 and ids[-1] == inspect.sizes(self.model).eos_id)
            own = ids[self.lead - 1 : len(ids) - ended]
            limited = len(ids) >= inspect.target_limit(self.translator, len(self.sources[line]))
            found |= {"length_ratio": (len(own), len(reference)),
                      "early_stop": (int(not limited and len(own) < EARLY * len(reference)), 1),
                      "repetition": (int(limited or (repeats(own) and not repeats(reference))), 1)}
        return found


def record(path: pathlib.Path, text: Text, *, beam: int = 1, batch: int = 64, threads: int = 1, position: str | None = None) -> Record:
    """`position`: as for inspect.open_model."""
    model = inspect.open_model(path, position=position)
    lines, training = _Lines(model, text, beam, batch, threads), inspect.training(model)
    schemes = [inspect.scheme(model, "encoder"), inspect.scheme(model, "decoder")]
    pairs = pairs_of(model, lines.sources, lines.targets, lines.lead, list(map(bucket_of, lines.pieces)))
    return {"name": path.stem, "parameters": int(model.info["parameters"]), "path": os.fspath(path), "schemes": [vars(scheme) for scheme in schemes],
            "sizes": vars(inspect.sizes(model)), "training": training.text, "trained_pieces": training.longest or None,
            "seed": training.seed, "trained_tokens": training.tokens, "description": inspect.describe(model),
            "isa": inspect.isa(model), "beam": beam, "file_bytes": path.stat().st_size, "text": text.hash, "pieces": lines.pieces,
            "translations": lines.translations, "failures": {str(i): each for i, each in enumerate(lines.failures) if each},
            "columns": {key: [list(column) for column in zip(*(row[key] for row in lines.rows))] for key in lines.rows[0]},
            "probes": probe(model, pairs, training.longest, len(BUCKETS)) if training.longest and pairs else None}


# ---- files of records ----


def load(path: pathlib.Path) -> list[Record]:
    try:
        records: list[Record] = json.loads(lzma.decompress(path.read_bytes()))
    except (lzma.LZMAError, ValueError) as error:
        raise ValueError(f"{path}: not a file of records: {error}") from error
    return records


def save(path: pathlib.Path, records: list[Record]) -> None:
    path.write_bytes(lzma.compress(json.dumps(records, separators=(",", ":")).encode(), preset=9 | lzma.PRESET_EXTREME))
