"""Charts of a comparison: one panel for each encoding, in front of all others in gray."""
from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from . import measure
from .claims import Facts, Model
from .probes import SHIFTS

COLUMNS, WIDTH, HEIGHT = 4, 2.6, 1.9  # of panels, inches
Line = list[list[float]]  # intervals


def _panels(models: list[Model], across: list[str], unit: str, lines: Callable[[Model], dict[str, Line]], *,
            limits: tuple[float, float] | None = None, beyond: int | None = None) -> Figure:
    """`lines` of a model by name; `beyond`: from this point on, no length was in training."""
    found = {model["name"]: lines(model) for model in models}
    columns = min(COLUMNS, len(models))
    rows = -(-len(models) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH * columns, HEIGHT * rows + 0.5), sharex=True, sharey=True,
                                squeeze=False, layout="constrained")
    x = np.arange(len(across))
    for axis, model in zip(axes.flat, models):
        axis.set_title(model["name"], fontsize="medium")
        if beyond is not None:
            axis.axvspan(beyond - 0.5, len(across) - 0.5, color="0.5", alpha=0.12, linewidth=0)
        if len(next(iter(found.values()))) == 1:
            for other in found.values():
                axis.plot(x, [each[0] for each in next(iter(other.values()))], color="0.5", linewidth=0.5, alpha=0.5)
        for index, (name, line) in enumerate(found[model["name"]].items()):
            value, low, high = np.array(line, float).T
            axis.plot(x, value, color=f"C{index}", marker=".", label=name or None)
            axis.fill_between(x, low, high, color=f"C{index}", alpha=0.2, linewidth=0)
        axis.set_xticks(x, across, rotation=45 if max(map(len, across)) > 3 else 0)
        axis.grid(alpha=0.25)
        if limits:
            axis.set_ylim(*limits)
    for axis in list(axes.flat)[len(models):]:
        axis.set_visible(False)
    figure.supylabel(unit)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    if any(labels):
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def _by_length(metric: Callable[[dict[str, Any]], list[float]], unit: str, limits: tuple[float, float] | None = None
               ) -> Callable[[Facts], Figure]:
    def draw(facts: Facts) -> Figure:
        names = [cell["name"] for cell in facts.models[0]["cells"][1:]]
        return _panels(facts.models, names, unit, lambda model: {"": [metric(cell) for cell in model["cells"][1:]]}, limits=limits,
                       beyond=names.index(facts.beyond[0]) if facts.beyond else None)
    return draw


def _kept(facts: Facts) -> Figure:
    names = [facts.last_seen, *facts.beyond]
    return _panels(facts.models, names, f"share of the BLEU at {facts.last_seen}",
                   lambda model: {"": [facts.kept(model, name).interval() for name in names]})


def _plain(value: float) -> list[float]:
    return [value, math.nan, math.nan]


def _regressions(stack: str) -> Callable[[Facts], Figure]:
    ways = {"seen lengths": "r2_seen", "beyond, fitted to seen": "r2_beyond", "beyond, fitted there": "r2_beyond_refit"}

    def draw(facts: Facts) -> Figure:
        states = max(len(model["probes"][stack]) for model in facts.probed)

        def lines(model: Model) -> dict[str, Line]:
            own = model["probes"][stack]
            return {name: [_plain(own[n][key]) if n < len(own) else _plain(math.nan) for n in range(states)]
                    for name, key in ways.items()}
        return _panels(facts.probed, ["in", *map(str, range(1, states))], "R²", lines, limits=(-0.5, 1.05))
    return draw


def _changes(key: str) -> Callable[[Facts], Figure]:
    def draw(facts: Facts) -> Figure:
        kept = [n for n, name in enumerate(measure.CELLS[1:]) if name in (*facts.seen, *facts.beyond)]
        across = [f"{factor:g}×" for factor in SHIFTS] if key == "shifted" else [measure.CELLS[1 + n] for n in kept]
        points = range(len(SHIFTS)) if key == "shifted" else kept
        return _panels(facts.probed, across, "nats a piece added", lambda model: {"": [
            _plain(model["probes"][key][n]["changed_nats"] - model["probes"][key][n]["nats"]) for n in points]})
    return draw


def _cost(facts: Facts) -> Figure:
    encodings, cases = facts.encodings, facts.cost_cases
    figure, axes = plt.subplots(2, -(-len(cases) // 2), figsize=(10.4, 6), sharey=True, squeeze=False, layout="constrained")
    y = np.arange(len(encodings))
    for axis, (kind, length) in zip(axes.flat, cases):
        values = np.array([each[kind][length] for each in encodings], float)
        noise = (values[:, 1] <= 1) & (values[:, 2] >= 1)
        for mask, color in ((noise, "0.6"), (~noise, "C0")):
            axis.errorbar(values[mask, 0], y[mask], color=color, fmt="o", markersize=4,
                          xerr=np.abs(values[mask, 1:] - values[mask, :1]).T)
        axis.axvline(1, color="0.5", linewidth=0.8)
        axis.set_title(f"{'encoder' if kind == 'encoder_ratio' else 'decoder step at'} {length}", fontsize="medium")
        axis.set_yticks(y, [each["name"] for each in encodings])
        axis.grid(alpha=0.25, axis="x")
    axes.flat[0].invert_yaxis()
    figure.supxlabel("time / without encoding")
    return figure


Chart = tuple[str, str, str, Callable[[Facts], Figure]]


def charts(facts: Facts) -> Iterator[Chart]:
    """Name, title, what it shows, and how it is drawn, of those for which there are numbers."""
    if facts.models:
        yield ("bleu", "BLEU by length", "Of the translations. Bands: 95 %, as far as lines and seeds tell; gray ground: lengths beyond "
               "training.", _by_length(lambda cell: list(cell["bleu"]), "BLEU"))
        yield ("nats", "Likelihood by length", "How surprising the reference is: −ln p of a piece, given those before it. Less "
               "is better. A model that stops too early loses BLEU, but nothing here.",
               _by_length(lambda cell: list(cell["nats"]), "nats a piece"))
        yield ("length", "Length of translations", "Pieces of the translations / pieces of the references.",
               _by_length(lambda cell: list(cell["length_ratio"]), "ratio", (0, 2)))
        yield ("early", "Early stops", "Share of the translations that end by themselves with fewer than 0.7 times the pieces "
               "of the reference.", _by_length(lambda cell: list(cell["early_stop"]), "share of lines", (-0.02, 1.02)))
        yield ("repetition", "Repetitions", "Share of the translations that say the same three times in a row, or do not end "
               "before the limit of length.", _by_length(lambda cell: list(cell["repetition"]), "share of lines", (-0.02, 1.02)))
    if facts.last_seen and facts.beyond:
        yield ("kept", "What is left beyond the trained lengths", f"BLEU as a share of that at {facts.last_seen} pieces.", _kept)
    if facts.encodings:
        yield ("cost", "What the encoding costs", "Time of models with random weights that differ by their encoding only, "
               "divided by that of the one without, measured in turns. Gray: noise, the interval contains 1.", _cost)
    if facts.probed:
        for stack in ("encoder", "decoder"):
            yield (f"r2-{stack}", f"Position in the states of the {stack}", "How much of the variance of a token's position a "
                   "linear regression finds in its state, on sentences that it was not fitted to, from the input to the last "
                   "layer. Below −0.5 is cut off.", _regressions(stack))
        yield ("shift", "Harm of a shift", "Other sentences and their translations stand in front: how much less likely that "
               "makes the same reference, by their length in trained lengths. Up to ½×, all is as long as in training.",
               _changes("shifted"))
        yield ("shuffle", "Harm of shuffling", "The pieces of the source in random order, the same reference.",
               _changes("shuffled"))
