"""The laboratory: its statistics against other ways to the same numbers, its pictures against formulas, a comparison of two models
against what was recorded of them, and docs/encodings-compared.md: test_lab.py PACKAGES SOURCE_DIR"""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import sacrebleu
import scipy.stats

packages, source_dir = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, packages)
import ferry  # noqa: E402
from ferry import inspect  # noqa: E402
from ferry.lab import claims, cost, measure, pictures, record, report, statistics  # noqa: E402

ZOO = pathlib.Path(source_dir) / "models/encodings"


class Statistics(unittest.TestCase):
    def test_median(self):
        """Ranks of the table of exact intervals (Conover, Practical Nonparametric Statistics)."""
        for count, low, high in ((1, 1, 1), (3, 1, 3), (5, 1, 5), (6, 1, 6), (9, 2, 8), (15, 4, 12), (21, 6, 16)):
            found = statistics.median_interval(range(count, 0, -1))
            self.assertEqual(found, [count // 2 + 1, low, high])
        self.assertTrue(math.isnan(statistics.median_interval([])[0]))

    def test_resamples(self):
        """Of a mean, whose interval is known: ±1.96 standard errors."""
        values = np.random.default_rng(7).normal(size=400)
        columns = np.stack([values, np.ones(400)], 1)
        times = statistics.resamples(400)
        self.assertTrue((times.sum(1) == 400).all())
        found = statistics.interval(statistics.scores(columns, times, statistics.quotient))
        self.assertAlmostEqual(found[0], values.mean())
        self.assertAlmostEqual((found[2] - found[1]) / 2, 1.96 * values.std() / 20, delta=0.01)

    def test_estimates(self):
        """Of two means with variances of their own: Welch's test, as scipy has it."""
        random = np.random.default_rng(5)
        one, other = random.normal(0, 1, 12), random.normal(0.8, 3, 7)
        parts = [(sample.var(ddof=1) / len(sample), len(sample) - 1) for sample in (one, other)]
        found, expected = statistics.estimate(one.mean() - other.mean(), parts), scipy.stats.ttest_ind(one, other, equal_var=False)
        self.assertAlmostEqual(found.p(), expected.pvalue)
        np.testing.assert_allclose(found.interval()[1:], expected.confidence_interval())
        self.assertTrue(math.isnan(statistics.estimate(math.nan, parts).p()))
        self.assertEqual(statistics.holm([0.01, 0.04, 0.03, math.nan, 0.005])[:3], [0.03, 0.06, 0.06])
        sample = random.normal(found.smallest(), found.error, 20000)  # the test finds four of five
        share = np.mean([statistics.Estimate(value, found.error, found.freedom).p() < 0.05 for value in sample[:2000]])
        self.assertAlmostEqual(share, 0.8, delta=0.05)

    def test_false_alarms(self):
        """Twelve encodings that are all the same, three seeds each, which differ by luck: one test of twenty finds a
        difference, at most, although lines alone would find one of three."""
        random, lines, alarms, naive = np.random.default_rng(11), 100, [], []
        times = statistics.resamples(lines)
        for _ in range(60):
            common = random.normal(size=lines)
            groups = [[common + 0.5 * random.normal(size=lines) + 0.08 * random.normal() for _ in range(3)] for _ in range(12)]
            analysis = measure.Analysis([[{("nats", "all"): np.array([own.mean(), *(times @ own / lines)])} for own in group]
                                         for group in groups], {"all": lines}, set())
            for a, b in ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)):
                found, resampled = analysis.contrast("nats", "all", {a: 1, b: -1})
                alarms.append(found.p() < 0.05)
                naive.append(not resampled[1] < 0 < resampled[2])
        self.assertLess(np.mean(alarms), 0.08)
        self.assertGreater(np.mean(naive), 0.2)

    def test_position_probe(self):
        """States that tell the position, that tell it up to a bound, and that do not."""
        random = np.random.default_rng(3)
        lengths = [8, 12, 16, 20, 24, 31, 50, 60, 64, 40] * 4
        direction = random.normal(size=16)

        def found(code):
            return statistics.position_probe([np.outer(code(np.arange(length)), direction) +
                                              0.01 * random.normal(size=(length, 16)) for length in lengths], 31)
        linear = found(lambda at: at)
        for key in ("r2_seen", "r2_beyond", "r2_beyond_refit"):
            self.assertGreater(linear[key], 0.999)
        self.assertLess(linear["error_beyond"], 0.1)
        clipped = found(lambda at: np.minimum(at, 31))
        self.assertGreater(clipped["r2_seen"], 0.999)
        self.assertLess(clipped["r2_beyond_refit"], 0.2)
        nothing = found(lambda at: 0 * at)
        self.assertLess(abs(nothing["r2_seen"]), 0.2)
        self.assertTrue(math.isnan(statistics.position_probe([np.zeros((5, 4))] * 8, 31)["r2_beyond"]))

    def test_repeats(self):
        for ids, expected in (([1, 2, 3] * 3, True), ([1, 2, 3] * 2, False), ([5, 1, 1, 1], True), ([1, 1, 2, 1, 1], False),
                              (list(range(16)) * 3, True), (list(range(17)) * 3, False), ([], False)):
            self.assertEqual(record.repeats(ids), expected, ids)

    def test_verdicts(self):
        for cases, expected in ((["yes"] * 3 + ["no"], "measured: for it"), (["no"] * 3 + ["open"], "measured: against it"),
                                (["open"] * 3 + ["yes"] * 2, "cannot tell"), (["yes"] * 2 + ["no"] * 2, "true of some"),
                                ([], "not measured")):
            self.assertEqual(claims.verdict(cases), expected)


class Pictures(unittest.TestCase):
    def test_effects(self):
        """What is measured is what the papers say."""
        alibi = pictures.effects(ferry.Model(ZOO / "alibi.gguf"), "encoder")
        self.assertEqual((list(alibi.terms), alibi.first), (["bias"], -127))
        slopes = 2.0 ** (-2 * np.arange(1, 5))
        np.testing.assert_allclose(alibi.terms["bias"][:, 0], -slopes[:, None] * abs(np.arange(-127, 128)), rtol=1e-5)
        rope = pictures.effects(ferry.Model(ZOO / "rope.gguf"), "decoder")
        angles = np.arange(-127, 1) * np.tile(10000 ** (-np.arange(16) / 16), 2)[:, None]
        self.assertEqual(rope.terms["rotation"].shape, (1, 32, 128))
        np.testing.assert_allclose(rope.terms["rotation"][0], np.cos(angles), atol=1e-3)
        t5 = pictures.effects(inspect.untrained("t5"), "encoder").terms["bias"][:, 0]
        self.assertEqual(len(np.unique(t5[0])), 31)  # 16 buckets on either side of the query, of which one is unused
        for far in range(8, 127):  # Raffel et al. 2020, section 2.1: 8 buckets of one distance, then 8 by the logarithm
            here, following = (min(15, 8 + int(math.log(d / 8) / math.log(16) * 8 + 1e-9)) for d in (far, far + 1))
            self.assertEqual((t5[:, 127 - far] == t5[:, 126 - far]).all(), here == following, far)
        shaw = pictures.effects(ferry.Model(ZOO / "shaw.gguf"), "encoder").terms
        self.assertEqual(list(shaw), ["query"])
        np.testing.assert_allclose(shaw["query"][:, :, 0], shaw["query"][:, :, 127 - 32], atol=1e-5)  # clipped
        sinusoidal = pictures.effects(ferry.Model(ZOO / "sinusoidal.gguf"), "encoder")
        self.assertEqual((sinusoidal.rows.shape, sinusoidal.terms), ((128, 128), {}))
        angles = np.arange(128)[:, None] / 10000 ** (np.arange(64) / 64)  # Vaswani et al. 2017, section 3.5, sines first
        np.testing.assert_allclose(sinusoidal.rows, np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-6)
        cosines = pictures.cosines(sinusoidal.rows)
        np.testing.assert_allclose(cosines[3, 10], cosines[50, 57], atol=1e-4)  # a function of the distance
        self.assertEqual(pictures.effects(ferry.Model(ZOO / "none.gguf"), "encoder").terms, {})

    def test_files(self):
        """Well-formed, with their words as text, the same each time, and others for dark pages."""
        model = ferry.Model(ZOO / "deberta.gguf")
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("one", "other"):
                pictures.save_both(lambda: pictures.positions(model), pathlib.Path(scratch) / f"{name}.svg")
            one, other, dark = ((pathlib.Path(scratch) / name).read_bytes() for name in ("one.svg", "other.svg", "one-dark.svg"))
            self.assertEqual(one, other)
            self.assertNotEqual(one, dark)
            words = "".join(ElementTree.fromstring(one).itertext())
            self.assertIn("He et al. 2021", words)
            self.assertIn("head 3", words)
            self.assertIsNone(re.search(rb"[\"#]p[0-9a-f]{10}", one))  # names that depend on the last bits of the layout
            self.assertIn(b"#clip0", one)
            with self.assertRaisesRegex(ferry.FerryError, "found drak"), pictures.theme("drak"):
                pass
            with pictures.theme("light"), self.assertRaisesRegex(ferry.FerryError, "picture.pdf"):
                pictures.save(plt.figure(), pathlib.Path("picture.pdf"))

    def test_attention(self):
        model = ferry.Model(os.path.join(source_dir, "models/pretrained/tatoeba-en-de.gguf"))
        weights, queries, keys = pictures.weights(model, "Good morning!")
        self.assertEqual((queries, keys[-1]), (["▁Gute", "n", "▁Morgen", "!", "</s>"], "</s>"))
        self.assertEqual(weights.shape[-2:], (len(queries), len(keys)))
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)

    def test_refused(self):
        for arguments, words in ((["pictures"], "expected MODEL"), (["pictures", "rpoe"], "rpoe: neither an encoding"),
                                 (["pictures", "rope", "alibi", "--attention", "a"], "expected one MODEL"),
                                 (["pictures", "rope", "rope"], "the same name"),
                                 (["pictures", "rope", "--layer", "7"], "layer: expected one of 0 … 1, found 7"),
                                 (["compare", "rope.gguf"], "--source and --reference"),
                                 (["compare", "no.gguf", "--source", ZOO / "test.en", "--reference", ZOO / "test.de"], "no.gguf"),
                                 (["score", "no.txt", "no.txt"], "no.txt")):
            found = lab(*arguments)
            self.assertEqual(found.returncode, 1)
            self.assertIn(words, found.stderr)
            self.assertNotIn("Traceback", found.stderr)


def lab(*arguments):
    return subprocess.run([sys.executable, "-m", "ferry.lab", *map(str, arguments)], env={**os.environ, "PYTHONPATH": packages},
                          cwd=tempfile.gettempdir(), capture_output=True, text=True)


class Comparison(unittest.TestCase):
    """Of two models on the text that ships."""

    @classmethod
    def setUpClass(cls):
        paths = [ZOO / "rope.gguf", ZOO / "learned.gguf"]
        cls.text = record.Text(ZOO / "test.en", ZOO / "test.de")
        cls.comparison = measure.compare(paths, ZOO / "test.en", ZOO / "test.de", threads=2)
        cls.found = cls.comparison.numbers

    def test_recorded(self):
        """What models that ship make of the text now is what docs/encodings-compared.md is made of."""
        runs = record.load(pathlib.Path(source_dir) / "tools/lab/encodings/runs.json.xz")
        records = {own["run"]: own for own in runs if "scaling" not in own}
        for model in self.found["models"]:
            rate = re.search(r"\brate ([0-9.]+)", model["training"])[1]
            again = measure.analyze([records[f"{model['name']}-1-rate={rate}"]], self.text).numbers["models"][0]
            for cell, other in zip(model["cells"], again["cells"]):
                self.assertEqual(cell["bleu"], other["bleu"])
                for metric in measure.METRICS:
                    np.testing.assert_allclose(cell[metric], other[metric], atol=2e-3, err_msg=f"{cell['name']} {metric}")
            for stack in ("encoder", "decoder"):
                for state, other in zip(model["probes"][stack], again["probes"][stack]):
                    self.assertAlmostEqual(state["r2_seen"], other["r2_seen"], places=2)

    def test_page_of_the_experiment(self):
        """Each number of docs/encodings-compared.md is computed from what was measured."""
        found = subprocess.run([sys.executable, f"{source_dir}/tools/lab/encodings/page.py", "--check"], capture_output=True,
                               text=True, env={**os.environ, "PYTHONPATH": packages})
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.assertLessEqual(len((pathlib.Path(source_dir) / "docs/encodings-compared.md").read_text().splitlines()), 120)

    def test_scores(self):
        """sacrebleu's own, of the same translations."""
        references = (ZOO / "test.de").read_text(encoding="utf-8").splitlines()
        translator = ferry.Translator(ferry.Model(ZOO / "rope.gguf"), beam=1, max_source=1 << 20)
        texts = [each.text for each in translator.translate((ZOO / "test.en").read_text(encoding="utf-8").splitlines())]
        cell = self.found["models"][0]["cells"][0]
        self.assertAlmostEqual(cell["bleu"][0], sacrebleu.corpus_bleu(texts, [references]).score, places=6)
        self.assertAlmostEqual(cell["chrf"][0], sacrebleu.corpus_chrf(texts, [references]).score, places=6)

    def test_differences(self):
        rope, learned = self.found["models"]
        for one, other in zip(rope["cells"], learned["cells"]):
            (there,), (back,) = one["differences"], other["differences"]
            for key in measure.METRICS:
                difference = there[key]["difference"]
                self.assertAlmostEqual(difference[0], one[key][0] - other[key][0])
                self.assertAlmostEqual(difference[0], -back[key]["difference"][0])
                self.assertEqual(there[key]["p"], back[key]["p"])

    def test_page(self):
        """The page is complete, its tables are CSV, its pictures files, its numbers JSON."""
        comparison = measure.Comparison(self.found | {"cost": cost.measure(["alibi"], 1)}, self.comparison.analysis)
        with tempfile.TemporaryDirectory() as scratch:
            page = report.write(comparison, pathlib.Path(scratch) / "own")
            names = {path.name for path in page.parent.iterdir()}
            text = page.read_text(encoding="utf-8")
            numbers = json.loads((page.parent / "comparison.json").read_text())
            rows = list(csv.DictReader((page.parent / "bleu.csv").read_text().splitlines()))
        for name in ("bleu", "nats", "kept", "r2-encoder", "shift", "cost"):
            self.assertLessEqual({f"{name}{end}" for end in (".svg", ".png", "-dark.svg", "-dark.png")}, names)
        self.assertLessEqual({"probes.csv", "speed.csv", "cost.csv"}, names)
        self.assertEqual(float(rows[0]["17-31"]), round(self.found["models"][0]["cells"][3]["bleu"][0], 8))
        self.assertEqual([model["name"] for model in numbers["models"]], ["rope", "learned"])
        balance = []

        class Parser(HTMLParser):
            def handle_starttag(self, tag, _):
                if tag not in ("meta", "img", "source"):
                    balance.append(tag)

            def handle_endtag(self, tag):
                self_open = balance.pop()
                assert self_open == tag, f"</{tag}> ends <{self_open}>"

        Parser().feed(text)
        self.assertEqual(balance, [])
        self.assertNotRegex(text, r'(src|srcset|href)="(?!data:|#)')
        self.assertNotIn("$", re.sub("data:[^\"]*", "", text))
        self.assertIn("learned has rows for 256 positions", text)

    def test_cost_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            found = lab("compare", "--encodings", "alibi", "--longest", 32, "--output", f"{scratch}/cost")
            self.assertEqual((found.returncode, found.stdout), (0, f"{scratch}/cost/index.html\n"), found.stderr)
            self.assertIn("What does it cost?", (pathlib.Path(scratch) / "cost/index.html").read_text(encoding="utf-8"))

    def test_claims(self):
        facts = claims.Facts(self.comparison)
        self.assertEqual((facts.last_seen, facts.doubled, facts.farthest), ("17-31", "48-63", "96-127"))
        rope, learned = facts.models
        self.assertTrue(claims.is_relative(rope) and claims.is_absolute(learned) and not claims.is_relative(learned))
        self.assertLess(facts.contrast("nats", "48-63", [rope], [learned]).p(), 1e-6)
        self.assertGreater(facts.contrast("nats", "48-63", [rope], [learned]).value, 0)
        self.assertLess(facts.contrast("nats", "48-63", [learned], [rope]).value, 0)
        self.assertIs(facts.best("17-31", "nats"), rope)
        fails = claims.judge(next(claim for claim in claims.CLAIMS if claim.text.startswith("Absolute encodings fail")), facts)
        self.assertEqual((fails.verdict, [case for _, case in fails.cases]), ("cannot tell", ["open"]))
        self.assertIn("two seeds", fails.would)
        self.assertIn("rope has the best", claims.advice(facts)[0][1])

    def test_what_would_tell(self):
        """Where no test is open, but a measured cost, seeds would not help."""
        encodings = [{"name": name, "kind": kind, "encoder_ratio": {"512": ratio}, "step_ratio": {"512": ratio}} for name, kind, ratio in
                     (("none", "no_positions", [1, 1, 1]), ("rope", "relative", [1.05, 0.9, 1.2]))]
        slower = next(claim for claim in claims.CLAIMS if claim.text == "Relative encodings are slower.")
        for models in (self.found["models"], [self.found["models"][0] | {"seeds": [1, 2]}]):
            numbers = self.found | {"models": models, "cost": {"encodings": encodings}}
            found = claims.judge(slower, claims.Facts(measure.Comparison(numbers, self.comparison.analysis)))
            self.assertEqual((found.verdict, found.would), ("cannot tell", "a quieter machine, or more rounds"))

    def test_seeds(self):
        """Records of more seeds, kept in a file: they make one model of several, decide claims, and cost certainty."""
        one = {path.stem: record.record(path, self.text, threads=2) for path in (ZOO / "rope.gguf", ZOO / "learned.gguf")}
        records = []
        for name, own in one.items():
            for seed, factor in ((1, 1.0), (2, 1.02), (3, 0.99)):
                sums, counts = own["columns"]["nats"]
                other = own | {"name": f"{name}-{seed}", "path": f"{name}-{seed}.gguf", "seed": seed}
                other["columns"] = own["columns"] | {"nats": [[value * factor for value in sums], counts]}
                records.append(other)
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "runs.json.xz"
            record.save(path, records)
            comparison = measure.analyze(record.load(path), self.text)
            path.write_bytes(b"nothing")
            with self.assertRaisesRegex(ValueError, "runs.json.xz: not a file of records"):
                record.load(path)
        names = [(model["name"], model["seeds"]) for model in comparison.numbers["models"]]
        self.assertEqual(names, [("rope", [1, 2, 3]), ("learned", [1, 2, 3])])
        cells = [model["cells"][3]["nats"] for model in comparison.numbers["models"]]
        for cell, model in zip(cells, self.found["models"]):
            self.assertAlmostEqual(cell[0], model["cells"][3]["nats"][0] * np.mean([1, 1.02, 0.99]), places=4)
        values = [[own["cells"][3]["nats"][0] * factor for factor in (1, 1.02, 0.99)] for own in self.found["models"]]
        pooled = sum(np.var(each, ddof=1) for each in values) / 2
        assert comparison.analysis
        self.assertAlmostEqual(comparison.analysis.spread("nats", "17-31")[0], pooled, places=4)
        self.assertEqual(comparison.analysis.spread("nats", "17-31")[1], 4)
        fails = claims.judge(claims.CLAIMS[0], claims.Facts(comparison))
        self.assertEqual(fails.verdict, "measured: for it")
        self.assertEqual([len(group) for group in measure.grouped([*records, one["rope"]])], [3, 3, 1])  # a seed that is not known
        with self.assertRaisesRegex(ValueError, "another text"):
            measure.analyze([records[0] | {"text": ""}], self.text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
