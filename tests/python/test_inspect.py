"""What ferry.inspect gives, against formulas and against other ways to the same numbers: test_inspect.py PACKAGES SOURCE_DIR"""
import gc
import os
import sys
import unittest

import numpy as np

packages, source_dir = sys.argv[1:3]
sys.path.insert(0, packages)
import ferry  # noqa: E402
from ferry import inspect  # noqa: E402

MODELS = os.path.join(source_dir, "models/encodings")
PAIRS = (("Good morning!", "Guten Morgen!"), ("I am here.", "Ich bin hier."), ("Where is the station?", "Wo ist der Bahnhof?"))


def model(name):
    return ferry.Model(os.path.join(MODELS, name + ".gguf"))


class Inspect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = model("rope")
        cls.sources = [inspect.tokenize(cls.model, source) for source, _ in PAIRS]
        cls.targets, cls.lead = inspect.targets(cls.model, [target for _, target in PAIRS])

    def test_facts(self):
        sizes, scheme = inspect.sizes(self.model), inspect.scheme(self.model, "encoder")
        self.assertEqual((sizes.d_model, sizes.encoder_layers, sizes.decoder_heads, sizes.target_vocab), (128, 2, 4, 4000))
        self.assertEqual((scheme.name, scheme.kind, scheme.limit, scheme.for_long_texts), ("rope", "relative", 0, True))
        self.assertEqual(inspect.scheme(model("learned"), "decoder").kind, "absolute")
        self.assertEqual(inspect.scheme(model("rope-none"), "decoder").kind, "no_positions")
        self.assertEqual(inspect.training(self.model).longest, 31)
        self.assertIn("rope", inspect.name(self.model))
        self.assertIn("encoder-decoder Transformer", inspect.describe(self.model))
        self.assertEqual(inspect.encodings()[0], "none")
        self.assertEqual(inspect.isa(inspect.open_model(os.path.join(MODELS, "rope.gguf"), "plain")), "plain")

    def test_other_parameters_than_the_file(self):
        scaled = inspect.open_model(os.path.join(MODELS, "rope.gguf"), position="theta=40000 scaling=linear factor=2")
        self.assertRegex(inspect.scheme(scaled, "decoder").parameters, "theta 40000.*linear.*factor 2")
        one, other = (inspect.logits(each, self.sources, self.targets)[0] for each in (self.model, scaled))
        self.assertFalse(np.allclose(one, other, atol=1e-3))
        with self.assertRaisesRegex(ferry.FerryError, "factor=2"):
            inspect.open_model(os.path.join(MODELS, "rope.gguf"), position="factor=2")

    def test_ids(self):
        self.assertEqual([len(each) for each in self.sources], [6, 5, 6])
        self.assertEqual(self.lead, 1)
        pieces = "".join(inspect.piece(self.model, "decoder", int(id)) for id in self.targets[0][1:])
        self.assertEqual(pieces.replace("\u2581", " ").strip(), PAIRS[0][1])
        translator = ferry.Translator(self.model, beam=1)
        for (text, _), (translation, ids) in zip(PAIRS, inspect.translated(translator, [pair[0] for pair in PAIRS])):
            self.assertEqual(translation, translator.translate(text))
            own, _ = inspect.targets(self.model, [translation.text])
            self.assertEqual(list(ids[:-1]), list(own[0][1:]))
            self.assertEqual(ids[-1], inspect.sizes(self.model).eos_id)
        self.assertEqual(inspect.target_limit(ferry.Translator(self.model, max_length=7), 100), 7)

    def test_activations(self):
        """Two ways to the same numbers."""
        whole = inspect.logits(self.model, self.sources, self.targets)
        steps = inspect.logits(self.model, self.sources, self.targets, step_by_step=True)
        for one, other, target in zip(whole, steps, self.targets):
            self.assertEqual(one.shape, (len(target), 4000))
            np.testing.assert_allclose(one, other, atol=1e-4)
        for states, output, ids in zip(inspect.hidden(self.model, "encoder", self.sources),
                                       inspect.encode(self.model, self.sources), self.sources):
            self.assertEqual(states.shape, (3, len(ids), 128))
            np.testing.assert_array_equal(states[-1], output)
        decoder = inspect.hidden(self.model, "decoder", self.sources, self.targets)
        self.assertEqual([each.shape for each in decoder], [(3, len(ids), 128) for ids in self.targets])

    def test_likelihood(self):
        """As Translator.score has it."""
        scored = ferry.Translator(self.model).score(*zip(*PAIRS))
        for logits, target, own in zip(inspect.logits(self.model, self.sources, self.targets), self.targets, scored):
            exact = logits.astype(np.float64)
            found = exact - np.log(np.exp(exact).sum(1, keepdims=True))
            expected = [*target[1:], inspect.sizes(self.model).eos_id]
            np.testing.assert_allclose(found[np.arange(len(expected)), expected],
                                       [token.log_probability for token in own.tokens], atol=2e-3)

    def test_attention(self):
        shapes = {"encoder_self": (6, 6), "decoder_self": (6, 6), "cross": (6, 6)}
        for kind, shape in shapes.items():
            weights = inspect.attention(self.model, kind, self.sources[0], self.targets[0])
            self.assertEqual(weights.shape, (2, 4, *shape))
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        causal = inspect.attention(self.model, "decoder_self", self.sources[0], self.targets[0])
        self.assertEqual(np.triu(causal, 1).max(), 0)

    def test_positions(self):
        """Formulas of the papers."""
        rows = inspect.position_rows(model("sinusoidal"), "encoder", 50)
        angles = np.arange(50)[:, None] / 10000 ** (np.arange(64) / 64)  # Vaswani et al. 2017, sines before cosines
        np.testing.assert_allclose(rows, np.concatenate([np.sin(angles), np.cos(angles)], 1), atol=1e-4)
        for head in range(4):  # Press et al. 2022
            scores = inspect.position_scores(model("alibi"), "decoder", 0, head, 20)
            np.testing.assert_allclose(scores, -(2.0 ** (-2 * (head + 1))) * np.arange(19, -1, -1), rtol=1e-6, atol=1e-6)
        q, k = (np.random.default_rng(1).normal(size=(2, 32))).astype(np.float32)  # Su et al. 2021: halves are pairs
        scores, at = inspect.position_scores(self.model, "encoder", 0, 0, 9, q, k), np.arange(-8, 9)
        pairs = (q[:16] + 1j * q[16:]) * np.conj(k[:16] + 1j * k[16:])
        rotated = (pairs * np.exp(-1j * at[:, None] * 10000 ** (-np.arange(16) / 16))).sum(1).real
        np.testing.assert_allclose(scores, rotated / np.sqrt(32), atol=1e-4)
        with self.assertRaises(ferry.FerryError) as caught:
            inspect.position_rows(self.model, "encoder", 3)
        self.assertIs(caught.exception.status, ferry.Status.UNSUPPORTED)

    def test_timers(self):
        timer = inspect.Timer(inspect.untrained("rope", d_model=64, heads=2, ffn_width=64), 16, 8)
        gc.collect()  # the timer keeps its model
        self.assertGreater(timer.run(), 0)
        self.assertEqual(timer.memory.token, 6 * 2 * 64 * 4)
        translator = ferry.Translator(self.model)
        inspect.profile(translator)
        translator.translate(PAIRS[0][0])
        phases = inspect.profile(translator)
        self.assertEqual(phases["tokenizing"][1], 1)
        self.assertGreater(phases["encoder"][0], 0)

    def test_refused(self):
        for error, call in (
                (TypeError, lambda: inspect.encode(self.model, ["abc"])), (TypeError, lambda: inspect.encode(self.model, "abc")),
                (TypeError, lambda: inspect.encode(self.model, [[1.5]])), (ValueError, lambda: inspect.encode(self.model, [[2**40]])),
                (ferry.FerryError, lambda: inspect.encode(self.model, [[4000]])), (ferry.FerryError, lambda: inspect.encode(self.model, [])),
                (ValueError, lambda: inspect.logits(self.model, self.sources, self.targets[:1])),
                (ValueError, lambda: inspect.position_scores(self.model, "encoder", 0, 0, 4, np.ones(31), np.ones(32))),
                (ferry.FerryError, lambda: inspect.untrained("juggling")), (TypeError, lambda: inspect.targets(self.model, "a")),
                (ferry.FerryError, lambda: inspect.open_model(os.path.join(MODELS, "rope.gguf"), "abacus"))):
            with self.assertRaises(error):
                call()
        for call in (inspect.sizes, inspect.describe, lambda each: inspect.encode(each, [[1]]), inspect.profile,
                     lambda each: inspect.Timer(each, 4), lambda each: inspect.target_limit(each, 4)):
            for wrong in ("rope.gguf", None):
                with self.assertRaisesRegex(TypeError, "expected a (Model|Translator)"):
                    call(wrong)
        closed = model("rope")
        closed.close()
        for call in (inspect.sizes, inspect.describe, inspect.isa, lambda each: inspect.encode(each, [[1]])):
            with self.assertRaisesRegex(ferry.FerryError, "model"):
                call(closed)
        timer = inspect.Timer(model("rope"), 4)
        timer.close()
        with self.assertRaisesRegex(ValueError, "timer: it is closed"):
            timer.memory


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
