"""Debian's Chromium without a window, by WebDriver (https://www.w3.org/TR/webdriver2), and a server of files for it."""
import base64
import contextlib
import functools
import http.server
import json
import os
import signal
import subprocess
import threading
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's name, section 12.1
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,720"]
DEADLINE = 60  # seconds, for one command


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *_):
        pass


def serve(folder):
    """A server of the folder's files, on a thread; and its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"


class Browser:
    """`folder`: where its profile is, and what is downloaded."""

    def __init__(self, folder, deadline=DEADLINE):
        self.deadline = deadline
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                       start_new_session=True)
        try:
            port = next(line.rsplit(" ", 1)[1].rstrip(".\n") for line in self.driver.stdout if "successfully on port" in line)
            self.url = f"http://127.0.0.1:{port}/session"
            options = {"args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"],
                       "prefs": {"download.default_directory": str(folder)}}
            made = self.call("POST", "", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
            self.url += f"/{made['sessionId']}"
            self.call("POST", "/timeouts", {"script": 1000 * deadline})
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        with contextlib.suppress(OSError, RuntimeError):
            self.deadline = 0
            self.call("DELETE", "")
        os.killpg(self.driver.pid, signal.SIGKILL)  # with a Chromium that did not end
        self.driver.wait()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.deadline + 10) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, body, *given):
        """What the body of an async function returns; given: what it is called with."""
        script = f"""const given = [...arguments], done = given.pop();
            (async () => {{ {body} }})().then((value) => done({{value}}), (error) => done({{error: String(error)}}));"""
        answer = self.call("POST", "/execute/async", {"script": script, "args": list(given)})
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def wait(self, expression):
        """Until it holds in the page."""
        try:
            self.run(f"while (!({expression})) await new Promise((resolve) => setTimeout(resolve, 20));")
        except RuntimeError as error:
            raise RuntimeError(f"{expression}: {error}; the page: {self.text('body')[-1000:]}") from None

    def element(self, selector):
        return f"/element/{self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]}"

    def type(self, selector, keys):
        """Keys, or, into an element for files, their paths."""
        self.call("POST", self.element(selector) + "/value", {"text": keys})

    def click(self, selector):
        self.call("POST", self.element(selector) + "/click", {})

    def point(self, selector):
        """Moves the mouse there."""
        origin = {ELEMENT: self.element(selector).rsplit("/", 1)[1]}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin}]}]})

    def text(self, selector):
        return self.call("GET", self.element(selector) + "/text")

    def prefer(self, scheme):
        """The user's "light" or "dark", by Chromium's own protocol."""
        given = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": given})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))
