"""What models make of a text and its translation: quality by length, likelihoods, speed, memory and probes, as a tree of
lists and dictionaries, which the page, CSV and JSON read."""
from __future__ import annotations

import math
import os
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from .. import _native, inspect
from .._translator import Model, Translator
from . import statistics
from .probes import log_softmax, pairs_of, probe
from .statistics import Array

BUCKETS = ((1, 8), (9, 16), (17, 31), (32, 47), (48, 63), (64, 95), (96, 127), (128, None))  # source pieces
CELLS = ("all", *(f"{least}-{most or ''}" for least, most in BUCKETS))
EARLY = 0.7  # a translation that ends by itself with fewer times the pieces of the reference stops early
REPEATED = 16  # pieces of which some stand three times in a row, at most
SINGLE_LINES, ROUND_LINES, ROUNDS = 48, 128, 5  # that are timed
MEMORY_TOKENS = 128
METRICS = {  # title, whether more (1) or less (-1) is better, decimals
    "bleu": ("BLEU", 1, 1), "chrf": ("chrF", 1, 1), "nats": ("nats a piece", -1, 2), "end_nats": ("nats of the end", -1, 2),
    "length_ratio": ("length ratio", 0, 2), "early_stop": ("early stops", -1, 2), "repetition": ("repetition", -1, 2),
}
OF_TRANSLATIONS, OF_REFERENCES = ("length_ratio", "early_stop", "repetition"), ("nats", "end_nats")
_SCORERS = {"bleu": BLEU(), "chrf": CHRF()}


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


class Text:
    """Lines and their translations; `pieces` are the first model's, so that all models are compared on the same lines."""

    def __init__(self, source: pathlib.Path, reference: pathlib.Path, model: Model):
        self.sources, self.references = read_pair(source, reference)
        none = len(inspect.tokenize(model, ""))
        self.pieces = [max(0, len(inspect.tokenize(model, line)) - none) for line in self.sources]
        self.buckets = [sum(least <= pieces for least, _ in BUCKETS) - 1 for pieces in self.pieces]
        self.cells = [list(range(len(self.sources))),
                      *([i for i, own in enumerate(self.buckets) if own == bucket] for bucket in range(len(BUCKETS)))]


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


def _options(beam: int, batch: int) -> dict[str, Any]:
    return {"beam": beam, "nbest": 1, "batch": batch, "scores": False, "max_source": 1 << 20}  # lines are compared whole


class _Lines:
    """What a model makes of each line, in columns that add up."""

    def __init__(self, model: Model, text: Text, beam: int, batch: int, threads: int):
        self.model, self.text = model, text
        self.sources = [inspect.tokenize(model, line) for line in text.sources]
        self.targets, self.lead = inspect.targets(model, text.references)
        self.translator = Translator(model, threads=threads, **_options(beam, batch))
        found = inspect.translated(self.translator, text.sources)
        limit = inspect.scheme(model, "encoder").limit
        self.failures = [f"a sentence of {len(ids)} tokens: the model's positions end at {limit}"
                         if 0 < limit < len(ids) else each.error for ids, (each, _) in zip(self.sources, found)]
        self.translations = ["" if failure else each.text for failure, (each, _) in zip(self.failures, found)]
        with ThreadPoolExecutor(threads) as pool:
            nats = list(pool.map(lambda pair: nats_of(model, *pair), zip(self.sources, self.targets)))
        self.unscored = [each is None and bucket >= 0 for each, bucket in zip(nats, text.buckets)]
        rows = [self._count(line, ids, own) for line, ((_, ids), own) in enumerate(zip(found, nats))]
        self.columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        for key, scorer in _SCORERS.items():
            self.columns[key] = np.array(scorer._extract_corpus_statistics(self.translations, [text.references]),
                                         np.float64)

    def _count(self, line: int, ids: Any, nats: Array | None) -> dict[str, tuple[float, float]]:
        """Of each metric a sum, and what to divide it by."""
        found = dict.fromkeys((*OF_REFERENCES, *OF_TRANSLATIONS), (0.0, 0.0))
        if self.text.buckets[line] < 0:
            return found
        reference = self.targets[line][self.lead :]
        if nats is not None:
            pieces = nats[self.lead - 1 : -1]
            found |= {"nats": (pieces.sum(), len(pieces)), "end_nats": (nats[-1], 1)}
        if self.failures[line] is None:
            ended = int(len(ids) > 0 and ids[-1] == inspect.sizes(self.model).eos_id)
            own = ids[self.lead - 1 : len(ids) - ended]
            limited = len(ids) >= inspect.target_limit(self.translator, len(self.sources[line]))
            found |= {"length_ratio": (len(own), len(reference)),
                      "early_stop": (not limited and len(own) < EARLY * len(reference), 1),
                      "repetition": (limited or (repeats(own) and not repeats(reference)), 1)}
        return found

    def scores(self, cell: int, times: Array) -> dict[str, Array]:
        """Of each metric the score of the cell's lines, and of each resample."""
        lines = self.text.cells[cell]
        found = {key: statistics.scores(self.columns[key][lines].astype(np.float64), times, statistics.quotient)
                 for key in (*OF_REFERENCES, *OF_TRANSLATIONS)}
        for key, scorer in _SCORERS.items():
            found[key] = statistics.scores(self.columns[key][lines], times, _score(scorer))
        return {key: found[key] for key in METRICS}

    def cell(self, cell: int, scores: dict[str, Array]) -> dict[str, Any]:
        lines = self.text.cells[cell]
        return {"name": CELLS[cell], "lines": len(lines), "failed": sum(self.failures[i] is not None for i in lines),
                "unscored": sum(self.unscored[i] for i in lines),
                **{key: statistics.interval(found) for key, found in scores.items()}}


def _score(scorer: Any) -> Callable[[Array], float]:
    return lambda sums: float(scorer._compute_score_from_stats(sums.astype(int).tolist()).score)


def _complete(cell: dict[str, Any], metric: str) -> bool:
    """Whether all lines of the cell count for the metric."""
    return not (cell["unscored"] if metric in OF_REFERENCES else cell["failed"] if metric in OF_TRANSLATIONS else 0)


def _difference(cells: list[dict[str, Any]], scores: list[dict[str, Array]], metric: str) -> dict[str, Any]:
    """The first less the second, on the same resamples."""
    if not all(_complete(cell, metric) for cell in cells):
        return {"difference": [math.nan] * 3, "p": math.nan}
    differences = scores[0][metric] - scores[1][metric]
    return {"difference": statistics.interval(differences), "p": statistics.p_value(differences[1:])}


def _memory(model: Model) -> dict[str, int]:
    """Of a thread that translated MEMORY_TOKENS tokens into as many, or as many as the encoding permits."""
    tokens = MEMORY_TOKENS
    while True:
        try:
            memory = inspect.Timer(model, tokens, tokens).memory
            return {"table_bytes": memory.tables, "row_bytes": memory.row, "cache_bytes": memory.token,
                    "thread_bytes": memory.thread, "memory_tokens": tokens}
        except _native.FerryError as error:
            if error.status is not _native.Status.LIMIT or tokens == 1:
                raise
            tokens //= 2


def _timed(translator: Translator, lines: Any) -> tuple[float, int]:
    """Seconds of a call, without Python's share, and target tokens."""
    begin = time.perf_counter()
    result = _native.Object("ferry_translate", "ferry_result_destroy", translator, lines, len(lines))
    seconds = time.perf_counter() - begin
    return seconds, sum(_native.lib.ferry_result_token_count(result, line, 0) for line in range(len(lines)))


def _speeds(models: list[Model], texts: list[str], beam: int, batch: int, threads: int) -> list[dict[str, Any]]:
    """The models take turns: line by line, then round by round of many lines."""
    many = texts[:: max(1, len(texts) // ROUND_LINES)][:ROUND_LINES]
    single = [_native.text_array([line]) for line in many[:: max(1, len(many) // SINGLE_LINES)][:SINGLE_LINES]]
    alone = [Translator(model, threads=1, **_options(beam, batch)) for model in models]
    together = [Translator(model, threads=threads, **_options(beam, batch)) for model in models]
    for translator in (*alone, *together):
        _timed(translator, single[0])
    lines = np.array([[_timed(translator, line) for translator in alone] for line in single])
    block = _native.text_array(many)
    rounds = np.array([[_timed(translator, block) for translator in together] for _ in range(ROUNDS)])
    line_ms, tokens_per_s = 1e3 * lines[..., 0], rounds[..., 1] / rounds[..., 0]
    token_ms = line_ms / lines[..., 1]
    return [{"line_ms": statistics.median_interval(line_ms[:, m]), "token_ms": statistics.median_interval(token_ms[:, m]),
             "token_ratio": statistics.median_interval(token_ms[:, m] / token_ms[:, 0]),
             "tokens_per_s": statistics.median_interval(tokens_per_s[:, m])} for m in range(len(models))]


def _describe(path: pathlib.Path, name: str, model: Model) -> dict[str, Any]:
    training, longest = inspect.training(model)
    schemes = [inspect.scheme(model, "encoder"), inspect.scheme(model, "decoder")]
    return {"name": name, "path": os.fspath(path), "encoder_encoding": schemes[0].name, "decoder_encoding": schemes[1].name,
            "schemes": [vars(scheme) for scheme in schemes], "training": training, "trained_pieces": longest or None,
            "description": inspect.describe(model), "file_bytes": path.stat().st_size, **_memory(model)}


def compare(paths: list[pathlib.Path], source: pathlib.Path, reference: pathlib.Path, *, beam: int = 1, batch: int = 64,
            threads: int = 1, say: Callable[[str], object] = lambda _: None) -> dict[str, Any]:
    """The whole comparison; `say` is told what is measured."""
    models = [Model(path) for path in paths]
    stems = [path.stem for path in paths]
    found = [_describe(path, stem if stems.count(stem) == 1 else os.fspath(path), model)
             for path, stem, model in zip(paths, stems, models)]
    text = Text(source, reference, models[0])
    trained = {each["trained_pieces"] for each in found}
    trained_pieces = trained.pop() if len(trained) == 1 else None
    cells = [cell for cell, lines in enumerate(text.cells) if lines]
    times = {cell: statistics.resamples(len(text.cells[cell])) for cell in cells}
    scores: list[dict[int, dict[str, Array]]] = []
    can_translate = [bucket >= 0 for bucket in text.buckets]
    for model, each in zip(models, found):
        say(each["name"])
        lines = _Lines(model, text, beam, batch, threads)
        scores.append({cell: lines.scores(cell, times[cell]) for cell in cells})
        each["cells"] = [lines.cell(cell, scores[-1][cell]) for cell in cells]
        each["failures"] = [{"line": i + 1, "reason": failure} for i, failure in enumerate(lines.failures) if failure]
        can_translate = [can and failure is None for can, failure in zip(can_translate, lines.failures)]
        if trained_pieces is not None:
            pairs = pairs_of(model, lines.sources, lines.targets, lines.lead, text.buckets)
            each["probes"] = probe(model, pairs, trained_pieces, len(BUCKETS)) if pairs else None
    for a, each in enumerate(found):
        for index, cell in enumerate(cells):
            each["cells"][index]["differences"] = [
                {"to": other["name"]} | {key: _difference([each["cells"][index], other["cells"][index]],
                                                          [scores[a][cell], scores[b][cell]], key) for key in METRICS}
                for b, other in enumerate(found) if b != a]
    lines_of_all = [line for line, can in zip(text.sources, can_translate) if can]
    if lines_of_all:
        say("speed")
        for each, speed in zip(found, _speeds(models, lines_of_all, beam, batch, threads)):
            each.update(speed)
    return {"isa": inspect.isa(models[0]), "beam": beam, "threads": threads, "resamples": statistics.RESAMPLES,
            "text": {"source": source.name, "reference": reference.name, "lines": len(text.sources),
                     "trained_pieces": trained_pieces,
                     "buckets": [{"least": least, "most": most, "lines": len(lines)}
                                 for (least, most), lines in zip(BUCKETS, text.cells[1:])]},
            "models": found}
