"""What ferry.Service does: test_service.py PACKAGES SOURCE_DIR"""
import asyncio
import concurrent.futures
import gc
import os
import random
import subprocess
import sys
import threading
import time
import unittest
import weakref

packages, source_dir = sys.argv[1:3]
sys.path.insert(0, packages)
import ferry  # noqa: E402
from ferry import Status  # noqa: E402

SHIPPED = os.path.join(source_dir, "models/pretrained/tatoeba-en-de.gguf")
TEXT = "Good morning! How are you?\n\n\tWhere is the nearest station, please?"
LONG = " ".join(f"I have {number} apples." for number in range(20000))  # minutes


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ferry.Model(SHIPPED)

    def service(self, max_texts=0, max_bytes=0, **options):
        """One that ends with the test."""
        service = ferry.Service(ferry.Translator(self.model, beam=1, **options), max_texts, max_bytes)
        self.addCleanup(service.__exit__, Exception)
        return service

    def refused(self, status, part, function, *arguments, **options):
        with self.assertRaisesRegex(ferry.FerryError, part) as caught:
            function(*arguments, **options)
        self.assertIs(caught.exception.status, status)

    def held(self, **options):
        """A service whose only thread is in a callback, the future of its text, and what lets it go on."""
        service, begun, go_on = self.service(batch=1, **options), threading.Event(), threading.Event()
        self.addCleanup(go_on.set)
        future = service.submit("Good morning!", on_progress=lambda done, total: begun.set() or go_on.wait() and None)
        begun.wait()
        return service, future, go_on


class Results(Base):
    def test_equal(self):
        """Those of a translator, whatever else the service has."""
        texts = ["", " \n", "a\0b", "Zoë’s house… is green.", "Hello \ud800 world.", TEXT,
                 *(f"I have {number} apples." for number in range(50))]
        lines = [text for text in texts if len(text.splitlines()) < 2]
        for options in ({}, {"beam": 4, "nbest": 3, "alignment": True}, {"threads": 2, "batch": 3}):
            options = {"beam": 1, **options}
            translator = ferry.Translator(self.model, **options)
            expected = [translator.translate_text(text) for text in texts]
            of_lines = list(translator.translate(lines))
            with ferry.Service(translator) as service:
                futures = [service.submit(text) for text in texts]
                self.assertEqual(service.submit_lines(iter(lines)).result(), of_lines)
                self.assertEqual([future.result() for future in futures], expected)
                self.assertEqual(service.submit_lines([]).result(), [])

    def test_prefixes(self):
        lines, prefixes = ["Good morning!", "The door is green."], ["Guten Tag", ""]
        expected = list(ferry.Translator(self.model, beam=1).translate(lines, prefixes))
        self.assertEqual(self.service().submit_lines(lines, prefixes).result(), expected)

    def test_priority_and_state(self):
        service, first, go_on = self.held()
        order = []
        for priority in (0, 5, -5, 5):
            service.submit("Good morning!", priority=priority).add_done_callback(lambda _, it=priority: order.append(it))
        self.assertEqual(service.state[:2], (5, 0))  # none has begun
        self.assertGreater(service.state.bytes, 1000)
        go_on.set()
        service.close()
        self.assertEqual(order, [5, 5, 0, -5])

    def test_threads(self):
        texts, found = [f"I have {number} apples." for number in range(400)], {}
        service, expected = self.service(threads=2), ferry.Translator(self.model, beam=1)

        def use(first):
            for text in texts[first::16]:
                found[text] = service.submit(text).result()
        threads = [threading.Thread(target=use, args=(first,)) for first in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {text: expected.translate_text(text) for text in texts})

    def gone(self, reference):
        """Within the rest of a callback."""
        for _ in range(2000):
            if reference() is None:
                return
            time.sleep(0.005)
        self.fail("it stays")

    def test_no_cycles(self):
        """Results go with their last reference, and so does a service, even in a callback of its own."""
        class Failed(Exception):
            pass

        def fail(*_):
            raise Failed

        async def awaited():
            return await service.submit(TEXT)
        service = self.service()
        gc.disable()
        self.addCleanup(gc.enable)
        for made in (lambda: service.submit(TEXT).result(), lambda: asyncio.run(awaited()), lambda: service.submit(TEXT),
                     lambda: service.submit(TEXT, on_progress=fail).exception(), lambda: service.submit(TEXT, on_progress=fail)):
            self.gone(weakref.ref(made()))
        dropped = ferry.Service(ferry.Translator(self.model, beam=1))
        reference, futures = weakref.ref(dropped._as_parameter_), [dropped.submit(TEXT) for _ in range(20)]
        del dropped
        self.assertTrue(all(future.result().text for future in futures))
        self.gone(reference)

class Asyncio(Base):
    def test_gather(self):
        service = self.service(threads=2)

        async def main():
            return await asyncio.gather(*(service.submit(f"I have {n} apples.") for n in range(200)))
        expected = ferry.Translator(self.model, beam=1)
        self.assertEqual(asyncio.run(main()), [expected.translate_text(f"I have {n} apples.") for n in range(200)])

    def test_cancelled_task(self):
        """Its text is ended, too."""
        service = self.service()

        async def wait():
            await service.submit(LONG)

        async def main():
            task = asyncio.create_task(wait())
            while service.state.running == 0:
                await asyncio.sleep(0.001)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(service.submit(LONG), 0.1)
            self.assertEqual((await service.submit("Good morning!")).text, "Guten Morgen!")
        asyncio.run(main())
        service.close()

    def test_errors(self):
        service = self.service(memory_limit=1 << 17)

        async def main():
            with self.assertRaisesRegex(ferry.FerryError, "memory_limit"):
                await service.submit(TEXT)
            future = service.submit(LONG)
            asyncio.get_running_loop().call_soon(future.cancel)
            with self.assertRaises(asyncio.CancelledError):
                await future
        asyncio.run(main())

    def test_type_ahead(self):
        """500 keys: whenever none comes for a while, the newest text is shown, and no older one after a newer one."""
        service, shown, chance = self.service(), [], random.Random(5)

        async def show(number, text, future):
            shown.append((number, text, await future))

        async def main():
            last, pauses = None, 0
            for number in range(500):
                if last is not None:
                    last.cancel()
                text = f"I have {number} apples. " + TEXT * (number % 4)
                last = service.submit(text)
                task = asyncio.create_task(show(number, text, last))
                await asyncio.sleep(chance.uniform(0, 0.03))
                if number % 10 == 9:
                    await asyncio.wait([task], timeout=60)
                    pauses += shown[-1][0] == number
            self.assertEqual(pauses, 50)
        asyncio.run(main())
        self.assertEqual([number for number, _, _ in shown], sorted({number for number, _, _ in shown}))
        expected = ferry.Translator(self.model, beam=1)
        for _, text, translation in shown:
            self.assertEqual(translation, expected.translate_text(text))


class Callbacks(Base):
    def test_progress_and_partial(self):
        seen, growing = [], {}
        found = self.service(threads=2).submit(
            TEXT, on_progress=lambda *counts: seen.append(counts),
            on_partial=lambda line, text: growing.setdefault(line, []).append(text)).result()
        self.assertEqual((seen[0], seen[-1]), ((0, 3), (3, 3)))
        self.assertEqual([growing[line][-1] for line in range(3)], [each.translation.text for each in found.sentences])
        self.assertGreater(len(growing[2]), 3)

    def test_ends_its_text(self):
        """A true result, or an exception, which the future raises; others go on."""
        class Expected(BaseException):
            pass

        def fail(*_):
            raise Expected
        service = self.service()
        for options in ({"on_progress": fail}, {"on_partial": fail}):
            future, other = service.submit(LONG, **options), service.submit("Good morning!")
            self.assertRaises(Expected, future.result, 60)
            self.assertEqual(other.result().text, "Guten Morgen!")
        self.refused(Status.CANCELLED, "cancelled", service.submit(LONG, on_progress=lambda done, total: done > 2).result, 60)
        kept = service.submit(LONG, on_progress=lambda done, total: done > 2, errors="keep").result(60)
        self.assertIn("Äpfel", kept.text)
        self.assertIs(kept.status, Status.CANCELLED)

    def test_use_of_the_service(self):
        """They submit and cancel; they do not close it."""
        service, chain, refused = self.service(), [], []

        def follow(future):
            chain.append(future.result().text)
            if len(chain) < 20:
                service.submit(f"I have {len(chain)} apples.").add_done_callback(follow)
            else:
                ended.set()

        def close(*_):
            service.submit(LONG).cancel()
            with self.assertRaisesRegex(ferry.FerryError, "called this function") as caught:
                service.close()
            refused.append(caught.exception.status)
        ended = threading.Event()
        service.submit(TEXT, on_progress=close).add_done_callback(follow)
        self.assertTrue(ended.wait(60))
        self.assertEqual(set(refused), {Status.ARGUMENT})
        self.assertIs(service.submit(TEXT).result().status, Status.OK)

    def test_none_after_cancel(self):
        service, calls = self.service(), []

        def cancel(*_):
            calls.append(future.cancelled())
            if len(calls) == 3:
                future.cancel()
        future = service.submit(LONG, on_partial=cancel)
        self.assertRaises(concurrent.futures.CancelledError, future.result, 60)
        service.close()
        self.assertEqual(calls, [False] * 3)


class Ends(Base):
    def test_refused(self):
        service, _, go_on = self.held(max_texts=3, max_bytes=1000)
        self.refused(Status.LIMIT, "max_bytes", service.submit, "a" * 1000)
        late = service.submit("Good morning!", wait=1)
        kept = service.submit_lines(["Good morning!"], wait=1, errors="keep")
        self.refused(Status.LIMIT, "max_texts", service.submit, TEXT)
        time.sleep(0.05)
        go_on.set()
        self.refused(Status.CANCELLED, "", late.result)
        self.refused(Status.CANCELLED, "", kept.result)
        for options in ({"priority": 101}, {"wait": -1}):
            self.refused(Status.ARGUMENT, next(iter(options)), service.submit, TEXT, **options)
        for error, part, function, arguments, options in (
                (TypeError, "text", service.submit, [b"a"], {}), (TypeError, "lines", service.submit_lines, ["a"], {}),
                (TypeError, "lines", service.submit_lines, [["a", 3]], {}), (TypeError, "lines", service.submit_lines, [5], {}),
                (ValueError, "lines", service.submit_lines, [["a\nb"]], {}),
                (TypeError, "wait", service.submit, ["a"], {"wait": 0.5}),
                (ValueError, "prefixes", service.submit_lines, [["a", "b"], ["c"]], {}),
                (ValueError, "priority", service.submit, ["a"], {"priority": 2**31}),
                (ValueError, "errors", service.submit, ["a"], {"errors": "no"}),
                (ValueError, "max_texts", ferry.Service, [ferry.Translator(self.model), -1], {}),
                (TypeError, "translator", ferry.Service, [self.model], {})):
            with self.assertRaisesRegex(error, part):
                function(*arguments, **options)

    def test_failed_lines(self):
        service = self.service(memory_limit=1 << 17)
        self.refused(Status.LIMIT, "text 1: ", service.submit_lines(["", "Good morning!"]).result)
        self.assertEqual([each.status for each in service.submit_lines(["", "Good morning!"], errors="keep").result()],
                         [Status.OK, Status.LIMIT])

    def test_translator(self):
        """It is closed for its caller; what is refused stays the caller's."""
        translator = ferry.Translator(self.model, progress=lambda *_: refused.append(self.assertRaises(
            ferry.FerryError, ferry.Service, translator)))
        refused = []
        self.assertEqual(translator.translate("Good morning!").text, "Guten Morgen!")
        self.assertTrue(refused)
        with ferry.Service(translator) as service:
            self.refused(Status.ARGUMENT, "translator", translator.translate, "a")
            self.refused(Status.ARGUMENT, "translator: it is closed", ferry.Service, translator)
            translator.cancel()
            translator.close()
            del translator
            gc.collect()
            self.assertEqual(service.submit("Good morning!").result().text, "Guten Morgen!")

    def test_stop_and_close(self):
        service, first, go_on = self.held()
        others = [service.submit(LONG) for _ in range(3)]
        closing = [threading.Thread(target=service.close) for _ in range(2)]
        for thread in closing:
            thread.start()
        with self.assertRaises((ferry.FerryError, ValueError)):
            while True:
                service.submit(TEXT)
        self.assertTrue(closing[0].is_alive() and closing[1].is_alive())
        service.stop(cancel=True)
        go_on.set()
        for thread in closing:
            thread.join()
        for future in (first, *others):
            self.assertTrue(future.done())
            self.assertIn(future.exception() and future.exception().status, (None, Status.CANCELLED))
        for use in (lambda: service.submit("a"), lambda: service.submit_lines(["a"]), lambda: service.state):
            self.assertRaisesRegex(ValueError, "service: it is closed", use)
        service.stop()
        service.close()
        self.assertFalse(first.cancel())

    def test_with(self):
        """An exception ends its texts."""
        with self.assertRaises(ZeroDivisionError):
            with self.service() as service:
                future = service.submit(LONG)
                raise ZeroDivisionError
        self.refused(Status.CANCELLED, "", future.result, 0)

    def test_wait_for_cancelled(self):
        service = self.service()
        futures = [service.submit(LONG) for _ in range(4)]
        self.assertTrue(all(future.cancel() and future.cancel() for future in futures))
        self.assertEqual(concurrent.futures.wait(futures, 60).not_done, set())
        self.assertEqual(len(list(concurrent.futures.as_completed(futures, 60))), 4)

    PROGRAM = """if True:
        import asyncio, os, sys, threading, time
        sys.path.insert(0, sys.argv[1])
        import ferry
        service = ferry.Service(ferry.Translator(ferry.Model(sys.argv[2]), beam=1, threads=2))
        text = 20000 * "Good morning! "
        seen = lambda *_: None
        def always():
            try:
                while True:
                    service.submit("a").result()
            except (ferry.FerryError, ValueError):
                pass
        """

    def run_program(self, code):
        done = subprocess.run([sys.executable, "-c", self.PROGRAM + code, packages, SHIPPED], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), code)

    def test_exit(self):
        """Of the interpreter, with texts in progress."""
        for code in ("futures = [service.submit(text, on_progress=seen, on_partial=seen) for _ in range(5)]",
                     "service.submit(text, on_partial=seen); time.sleep(0.2); del service",
                     "for _ in range(4): threading.Thread(target=always, daemon=True).start()\n        time.sleep(0.3)",
                     "service.submit(text); threading.Thread(target=lambda: (time.sleep(0.2), service.stop(True))).start()"):
            for _ in range(3):
                self.run_program(code)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        """A child has no use of it, and ends."""
        self.run_program("""futures = [service.submit(text, on_partial=seen) for _ in range(5)]
        time.sleep(0.1)
        if child := os.fork():
            service.stop(True)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        try:
            service.submit("a")
        except ferry.FerryError as error:
            assert error.argument == "service"
        futures[0].cancel()
        service.stop(True)
        assert ferry.Service(ferry.Translator(ferry.Model(sys.argv[2]))).submit("Good morning!").result().text == "Guten Morgen!"
        service.close()""")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
