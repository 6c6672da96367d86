"""What a model's states tell about positions, and how much its output depends on them, within the lengths
that it was trained on and beyond. A sentence's length is its number of pieces: ids without the end of sentence."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator, Literal

import numpy as np

from .. import inspect
from .._translator import Model
from .statistics import position_probe

SHIFTS = (0.25, 0.5, 1, 2, 3)  # of the trained length
SUBJECTS = 64  # sentences that are shifted, at most
TOGETHER = 1 << 22  # logits
Stack = Literal["encoder", "decoder"]
STACKS: tuple[Stack, Stack] = ("encoder", "decoder")


@dataclass(frozen=True)
class Pair:
    source: list[int]  # pieces
    source_end: list[int]  # what is behind them
    target: list[int]
    bucket: int


@dataclass(frozen=True)
class Batch:
    """Ids of the encoder, and inputs of the decoder."""

    sources: list[list[int]]
    targets: list[list[int]]

    def states(self, model: Model, stack: Stack) -> list[inspect.Floats]:
        return inspect.hidden(model, stack, self.sources, self.targets)


def pairs_of(model: Model, sources: list[Any], targets: list[Any], lead: int, buckets: list[int]) -> list[Pair]:
    """Those that fit into the model's positions."""
    sizes, pairs = inspect.sizes(model), []
    for ids, inputs, bucket in zip(sources, targets, buckets):
        end = int(len(ids) > 0 and ids[-1] == sizes.eos_id)
        pair = Pair(list(ids[: len(ids) - end]), list(ids[len(ids) - end :]), list(inputs[lead:]), bucket)
        if fits(sizes, len(ids), 1 + len(pair.target)):
            pairs.append(pair)
    return pairs


def fits(sizes: inspect.Sizes, source: int, target: int) -> bool:
    return (sizes.encoder_positions or source) >= source and (sizes.decoder_positions or target) >= target


def batch_of(model: Model, pairs: list[Pair], fronts: list[list[Pair]] | None = None) -> Batch:
    """Pairs, each behind others, as if all were one."""
    start = inspect.sizes(model).start_id
    rows = [(*front, pair) for front, pair in zip(fronts or [[]] * len(pairs), pairs)]
    return Batch([[id for each in row for id in each.source] + row[-1].source_end for row in rows],
                 [[start] + [id for each in row for id in each.target] for row in rows])


# ---- changes of the input ----


def log_softmax(logits: Any) -> Any:
    shifted = logits.astype(np.float64) - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _slices(batch: Batch, vocab: int) -> Iterator[slice]:
    """As many sentences at a time as their logits permit."""
    first, rows = 0, 0
    for index, target in enumerate(batch.targets):
        if rows and (rows + len(target)) * vocab > TOGETHER:
            yield slice(first, index)
            first, rows = index, 0
        rows += len(target)
    yield slice(first, len(batch.targets))


def _output_sums(model: Model, before: Batch, after: Batch) -> Any:
    """For each sentence [4]: tokens, -ln p of the reference before and after, and the divergence of what is predicted."""
    sums = []
    for part in _slices(after, inspect.sizes(model).target_vocab):
        found = [inspect.logits(model, batch.sources[part], batch.targets[part]) for batch in (before, after)]
        for logits, changed, inputs in zip(*found, before.targets[part]):
            pieces = len(inputs) - 1
            p, q = log_softmax(logits[:pieces]), log_softmax(changed[len(changed) - 1 - pieces : -1])
            rows = np.arange(pieces)
            sums.append([pieces, -p[rows, inputs[1:]].sum(), -q[rows, inputs[1:]].sum(), (np.exp(p) * (p - q)).sum()])
    return np.array(sums).reshape(-1, 4)


def _change(sums: Any) -> dict[str, float]:
    tokens, nll, changed, divergence = sums.sum(0) if len(sums) else np.full(4, math.nan)
    return {"sentences": len(sums), "nats": nll / tokens, "changed_nats": changed / tokens, "divergence": divergence / tokens}


def _fronts(pairs: list[Pair], index: int, length: int) -> list[Pair]:
    """The pairs after this one, cyclically, each that fits into what is left of the length."""
    front = []
    for pair in pairs[index + 1 :] + pairs[:index]:
        if 0 < len(pair.source) <= length:
            front.append(pair)
            length -= len(pair.source)
    return front


def _shifted(model: Model, pairs: list[Pair], trained_length: int, factor: float) -> tuple[Batch, Batch, float]:
    """Sentences of at most half the trained length, alone and with other text in front; and the mean of its pieces."""
    sizes, kept, fronts = inspect.sizes(model), [], []
    subjects = [i for i, pair in enumerate(pairs) if 0 < 2 * len(pair.source) <= trained_length and pair.target]
    for index in subjects[:: max(1, -(-len(subjects) // SUBJECTS))]:
        front, pair = _fronts(pairs, index, int(factor * trained_length)), pairs[index]
        lengths = [sum(len(side) for side in sides) for sides in
                   ([each.source for each in (*front, pair)], [each.target for each in (*front, pair)])]
        if front and fits(sizes, lengths[0] + len(pair.source_end), 1 + lengths[1]):
            kept.append(pair)
            fronts.append(front)
    mean = float(np.mean([sum(len(each.source) for each in front) for front in fronts])) if fronts else math.nan
    return batch_of(model, kept), batch_of(model, kept, fronts), mean


def _shuffled(pairs: list[Pair]) -> list[Pair]:
    """Sources in another order (Fisher and Yates), drawn by a xorshift generator (Marsaglia 2003: 13, 7, 17)."""
    state, mask, found = 1, (1 << 64) - 1, []
    for pair in pairs:
        ids = list(pair.source)
        for i in range(len(ids) - 1, 0, -1):
            state ^= state << 13 & mask
            state ^= state >> 7
            state ^= state << 17 & mask
            j = (state >> 32) * (i + 1) >> 32
            ids[i], ids[j] = ids[j], ids[i]
        found.append(Pair(ids, pair.source_end, pair.target, pair.bucket))
    return found


# ---- all of it ----


def probe(model: Model, pairs: list[Pair], trained_length: int, bucket_count: int) -> dict[str, Any]:
    everything, buckets = batch_of(model, pairs), [pair.bucket for pair in pairs]
    found: dict[str, Any] = {
        stack: [position_probe(list(layer), trained_length) for layer in zip(*everything.states(model, stack))]
        for stack in STACKS}
    found["shifted"] = []
    for factor in SHIFTS:
        before, after, mean = _shifted(model, pairs, trained_length, factor)
        found["shifted"].append({"shift": mean} | _change(_output_sums(model, before, after) if before.sources else []))
    sums = _output_sums(model, everything, batch_of(model, _shuffled(pairs)))
    found["shuffled"] = [_change(sums[[each == bucket for each in buckets]]) for bucket in range(bucket_count)]
    return found
