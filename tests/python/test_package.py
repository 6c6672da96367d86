"""What the package does: test_package.py PACKAGES SOURCE_DIR FERRY"""
import gc
import itertools
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

packages, source_dir, program = sys.argv[1:4]
sys.path.insert(0, packages)
import ferry  # noqa: E402
from ferry import Status  # noqa: E402

SHIPPED = os.path.join(source_dir, "models/pretrained/tatoeba-en-de.gguf")
MORNING = ("Good morning!", "Guten Morgen!")
STATION = "Where is the nearest station, please?"


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ferry.Model(SHIPPED)

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def refused(self, status, part, function, *arguments, **options):
        with self.assertRaises(ferry.FerryError) as caught:
            function(*arguments, **options)
        self.assertIs(caught.exception.status, status)
        self.assertIn(part, str(caught.exception))


class Models(Base):
    def test_info(self):
        self.assertEqual(self.model.info["languages"], "en de")
        languages = self.model.languages
        self.assertEqual([language.tag for language in languages], ["en", "de"])
        self.assertIn("eng", languages[0].names)
        self.assertEqual([language.english for language in languages], ["English", "German"])
        self.assertEqual(languages[1].roles, ferry.Role.TARGET | ferry.Role.DEFAULT_TARGET)
        self.model.verify()
        self.assertRegex(ferry.__version__, r"^\d+\.\d+\.\d+$")

    def test_errors(self):
        self.refused(Status.IO, SHIPPED + ".missing", ferry.Model, SHIPPED + ".missing")
        self.refused(Status.FORMAT, "", ferry.Model, b"GGUF")
        with self.assertRaisesRegex(ValueError, "NUL"):
            ferry.Model(SHIPPED + "\0.missing")
        with self.assertRaises(ferry.FerryError) as caught:
            ferry.Translator(self.model, beam=1025)
        self.assertEqual(caught.exception.argument, "beam")
        for wrong in (SHIPPED, None, 5):
            with self.assertRaisesRegex(TypeError, "model: expected a Model"):
                ferry.Translator(wrong)

    def test_bytes(self):
        data = bytearray(pathlib.Path(SHIPPED).read_bytes())
        for view in (data, memoryview(data), bytes(data)):
            with ferry.Model(view) as model, ferry.Translator(model) as translator:
                self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])
        with ferry.Model(pathlib.Path(SHIPPED)) as model:
            self.assertEqual(model.info, self.model.info)

    def test_closing(self):
        """A translator outlives its model's close; what is closed is refused."""
        model = ferry.Model(SHIPPED)
        translator = ferry.Translator(model)
        model.close()
        self.refused(Status.ARGUMENT, "model", ferry.Translator, model)
        del model
        gc.collect()
        self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])
        translator.close()
        translator.cancel()
        self.refused(Status.ARGUMENT, "translator", translator.translate, MORNING[0])

    def test_properties_of_what_is_closed(self):
        model = ferry.Model(SHIPPED)
        translator = ferry.Translator(model)
        for made in (model, translator):
            properties = [name for name, value in vars(type(made)).items() if isinstance(value, property)]
            self.assertTrue(properties)
            made.close()
            for name in properties:
                with self.assertRaisesRegex(ValueError, f"{type(made).__name__.lower()}: it is closed"):
                    getattr(made, name)

    def test_convert(self):
        folder = os.path.join(source_dir, "tests/data/models/marian-separate")
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "own.gguf")
            with ferry.convert(folder, path, "--type", "int8", program=program) as model:
                self.assertGreater(int(model.info["parameters"]), 0)
            self.refused(Status.FORMAT, "nowhere", ferry.convert, scratch + "/nowhere", path, program=program)
            self.refused(Status.IO, "no-such-program", ferry.convert, folder, path, program="no-such-program")


class Options(Base):
    def test_refused(self):
        """By the name of the option."""
        for error, name, value in (
                (TypeError, "beem", 1), (ValueError, "beam", 2**40), (ValueError, "beam", -2**31 - 1), (TypeError, "beam", "4"),
                (TypeError, "beam", 2.5), (ValueError, "seed", -1), (ValueError, "memory_limit", 2**64),
                (TypeError, "length_penalty", "1"), (ValueError, "length_penalty", float("nan")),
                (ValueError, "temperature", 1e300), (TypeError, "temperature", True), (ValueError, "split", "words"),
                (ValueError, "split", 1), (TypeError, "from_", 5), (ValueError, "to", "d\0e"), (TypeError, "suppressed_ids", "12"),
                (ValueError, "suppressed_ids", [2**31]), (TypeError, "progress", 3)):
            with self.assertRaisesRegex(error, name):
                ferry.Translator(self.model, **{name: value})
        for name, value in (("beam", 0), ("nbest", 100), ("alignment", 7)):
            self.refused(Status.ARGUMENT, name, ferry.Translator, self.model, **{name: value})
        self.refused(Status.ARGUMENT, "tlh", ferry.Translator, self.model, from_="en", to="tlh")

    def test_languages(self):
        with ferry.Translator(self.model, from_="en", to="deu") as translator:
            self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])

    def test_search(self):
        """Options of the search reach it, the others stay as the model's authors chose."""
        plain, other = (ferry.Translator(self.model, beam=1, scores=True, **options).translate(STATION)
                        for options in ({}, {"word_penalty": 1.0}))
        self.assertEqual(other.text, plain.text)
        self.assertLess(other.score, plain.score)
        first = ferry.Translator(self.model, alignment=True).translate(STATION).tokens[0].id
        kept_out = ferry.Translator(self.model, alignment=True, suppressed_ids=[first]).translate(STATION)
        self.assertNotIn(first, [token.id for token in kept_out.tokens])
        self.assertEqual(ferry.Translator(self.model, policy="marian", beam=1).translate(MORNING[0]).text, MORNING[1])

    def test_glossary(self):
        words = {"landlord": ["Vermieter", "Vermieters"], "dog": "Katze", "Ferry": None}
        translator = ferry.Translator(self.model, glossary=words)
        gc.collect()
        one, other = translator.translate(["My landlord has a dog.", "I like Ferry."])
        for word, text in (("Vermieter", one.text), ("Katze", one.text), ("Ferry", other.text)):
            self.assertIn(word, text)
        self.assertEqual(ferry.Translator(self.model, glossary={}).translate(MORNING[0]).text, MORNING[1])
        for wrong in (["dog"], {"dog": 5}, {"dog": ["Hund", 5]}, {5: "x"}, {"dog": b"Hund"}):
            with self.assertRaisesRegex(TypeError, "glossary: expected"):
                ferry.Translator(self.model, glossary=wrong)
        self.refused(Status.ARGUMENT, "found a blank one", ferry.Translator, self.model, glossary={"dog": " "})
        self.refused(Status.ARGUMENT, "with a glossary", ferry.Translator, self.model, glossary=words, beam=1, sample=True)

    def test_sampling(self):
        draws = []
        for seed in (1, 1, 2):
            with ferry.Translator(self.model, beam=1, sample=True, nbest=5, temperature=2.0, top_k=50, seed=seed) as translator:
                draws.append([each.text for each in translator.translate(STATION).hypotheses])
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])


class Translations(Base):
    def test_one_and_many(self):
        texts = [MORNING[0], " ", "a\0b", STATION, ""]
        with ferry.Translator(self.model, beam=4, nbest=3, scores=True) as translator:
            many = list(translator.translate(texts))
            self.assertEqual([translator.translate(text) for text in texts], many)
            self.assertEqual(list(translator.translate([])), [])
            self.assertEqual(list(translator.translate(iter(texts[:1]))), many[:1])
        best, *others = many[0].hypotheses
        self.assertEqual((best.text, best.score, many[0].text, many[1].text), (*MORNING[1:], many[0].score, MORNING[1], " "))
        self.assertTrue(0 > best.score > others[0].score > others[1].score)
        self.assertEqual((many[0].status, many[0].error, many[0].warning, many[0].quality), (Status.OK, None, None, 0))

    def test_types(self):
        translator = ferry.Translator(self.model)
        for wrong in (b"abc", bytearray(b"abc"), 5, None):
            with self.assertRaisesRegex(TypeError, "texts: "):
                translator.translate(wrong)
        for wrong in (["a", 3], ["a", b"b"], ["a", None]):
            with self.assertRaisesRegex(TypeError, "texts: expected str, found .* at 1"):
                list(translator.translate(wrong))
        with self.assertRaisesRegex(TypeError, "prefixes"):
            translator.translate(["a"], "b")
        with self.assertRaisesRegex(ValueError, "errors"):
            translator.translate("a", errors="ignore")

    def test_stream(self):
        """Bounded in advance, in order."""
        read = []

        def endless():
            for number in itertools.count():
                read.append(number)
                yield f"I have {number} apples."
        with ferry.Translator(self.model, beam=1, batch=4, threads=2) as translator:
            found = list(itertools.islice(translator.translate(endless()), 80))
            self.assertLessEqual(len(read), 80 + 32)
            self.assertEqual([each.text for each in found],
                             [translator.translate(f"I have {number} apples.").text for number in range(80)])

    def test_unpaired_surrogates(self):
        self.assertIn("UTF-8", ferry.Translator(self.model).translate("Hello \ud800 world.").warning)

    def test_texts_of_lines(self):
        text = "Good morning!\n\n\tHow are you?\r\n"
        with ferry.Translator(self.model) as translator:
            one, several = translator.translate([MORNING[0], text])
            self.assertEqual([one.text, several.text], [MORNING[1], "Guten Morgen!\n\n\tWie geht es dir?\r\n"])
            self.assertEqual(several, translator.translate_text(text))
            with self.assertRaisesRegex(ValueError, "prefixes"):
                translator.translate(text, "Guten")

    def test_text(self):
        """Ranges are of characters, where bytes are others."""
        text = "Good morning, Zoë… How are you?\r\n\r\n\t“Good morning!”\n"
        translation = ferry.Translator(self.model).translate_text(text)
        sentences = [text[sentence.source] for sentence in translation.sentences]
        self.assertEqual(sentences, ["Good morning, Zoë…", "How are you?", "“Good morning!”"])
        self.assertEqual(translation.text[translation.sentences[1].target], "Wie geht es dir?")
        rest = translation.text
        for sentence in reversed(translation.sentences):
            self.assertEqual(translation.text[sentence.target], sentence.translation.text)
            rest = rest[: sentence.target.start] + rest[sentence.target.stop :]
        self.assertEqual(rest, " \r\n\r\n\t\n")
        self.assertIn(ferry.Quality.UNKNOWN, translation.quality)

    def test_prefixes(self):
        with ferry.Translator(self.model, beam=1, alternatives=True, nbest=3) as translator:
            result, free = translator.translate([MORNING[0]] * 2, ["Guten Tag", ""])
            self.assertTrue(all(each.text.startswith("Guten Tag") for each in result.hypotheses), result)
            self.assertEqual(len({each.text for each in free.hypotheses}), 3)
            for texts, prefixes in ((["a", "b"], ["c"]), (["a"], ["b", "c"])):
                with self.assertRaisesRegex(ValueError, "prefixes"):
                    list(translator.translate(texts, prefixes))

    def test_tokens(self):
        text = "Zoë’s house is green."
        found = ferry.Translator(self.model, alignment=True, scores=True).translate(text)
        self.assertEqual("".join(found.text[token.begin : token.end] for token in found.tokens), found.text.replace(" ", ""))
        self.assertEqual("".join(text[token.begin : token.end] for token in found.source_tokens).replace(" ", "")[:2], "Zo")
        self.assertEqual([token.end for token in found.source_tokens[-2:]], [len(text)] * 2)
        self.assertEqual(len(found.alignment), len(found.tokens))
        for row in found.alignment:
            self.assertEqual(len(row), len(found.source_tokens))
            self.assertAlmostEqual(sum(row), 1, places=5)

    def test_parts(self):
        """Tokens of a part of a long line look at this part alone."""
        found = ferry.Translator(self.model, alignment=True, max_source=12, split="none").translate(3 * (STATION + " "))
        self.assertEqual(sum(found.alignment[-1][:10]), 0)
        self.assertAlmostEqual(sum(found.alignment[-1]), 1, places=5)

    def test_score(self):
        with ferry.Translator(self.model, beam=1, scores=True, length_penalty=1.0) as translator:
            texts = [MORNING[0], STATION]
            translations = list(translator.translate(texts))
            scored = list(translator.score(texts, [each.text for each in translations]))
            self.assertEqual(translator.score(*MORNING), next(translator.score(MORNING[:1], MORNING[1:])))
            for pair in ((texts, MORNING[:1]), (texts[:1], texts)):
                with self.assertRaisesRegex(ValueError, "targets"):
                    list(translator.score(*pair))
            with self.assertRaisesRegex(TypeError, "targets"):
                translator.score("a", ["b"])
        for each, own in zip(translations, scored):
            self.assertEqual(own.text, each.text)
            self.assertAlmostEqual(own.score, each.score, places=3)
            self.assertAlmostEqual(own.score, sum(token.log_probability for token in own.tokens) / len(own.tokens), places=4)

    def test_failed(self):
        """It raises, unless the caller wants to keep the others."""
        with ferry.Translator(self.model, memory_limit=1 << 17, batch=1) as translator:
            self.refused(Status.LIMIT, "text 0: option memory_limit", translator.translate, MORNING[0])
            stream = translator.translate(20 * [""] + [MORNING[0]])
            self.assertEqual([next(stream).text for _ in range(20)], 20 * [""])
            self.refused(Status.LIMIT, "text 20: ", next, stream)
            failed, blank = translator.translate([MORNING[0], ""], errors="keep")
            self.refused(Status.LIMIT, "", translator.translate_text, "Good\0morning!")
            text = translator.translate_text("Good\0morning!", errors="keep")
        self.assertEqual((failed.text, list(failed.hypotheses), failed.status), ("", [], Status.LIMIT))
        self.assertIn("memory_limit", failed.error)
        self.assertIs(blank.status, Status.OK)
        self.assertEqual((text.text, text.status), ("Good\0morning!", Status.LIMIT))

    def test_threads(self):
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(ferry.Translator(self.model).translate(MORNING[0]).text))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [MORNING[1]] * 4)


class Callbacks(Base):
    def test_partial(self):
        """From the library's own threads, too; an exception there ends the call."""
        seen, lines = {}, [STATION, MORNING[0]]
        for threads in (1, 2):
            seen.clear()
            with ferry.Translator(self.model, beam=1, threads=threads,
                                  partial=lambda line, text: seen.setdefault(line, []).append(text)) as translator:
                for line, result in enumerate(translator.translate(lines)):
                    self.assertGreater(len(seen[line]), 2)
                    self.assertEqual(seen[line][-1], result.text)
            with ferry.Translator(self.model, beam=1, threads=threads, partial=lambda line, text: 1 / 0) as translator:
                with self.assertRaises(ZeroDivisionError):
                    list(translator.translate(lines))

    def test_progress(self):
        seen = []
        with ferry.Translator(self.model, batch=1, progress=lambda *counts: seen.append(counts)) as translator:
            list(translator.translate([MORNING[0]] * 3))
            self.assertEqual(seen[-1], (3, 3))
        seen.clear()
        with ferry.Translator(self.model, batch=1, progress=lambda *counts: seen.append(counts) or counts[0] >= 2) as translator:
            found = list(translator.translate([MORNING[0]] * 50, errors="keep"))
            self.assertEqual(len(found), 50)
            self.assertEqual({each.status for each in found}, {Status.OK, Status.CANCELLED})
            self.assertLess(len(seen), 8)

    def test_raising(self):
        class Expected(BaseException):
            pass

        def progress(done, total):
            if raising:
                raise Expected(done)

        with ferry.Translator(self.model, batch=1, progress=progress) as translator:
            for raising in (True, False, True):
                if raising:
                    with self.assertRaises(Expected):
                        list(translator.translate([MORNING[0]] * 50))
                else:
                    self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])

    def test_call_of_a_callback(self):
        with ferry.Translator(self.model, progress=lambda done, total: translator.translate(STATION)) as translator:
            self.refused(Status.ARGUMENT, "call in progress", translator.translate, MORNING[0])

    def test_cancel(self):
        """Other threads run during a call, and end it. Closing then, too, waits for the call."""
        for end in (ferry.Translator.cancel, lambda translator: (translator.cancel(), translator.close())):
            started, found = threading.Event(), []
            translator = ferry.Translator(self.model, batch=500, progress=lambda done, total: started.set())
            thread = threading.Thread(target=lambda: found.extend(translator.translate([STATION] * 4000, errors="keep")))
            thread.start()
            started.wait()
            end(translator)
            thread.join()
            self.assertIs(found[0].status, Status.OK)
            self.assertEqual((len(found), found[-1].status, found[-1].error), (4000, Status.CANCELLED, "cancelled"))

    def test_cancel_between_calls(self):
        """It leaves the calls that follow alone, in whatever thread, but ends an iterator that is not read to its end."""
        with ferry.Translator(self.model) as translator:
            for call in (lambda: translator.translate(MORNING[0]), lambda: next(translator.translate([MORNING[0]])),
                         lambda: translator.translate_text(MORNING[0]), lambda: translator.score(*MORNING)):
                for _ in range(2):
                    translator.cancel()
                    self.assertEqual(call().text, MORNING[1])
            translator.cancel()
            found = []
            thread = threading.Thread(target=lambda: found.append(translator.translate(MORNING[0]).text))
            thread.start()
            thread.join()
            self.assertEqual(found, [MORNING[1]])
        with ferry.Translator(self.model, batch=1) as translator:
            texts = translator.translate([MORNING[0]] * 50, errors="keep")
            found = [next(texts)]
            translator.cancel()
            self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])
            found += texts
            self.assertEqual([each.status for each in found], [Status.OK] * 8 + [Status.CANCELLED] * 42)

    def test_cancel_at_once(self):
        """A call that is cancelled as it begins ends: before it has a number, and before the library is called."""
        with ferry.Translator(self.model) as translator:
            for owner, function in ((ferry._native.lib, "ferry_translator_job"), (threading.Thread, "start")):
                real = getattr(owner, function)
                for before in (True, False) if owner is not threading.Thread else (True,):
                    def cancelling(*arguments):
                        if before:
                            translator.cancel()
                        result = real(*arguments)
                        if not before:
                            translator.cancel()
                        return result

                    with unittest.mock.patch.object(owner, function, cancelling):
                        self.refused(Status.CANCELLED, "cancelled", translator.translate, MORNING[0])
                        lines = [f"{MORNING[0]}\n{MORNING[0]}", MORNING[0]]
                        self.assertEqual({each.status for each in translator.translate(lines, errors="keep")},
                                         {Status.CANCELLED})
                    self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])


class Interrupts(Base):
    """Ctrl-C."""

    times = []

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        print("seconds from Ctrl-C to its exception:", *(f"{each:.3f}" for each in cls.times), flush=True)

    def interrupted(self, call, **options):
        times = []

        def interrupt():
            time.sleep(0.3)
            times.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        with ferry.Translator(self.model, beam=4, batch=64, **options) as translator:
            thread = threading.Thread(target=interrupt)
            thread.start()
            with self.assertRaises(KeyboardInterrupt):
                call(translator)
            self.times.append(time.monotonic() - times[0])
            self.assertLess(self.times[-1], 10)  # of minutes
            thread.join()
            self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])

    def test_interrupts(self):
        lines = [f"{STATION} {number}" for number in range(100000)]
        for options in ({}, {"progress": lambda done, total: None}, {"threads": 2}):
            self.interrupted(lambda translator: list(translator.translate(lines)), **options)
        self.interrupted(lambda translator: list(translator.score(lines, lines)))
        self.interrupted(lambda translator: translator.translate_text(" ".join(lines)))

    def test_partial(self):
        with ferry.Translator(self.model, beam=1, partial=lambda line, text: line == 0 and os.kill(
                os.getpid(), signal.SIGINT)) as translator:
            with self.assertRaises(KeyboardInterrupt):
                list(translator.translate([STATION] * 100000))

    def test_between_calls(self):
        """An interrupt that comes as a call ends does not end the next one."""
        with ferry.Translator(self.model) as translator:
            for number in range(40):
                timer = threading.Timer(0.01 + 0.00025 * number, os.kill, (os.getpid(), signal.SIGINT))
                try:
                    timer.start()
                    while True:
                        translator.translate(MORNING[0])
                except KeyboardInterrupt:
                    timer.join()
                self.assertEqual(translator.translate(MORNING[0]).text, MORNING[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
