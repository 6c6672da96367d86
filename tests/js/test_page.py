#!/usr/bin/env python3
"""The npm package, and examples/web, in a browser, beside the program:

    test_page.py FERRY PACKAGE MODEL LINES FIREFOX [SCREENSHOT]

PACKAGE: where npm installed it. FIREFOX: a folder with a model as Firefox downloads it. SCREENSHOT: where the page's picture goes.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from webdriver import Browser, serve

TREE = pathlib.Path(__file__).resolve().parents[2]
LOAD = "const {Ferry} = await import('./ferry/ferry.js'), ferry = await Ferry.load('model.gguf', {wasm: `ferry/${given[0]}`});"
TYPED = ["Where is the train station?", "The library is next to the old church.", "I like to read in the evening.", "It is late."]
LONG = "It was late because there was snow. " * 1000
HOME, CONTROL = "\ue011", "\ue009"  # keys, https://www.w3.org/TR/webdriver2, section 17.4.2


def package(browser, program, lines, wasm):
    """The package in a page, with one of its modules."""
    def run(body, *given):
        return browser.run(LOAD + body, wasm, *given)

    assert run("const made = await ferry.translate(given[1], {beam: 1}); ferry.close(); return made;", lines) == program(lines)
    assert run("""
        const controller = new AbortController(), long = ferry.translate(given[2], {signal: controller.signal});
        setTimeout(() => controller.abort(), 100);
        const ended = await long.then(() => 'no end', (error) => error.name), next = await ferry.translate(given[1], {beam: 1});
        ferry.close();
        return [ended, next];""", lines[0], LONG) == ["AbortError", program(lines[:1])[0]]
    before, after = run("""
        const some = given[1].slice(0, 4), repeat = async (count) => {
            for (let i = 0; i < count; i++) await ferry.translate(some);
            return ferry.memory();
        };
        const sizes = [await repeat(10), await repeat(100)];
        ferry.close();
        return sizes;""", lines)
    assert before == after, f"memory grew from {before} to {after} bytes"


def done(browser, text):
    """Waits for a translation."""
    browser.wait(f"document.getElementById('translation').textContent === {text + chr(10)!r}")


def replace(browser, text):
    browser.run("document.getElementById('source').value = ''")
    browser.type("#source", text)


def typing(browser, program):
    browser.wait("document.getElementById('status').textContent.endsWith('is ready.')")
    assert browser.run("return [...document.querySelectorAll('option')].map((option) => option.text)") == ["English", "German"]
    assert browser.run("return ['source', 'translation'].map((id) => document.getElementById(id).lang)") == ["en", "de"]
    replace(browser, "\n".join(TYPED))
    done(browser, "\n".join(program(TYPED)))
    browser.wait(f"document.getElementById('news').textContent.endsWith({program(TYPED[-1:])[0]!r})")  # what a screen reader says


def words(browser):
    """Cursor and mouse light up what belongs together."""
    def lit(*expected):
        browser.wait(f"""JSON.stringify(['#echo', '#translation'].map((place) =>
            [...document.querySelectorAll(place + ' .lit')].map((word) => word.textContent))) === {json.dumps(json.dumps(expected,
            separators=(",", ":"), ensure_ascii=False))}""")

    browser.type("#source", CONTROL + HOME + CONTROL)
    lit(["Where"], ["Wo"])
    assert browser.text("#pair") == "Where – Wo"
    browser.point("#translation span:last-of-type")
    lit(["late"], ["spät"])
    assert browser.text("#pair") == "spät – late"


def colors(browser):
    """Light and dark, as the user prefers it; text is readable in both (WCAG 2.2, contrast of at least 4.5)."""
    def lightness(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
                   for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

    grounds = []
    for scheme in ("dark", "light"):
        browser.prefer(scheme)
        ground, *inks = map(lightness, browser.run("""return [getComputedStyle(document.body).backgroundColor,
            ...['body', '#status', '#error', '#pair'].map((place) => getComputedStyle(document.querySelector(place)).color)];"""))
        assert all((max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5 for ink in inks), (scheme, ground, inks)
        grounds.append(ground)
    assert grounds[0] < 0.1 and grounds[1] > 0.8, grounds


def cancelling(browser, program):
    """A long translation, which can be seen to grow, is ended."""
    browser.run("""const source = document.getElementById('source'), translation = document.getElementById('translation');
        window.grown = new Set();
        new MutationObserver(() => grown.add(translation.textContent.length)).observe(translation, {childList: true});
        source.value = given[0];
        source.dispatchEvent(new Event('input'));""", LONG)
    browser.wait("grown.size > 10")
    browser.click("#stop")
    browser.wait("document.getElementById('error').textContent === 'stopped'")
    assert browser.run("return document.activeElement.id") == "source"
    replace(browser, "It is late.")
    done(browser, program(["It is late."])[0])


def documents(browser, program, folder):
    """A document that is dropped comes back translated, a file that is none gets a message, and the model stays."""
    page = "<!doctype html><title>A day</title><p>It is <b>late</b>.</p>"
    (folder / "day.html").write_text(page)
    expected = subprocess.run([*program.command, "--format", "html", "-i", folder / "day.html"], check=True, capture_output=True,
                              text=True).stdout
    browser.run("""const files = new DataTransfer();
        files.items.add(new File([given[0]], 'day.html', {type: 'text/html'}));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));""", page)
    browser.wait("document.querySelector('#documents a') !== null")
    browser.click("#documents a")
    translated = folder / "day.de.html"
    for _ in range(500):
        if translated.exists():
            break
        time.sleep(0.02)
    assert translated.read_text() == expected
    for name, content, message in (("wrong.gguf", b"It is late.", "wrong.gguf: memory: not a GGUF file"),
                                   ("latin.txt", b"caf\xe9", "latin.txt: ")):
        (folder / name).write_bytes(content)
        browser.type("#files", str(folder / name))
        browser.wait("document.getElementById('error').textContent !== ''")
        assert browser.text("#error").startswith(message), browser.text("#error")
    replace(browser, "Good morning!")
    done(browser, program(["Good morning!"])[0])


def firefox(browser, program, folder):
    browser.type("#files", "\n".join(str(path) for path in sorted(folder.resolve().iterdir())))
    browser.wait("document.getElementById('status').textContent.endsWith('is ready.')")
    done(browser, program(["Good morning!"])[0])


class Program:
    """Calls it with lines."""

    def __init__(self, ferry, model):
        self.command = [ferry, "translate", "-m", model, "--beam", "1", "--split", "all"]

    def __call__(self, lines):
        text = "".join(line + "\n" for line in lines)
        return subprocess.run(self.command, input=text, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def main():
    ferry, installed, model, lines, firefox_model, *screenshot = map(pathlib.Path, sys.argv[1:])
    program = Program(ferry, model)
    lines = lines.read_text(encoding="utf-8").split("\n")[:-1]
    with tempfile.TemporaryDirectory(prefix="ferry-page-") as folder:
        folder = pathlib.Path(folder)
        site = folder / "site"
        subprocess.run([TREE / "examples/web/make.sh", site, model], check=True)
        shutil.rmtree(site / "ferry")
        shutil.copytree(installed, site / "ferry")
        server, address = serve(site)
        with Browser(folder) as browser:
            browser.go(address)
            typing(browser, program)
            words(browser)
            if screenshot:
                browser.screenshot(screenshot[0])
            colors(browser)
            cancelling(browser, program)
            documents(browser, program, folder)
            assert browser.run("return (await import('./ferry/ferry.js')).Ferry.wasm.href").endswith("/ferry-relaxed.wasm")
            for wasm in ("ferry.wasm", "ferry-relaxed.wasm"):
                package(browser, program, lines, wasm)
            subprocess.run([ferry, "convert", firefox_model, "-o", folder / "firefox.gguf", "--quiet"], check=True)
            firefox(browser, Program(ferry, folder / "firefox.gguf"), firefox_model)
            browser.wait("navigator.serviceWorker.controller !== null")
            browser.wait("await caches.match('model.gguf') !== undefined")
            server.shutdown()
            server.server_close()
            browser.go(address)
            typing(browser, program)
    print("the page does in a browser what the program does, with and without a network")


if __name__ == "__main__":
    main()
