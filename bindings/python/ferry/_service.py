"""A service: texts of many callers, translated together."""
from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import ctypes as c
import itertools
import os
import threading
import weakref
from typing import Any, Callable, Generator, Iterable, Literal, NamedTuple

from . import _native
from ._native import FerryError, Status, lib
from ._results import Translation, text_translation, translation
from ._translator import Made, Translator, _checked, _choice, _iterable, _number, _pairs


class State(NamedTuple):
    """Texts that have not begun, those that have and are not reported, and the bytes that the service holds."""

    waiting: int
    running: int
    bytes: int


class Future(concurrent.futures.Future[Made]):
    """What a service will have made of a text: as any future of concurrent.futures, and `await` takes it, too. To cancel it,
    or a task that awaits it, ends the text."""

    def __init__(self, service: Service, read: Callable[[c.c_void_p], Made], *callbacks: Callable[..., object] | None):
        super().__init__()
        self._service: Service | None = service  # until the text is reported, as the next two
        self._read: Any = read
        self._callbacks: Any = callbacks
        self._raised: BaseException | None = None  # by a callback
        self._ticket = c.c_uint64()

    def cancel(self) -> bool:
        service, cancelled = self._service, super().cancel()
        if cancelled and service is not None:
            lib.ferry_service_cancel(service, self._ticket)
        return cancelled

    def __await__(self) -> Generator[Any, None, Made]:
        import asyncio  # who awaits has it; for others it would take longer than all of this package
        return asyncio.wrap_future(self).__await__()

    def _call(self, index: int, *arguments: Any) -> bool:
        try:
            return self._callbacks[index](*arguments) is True  # no other: call_soon_threadsafe returns a handle
        except BaseException as exception:  # ctypes would lose it
            self._raised = self._raised or exception
            return True
        finally:
            del self  # the exception refers to this frame

    def _finish(self, result: c.c_void_p, error: Any) -> None:
        if self.set_running_or_notify_cancel():
            made: Any = None
            try:
                if self._raised is None:
                    made = self._read(result) if result else _native.failure(error.contents)
            except BaseException as exception:
                self._raised = exception
            if self._raised is not None or not result:
                self.set_exception(self._raised or made)
            else:
                self.set_result(made)
        del self


# ---- texts that the library has ----

_texts: dict[int, tuple[Service, Future[Any]]] = {}  # by number, which is `user` of their callbacks
_numbers = itertools.count(1)
_services: weakref.WeakSet[Service] = weakref.WeakSet()


def _text(number: int) -> Future[Any]:
    service, future = _texts[number]
    service._threads.add(threading.get_ident())
    return future


def _forget(number: int) -> None:
    service, future = _texts[number]
    future._service, future._read, future._callbacks = None, None, ()
    with service._reported:
        service._pending.discard(number)
        service._reported.notify_all()
    del _texts[number]


def _done(number: int, _: int, address: int | None, error: Any) -> None:
    result = c.c_void_p(address)
    try:
        _text(number)._finish(result, error)
    finally:
        lib.ferry_result_destroy(result)
        _forget(number)


# Three for all texts, which stay: the library may call them at any time.
_CALLBACKS = {name: _native.fields(_native.Submission())[name](function) for name, function in (
    ("progress", lambda number, done, total: _text(number)._call(0, done, total)),
    ("partial", lambda number, line, text: _text(number)._call(1, line, _native.decoded(text))), ("done", _done))}


@atexit.register
def _end() -> None:
    """No text may call an interpreter that has ended."""
    for service in list(_services):
        service.stop(cancel=True)
        _native.Object.close(service)  # at once: threads that go on submitting would be waited for
        service._wait()


def _destroy(address: int | None) -> None:
    """The last reference to a service may go in one of its callbacks, where the library does not destroy it."""
    if lib.ferry_service_destroy(address, None) != Status.OK:
        with contextlib.suppress(RuntimeError):  # the interpreter ends
            threading.Thread(target=lib.ferry_service_destroy, args=(address, None), name="ferry").start()


class Service(_native.Object):
    """Translates texts of any number of threads and tasks together, with the model, options and threads of a translator,
    which it takes over: for its caller, that is closed. It has at most max_texts (0: 1000) of max_bytes (0: 64 MiB).

    Callbacks are called by threads of the service, whose other texts wait meanwhile: they may submit, cancel and stop, but
    neither close the service nor wait for its texts. True as a result, or an exception, which the future raises, ends the
    text. Without `close` the service lives until its texts are reported."""

    def __init__(self, translator: Translator, max_texts: int = 0, max_bytes: int = 0):
        options = _native.ServiceOptions(c.sizeof(_native.ServiceOptions), _number("max_texts", max_texts, c.c_size_t),
                                         _number("max_bytes", max_bytes, c.c_size_t))
        self._process, self._pending, self._threads = os.getpid(), set[int](), set[int]()
        self._reported = threading.Condition()
        taken = Translator.expect_open(translator)._finalizer.detach()  # first: it must not have two owners, nor after Ctrl-C
        if taken is None:
            raise FerryError("translator: another service takes it over")
        try:
            super().__init__("ferry_service_create", _destroy, translator, options)
        except FerryError:
            translator._own(taken[0], *taken[2])
            raise
        translator.close()
        _services.add(self)

    def submit(self, text: str, *, priority: int = 0, wait: int = 0, errors: Literal["raise", "keep"] = "raise",
               on_progress: Callable[[int, int], object] | None = None,
               on_partial: Callable[[int, str], object] | None = None) -> Future[Translation]:
        """What `Translator.translate_text` would return. Texts of a higher priority (-100…100) come first. One that has not
        begun within `wait` milliseconds (0: any) is CANCELLED. on_progress(sentences_done, sentences) and, in greedy
        search, on_partial(sentence, translation_so_far) are called meanwhile. Raises at once FerryError: LIMIT, if the
        service is full, or CANCELLED, if it is stopped."""
        _choice("errors", errors, {"raise": 0, "keep": 1})
        submission = _native.Submission(text=_native.text_array(list(_checked([text], "text")))[0])
        return self._submit(submission, lambda result: Translator._take(text_translation(result, text), 0, errors),
                            priority, wait, on_progress, on_partial)

    def submit_lines(self, lines: Iterable[str], prefixes: Iterable[str] | None = None, *, priority: int = 0, wait: int = 0,
                     errors: Literal["raise", "keep"] = "raise", on_progress: Callable[[int, int], object] | None = None,
                     on_partial: Callable[[int, str], object] | None = None) -> Future[list[Translation]]:
        """What `Translator.translate` would give for these texts, each of one line. Otherwise as `submit`."""
        _choice("errors", errors, {"raise": 0, "keep": 1})
        if isinstance(lines, str) or isinstance(prefixes, str):
            raise TypeError(f"lines, prefixes: expected lists, found {lines!r}, {prefixes!r}")
        texts = list(_checked(_iterable(lines, "lines"), "lines"))
        for index, line in enumerate(texts):
            if len(line.splitlines()) > 1:
                raise ValueError(f"lines: expected one, found {line!r} at {index}, which is a text for `submit`")
        submission = _native.Submission(lines=_native.text_array(texts), count=len(texts))
        if prefixes is not None:
            pairs = _pairs(texts, _checked(_iterable(prefixes, "prefixes"), "prefixes"), ("lines", "prefixes"))
            prefix_array = _native.text_array([prefix for _, prefix in pairs])
            submission.request = c.pointer(_native.Request(prefix_array))

        def read(result: c.c_void_p) -> list[Translation]:
            return [Translator._take(translation(result, index, line), index, errors) for index, line in enumerate(texts)]

        return self._submit(submission, read, priority, wait, on_progress, on_partial)

    def _submit(self, submission: _native.Submission, read: Callable[[c.c_void_p], Made], priority: int, wait: int,
                *callbacks: Callable[..., object] | None) -> Future[Made]:
        submission.size, submission.done, submission.user = c.sizeof(submission), _CALLBACKS["done"], next(_numbers)
        submission.priority, submission.wait = _number("priority", priority, c.c_int32), _number("wait", wait, c.c_int32)
        for name, function in zip(("progress", "partial"), callbacks):
            if function is not None:
                setattr(submission, name, _CALLBACKS[name])
        if self._opened()._process != os.getpid():
            raise FerryError("service: expected one of this process, found its parent's", argument="service")
        future = Future(self, read, *callbacks)
        self._pending.add(submission.user)
        _texts[submission.user] = self, future
        try:
            _native.call("ferry_service_submit", self, submission, future._ticket)
        except BaseException:
            if future._ticket.value == 0:  # else Ctrl-C came after the library took the text
                _forget(submission.user)
            raise
        return future

    @property
    def state(self) -> State:
        waiting, running = c.c_size_t(), c.c_size_t()
        held = lib.ferry_service_state(self._opened(), waiting, running)
        return State(waiting.value, running.value, held)

    def stop(self, cancel: bool = False) -> None:
        """Refuses texts that are submitted from now on, and with `cancel` ends all others. Returns at once."""
        lib.ferry_service_stop(self, bool(cancel))

    def close(self) -> None:
        """Stops the service, waits until all texts are reported, and releases it. A `with` that an exception ends cancels
        them."""
        if threading.get_ident() in self._threads:
            raise FerryError("service: expected none that has called this function", argument="service")
        self.stop()
        self._wait()
        super().close()

    def _wait(self) -> None:
        if self._process == os.getpid():
            with self._reported:
                self._reported.wait_for(lambda: not self._pending)

    def __exit__(self, *raised: object) -> None:
        self.stop(cancel=raised[0] is not None)
        self.close()
