"""Records of models compared: quality by length with what lines and seeds leave uncertain, speed and memory, as a tree of
lists and dictionaries, which the page, CSV and JSON read."""
from __future__ import annotations

import math
import os
import pathlib
import re
import time
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from .. import _native, inspect
from .._translator import Model, Translator
from . import statistics
from .record import BUCKETS, OF_REFERENCES, OF_TRANSLATIONS, Record, Text, bucket_of, load, options, record
from .statistics import Array, Estimate

CELLS = ("all", *(f"{least}-{most or ''}" for least, most in BUCKETS))
SINGLE_LINES, ROUND_LINES, ROUNDS = 48, 128, 5  # that are timed
MEMORY_TOKENS = 128
METRICS = {  # title, whether more (1) or less (-1) is better, decimals
    "bleu": ("BLEU", 1, 1), "chrf": ("chrF", 1, 1), "nats": ("nats a piece", -1, 2), "end_nats": ("nats of the end", -1, 2),
    "length_ratio": ("length ratio", 0, 2), "early_stop": ("early stops", -1, 2), "repetition": ("repetition", -1, 2),
}
_SCORERS = {"bleu": BLEU(), "chrf": CHRF()}
Scores = dict[tuple[str, str], Array]  # by metric and cell: of all lines, then of each resample


# ---- scores of one record ----


def _score(scorer: Any) -> Callable[[Array], float]:
    return lambda sums: float(scorer._compute_score_from_stats(sums.astype(int).tolist()).score)


def lines_of(pieces: Sequence[int]) -> dict[str, list[int]]:
    """The lines of each cell that has some, by the pieces of each line."""
    buckets = list(map(bucket_of, pieces))
    cells = [list(range(len(pieces))), *([i for i, own in enumerate(buckets) if own == n] for n in range(len(BUCKETS)))]
    return {name: lines for name, lines in zip(CELLS, cells) if lines}


def scores(own: Record, text: Text, cells: dict[str, list[int]]) -> Scores:
    """Of the lines that are known, but for BLEU and chrF, to which another one is empty."""
    columns = {key: np.array(own["columns"][key], np.float64).T for key in (*OF_REFERENCES, *OF_TRANSLATIONS)}
    score: dict[str, Callable[[Array], float]] = dict.fromkeys(columns, statistics.quotient)
    for key, scorer in _SCORERS.items():
        columns[key] = np.array(scorer._extract_corpus_statistics(own["translations"], [text.references]), np.float64)
        score[key] = _score(scorer)
    return {(key, cell): statistics.scores(columns[key][lines], statistics.resamples(len(lines)), score[key])
            for key in METRICS for cell, lines in cells.items()}


# ---- groups of records that differ by their seeds ----


def _kind(own: Record) -> Any:
    """Equal for what was trained alike: one encoding, sizes, beam, tokens and, where the words tell it, rate."""
    schemes = [(scheme["name"], scheme["parameters"]) for scheme in own["schemes"]]
    rates = re.findall(r"\brate [0-9.]+", own["training"])
    return schemes, own["sizes"], own["beam"], own["trained_pieces"], own["trained_tokens"], rates


def grouped(records: list[Record]) -> list[list[Record]]:
    """Each in the group of the first of its kind, unless that has its seed, or one of them is not known."""
    groups: list[list[Record]] = []
    for own in records:
        group = next((group for group in groups if _kind(group[0]) == _kind(own)), None)
        if group and own["seed"] and all(own["seed"] != other["seed"] > 0 for other in group):
            group.append(own)
        else:
            groups.append([own])
    return groups


def _name(group: list[Record], names: list[str]) -> str:
    """What the names of the files have in common."""
    own = os.path.commonprefix([each["name"] for each in group]).rstrip("-") if len(group) > 1 else group[0]["name"]
    return str(own if own and own not in names else group[0]["path"])


class Analysis:
    """Scores of groups. Two things make them uncertain: other lines would give others, which resampled lines show (the same
    for all groups, so that differences are paired: Koehn 2004), and so would other seeds, whose variance is pooled over
    all groups, as each has few."""

    def __init__(self, groups: list[list[Scores]], lines: dict[str, int], incomplete: set[tuple[int, str, str]]):
        self.lines = lines
        self.incomplete = incomplete  # group, metric and cell, of which not all lines are known
        self.sizes = [len(group) for group in groups]
        self.seeds = [{key: np.array([own[key][0] for own in group]) for key in group[0]} for group in groups]
        self.means = [{key: np.mean([own[key] for own in group], axis=0) for key in group[0]} for group in groups]

    def spread(self, metric: str, cell: str) -> tuple[float, int]:
        """The variance between seeds, and its degrees of freedom."""
        return statistics.pooled_variance([own[metric, cell] for own in self.seeds])

    def contrast(self, metric: str, cell: str, weights: dict[int, float]) -> tuple[Estimate, list[float]]:
        """Weighted groups added up, with the uncertainty of lines and seeds, or, where no group has two seeds, of lines
        alone; and the interval by resampled lines."""
        added: Array = np.sum([weight * self.means[group][metric, cell] for group, weight in weights.items()], axis=0)
        if len(weights) > 1 and any((group, metric, cell) in self.incomplete for group in weights):
            added = np.full_like(added, math.nan)
        return self._estimate(added, self.lines[cell], *self.spread(metric, cell), weights), statistics.interval(added)

    def kept(self, group: int, cell: str, of: str) -> Estimate:
        """The share of the BLEU at another cell."""
        def share(own: Any) -> Array:
            found: Array = own["bleu", cell] / own["bleu", of]
            return found
        spread = statistics.pooled_variance([share(own) for own in self.seeds])
        return self._estimate(share(self.means[group]), self.lines[cell], *spread, {group: 1})

    def _estimate(self, added: Array, lines: int, variance: float, freedom: int, weights: dict[int, float]) -> Estimate:
        parts = [(float(np.var(added[1:])), float(max(lines - 1, 1)))]
        if freedom:
            parts.append((variance * sum(weight**2 / self.sizes[group] for group, weight in weights.items()), float(freedom)))
        return statistics.estimate(float(added[0]), parts)


@dataclass
class Comparison:
    """`numbers` become JSON; `analysis`: None without models."""

    numbers: dict[str, Any]
    analysis: Analysis | None


def _difference(analysis: Analysis, metric: str, cell: str, a: int, b: int) -> dict[str, Any]:
    found, resampled = analysis.contrast(metric, cell, {a: 1, b: -1})
    return {"difference": found.interval(), "p": found.p(), "smallest": found.smallest(), "lines_alone": resampled[1:]}


def _mean(trees: list[Any]) -> Any:
    """Of numbers in the same places."""
    if isinstance(trees[0], dict):
        return {key: _mean([tree[key] for tree in trees]) for key in trees[0]}
    if isinstance(trees[0], list):
        return [_mean(list(each)) for each in zip(*trees)]
    return None if None in trees else float(np.mean(trees))


def analyze(records: list[Record], text: Text) -> Comparison:
    for own in records:
        if own["text"] != text.hash:
            raise ValueError(f"{own['path']}: was measured on another text than {text.names[0]} and {text.names[1]}")
    cells, groups = lines_of(records[0]["pieces"]), grouped(records)
    found = [[scores(own, text, cells) for own in group] for group in groups]
    incomplete = {(index, metric, cell) for index, group in enumerate(groups) for cell, lines in cells.items()
                  for metric in (*OF_REFERENCES, *OF_TRANSLATIONS) for own in group
                  if any(own["pieces"][line] and not own["columns"][metric][1][line] for line in lines)}
    analysis = Analysis(found, {cell: len(lines) for cell, lines in cells.items()}, incomplete)
    lengths = {own["trained_pieces"] for own in records}
    trained = lengths.pop() if len(lengths) == 1 else None
    models: list[dict[str, Any]] = []
    for index, group in enumerate(groups):
        first, failed = group[0], {int(line) for own in group for line in own["failures"]}
        models.append({key: first[key] for key in ("path", "schemes", "sizes", "training", "trained_pieces", "trained_tokens", "description",
                                                   "file_bytes")} | {
            "name": _name(group, [model["name"] for model in models]), "seeds": [own["seed"] for own in group],
            "encoder_encoding": first["schemes"][0]["name"], "decoder_encoding": first["schemes"][1]["name"],
            "failures": [{"line": int(line) + 1, "reason": reason} for line, reason in first["failures"].items()],
            "probes": _mean([own["probes"] for own in group]) if trained and all(own["probes"] for own in group) else None,
            "cells": [{"name": cell, "lines": len(lines), "failed": len(failed.intersection(lines))} | {
                metric: analysis.contrast(metric, cell, {index: 1})[0].interval() for metric in METRICS}
                for cell, lines in cells.items()]})
    for a, model in enumerate(models):
        for cell in model["cells"]:
            cell["differences"] = [{"to": other["name"]} | {
                metric: _difference(analysis, metric, cell["name"], a, b) for metric in METRICS}
                for b, other in enumerate(models) if a != b]
    return Comparison({
        "isa": records[0]["isa"], "beam": records[0]["beam"], "resamples": statistics.RESAMPLES, "models": models,
        "text": {"source": text.names[0], "reference": text.names[1], "lines": len(text.sources), "trained_pieces": trained,
                 "buckets": [{"least": least, "most": most, "lines": len(cells.get(name, []))}
                             for (least, most), name in zip(BUCKETS, CELLS[1:])]}}, analysis)


# ---- speed and memory ----


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
    alone = [Translator(model, threads=1, **options(beam, batch)) for model in models]
    together = [Translator(model, threads=threads, **options(beam, batch)) for model in models]
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


# ---- all of it ----


def compare(paths: list[pathlib.Path], source: pathlib.Path, reference: pathlib.Path, *, seeds: pathlib.Path | None = None,
            beam: int = 1, batch: int = 64, threads: int = 1, say: Callable[[str], object] = lambda _: None) -> Comparison:
    """The whole comparison; `seeds`: records of other seeds of these models; `say` is told what is measured."""
    text, records, own_paths = Text(source, reference), list[Record](), set(map(os.fspath, paths))
    for path in paths:
        say(path.stem)
        records.append(record(path, text, beam=beam, batch=batch, threads=threads))
    more = load(seeds) if seeds else []
    records += [own for own in more if any(_kind(own) == _kind(other) and own["seed"] != other["seed"] for other in records)]
    comparison = analyze(records, text)
    failing = {int(line) for own in records for line in own["failures"]}
    texts = [line for i, line in enumerate(text.sources) if records[0]["pieces"][i] and i not in failing]
    measured = [numbers for numbers in comparison.numbers["models"] if numbers["path"] in own_paths]
    models = [Model(numbers["path"]) for numbers in measured]
    say("speed")
    speeds = _speeds(models, texts, beam, batch, threads) if texts else [{}] * len(models)
    for numbers, model, speed in zip(measured, models, speeds):
        numbers.update(speed, **_memory(model))
    comparison.numbers["threads"] = threads
    return comparison
