"""Uses examples/desktop as people do, with keys and pointer, and reads it as a screen reader does (AT-SPI):
desktop.py PROGRAM FERRY MODEL OTHER_MODEL [SCREENSHOTS]. Needs a display, a session bus and xdotool."""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import gi
from Xlib import X, XK, display
from Xlib.ext import xtest

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

PATIENCE = 30  # seconds
MARK = (174, 206, 244)  # window.ui's color on white

program, ferry, model, other_model = sys.argv[1:5]
screenshots = sys.argv[5] if len(sys.argv) > 5 else None
Atspi.set_timeout(1000 * PATIENCE, 1000 * PATIENCE)
screen = display.Display()
root = screen.screen().root


def fail(message):
    raise SystemExit(f"desktop: {message}")


def expect(what, expected, found):
    if found != expected:
        fail(f"{what}: expected {expected!r}, found {found!r}")


def wait(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    fail(f"waited in vain for {what}")


def find(widget, role, name=None):
    if widget.get_role_name() == role and name in (None, widget.get_name()):
        return widget
    for i in range(widget.get_child_count()):
        child = widget.get_child_at_index(i)
        found = child and find(child, role, name)
        if found:
            return found
    return None


def xdotool(*arguments):
    subprocess.run(("xdotool",) + arguments, check=True)


def pixels(x, y, width, height):
    """[(red, green, blue)]"""
    data = root.get_image(x, y, width, height, X.ZPixmap, 0xFFFFFFFF).data
    return list(zip(data[2::4], data[1::4], data[0::4]))


def screenshot(name):
    if screenshots:
        time.sleep(0.5)
        subprocess.run(("import", "-window", "root", os.path.join(screenshots, name + ".png")), check=True)


def ferry_translates(lines, by=model):
    command = (ferry, "translate", "-m", by, "--beam", "1")
    return subprocess.run(command, input="\n".join(lines), text=True, capture_output=True, check=True).stdout.splitlines()


class Window:
    def __init__(self, *arguments):
        self.process = subprocess.Popen((program,) + arguments)
        self.application = wait("the window", self.appearance)
        self.source = find(self.application, "text", "Text")
        self.target = find(self.application, "text", "Translation")

    def appearance(self):
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(i)
            if application and application.get_process_id() == self.process.pid and find(application, "text", "Translation"):
                return application
        return None

    def find(self, role, name=None):
        return find(self.application, role, name)

    def title(self):
        return self.find("frame").get_name()

    def status(self):
        return self.find("status bar").get_name()

    def source_text(self):
        return Atspi.Text.get_text(self.source, 0, -1)

    def translation(self):
        return Atspi.Text.get_text(self.target, 0, -1)

    def progress(self):
        bar = self.find("progress bar", "Progress")
        return Atspi.Value.get_current_value(bar) if bar else 0

    def insert(self, position, text):
        Atspi.EditableText.insert_text(self.source, position, text, len(text.encode()))

    def delete(self, begin, end):
        Atspi.EditableText.delete_text(self.source, begin, end)

    def clear(self):
        self.delete(0, -1)
        wait("an empty window", lambda: self.translation() == "")

    def reads(self, expected):
        wait(f"the translation {expected!r}", lambda: self.translation() == expected)

    def point(self, word):
        """Moves the pointer to a word of the translation."""
        offset = self.translation().index(word) + 1
        extents = Atspi.Text.get_character_extents(self.target, offset, Atspi.CoordType.WINDOW)
        x, y = extents.x + extents.width // 2, extents.y + extents.height // 2
        xdotool("mousemove", str(x), str(y), "mousemove", str(x + 1), str(y))
        time.sleep(0.1)

    def marked(self, view):
        text, words, at = Atspi.Text.get_text(view, 0, -1), [], 0
        while at < len(text):
            run = Atspi.Text.get_attribute_run(view, at, False)
            attributes, begin, end = run[0], run.start_offset, run.end_offset
            if "bg-color" in attributes:
                words.append(text[begin:end])
            at = max(end, at + 1)
        return words

    def press(self, name):
        Atspi.Action.do_action(self.find("push button", name), 0)

    def ends(self):
        expect("the exit status", 0, self.process.wait(PATIENCE))


def test_typing(window):
    """Keys, an accented letter and an emoji among them."""
    sentences = ["Good morning!", "I would like to go to the old station."]
    xdotool("type", "--delay", "5", " ".join(sentences))
    window.reads(" ".join(ferry_translates(sentences)))
    screenshot("typed")
    window.clear()


def test_pointing(window):
    """Bytes are not characters: letters of two and an emoji of four bytes stand before the words, and a blank line."""
    window.insert(0, "Müßig 😀 naïve café.\n\nI would like to go to the old station.")
    wait("the translation", lambda: window.translation().endswith("Bahnhof gehen."))
    for word, origin in ("Bahnhof", "station"), ("alten", "old"):
        wait(f"{word} to be marked", lambda: window.point(word) or window.marked(window.target) == [word])
        expect(f"the origin of {word}", [origin], window.marked(window.source))
    view = Atspi.Component.get_extents(window.source, Atspi.CoordType.WINDOW)
    wait("the mark on the screen", lambda: MARK in pixels(view.x, view.y, view.width, 100))
    screenshot("pointed")
    xdotool("mousemove", "200", "200")
    wait("no mark", lambda: not window.marked(window.target) + window.marked(window.source))
    window.clear()


def test_dark(window):
    view = Atspi.Component.get_extents(window.target, Atspi.CoordType.WINDOW)

    def brightness():
        return sum(pixels(view.x + view.width // 2, view.y + view.height // 2, 1, 1)[0])

    window.insert(0, "Tom lives in a small town by the sea. Every morning he goes to work by boat.")
    settled(window)
    wait("a mark", lambda: window.point("Stadt") or window.marked(window.target) == ["Stadt"])
    bright = brightness()
    screenshot("light")
    window.press("_Dark Dark")
    wait("a dark window", lambda: brightness() < bright / 3)
    screenshot("dark")
    window.press("_Dark Dark")
    wait("a light window", lambda: brightness() == bright)
    window.clear()


def settled(window):
    """The translation, when it does not change any more."""
    before, since = window.translation(), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.02)
        now = window.translation()
        if now != before:
            before, since = now, time.monotonic()
    return before


def expect_as_a_whole(window):
    """The translation is that of the same text, inserted at once."""
    text, edited = window.source_text(), settled(window)
    window.clear()
    window.insert(0, text)
    expect(f"the translation of {text!r} after edits", settled(window), edited)
    window.clear()


def test_editing(window):
    """A letter that decides whether the sentence before it ends there, and edits by chance while it translates."""
    window.insert(0, "He came home at 3 p.m. In the house it was dark. He slept.")
    settled(window)
    position = window.source_text().index("In")
    window.delete(position, position + 1)
    window.insert(position, "i")
    expect_as_a_whole(window)

    chance = random.Random(1)
    parts = ["I see. ", "Where is the ferry to the island? ", "Tom lives in Ulm.\n", "\n", "ü", "😀 ", "Dr. No is ill. ", "x"]
    window.insert(0, "The weather is nice today. Let's go to the sea.\nI have been waiting for an hour.\n")
    for _ in range(60):
        length = len(window.source_text())
        if chance.random() < 0.7:
            window.insert(chance.choice((chance.randrange(length + 1), length)), chance.choice(parts))
        elif length > 8:
            begin = chance.randrange(length - 5)
            window.delete(begin, begin + chance.randrange(1, 6))
        time.sleep(chance.choice((0, 0, 0.01, 0.05)))
    expect_as_a_whole(window)


def test_beginnings(window):
    """What there is of a line that takes long is shown, with its progress; an edit cancels the rest of it."""
    sentence = "The weather is nice today, and we are going to the sea with some friends of mine. "
    for sentences in 400, 1200, 4000:  # so that it takes long on any machine
        window.insert(0, sentences * sentence)
        complete = lambda: window.translation().count(".") >= sentences
        wait("a translation", lambda: len(window.translation()) > 20 and 0 < window.progress() < 1 or complete())
        if not complete():
            break
        window.clear()
    else:
        fail("no beginning was shown with its progress")
    lengths = [len(window.translation())]
    window.delete(0, -1)
    wait("an empty window", lambda: lengths.append(len(window.translation())) or lengths[-1] == 0)
    if max(lengths) > (lengths[0] + sentences * len(sentence)) // 2:
        fail(f"an edit does not cancel: of {lengths[0]} characters became {max(lengths)}")


def test_cancelling(window, long_text):
    window.insert(0, long_text)
    cancel = wait("the button to cancel", lambda: window.find("push button", "_Cancel Cancel"))
    screenshot("busy")
    progress = window.progress()
    wait("progress", lambda: progress < window.progress() < 1)
    xdotool("key", "alt+c")
    wait("the end", lambda: window.status() == "Cancelled")
    before = window.translation()
    time.sleep(0.5)
    expect("the translation after cancelling", before, window.translation())
    if len(before) < 100 or len(before) > len(long_text) // 2:
        fail(f"{len(before)} of {len(long_text)} characters were translated before cancelling")
    window.clear()
    window.insert(0, "Good morning!")
    window.reads("Guten Morgen!")
    window.clear()


def choose(window, path):
    def chooser():
        children = (window.application.get_child_at_index(i) for i in range(window.application.get_child_count()))
        return any(child and child.get_name() == "Choose a Model" for child in children)

    window.press("_Model… Model…")
    wait("the file chooser", chooser)
    time.sleep(0.3)
    xdotool("type", "--delay", "5", path)
    time.sleep(0.3)
    xdotool("key", "Return")
    wait("the end of the file chooser", lambda: not chooser())


def test_models(window):
    """A broken file is told of, and the program goes on with the model that it has."""
    text = ["My old friend was waiting in front of the house with a big dog.", "I see.", "Good night!", "Where is Tom?"]
    translations = [" ".join(ferry_translates(text, by)) for by in (model, other_model)]
    if translations[0] == translations[1]:
        fail("both models say the same")
    window.insert(0, " ".join(text))
    window.reads(translations[0])
    with tempfile.TemporaryDirectory() as directory:
        broken = os.path.join(directory, "broken.gguf")
        with open(model, "rb") as file, open(broken, "wb") as copy:
            copy.write(file.read(100000))
        choose(window, broken)
        wait("a message", lambda: "broken.gguf" in window.status())
    screenshot("broken")
    window.insert(0, "Good morning! ")
    window.reads("Guten Morgen! " + translations[0])
    expect("the message after an edit", "", window.status())
    window.delete(0, len("Good morning! "))
    title = window.title()
    for path, expected in (other_model, translations[1]), (model, translations[0]):
        choose(window, path)
        window.reads(expected)
        expect("whether it has the first title", path == model, window.title() == title)
    window.clear()


def test_latency(window):
    """From a key, which pastes a sentence of 20 words, to the first of its translation on the screen. The line above it
    is empty, as without any text there would be a hint."""
    sentence = "When I came home last night, my old friend was waiting in front of the house with a big dog."
    expect("the words", 20, len(sentence.split()))
    view = Atspi.Component.get_extents(window.target, Atspi.CoordType.WINDOW)
    area = (view.x + 8, view.y + 4, 200, 50)
    control, v = (screen.keysym_to_keycode(key) for key in (XK.XK_Control_L, XK.XK_v))
    window.insert(0, sentence)
    full = settled(window)
    xdotool("key", "ctrl+a", "ctrl+x")
    times = []
    window.insert(0, "\n")
    for _ in range(15):
        window.reads("\n")
        time.sleep(0.2) # nothing else is drawn any more
        empty = root.get_image(*area, X.ZPixmap, 0xFFFFFFFF).data
        begin = time.monotonic()
        for event, key in (X.KeyPress, control), (X.KeyPress, v), (X.KeyRelease, v), (X.KeyRelease, control):
            xtest.fake_input(screen, event, key)
        screen.sync()
        while root.get_image(*area, X.ZPixmap, 0xFFFFFFFF).data == empty:
            if time.monotonic() - begin > PATIENCE:
                fail("no translation of a pasted sentence")
        times.append(1000 * (time.monotonic() - begin))
        window.reads("\n" + full)
        window.delete(1, -1)
    print(f"desktop: first words after {statistics.median(times):.0f} ms (median; {min(times):.0f} … {max(times):.0f})")
    window.clear()


def test_closing(window, long_text):
    window.insert(0, long_text)
    wait("the button to cancel", lambda: window.find("push button", "_Cancel Cancel"))
    window.press("Close")
    window.ends()


def main():
    line = "The weather is nice today. We are going to the sea, and nobody knows when we will come back.\n"
    xdotool("mousemove", "200", "200") # without a window manager, keys go where the pointer is
    window = Window(model)
    wait("the title", lambda: window.title() != "Ferry")
    screenshot("empty")
    for test in test_typing, test_pointing, test_dark, test_editing, test_beginnings, test_models, test_latency:
        begin = time.monotonic()
        test(window)
        print(f"desktop: {test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    test_cancelling(window, 3000 * line)
    test_closing(window, 3000 * line)
    window = Window("missing.gguf")
    wait("a message", lambda: "missing.gguf" in window.status())
    window.press("Close")
    window.ends()


main()
