"""python_module.py MODULE LIBRARY HEADER CC MODEL: what examples/python/ferry.py declares is what ferry.h does, and its
interface works."""
import ctypes
import gc
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

module_path, library, header_path, compiler, model_path = sys.argv[1:]
os.environ["FERRY_LIBRARY"] = library
sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location("ferry", module_path)
ferry = importlib.util.module_from_spec(specification)
sys.modules["ferry"] = ferry
specification.loader.exec_module(ferry)
header = re.sub(r"/\*.*?\*/", "", pathlib.Path(header_path).read_text(encoding="utf-8"), flags=re.DOTALL)
MORNING = ("Good morning!", "Guten Morgen!")


class Declarations(unittest.TestCase):
    """Two descriptions of one interface."""

    def test_structures(self):
        """Names of fields from the header's text, offsets and sizes from the compiler."""
        structures = [each for each in vars(ferry).values() if isinstance(each, type(ctypes.Structure))]
        self.assertGreaterEqual(len(structures), 4)
        lines, found = [], []
        for structure in structures:
            name = structure.__name__
            body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), header, re.DOTALL).group(1)
            fields = []
            for declaration in body.split(";")[:-1]:
                function = re.search(r"\(\*(\w+)\)", declaration)
                names = [function.group(1)] if function else re.sub(r"\[.*?\]", "", declaration).split(",")
                fields += [re.search(r"\w+$", each.strip()).group(0) for each in names]
            self.assertEqual([field for field, _ in structure._fields_], fields, name)
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            found.append(f"{name} {ctypes.sizeof(structure)}")
            for field, kind in structure._fields_:
                value = f"(({name} *)0)->{field}"
                facts = f"offsetof({name}, {field}), sizeof({value}), _Generic({value}, float: 1, default: 0)"
                lines.append(f'printf("{name}.{field} %zu %zu %d\\n", {facts});')
                at = getattr(structure, field)
                found.append(f"{name}.{field} {at.offset} {at.size} {int(kind is ctypes.c_float)}")
        self.assertEqual(found, self.printed_by_c(lines))

    def printed_by_c(self, lines):
        with tempfile.TemporaryDirectory() as scratch:
            program = os.path.join(scratch, "layout")
            includes = [f'#include "{os.path.abspath(header_path)}"', "#include <stdio.h>"]
            source = "\n".join([*includes, "int main(void) {", *lines, "}"])
            subprocess.run([compiler, "-x", "c", "-", "-o", program], input=source, check=True, text=True)
            return subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()

    def test_functions(self):
        """Number and kind of all parameters."""
        scalars = {"int": ctypes.c_int, "ferry_status": ctypes.c_int, "size_t": ctypes.c_size_t,
                   "float": ctypes.c_float, "ferry_text": ferry._Text, "void": None}
        pointers = {"char": ctypes.c_char_p, "ferry_error": ctypes.POINTER(ferry._Error),
                    "ferry_options": ctypes.POINTER(ferry._Options), "ferry_text": ctypes.POINTER(ferry._Text),
                    "ferry_outcome": ctypes.POINTER(ferry._Outcome), "ferry_language": ctypes.POINTER(ferry._Language),
                    "ferry_sentence": ctypes.POINTER(ferry._Sentence), "size_t": ctypes.POINTER(ctypes.c_size_t)}

        def ctype(declared):
            base, stars = re.fullmatch(r"\s*(?:const\s+)?(\w+)\s*(\**)\s*\w*\s*", declared).groups()
            if len(stars) == 2:
                return ctypes.POINTER(ctypes.c_void_p)
            return pointers.get(base, ctypes.c_void_p) if stars else scalars[base]

        prototypes = {name: (result, parameters) for result, name, parameters in
                      re.findall(r"FERRY_API ([\w ]+\**)\s*(ferry_\w+)\(([^;]*)\);", header)}
        self.assertGreater(len(prototypes), 30)
        for names, result, parameters in ferry._FUNCTIONS:
            for name in names.split():
                of_header = prototypes["ferry_" + name]
                self.assertIs(result, ctype(of_header[0]), name)
                self.assertEqual(parameters, [ctype(each) for each in of_header[1].split(",")], name)

    def test_enumerations(self):
        declared = {name: int(value) for name, value in re.findall(r"FERRY_LANGUAGE_(\w+) = (\d+)", header)}
        self.assertEqual({each.name: each.value for each in ferry.Role}, declared)
        declared = {error or ok: int(value)
                    for error, ok, value in re.findall(r"FERRY_(?:ERROR_(\w+)|(OK)) = (\d+)", header)}
        self.assertEqual({each.name: each.value for each in ferry.Status}, declared)
        self.assertIn("FERRY_OPEN_COPY = 1", header)

    def test_length(self):
        self.assertLessEqual(len(pathlib.Path(module_path).read_text(encoding="utf-8").splitlines()), 200)


class Translations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ferry.Model(model_path)

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def refused(self, status, part, function, *arguments, **options):
        with self.assertRaises(ferry.FerryError) as caught:
            function(*arguments, **options)
        self.assertIs(caught.exception.status, status)
        self.assertIn(part, str(caught.exception))

    def test_model(self):
        self.assertEqual(self.model.info["languages"], "en de")
        languages = self.model.languages
        self.assertEqual([language.tag for language in languages], ["en", "de"])
        self.assertIn("eng", languages[0].names)
        self.assertEqual([language.english for language in languages], ["English", "German"])
        self.assertEqual(languages[1].roles, ferry.Role.TARGET | ferry.Role.DEFAULT_TARGET)
        self.refused(ferry.Status.IO, model_path + ".missing", ferry.Model, model_path + ".missing")
        self.refused(ferry.Status.FORMAT, "", ferry.Model, b"GGUF")

    def test_bytes(self):
        data = bytearray(pathlib.Path(model_path).read_bytes())
        for view in (data, memoryview(data), bytes(data)):
            with ferry.Model(view) as model, ferry.Translator(model) as translator:
                self.assertEqual(translator.translate(MORNING[:1])[0].text, MORNING[1])
        with ferry.Model(pathlib.Path(model_path)) as model:
            self.assertEqual(model.info, self.model.info)

    def test_lines(self):
        with ferry.Translator(self.model, beam=4, nbest=3, scores=1) as translator:
            results = translator.translate(["Good morning!", " ", "a\0b"])
            self.assertEqual(translator.translate([]), [])
        self.assertEqual([results[0].text, results[1].text], [MORNING[1], " "])
        best, *others = results[0].hypotheses
        self.assertEqual(best, results[0][:2])
        self.assertEqual(len(others), 2)
        self.assertTrue(0 > best[1] > others[0][1] > others[1][1])
        self.assertEqual((results[0].status, results[0].error, results[0].warning), (ferry.Status.OK, None, None))

    def test_text(self):
        """Ranges are of characters, where bytes are others."""
        text = "Good morning, Zoë… How are you?\r\n\r\n\t“Good morning!”\n"
        with ferry.Translator(self.model) as translator:
            translation = translator.translate_text(text)
        sentences = [text[sentence.source] for sentence in translation.sentences]
        self.assertEqual(sentences, ["Good morning, Zoë…", "How are you?", "“Good morning!”"])
        self.assertEqual(translation.text[translation.sentences[1].target], "Wie geht es dir?")
        rest = translation.text
        for sentence in reversed(translation.sentences):
            self.assertEqual(translation.text[sentence.target], sentence.result.text)
            rest = rest[: sentence.target.start] + rest[sentence.target.stop :]
        self.assertEqual(rest, " \r\n\r\n\t\n")
        self.assertIs(translation.status, ferry.Status.OK)

    def test_options(self):
        for name in ("beem", "size", "user", "search"):
            with self.assertRaisesRegex(TypeError, name):
                ferry.Translator(self.model, **{name: 1})
        self.refused(ferry.Status.ARGUMENT, "beam", ferry.Translator, self.model, beam=0)
        self.refused(ferry.Status.ARGUMENT, "tlh", ferry.Translator, self.model, from_="en", to="tlh")
        with ferry.Translator(self.model, from_="en", to="deu", nbest=1) as translator:
            self.assertEqual(translator.translate(MORNING[:1])[0].text, MORNING[1])

    def test_prefixes(self):
        with ferry.Translator(self.model, beam=1, alternatives=1, nbest=3) as translator:
            result, free = translator.translate(["Good morning!", "Good morning!"], ["Guten Tag", ""])
            self.assertTrue(all(text.startswith("Guten Tag") for text, _ in result.hypotheses), result)
            self.assertEqual(len({text for text, _ in free.hypotheses}), 3)
            with self.assertRaisesRegex(ValueError, "2 lines have 1"):
                translator.translate(["a", "b"], ["c"])

    def test_sampling(self):
        draws = []
        for seed in (1, 1, 2):
            options = {"beam": 1, "sample": 1, "nbest": 5, "temperature": 2, "top_k": 50, "seed": seed}
            with ferry.Translator(self.model, **options) as translator:
                draws.append(translator.translate(["Where is the nearest station, please?"])[0].hypotheses)
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])

    def test_partial(self):
        """From the library's own threads, too; an exception there ends the call."""
        seen, lines = {}, ["Where is the nearest station, please?", "Good morning!"]
        for threads in (1, 2):
            seen.clear()
            with ferry.Translator(self.model, beam=1, threads=threads,
                                  partial=lambda line, text: seen.setdefault(line, []).append(text)) as translator:
                results = translator.translate(lines)
            for line, result in enumerate(results):
                self.assertGreater(len(seen[line]), 2)
                self.assertEqual(seen[line][-1], result.text)
            with ferry.Translator(self.model, beam=1, threads=threads, partial=lambda line, text: 1 / 0) as translator:
                with self.assertRaises(ZeroDivisionError):
                    translator.translate(lines)

    def test_failed_line(self):
        with ferry.Translator(self.model, memory_limit=1 << 18) as translator:
            failed, blank = translator.translate([MORNING[0], ""])
            sentence = translator.translate_text("Good\0morning!")
        self.assertEqual((failed.text, failed.hypotheses, failed.status), ("", [], ferry.Status.LIMIT))
        self.assertIn("memory_limit", failed.error)
        self.assertIs(blank.status, ferry.Status.OK)
        self.assertEqual((sentence.text, sentence.status), ("Good\0morning!", ferry.Status.LIMIT))

    def test_progress(self):
        seen = []
        with ferry.Translator(self.model, batch=1, progress=lambda *counts: seen.append(counts)) as translator:
            translator.translate(["Good morning!"] * 3)
            self.assertEqual(seen[-1], (3, 3))
        with ferry.Translator(self.model, batch=1, progress=lambda done, total: done >= 2) as translator:
            statuses = [result.status for result in translator.translate(["Good morning!"] * 50)]
        self.assertEqual(set(statuses), {ferry.Status.OK, ferry.Status.CANCELLED})

    def test_raising_callback(self):
        class Expected(BaseException):
            pass

        def progress(done, total):
            calls.append(done)
            if raising:
                raise Expected(done)

        calls = []
        with ferry.Translator(self.model, batch=1, progress=progress) as translator:
            raising = True
            with self.assertRaises(Expected):
                translator.translate(["Good morning!"] * 50)
            self.assertEqual(len(calls), 1)
            for raising in (True, False, True):
                if raising:
                    with self.assertRaises(Expected):
                        translator.translate_text(MORNING[0])
                else:
                    self.assertEqual(translator.translate_text(MORNING[0]).text, MORNING[1])

    def test_cancel(self):
        """Other threads run during a call, and end it. Closing then, too, waits for the call."""
        for end in (ferry.Translator.cancel, lambda translator: (translator.cancel(), translator.close())):
            started, results = threading.Event(), []
            translator = ferry.Translator(self.model, batch=1, progress=lambda done, total: started.set())
            lines = ["Where is the nearest station, please?"] * 20000
            thread = threading.Thread(target=lambda: results.extend(translator.translate(lines)))
            thread.start()
            started.wait()
            end(translator)
            thread.join()
            self.assertIs(results[0].status, ferry.Status.OK)
            self.assertIs(results[-1].status, ferry.Status.CANCELLED)
            self.assertIsNotNone(results[-1].error)

    def test_threads(self):
        texts = []

        def translate():
            with ferry.Translator(self.model) as translator:
                texts.append(translator.translate(MORNING[:1])[0].text)

        threads = [threading.Thread(target=translate) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [MORNING[1]] * 4)

    def test_closing(self):
        """A translator outlives its model's close; what is closed is refused."""
        model = ferry.Model(model_path)
        translator = ferry.Translator(model)
        model.close()
        self.refused(ferry.Status.ARGUMENT, "model", ferry.Translator, model)
        del model
        gc.collect()
        self.assertEqual(translator.translate(MORNING[:1])[0].text, MORNING[1])
        translator.close()
        translator.cancel()
        self.refused(ferry.Status.ARGUMENT, "translator", translator.translate, MORNING[:1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
