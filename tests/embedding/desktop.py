"""Uses examples/desktop as people do, with keys and pointer, and reads it as a screen reader does (AT-SPI):
desktop.py PROGRAM FERRY MODEL OTHER_MODEL TAGGED_MODEL MANY_MODEL [SCREENSHOTS]. Needs a display, a session bus and xdotool."""
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

program, ferry, model, other_model, tagged_model, many_model = sys.argv[1:7]
screenshots = sys.argv[7] if len(sys.argv) > 7 else None
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
    fail(f"waited in vain for {what() if callable(what) else what}")


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


def ferry_translates(lines, by=model, *options):
    command = (ferry, "translate", "-m", by, "--beam", "1") + options
    return subprocess.run(command, input="\n".join(lines), text=True, capture_output=True, check=True).stdout.splitlines()


class Window:
    def __init__(self, *arguments, **environment):
        self.process = subprocess.Popen((program,) + arguments, env={**os.environ, **environment})
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
        wait(lambda: f"the translation {expected!r}, found {self.translation()!r} of {self.source_text()!r}", lambda: self.translation() == expected)

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

    def sensitive(self, name):
        return self.find("push button", name).get_state_set().contains(Atspi.StateType.SENSITIVE)

    def language(self, side):
        """What a list of languages shows."""
        return find(find(self.find("combo box", "Language of the " + side), "filler"), "label").get_name()

    def choose_language(self, side, name):
        """Opens the list, types into the search above it, and clicks on what this finds."""
        box = self.find("combo box", "Language of the " + side)
        place = Atspi.Component.get_extents(box, Atspi.CoordType.WINDOW)

        def click(x, y):
            xdotool("mousemove", str(place.x + x), str(place.y + y), "click", "1")
            time.sleep(0.3)
            return True

        def search():
            click(20, 15)
            click(60, 62)
            entry = find(box, "entry")
            if not entry or not entry.get_state_set().contains(Atspi.StateType.FOCUSED):
                xdotool("key", "Escape")
                return False
            xdotool("type", name)
            time.sleep(0.3)
            return find(find(box, "list"), "label").get_name() == name

        wait("the search", search)
        wait(f"{name} to be chosen", lambda: self.language(side) == name or not click(30, 110))
        xdotool("mousemove", "200", "200")

    def chooser(self, title):
        """Whether this file chooser is open."""
        children = (self.application.get_child_at_index(i) for i in range(self.application.get_child_count()))
        return any(child and child.get_name() == title for child in children)

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
    wait("a translation", window.translation)
    before, since = window.translation(), time.monotonic()
    while time.monotonic() - since < 1:
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


def type_path(window, title, path):
    wait("the file chooser", lambda: window.chooser(title))
    time.sleep(0.3)
    xdotool("key", "ctrl+a", "type", "--delay", "5", path)
    time.sleep(0.3)
    xdotool("key", "Return")
    wait("the end of the file chooser", lambda: not window.chooser(title))


def choose(window, path):
    window.press("_Model… Model…")
    type_path(window, "Choose a Model", path)


def choose_document(window, source, target):
    window.press("D_ocument… Document…")
    type_path(window, "Choose a Document", source)
    if target:
        type_path(window, "Save the Translation As", target)


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


def test_names(window):
    """Of the model and of its languages; and why these cannot be swapped."""
    expect("the title", "tatoeba-en-de", window.title())
    for name in "English", "German":
        if not window.find("label", name):
            fail(f"{name} is not shown")
    expect("whether languages can be swapped", False, window.sensitive("_Swap Swap"))
    expect("the reason", "The model does not translate from German into English",
           window.find("push button", "_Swap Swap").get_description())


def test_languages(window):
    """They are chosen, and swapped with the texts, of models that translate both ways."""
    text = "Tom likes the old house."
    window.insert(0, text)
    choose(window, tagged_model)
    in_german, in_french = (ferry_translates([text], tagged_model, "--to", to)[0] for to in ("de", "fr"))
    if in_german == in_french:
        fail("the languages do not differ")
    window.reads(in_german)
    expect("the languages", ("English", "German"), (window.language("text"), window.language("translation")))
    window.choose_language("translation", "French")
    window.reads(in_french)
    screenshot("languages")
    expect("what Swap says", "Exchange text and translation", window.find("push button", "_Swap Swap").get_description())
    window.press("_Swap Swap")
    window.reads(ferry_translates([in_french], tagged_model, "--from", "fr", "--to", "en")[0])
    expect("the text", in_french, window.source_text())
    expect("the languages", ("French", "English"), (window.language("text"), window.language("translation")))
    for pair in ("English", "French"), ("French", "English"):
        window.press("_Swap Swap")
        wait("the languages", lambda: (window.language("text"), window.language("translation")) == pair)
    window.clear()
    window.insert(0, text)
    window.reads(ferry_translates([text], tagged_model, "--from", "fr", "--to", "en")[0])

    choose(window, many_model)
    wait("the languages", lambda: (window.language("text"), window.language("translation")) == ("English", "German"))
    window.choose_language("translation", "Czech")
    window.reads(ferry_translates([text], many_model, "--from", "en", "--to", "cs")[0])
    choose(window, other_model)
    wait("the names of no languages", lambda: window.find("label", "Text") and window.find("label", "Translation"))
    expect("the reason", "The model does not say which languages it translates",
           window.find("push button", "_Swap Swap").get_description())
    choose(window, model)
    window.reads(ferry_translates([text])[0])
    window.clear()


def clipboard():
    """As another program gets it."""
    name, kind, place = (screen.intern_atom(atom) for atom in ("CLIPBOARD", "UTF8_STRING", "FERRY_TEST"))
    asking = root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
    asking.convert_selection(name, kind, place, X.CurrentTime)
    while True:
        event = screen.next_event()
        if event.type == X.SelectionNotify:
            break
    return asking.get_full_property(place, X.AnyPropertyType).value.decode()


def test_copying(window):
    window.insert(0, "Good morning!\n\nI would like to have the blue door.")
    translation = settled(window)
    window.press("Cop_y Copy")
    wait("a message", lambda: window.status() == "Copied")
    expect("the clipboard", translation, clipboard())
    if "Tür" not in translation:
        fail(f"no letter of several bytes: {translation}")
    window.clear()
    expect("whether nothing can be copied", False, window.sensitive("Cop_y Copy"))


page = """<!DOCTYPE html>
<html><body><h1>The old house</h1>
<p class="x">Tom lives in a <b>small</b> town by the sea &amp; likes it. He has 1,234 books.</p>
<pre>not this</pre></body></html>
"""


def in_folder(test):
    def run(window):
        with tempfile.TemporaryDirectory() as folder:
            test(window, folder)
    run.__name__ = test.__name__
    return run


@in_folder
def test_documents(window, folder):
    """What is saved is what the program saves. What cannot be translated is told of, and nothing is written."""
    source, target, expected = (os.path.join(folder, name) for name in ("page.html", "Seite.html", "expected.html"))
    with open(source, "w") as file:
        file.write(page)
    subprocess.run((ferry, "translate", "-q", "-m", model, "-i", source, "-o", expected), check=True)
    choose_document(window, source, target)
    wait("the message", lambda: window.status() == f"{target}: 2 texts translated")
    screenshot("document")
    with open(target, "rb") as saved, open(expected, "rb") as file:
        expect("the translation", file.read(), saved.read())

    unknown, malformed = (os.path.join(folder, name) for name in ("page.doc", "page.json"))
    for path in unknown, malformed:
        with open(path, "w") as file:
            file.write("{")
    choose_document(window, unknown, None)
    formats = "text, html, srt, vtt, markdown, po, json"
    wait("a message", lambda: window.status() == f"{unknown}: expected a document of one of the formats {formats}")
    choose_document(window, malformed, os.path.join(folder, "new.json"))
    wait("a message", lambda: window.status().startswith(malformed + ": ") and "json" in window.status())
    expect("the files", ["Seite.html", "expected.html", "page.doc", "page.html", "page.json"], sorted(os.listdir(folder)))


@in_folder
def test_cancelling_document(window, folder):
    """Its progress grows; text that is typed meanwhile is translated afterwards; nothing is written. Then it is closed."""
    source, target = (os.path.join(folder, name) for name in ("long.txt", "lang.txt"))
    with open(source, "w") as file:
        for number in range(4000):
            file.write(f"The weather is nice today. Tom bought {number} apples, and nobody knows why he did it.\n\n")
    choose_document(window, source, target)
    wait("progress", lambda: 0 < window.progress() < 0.5)
    progress = window.progress()
    wait("more progress", lambda: progress < window.progress() < 1)
    screenshot("translating")
    window.insert(0, "Good morning!")
    for button in "_Model… Model…", "D_ocument… Document…", "_Swap Swap":
        expect(f"whether {button} is sensitive", False, window.sensitive(button))
    time.sleep(0.3)
    expect("the translation of a text meanwhile", "", window.translation())
    xdotool("key", "alt+c")
    wait("the message", lambda: window.status() == f"Cancelled: {target} was not written")
    window.reads("Guten Morgen!")
    expect("whether there is another document", True, window.sensitive("D_ocument… Document…"))
    expect("the files", ["long.txt"], os.listdir(folder))
    window.clear()
    choose_document(window, source, target)
    wait("progress", lambda: 0 < window.progress() < 1)
    window.press("Close")
    window.ends()
    expect("the files", ["long.txt"], os.listdir(folder))


def test_icon(window):
    """The window says which program it belongs to, and has the icon that was installed."""
    def windows(parent):
        return [w for child in parent.query_tree().children for w in [child] + windows(child)]

    def text(w, name):
        found = w.get_full_property(screen.intern_atom(name), X.AnyPropertyType)
        return found and found.value

    own = wait("the window", lambda: [w for w in windows(root) if text(w, "_GTK_APPLICATION_ID")])[0]
    expect("the application", b"org.example.FerryDesktop", text(own, "_GTK_APPLICATION_ID"))
    expect("the class", ("ferry-desktop", "ferry-desktop"), own.get_wm_class())
    icon = text(own, "_NET_WM_ICON")
    if not icon or 0xFF3584E4 not in icon:
        fail(f"the window has not the program's icon: {icon and icon[:4]}")


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
    place = Atspi.Component.get_extents(window.source, Atspi.CoordType.WINDOW)
    xdotool("mousemove", str(place.x + 200), str(place.y + 200), "click", "1")
    wait("the focus", lambda: window.source.get_state_set().contains(Atspi.StateType.FOCUSED))
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
    wait("the focus", lambda: window.source.get_state_set().contains(Atspi.StateType.FOCUSED))
    screenshot("empty")
    for test in (test_typing, test_pointing, test_dark, test_names, test_icon, test_editing, test_beginnings, test_models,
                 test_languages, test_copying, test_documents, test_latency):
        begin = time.monotonic()
        test(window)
        print(f"desktop: {test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    test_cancelling(window, 3000 * line)
    test_closing(window, 3000 * line)
    window = Window("missing.gguf")
    wait("a message", lambda: "missing.gguf" in window.status())
    expect("whether a document can be chosen", False, window.sensitive("D_ocument… Document…"))
    window.press("Close")
    window.ends()
    window = Window(model)
    wait("the title", lambda: window.title() != "Ferry")
    test_cancelling_document(window)
    window = Window(tagged_model, LANGUAGE="fr_CA:en")
    wait("the user's language", lambda: window.find("combo box") and window.language("translation") == "French")
    window.process.terminate() # its button to close it may be a "Schließen"


main()
