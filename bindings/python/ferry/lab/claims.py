"""What is said about positional encodings, and what a comparison says to it; and which one to take when. A claim is divided
into cases, each of which speaks for it, against it, or is open. Where cases are tests, p is that of all tests of the claim
together (Holm), and knows of lines and seeds; without two seeds of any encoding, they all are open."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Literal

from . import measure
from .record import BUCKETS
from .statistics import Estimate, holm

SIGNIFICANT = 0.05  # below this p, a difference counts as one
EQUAL_NATS, EQUAL_TIME, RECOMPUTED, CHANGED_R2 = 0.1, 1.05, 8, 0.05
RIGHT_LENGTH, FEW_LINES, LITTLE_TIME = 1.25, 0.1, 1.05
# Encodings of a family do the same in other ways, and have one vote together.
FAMILIES = {"learned": "added vectors", "sinusoidal": "added vectors", "shaw": "vectors of distances",
            "transformer_xl": "vectors of distances", "deberta": "vectors of distances", "rope": "rotations",
            "t5": "numbers for distances", "alibi": "numbers for distances", "kerple": "numbers for distances",
            "fire": "numbers for distances", "none": "nothing"}
Model = dict[str, Any]
Kind = Callable[[Model], bool]
Case = Literal["yes", "no", "open"]


# ---- kinds of models and lengths ----


def _are(kind: str) -> Kind:
    return lambda model: all(scheme["kind"] == kind for scheme in model["schemes"])


is_absolute, is_relative, lacks_positions = _are("absolute"), _are("relative"), _are("no_positions")


def has_positions(model: Model) -> bool:
    return all(scheme["kind"] != "no_positions" for scheme in model["schemes"])


def is_for_long_texts(model: Model) -> bool:
    return all(scheme["for_long_texts"] for scheme in model["schemes"])


def is_not_for_long_texts(model: Model) -> bool:
    return has_positions(model) and not any(scheme["for_long_texts"] for scheme in model["schemes"])


def family_of(model: Model) -> str:
    names = [scheme["name"] for scheme in model["schemes"]]
    return " and ".join(dict.fromkeys(FAMILIES.get(name, name) for name in names))


@dataclass(frozen=True)
class Test:
    """Whether what was found differs from a bound: for the claim if it is above."""

    found: Estimate
    unit: str
    bound: float = 0.0
    within: bool = False  # for the claim if it certainly lies between -bound and bound (two one-sided tests: Schuirmann 1987)

    @property
    def p(self) -> float:
        if self.within:
            return self.found.p(math.copysign(self.bound, self.found.value)) / 2
        return self.found.p(self.bound)

    @property
    def speaks_for(self) -> bool:
        return abs(self.found.value) < self.bound if self.within else self.found.value > self.bound


class Facts:
    """A comparison, and which of its buckets are within, and beyond, the lengths of training."""

    def __init__(self, comparison: measure.Comparison):
        self.comparison, self.analysis = comparison.numbers, comparison.analysis
        self.models: list[Model] = self.comparison.get("models", [])
        trained = (self.comparison.get("text") or {}).get("trained_pieces")
        self.seen: list[str] = []
        self.beyond: list[str] = []
        self.doubled = ""
        for (least, most), name in zip(BUCKETS, measure.CELLS[1:]):
            if trained and any(cell["name"] == name for model in self.models[:1] for cell in model["cells"]):
                if most is not None and most <= trained:
                    self.seen.append(name)
                elif least > trained:
                    self.beyond.append(name)
                    self.doubled = name if least <= 2 * trained else self.doubled

    @property
    def encodings(self) -> list[dict[str, Any]]:
        """Those whose cost was measured, the first without an encoding."""
        return (self.comparison.get("cost") or {"encodings": []})["encodings"]  # type: ignore[no-any-return]

    @property
    def probed(self) -> list[Model]:
        return [model for model in self.models if model.get("probes")]

    @property
    def has_seeds(self) -> bool:
        return any(len(model["seeds"]) > 1 for model in self.models)

    @property
    def cost_cases(self) -> list[tuple[str, str]]:
        return [(kind, length) for kind in ("encoder_ratio", "step_ratio") for length in self.encodings[0][kind]]

    @property
    def last_seen(self) -> str:
        return self.seen[-1] if self.seen else ""

    @property
    def farthest(self) -> str:
        return self.beyond[-1] if self.beyond else ""

    def cell(self, model: Model, name: str) -> dict[str, Any]:
        return next(cell for cell in model["cells"] if cell["name"] == name)

    def best(self, cell: str, metric: str) -> Model | None:
        known = [model for model in self.models if not math.isnan(self.cell(model, cell)[metric][0])]
        sign = measure.METRICS[metric][1]
        return max(known, key=lambda model: float(sign * self.cell(model, cell)[metric][0]), default=None)

    def equals(self, cell: str, metric: str, best: Model) -> list[Model]:
        """Those from which the best does not differ significantly (Holm, over all others)."""
        others = [model for model in self.models if model is not best]
        values = holm([self.contrast(metric, cell, [best], [other]).p() for other in others])
        return [other for other, p in zip(others, values) if p >= SIGNIFICANT]

    def kept(self, model: Model, cell: str) -> Estimate:
        """The share of the BLEU at the last seen lengths."""
        assert self.analysis
        return self.analysis.kept(self.models.index(model), cell, self.last_seen)

    def contrast(self, metric: str, cell: str, one: list[Model], other: list[Model]) -> Estimate:
        """How much better the mean of these models is than that of the others."""
        assert self.analysis
        sign = measure.METRICS[metric][1]
        weights = {self.models.index(model): sign * side / len(models) for side, models in ((1, one), (-1, other))
                   for model in models}
        return self.analysis.contrast(metric, cell, weights)[0]


# ---- cases: each yields what was found, in words, and how it counts, or the test that says so ----

Cases = Iterator[tuple[str, Case | Test]]


def _below(value: list[float], limit: float) -> Case:
    return "yes" if value[2] < limit else "no" if value[1] > limit else "open"


def _turned(cases: Callable[[Facts], Iterator[tuple[str, Case]]]) -> Callable[[Facts], Cases]:
    turned: dict[Case, Case] = {"yes": "no", "no": "yes", "open": "open"}
    return lambda facts: ((words, turned[case]) for words, case in cases(facts))


def _percent(found: Estimate) -> str:
    return "{:.0f} % ({:.0f}–{:.0f})".format(*(100 * each for each in found.interval()))


def _minus(found: Estimate) -> Estimate:
    return Estimate(-found.value, found.error, found.freedom)


def _keeping(kind: Kind, half: bool) -> Callable[[Facts], Cases]:
    """Whether BLEU at twice the trained length is more than half (half: less) of that within."""
    unit = "of the BLEU at seen lengths"

    def cases(facts: Facts) -> Cases:
        for model in filter(kind, facts.models) if facts.doubled and facts.last_seen else ():
            kept = facts.kept(model, facts.doubled)
            if not math.isnan(kept.value):
                yield f"{model['name']} keeps {_percent(kept)}", Test(_minus(kept), unit, -0.5) if half else Test(kept, unit, 0.5)
    return cases


def _hopeless(facts: Facts) -> Cases:
    best = facts.best(facts.last_seen, "bleu") if facts.last_seen else None
    if best is None or best["schemes"][0]["kind"] == "no_positions":
        return
    for model in facts.models:
        if model["schemes"][0]["kind"] == "no_positions":
            assert facts.analysis
            half = facts.analysis.contrast("bleu", facts.last_seen, {facts.models.index(best): 0.5, facts.models.index(model): -1})
            yield f"{model['name']} beside half of the best, {best['name']}", Test(half[0], "BLEU")


def _decays(stack: str) -> Callable[[Facts], Cases]:
    def cases(facts: Facts) -> Cases:
        for model in filter(is_absolute, facts.probed):
            states = [state["r2_seen"] for state in model["probes"][stack]]
            if not math.isnan(states[-1]):
                words = f"{model['name']} " + " → ".join(f"{each:.2f}" for each in states)
                yield words, "yes" if states[-1] < max(states) - CHANGED_R2 else "no"
    return cases


def _cheap(limit: float, steps_only: bool) -> Callable[[Facts], Iterator[tuple[str, Case]]]:
    """Cases of relative encodings, at 512 tokens, that cost less than this many times no encoding."""
    def cases(facts: Facts) -> Iterator[tuple[str, Case]]:
        for kind in ("step_ratio",) if steps_only else ("encoder_ratio", "step_ratio"):
            for each in facts.encodings:
                value = each[kind].get("512", [math.nan])
                if each["kind"] == "relative" and not math.isnan(value[0]):
                    words = f"{each['name']}, {kind.removesuffix('_ratio')}: " + "{:.2f} ({:.2f}–{:.2f})".format(*value)
                    yield words, _below(value, limit)
    return cases


def _pairs(facts: Facts, one: Kind, other: Kind) -> Iterator[tuple[list[Model], list[Model], str]]:
    """Of families of the one and of the other kind, and their names."""
    for first in dict.fromkeys(map(family_of, filter(one, facts.models))):
        for second in dict.fromkeys(map(family_of, filter(other, facts.models))):
            sides = [[model for model in facts.models if kind(model) and family_of(model) == name]
                     for kind, name in ((one, first), (other, second))]
            yield sides[0], sides[1], " and ".join(f"{name} ({_names(side)})" for name, side in zip((first, second), sides))


def _contest(one: Kind, other: Kind, within: bool, metrics: tuple[str, ...]) -> Callable[[Facts], Cases]:
    """Pairs of families in each bucket: whether the first is better."""
    def cases(facts: Facts) -> Cases:
        for metric in metrics:
            for cell in facts.seen if within else facts.beyond:
                for first, second, names in _pairs(facts, one, other):
                    found, title = facts.contrast(metric, cell, first, second), measure.METRICS[metric][0]
                    if not math.isnan(found.value):
                        yield f"{names}, {title}, {cell}: {found.value:+.2f}", Test(found, title)
    return cases


def _equal_within(facts: Facts) -> Cases:
    for cell in facts.seen:
        for first, second, names in _pairs(facts, is_relative, is_absolute):
            found = facts.contrast("nats", cell, first, second)
            if not math.isnan(found.value):
                yield f"{names}, {cell}: {found.value:+.2f}", Test(found, measure.METRICS["nats"][0], EQUAL_NATS, within=True)


@dataclass(frozen=True)
class Claim:
    text: str
    source: str
    rule: str
    needs: str
    cases: Callable[[Facts], Cases]


_BEYOND = " and a text with longer lines than in training, by models that record that length"
_PAIRS = "pairs of families in each bucket beyond the trained lengths, by BLEU and by likelihood"
_QUALITY = ("bleu", "nats")
CLAIMS = (
    Claim("Absolute encodings fail beyond the training length.", "said in most texts on relative encodings",
          "an encoding fails if, at twice the longest length in training, its BLEU is less than half of that at the longest seen "
          "lengths", "an absolute encoding" + _BEYOND, _keeping(is_absolute, half=True)),
    Claim("Relative encodings extrapolate to longer texts.", "said in most texts on them",
          "they keep more than half of it", "a relative encoding" + _BEYOND, _keeping(is_relative, half=False)),
    Claim("Encodings made for long texts extrapolate best.", "the papers on RoPE, ALiBi, KERPLE and FIRE",
          _PAIRS, "one encoding whose paper promises long texts, one whose does not," + _BEYOND,
          _contest(is_for_long_texts, is_not_for_long_texts, False, _QUALITY)),
    Claim("Relative encodings forbid caching keys and values.", "often said of decoders",
          "a step that computes 512 keys again would take many times as long as one that finds them in the cache; a case "
          "speaks for the claim above 8 times the step without an encoding",
          "the cost of relative encodings (steps at 512 tokens)", _turned(_cheap(RECOMPUTED, True))),
    Claim("Relative encodings are slower.", "often said",
          "a relative encoding is slower if its time is more than 1.05 times that without, with the whole interval",
          "the cost of relative encodings (512 tokens)", _turned(_cheap(EQUAL_TIME, False))),
    Claim("Positions that are added once decay over the layers of an encoder …", "said of absolute encodings",
          "they decay in a model if R² of the position in the last state is lower by 0.05 than its highest",
          "probes of an absolute encoding", _decays("encoder")),
    Claim("… and of a decoder.", "the same", "the same rule", "probes of a model with positions", _decays("decoder")),
    Claim("Without any encoding, an encoder is hopeless.", "said of encoders, which have no mask to tell order",
          "hopeless: less than half of the best model's BLEU at the longest seen lengths",
          "a model whose encoder has no positions, and a better one that has", _hopeless),
    Claim("Relative encodings are better than absolute ones beyond the training length …", "Rosendahl et al. 2019", _PAIRS,
          "absolute and relative encodings" + _BEYOND, _contest(is_relative, is_absolute, False, _QUALITY)),
    Claim("… and equal otherwise.", "Rosendahl et al. 2019",
          "pairs of families in each seen bucket: equal if the difference is certainly within ±0.1 nats a piece",
          "absolute and relative encodings, and a recorded length in training", _equal_within),
    Claim("Absolute encodings overfit to the lengths in training: translations stop there.", "Neishi and Yoshinaga 2019",
          "pairs of families in each bucket beyond: fewer early stops, and the end of the reference foreseen better by the "
          "relative ones", "absolute and relative encodings" + _BEYOND,
          _contest(is_relative, is_absolute, False, ("early_stop", "end_nats"))),
    Claim("In encoder-decoder models, no encoding at all loses.", "Gumma et al. 2024",
          "pairs of families in each seen bucket, one with and one without positions, by BLEU and by likelihood",
          "a model without and one with positions, and a recorded length in training",
          _contest(has_positions, lacks_positions, True, _QUALITY)),
)


@dataclass(frozen=True)
class Judgement:
    cases: list[tuple[str, Case]]
    verdict: str
    would: str  # what would tell, where nothing can be told
    needed: str  # the differences that half of the cases need to be seen, where these are tests


def judge(claim: Claim, facts: Facts) -> Judgement:
    found = list(claim.cases(facts))
    tests = [case for _, case in found if isinstance(case, Test)]
    adjusted, cases = iter(holm([test.p for test in tests])), list[tuple[str, Case]]()
    for words, case in found:
        if isinstance(case, Test):
            p = next(adjusted)
            known = facts.has_seeds and p < SIGNIFICANT
            cases.append((f"{words} (p {p:.2g})", ("yes" if case.speaks_for else "no") if known else "open"))
        else:
            cases.append((words, case))
    told, would, needed = verdict([case for _, case in cases]), "", ""
    if told == "cannot tell" and not tests:
        would = "a quieter machine, or more rounds"
    elif told == "cannot tell" and not facts.has_seeds:
        would = "two seeds of one encoding at least: nobody knows yet what another seed changes"
    elif told == "cannot tell":
        units = {unit: statistics.median(test.found.smallest() for test in tests if test.unit == unit)
                 for unit in dict.fromkeys(test.unit for test in tests)}
        needed = " or ".join(f"{smallest:.{2 if smallest < 1 else 1}f} {unit}" for unit, smallest in units.items())
        would = f"more seeds and lines: now, to be seen four times of five, half of the cases need a difference of {needed}"
    return Judgement(cases, told, would, needed)


def verdict(cases: list[Case]) -> str:
    """Three quarters of the cases decide."""
    if not cases:
        return "not measured"
    if 4 * cases.count("yes") >= 3 * len(cases):
        return "measured: for it"
    if 4 * cases.count("no") >= 3 * len(cases):
        return "measured: against it"
    return "cannot tell" if 2 * cases.count("open") > len(cases) else "true of some"


# ---- which one when ----


def _names(models: list[Model]) -> str:
    names = [model["name"] for model in models]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _best(facts: Facts, cell: str, metric: str) -> str:
    best = facts.best(cell, metric)
    if best is None:
        return ""
    equals, (title, _, decimals) = facts.equals(cell, metric, best), measure.METRICS[metric]
    return (f"{best['name']} has the best {title} ({facts.cell(best, cell)[metric][0]:.{decimals}f}"
            f"{'' if cell == 'all' else f' at {cell} source pieces'}), " +
            (f"without a significant difference to {_names(equals)}." if equals else "significantly better than all others."))


def _safest(facts: Facts) -> str:
    def wrong(model: Model) -> float:
        cell = facts.cell(model, facts.farthest)
        return float(cell["early_stop"][0] + cell["repetition"][0] + cell["failed"] / cell["lines"])

    known = [model for model in facts.models if not math.isnan(wrong(model))]
    safe = [model for model in known if wrong(model) <= FEW_LINES and
            1 / RIGHT_LENGTH <= facts.cell(model, facts.farthest)["length_ratio"][0] <= RIGHT_LENGTH]
    if safe:
        return (f"{_names(safe)}: at {facts.farthest} pieces, the length is right to a factor of {RIGHT_LENGTH}, and at most "
                f"{100 * FEW_LINES:.0f} % of the lines stop early, repeat themselves or fail.")
    if not known:
        return ""
    best = min(known, key=wrong)
    cell = facts.cell(best, facts.farthest)
    return (f"None: at {facts.farthest} pieces, even {best['name']} has {100 * cell['early_stop'][0]:.0f} % early stops and "
            f"{100 * cell['repetition'][0]:.0f} % repetitions, and a length ratio of {cell['length_ratio'][0]:.2f}. Split such "
            "texts into sentences.")


def _cheapest(encodings: list[dict[str, Any]]) -> tuple[str, str]:
    """In time and in memory, of those measured beside none."""
    def slowest(each: dict[str, Any]) -> float:
        lows = [value[1] for kind in ("encoder_ratio", "step_ratio") for value in each[kind].values()]
        return max((low for low in lows if not math.isnan(low)), default=0.0)

    def size(each: dict[str, Any]) -> int:
        return int(each.get("table_bytes", 0) + 512 * each.get("row_bytes", 0))

    fast, dearest = [each for each in encodings if slowest(each) <= LITTLE_TIME], max(encodings, key=slowest)
    smallest, largest = min(encodings, key=size), max(encodings, key=size)
    return (f"{_names(fast) or 'No encoding'}: at no length measurably more than {100 * (LITTLE_TIME - 1):.0f} % above a model "
            f"without encoding. The dearest is {dearest['name']}, at least {slowest(dearest):.2f} times at the worst length.",
            f"{smallest['name']}: {size(smallest) / 1e3:.1f} kB for a text of 512 positions, weights included. The dearest is "
            f"{largest['name']}: {size(largest) / 1e6:.1f} MB.")


def advice(facts: Facts) -> list[tuple[str, str]]:
    """Each a case, and what to take."""
    found = []
    lengths = (("Texts as long as in training", facts.last_seen), ("Twice as long as in training", facts.doubled),
               ("As long as was tested", facts.farthest if facts.farthest != facts.doubled else ""))
    for lead, cell in lengths if facts.seen else (("All lines", "all"),):
        if cell and len(facts.models) > 1:
            found.append((lead, " ".join(_best(facts, cell, metric) for metric in _QUALITY)))
    if facts.farthest:
        found.append(("Texts much longer than in training", _safest(facts)))
    for model in facts.models:
        limit = min((scheme["limit"] for scheme in model["schemes"] if scheme["limit"]), default=0)
        if limit:
            found.append(("Not beyond its table", f"{model['name']} has rows for {limit} positions, and refuses longer texts."))
    if facts.encodings[1:]:
        found += zip(("Cheapest in time", "Cheapest in memory"), _cheapest(facts.encodings[1:]))
    return [(lead, text) for lead, text in found if text]
