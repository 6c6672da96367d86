#!/usr/bin/env python3
"""Makes docs/encodings-compared.md and its picture of what was measured: page.py [--check]

The page is page.md, in which what stands between {{ and }} is an expression of Python, made of the functions below. --check
makes it and compares: so every number of the page is computed from runs.json.xz (record_runs.py) and cost.json, which has the cost
that `python -m ferry.lab compare` without models measures, its null as NaN, and what training_time.py prints.
"""
import functools
import json
import math
import pathlib
import re
import statistics as plain
import sys

import numpy as np
from ferry import inspect
from ferry.lab import charts, claims, measure, pictures, record
from scipy.stats import binomtest

HERE = pathlib.Path(__file__).resolve().parent
TEXTS, PAGE, TEMPLATE = HERE.parents[2] / "models/encodings", HERE.parents[2] / "docs/encodings-compared.md", HERE / "page.md"
ORDER = ("none", "learned", "sinusoidal", "shaw", "t5", "transformer_xl", "deberta", "rope", "alibi", "kerple", "fire", "rope-none")


def name_of(own):
    """Of a run "rope-none-1-rate=0.003": "rope-none"."""
    return re.match(r"(.+?)-\d+(-|$)", own["run"]).group(1)


def options_of(own):
    """Those of the recipe beside the rate."""
    return tuple(sorted(re.findall(r"-((?!rate)[a-z-]+=[^-]+)", own["run"])))


def nats_of(own):
    sums, counts = own["dev"]
    return sum(sums) / sum(counts)


class Study:
    def __init__(self, records):
        self.records = records
        self.plain = [own for own in records if not options_of(own) and "scaling" not in own]
        self.names = [name for name in ORDER if any(name_of(own) == name for own in self.plain)]
        self.text = record.Text(TEXTS / "test.en", TEXTS / "test.de")
        self.rates = {name: {own["rate"]: nats_of(own) for own in self.plain if name_of(own) == name and own["seed"] == 1}
                      for name in self.names}
        self.best = {name: min(rates, key=rates.get) for name, rates in self.rates.items()}
        assert all(min(rates) < self.best[name] < max(rates) for name, rates in self.rates.items()), "a best rate is not bracketed"
        chosen = [own for name in self.names for own in self.plain if name_of(own) == name and own["rate"] == self.best[name]]
        self.chosen = chosen
        self.comparison = measure.analyze(chosen, self.text)
        self.comparison.numbers |= json.loads((HERE / "cost.json").read_text(encoding="utf-8"))
        self.facts = claims.Facts(self.comparison)
        self.models = dict(zip(self.names, self.facts.models))

    # ---- numbers ----

    def cell(self, name, metric, cell):
        return self.facts.cell(self.models[name], cell)[metric]

    def number(self, name, metric, cell):
        return f"{self.cell(name, metric, cell)[0]:.{measure.METRICS[metric][2]}f}"

    def kept(self, name, cell="48-63"):
        """In percent."""
        return f"{100 * self.facts.kept(self.models[name], cell).value:.0f}"

    def seeds(self, metric, cell):
        """The standard deviation between seeds."""
        return f"{self.comparison.analysis.spread(metric, cell)[0] ** 0.5:.2f}"

    def smallest(self, metric, cell):
        """The median of the smallest differences of two encodings that are found four times of five."""
        found = [other[metric]["smallest"] for model in self.facts.models for other in self.facts.cell(model, cell)["differences"]]
        return f"{plain.median(found):.{measure.METRICS[metric][2]}f}"

    @staticmethod
    def path(states, key="r2_seen"):
        """Of what enters the first layer, and of each layer's output."""
        return " → ".join(f"{state[key]:.2f}".replace("-0.00", "0.00") for state in states)

    def probe(self, name, stack):
        return self.path(self.models[name]["probes"][stack])

    def deep(self):
        """What the encoders of more layers keep of positions."""
        found = {name_of(own): own["probes"]["encoder"] for own in self.records
                 if any(option.startswith("encoder-layers=") for option in options_of(own))}
        if not found:
            return "Six layers were not tried."
        return f"With six encoder layers (one seed): {'; '.join(f'{name} {self.path(found[name])}' for name in ORDER if name in found)}."

    def lost(self, name, change, index):
        """Nats a piece."""
        found = self.models[name]["probes"][change][index]
        return f"{found['changed_nats'] - found['nats']:.2f}".replace("-0.00", "0.00")

    def verbs(self, name, distance):
        """Percent that agree with their subject, with the interval (Wilson 1927), over all seeds."""
        counts = [own["agreement"][str(distance)] for own in self.chosen if name_of(own) == name]
        right, of = map(sum, zip(*counts))
        low, high = binomtest(right, of).proportion_ci(method="wilson")
        return f"{100 * right / of:.0f} ({100 * low:.0f}–{100 * high:.0f})"

    # ---- words ----

    def parameters(self):
        """Millions, of all models."""
        counts = [own["parameters"] / 1e6 for own in self.chosen]
        return f"{min(counts):.2f} to {max(counts):.2f}"

    def seed_words(self):
        """How many there are, and what they tell."""
        counts = sorted({len(model["seeds"]) for model in self.facts.models})
        if counts == [1]:
            return "So far there is one seed of each, so nobody knows what another would change, and claims stay open."
        several = " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1]))))
        return (f"Each encoding has {several} seeds; between seeds of one, the standard "
                f"deviation is {self.seeds('bleu', '17-31')} BLEU at 17–31 and {self.seeds('bleu', '48-63')} at 48–63.")

    def length_rate(self):
        """Of the models with other lengths as parameters."""
        rate, = {own["rate"] for own in self.records if any(option.startswith("length=") for option in options_of(own))}
        return f"{rate:g}"

    def ahead(self, name, metric="nats", cell="48-63"):
        """Of how many, significantly."""
        others = self.facts.equals(cell, metric, self.models[name])
        worse = [model for model in self.facts.models if model is not self.models[name] and model not in others and
                 self.facts.contrast(metric, cell, [self.models[name]], [model]).value > 0]
        return f"{len(worse)} of {len(self.facts.models) - 1}"

    @staticmethod
    @functools.cache
    def rows():
        """Distances of the vectors of 2,000 positions."""
        vectors = inspect.position_rows(inspect.untrained("sinusoidal", d_model=128, heads=4), "encoder", 2000).astype(float)
        squares = (vectors**2).sum(1)
        return np.sqrt(np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0))

    def nearest_rows(self):
        return f"{(self.rows() + 1e9 * np.eye(2000)).min():.2f}"

    def next_rows(self):
        return f"{np.diagonal(self.rows(), 1).min():.2f}"

    # ---- tables ----

    @staticmethod
    def table(heads, rows):
        return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))

    def quality(self):
        cells, surprising = ("9-16", "17-31", "32-47", "48-63", "64-95", "96-127"), ("17-31", "48-63", "96-127")
        heads = ["model", *cells, "left", *(f"nats {cell}" for cell in surprising), "length ratio 96-127"]
        return self.table([head.replace("-", "–") for head in heads], [
            [name, *(self.number(name, "bleu", cell) for cell in cells), f"{self.kept(name)} %",
             *(self.number(name, "nats", cell) for cell in surprising), self.number(name, "length_ratio", "96-127")]
            for name in self.names])

    def tried(self, name):
        """The rates, with the nats of each."""
        return ", ".join(("**{:g}** {:.3f}" if rate == self.best[name] else "{:g} {:.3f}").format(rate, nats)
                         for rate, nats in sorted(self.rates[name].items()))

    def costs(self, name):
        cost = next((each for each in self.facts.encodings if each["name"] == name), None)
        if cost is None:
            return ["–"] * 5
        times = [cost[kind].get(length, [math.nan])[0] for kind, length in (("encoder_ratio", "2000"), ("step_ratio", "512"))]
        times.append(self.comparison.numbers["training"][name][0])
        return [*("–" if math.isnan(ratio) else f"{ratio:.2f}" for ratio in times), str(cost["row_bytes"]),
                f"{cost['table_bytes'] / 1e3:.0f} kB"]

    def inside(self):
        heads = ["model", "R² encoder", "R² decoder", "shift", "shuffled", "rates: nats", "encoder 2000", "step 512", "training",
                 "bytes a position", "tables"]
        return self.table(heads, [
            [name, self.probe(name, "encoder"), self.probe(name, "decoder"), self.lost(name, "shifted", 2),
             self.lost(name, "shuffled", 2), self.tried(name), *self.costs(name)] for name in self.names])

    def variants(self):
        """Columns of scaled rotations, and of other parameters that are lengths, beside the same with neither, of one rate and seed."""
        cells = {cell: lines for cell, lines in measure.lines_of(self.chosen[0]["pieces"]).items() if cell in
                 ("17-31", "32-47", "48-63", "64-95")}
        changed = [own for own in self.records if own.get("scaling") and own["rate"] == self.best["rope"] or
                   any(option.startswith("length=") for option in options_of(own))]
        alike = {(name_of(own), own["rate"], own["seed"]) for own in changed}
        found = changed + [own for own in self.plain if (name_of(own), own["rate"], own["seed"]) in alike]
        found.sort(key=lambda own: (ORDER.index(name_of(own)), own.get("scaling", "")[-1:], own.get("scaling", ""),
                                    options_of(own)))
        scores = [measure.scores(own, self.text, cells) for own in found]
        heads = [own.get("scaling") or " ".join([name_of(own), *options_of(own)]).replace("length=", "") for own in found]
        return self.table(["pieces", *heads], [[cell.replace("-", "–"), *(f"{own['bleu', cell][0]:.1f}" for own in scores)]
                                               for cell in cells])

    def claim_rows(self):
        rows = []
        for claim in claims.CLAIMS:
            found = claims.judge(claim, self.facts)
            counts = ", ".join(str(sum(case == kind for _, case in found.cases)) for kind in ("yes", "no", "open"))
            rows.append([f"{claim.text} ({claim.source})", found.verdict, counts])
        return self.table(["claim", "verdict", "cases for, against, open"], rows)


def make(study):
    scope = {name: getattr(study, name) for name in dir(study) if not name.startswith("_")}
    # The template is ours, so its expressions may be evaluated.
    return re.sub(r"\{\{(.+?)\}\}", lambda found: str(eval(" ".join(found.group(1).split()), {}, scope)),
                  TEMPLATE.read_text(encoding="utf-8"), flags=re.DOTALL)


if __name__ == "__main__":
    own = Study(record.load(HERE / "runs.json.xz"))
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if make(own) == PAGE.read_text(encoding="utf-8") else f"{PAGE}: not what {TEMPLATE} and the measurements make")
    PAGE.write_text(make(own), encoding="utf-8")
    with pictures.theme("light"):
        draw = next(draw for name, _, _, draw in charts.charts(own.facts) if name == "bleu")
        pictures.save(draw(own.facts), PAGE.parent / "images/bleu.svg")
