"""Intervals, differences and regressions. An interval is [value, low, high] (95 %); a number that is unknown is NaN."""
from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import t

Array = npt.NDArray[np.float64]
RESAMPLES, SEED = 1000, 1
FOLDS = 4
STRENGTHS = tuple(10.0**exponent for exponent in range(-6, 2))  # of ridge regressions


def quotient(sums: Array) -> float:
    """A sum, and what to divide it by."""
    return float(sums[0] / sums[1]) if sums[1] > 0 else math.nan


@cache
def resamples(lines: int) -> Array:
    """How often each resample has each line [RESAMPLES, lines]: the same for all models (Koehn 2004)."""
    times = np.random.default_rng(SEED).multinomial(lines, np.full(lines, 1 / lines), RESAMPLES)
    return times.astype(np.float64)


def scores(columns: Array, times: Array, score: Callable[[Array], float]) -> Array:
    """The score of all lines, then that of each resample, of columns [lines, width] that add up."""
    return np.array([score(columns.sum(0)), *map(score, times @ columns)])


def interval(found: Array) -> list[float]:
    """Of `scores`: percentiles of those that are known."""
    known = np.sort(found[1:][~np.isnan(found[1:])])
    if not len(known):
        return [float(found[0]), math.nan, math.nan]
    outside = len(known) // 40
    return [float(found[0]), float(known[outside]), float(known[-1 - outside])]


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, of so many degrees of freedom (0: the error is not known)."""

    value: float
    error: float
    freedom: float

    def interval(self) -> list[float]:
        half = self.error * float(t.ppf(0.975, self.freedom)) if self.freedom > 0 else math.nan
        return [self.value, self.value - half, self.value + half]

    def p(self, bound: float = 0.0) -> float:
        """Two-sided, of a t test against the bound."""
        distance = abs(self.value - bound)
        if self.error == 0:
            return 1.0 if distance == 0 else 0.0
        return float(2 * t.sf(distance / self.error, self.freedom)) if self.freedom > 0 else math.nan

    def smallest(self) -> float:
        """The difference that such an error lets a test at 5 % find four times of five."""
        return self.error * float(t.ppf(0.975, self.freedom) + t.ppf(0.8, self.freedom)) if self.freedom > 0 else math.nan


def estimate(value: float, variances: list[tuple[float, float]]) -> Estimate:
    """Of independent variances with their degrees of freedom, which add up (Satterthwaite 1946)."""
    total = sum(variance for variance, _ in variances)
    spread = sum(variance**2 / freedom for variance, freedom in variances if freedom > 0)
    known = all(freedom > 0 for _, freedom in variances) and not math.isnan(total + value)
    return Estimate(value, math.sqrt(total) if known else math.nan, (total**2 / spread if spread else math.inf) if known else 0)


def pooled_variance(groups: list[Array]) -> tuple[float, int]:
    """Of numbers around the mean of their group, and its degrees of freedom (0: no group has two)."""
    freedom = sum(len(group) - 1 for group in groups)
    return sum(float(np.sum((group - group.mean()) ** 2)) for group in groups) / freedom if freedom else math.nan, freedom


def holm(values: list[float]) -> list[float]:
    """p of each of several tests, so that with 95 % none of those below 0.05 is a false alarm (Holm 1979)."""
    order, most, found = np.argsort(values), 0.0, [math.nan] * len(values)
    count = sum(not math.isnan(value) for value in values)
    for rank, index in enumerate(order[:count]):
        most = max(most, min(1.0, (count - rank) * values[index]))
        found[index] = most
    return found


def median_interval(numbers: Any) -> list[float]:
    """The true median is above k of n numbers with the probability of k heads in n throws."""
    ordered = np.sort(np.asarray(numbers, np.float64))
    count, low, outside = len(ordered), 0, 0.0
    if not count:
        return [math.nan] * 3
    while low + 1 < count - low:
        outside += 2 * math.comb(count, low) / 2**count
        if outside > 0.05:
            break
        low += 1
    low = max(low - 1, 0)
    return [float(ordered[count // 2]), float(ordered[low]), float(ordered[count - 1 - low])]


# ---- where a token stands, from its state ----


class _Ridge:
    """Ridge regressions of any strength, a multiple of the mean variance."""

    def __init__(self, folds: list[tuple[Array, Array]]):
        x, y = (np.concatenate(part) for part in zip(*folds))
        self.means = x.mean(0), float(y.mean())
        centered = x - self.means[0]
        self.matrix, self.moments = centered.T @ centered, centered.T @ (y - self.means[1])

    def fit(self, strength: float) -> tuple[Array, float]:
        trace, size = np.trace(self.matrix), len(self.matrix)
        weights = np.zeros(size)
        if trace > 0:
            weights = np.linalg.solve(self.matrix + np.eye(size) * (strength * trace / size), self.moments)
        return weights, self.means[1] - float(self.means[0] @ weights)


def _fitted(folds: list[tuple[Array, Array]], without: int) -> tuple[Array, float]:
    """A regression on all folds but one, of which the next has chosen the strength; -1: on all."""
    test = (without + 1) % FOLDS
    train = _Ridge([fold for index, fold in enumerate(folds) if index not in (without, test)])
    errors = [np.sum(_errors([folds[test]], [train.fit(strength)]) ** 2) for strength in STRENGTHS]
    both = _Ridge([fold for index, fold in enumerate(folds) if index != without])
    return both.fit(STRENGTHS[np.argmin(errors)])


def _errors(folds: list[tuple[Array, Array]], regressions: list[tuple[Array, float]]) -> Array:
    return np.concatenate([x @ weights + constant - y for (x, y), (weights, constant) in zip(folds, regressions)])


def _deal(sentences: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """States and positions of whole sentences by fold; none if there are fewer sentences than folds."""
    if len(sentences) < FOLDS:
        return []
    folds = [list(zip(*sentences[fold::FOLDS])) for fold in range(FOLDS)]
    return [(np.concatenate(x).astype(np.float64), np.concatenate(y).astype(np.float64)) for x, y in folds]


def _r_squared(folds: list[tuple[Array, Array]], fitted: list[tuple[Array, Array]], errors: Array) -> float:
    """1 - squared error / that of the mean position of `fitted`."""
    positions, mean = np.concatenate([y for _, y in folds]), np.concatenate([y for _, y in fitted]).mean()
    variation = float(np.sum((positions - mean) ** 2))
    return 1 - float(errors @ errors) / variation if variation > 0 else math.nan


def position_probe(states: list[Any], trained_length: int) -> dict[str, float]:
    """How well a linear regression reads positions from the states [tokens, d_model] of sentences that it was not fitted
    to: within the positions of training (r2_seen), with the same regression at later ones (r2_beyond), with another one
    fitted there (r2_beyond_refit), and the mean distance by which it misses."""
    known = trained_length + 1
    seen = _deal([(each, np.arange(float(len(each)))) for each in states if len(each) <= known])
    later = _deal([(each[known:], np.arange(float(known), len(each))) for each in states if len(each) > known])
    found = dict.fromkeys(("r2_seen", "r2_beyond", "r2_beyond_refit", "error_seen", "error_beyond"), math.nan)
    if seen:
        errors = _errors(seen, [_fitted(seen, fold) for fold in range(FOLDS)])
        found |= {"r2_seen": _r_squared(seen, seen, errors), "error_seen": float(np.abs(errors).mean())}
    if seen and later:
        errors = _errors(later, [_fitted(seen, -1)] * FOLDS)
        found |= {"r2_beyond": _r_squared(later, seen, errors), "error_beyond": float(np.abs(errors).mean())}
    if later:
        errors = _errors(later, [_fitted(later, fold) for fold in range(FOLDS)])
        found["r2_beyond_refit"] = _r_squared(later, later, errors)
    return found
