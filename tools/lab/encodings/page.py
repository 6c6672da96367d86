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
from sacrebleu.metrics.bleu import BLEU

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
        self.rate = {name: min(rates, key=rates.get) for name, rates in self.rates.items()}
        assert all(min(rates) < self.rate[name] < max(rates) for name, rates in self.rates.items()), "a best rate is not bracketed"
        chosen = [own for name in self.names for own in self.plain if name_of(own) == name and own["rate"] == self.rate[name]]
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
        """What the encoders of more layers keep of positions, and how they translate."""
        found = {name_of(own): own for own in self.records if any(option.startswith("encoder-layers=") for option in options_of(own))}
        return "; ".join(f"{name} {self.path(found[name]['probes']['encoder'])} ({self.bleu_of(found[name], '17-31'):.1f} BLEU at 17–31)"
                         for name in ORDER if name in found)

    def lost(self, name, change, index):
        """Nats a piece."""
        found = self.models[name]["probes"][change][index]
        return f"{found['changed_nats'] - found['nats']:.2f}".replace("-0.00", "0.00")

    def agreeing(self, name, distance):
        """The share of verbs that agree with their subject, with the interval (Wilson 1927): a mean over the seeds, which have the same
        sentences, so that it is as uncertain as one seed's."""
        counts = [own["agreement"][str(distance)] for own in self.chosen if name_of(own) == name]
        share, of, z = plain.mean(right / of for right, of in counts), counts[0][1], 1.959964
        center, half = share + z**2 / (2 * of), z * math.sqrt(share * (1 - share) / of + z**2 / (4 * of**2))
        return [share, *((center + side) / (1 + z**2 / of) for side in (-half, half))]

    def verbs(self, name, distance):
        """In percent."""
        return "{:.0f} ({:.0f}–{:.0f})".format(*(100 * each for each in self.agreeing(name, distance)))

    def extreme_verbs(self, side):
        """Of the encoding with the least or the most (-1) that agree, side by side."""
        name = sorted(self.names, key=lambda name: self.agreeing(name, 1)[0])[side]
        return f"{self.verbs(name, 1)} % ({name})"

    def chance(self):
        """From which distance on none can be told from chance."""
        distances = sorted(map(int, self.chosen[0]["agreement"]))
        tells = [distance for distance in distances for name in self.names
                 if not self.agreeing(name, distance)[1] <= 0.5 <= self.agreeing(name, distance)[2]]
        return next(distance for distance in distances if distance > max(tells))

    # ---- words ----

    def parameters(self, name="none"):
        return next(own["parameters"] for own in self.chosen if name_of(own) == name)

    def more_parameters(self, name):
        """Than without an encoding."""
        return f"+{self.parameters(name) - self.parameters():,}"

    def seed_words(self):
        """How many there are, and what they tell."""
        counts = {name: len(self.models[name]["seeds"]) for name in self.names}
        most, fewer = max(counts.values()), [name for name in self.names if counts[name] == 1]
        if most == 1:
            return "So far there is one seed of each, so nobody knows what another would change, and claims stay open."
        return (f"{' and '.join(fewer)} {'has' if len(fewer) == 1 else 'have'} one seed, others {most}; between seeds of one, the standard "
                f"deviation is {self.seeds('bleu', '17-31')} BLEU at 17–31 and {self.seeds('bleu', '48-63')} at 48–63 "
                f"({self.comparison.analysis.spread('bleu', 'all')[1]} degrees of freedom).")

    def length_rate(self):
        """Of the models with other lengths as parameters."""
        rate, = {own["rate"] for own in self.records if any(option.startswith("length=") for option in options_of(own))}
        return f"{rate:g}"

    def equals(self, name, metric, cell):
        """Those from which it does not differ significantly."""
        others = self.facts.equals(cell, metric, self.models[name])
        return ", ".join(other for other in self.names if self.models[other] in others)

    def best(self, metric, cell):
        found = self.facts.best(cell, metric)
        return next(name for name in self.names if self.models[name] is found)

    def best_of(self, metric, cell):
        """With its number."""
        return f"{self.best(metric, cell)} {self.number(self.best(metric, cell), metric, cell)}"

    def difference(self, metric, cell, name, other):
        """How much better the one is than the other."""
        found = self.facts.contrast(metric, cell, [self.models[name]], [self.models[other]]).interval()
        return "{1:.{0}f} ({2:.{0}f}–{3:.{0}f})".format(measure.METRICS[metric][2], *found)

    def bleu_of(self, own, cell):
        """Of one run, without an interval."""
        lines = measure.lines_of(own["pieces"])[cell]
        translations, references = ([texts[line] for line in lines] for texts in (own["translations"], self.text.references))
        return BLEU().corpus_score(translations, [references]).score

    def scaled(self, scaling):
        """BLEU of the chosen RoPE so scaled ("": not), seed 1, in three buckets."""
        own, = (own for own in self.records if own["run"] == f"rope-1-rate={self.rate['rope']:g}" and own.get("scaling", "") == scaling)
        return ", ".join(f"{self.bleu_of(own, cell):.1f}" for cell in ("17-31", "32-47", "48-63"))

    def stops(self, name):
        """Percent of the translations at twice the trained length that stop early."""
        return f"{100 * self.cell(name, 'early_stop', '48-63')[0]:.0f} %"

    def extreme_stops(self, side):
        name = sorted(self.names, key=lambda name: self.cell(name, "early_stop", "48-63")[0])[side]
        return f"{self.stops(name)} ({name})"

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
        heads = ["model", *cells, "left", "early stops 48-63", *(f"nats {cell}" for cell in surprising), "length ratio 96-127"]
        return self.table([head.replace("-", "–") for head in heads], [
            [name, *(self.number(name, "bleu", cell) for cell in cells), f"{self.kept(name)} %", self.stops(name),
             *(self.number(name, "nats", cell) for cell in surprising), self.number(name, "length_ratio", "96-127")]
            for name in self.names])

    def tried(self, name):
        """The rates, with the nats of each."""
        return ", ".join(("**{:g}** {:.3f}" if rate == self.rate[name] else "{:g} {:.3f}").format(rate, nats)
                         for rate, nats in sorted(self.rates[name].items()))

    def costs(self, name):
        cost = next((each for each in self.facts.encodings if each["name"] == name), None)
        if cost is None:
            return ["–"] * 5
        times = [cost[kind]["512"][0] for kind in ("encoder_ratio", "step_ratio")]
        times.append(self.comparison.numbers["training"][name][0])
        return [*("–" if math.isnan(ratio) else f"{ratio:.2f}" for ratio in times), str(cost["row_bytes"]),
                f"{cost['table_bytes'] / 1e3:.0f} kB"]

    def inside(self):
        heads = ["model", "R² encoder", "R² decoder", "shift", "shuffled", "rates: nats", "parameters", "encoder", "step",
                 "training", "bytes a position", "tables"]
        return self.table(heads, [
            [name, self.probe(name, "encoder"), self.probe(name, "decoder"), self.lost(name, "shifted", 2),
             self.lost(name, "shuffled", 2), self.tried(name), self.more_parameters(name), *self.costs(name)] for name in self.names])

    def variants(self):
        """Columns of scaled rotations, and of other parameters that are lengths, beside the same with neither, of one rate and seed."""
        changed = [own for own in self.records if own.get("scaling") and own["rate"] == self.rate["rope"] or
                   any(option.startswith("length=") for option in options_of(own))]
        alike = {(name_of(own), own["rate"], own["seed"]) for own in changed}
        found = changed + [own for own in self.plain if (name_of(own), own["rate"], own["seed"]) in alike]
        found.sort(key=lambda own: (ORDER.index(name_of(own)), own.get("scaling", "")[-1:], own.get("scaling", ""),
                                    options_of(own)))
        heads = [own.get("scaling") or " ".join([name_of(own), *options_of(own)]).replace("length=", "") for own in found]
        return self.table(["pieces", *heads], [[cell.replace("-", "–"), *(f"{self.bleu_of(own, cell):.1f}" for own in found)]
                                               for cell in ("17-31", "32-47", "48-63", "64-95")])

    def claim_rows(self):
        rows = []
        for claim in claims.CLAIMS:
            found = claims.judge(claim, self.facts)
            counts = ", ".join(str(sum(case == kind for _, case in found.cases)) for kind in ("yes", "no", "open"))
            rows.append([f"{claim.text} ({claim.source})", found.verdict + (f" ({found.needed})" if found.needed else ""), counts])
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
