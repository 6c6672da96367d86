"""Models and translators."""
from __future__ import annotations

import ctypes as c
import functools
import itertools
import math
import os
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Literal, Mapping, Sequence, TypeVar, overload

from . import _native
from ._native import FerryError, Role, Status, lib
from ._results import Translation, text_translation, translation

Made = TypeVar("Made")
# Lines of a stream that are translated together, for each sentence that is decoded together.
CHUNK = 8


@dataclass(frozen=True)
class Language:
    """A language that the options `from_` and `to` can name."""

    tag: str
    names: Sequence[str]
    english: str
    roles: Role


class Model(_native.Object):
    """A model file: its path, or its bytes, which are copied. Any number of translators and threads may use it; it stays
    for as long as they do. A model of another system becomes such a file by `convert`."""

    def __init__(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview):
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            super().__init__("ferry_model_open_memory", "ferry_model_close", data, len(data), _native.OPEN_COPY)
        else:
            super().__init__("ferry_model_open", "ferry_model_close", _native.encoded_path(source), 0)

    def verify(self) -> None:
        """Reads the whole file, and compares it with the content hash that it carries."""
        _native.call("ferry_model_verify", self)

    @property
    def info(self) -> dict[str, str]:
        """What the file says about itself: "name", "license", "origin", sizes and so on."""
        model = self._opened()
        keys = itertools.takewhile(bool, map(lib.ferry_model_info_key, itertools.count()))
        return {key.decode(): _native.decoded(lib.ferry_model_info(model, key)) for key in keys}

    @property
    def languages(self) -> list[Language]:
        """Empty if the model does not say."""
        each = [lib.ferry_model_language(self, i).contents for i in range(lib.ferry_model_language_count(self._opened()))]
        return [Language(_native.decoded(of.tag), _native.decoded(of.names).split(), _native.decoded(of.english),
                         Role(of.roles)) for of in each]


def convert(source: str | os.PathLike[str], output: str | os.PathLike[str], *options: str,
            program: str | os.PathLike[str] = "ferry") -> Model:
    """Makes the model file `output` from a model of Hugging Face, Marian or CTranslate2, and opens it. `program` is the
    program `ferry`, found by PATH; `options` are those of `ferry convert` ("--type", "int8")."""
    command = [os.fspath(program), "convert", "--quiet", *options, "--output", os.fspath(output), "--", os.fspath(source)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise FerryError(f"convert: the program {os.fspath(program)!r} was not found", Status.IO) from None
    if done.returncode != 0:
        raise FerryError(_native.decoded(done.stderr).strip(), Status.FORMAT)
    return Model(output)


# ---- options ----


def _number(name: str, value: Any, kind: Any) -> Any:
    """A number that a field of this type can hold."""
    if kind is c.c_float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name}: expected a number, found {value!r}")
        if not math.isfinite(c.c_float(value).value):
            raise ValueError(f"{name}: expected a finite number, found {value!r}")
    elif not isinstance(value, int):
        raise TypeError(f"{name}: expected an int, found {value!r}")
    elif kind(value).value != value:
        raise ValueError(f"{name}: {value} is out of range")
    return value


def _choice(name: str, value: Any, choices: dict[str, int]) -> int:
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, found {value!r}")
    return choices[value]


_CHOICES = {"split": _native.SPLIT, "on_loop": _native.ON_LOOP, "on_number": _native.ON_NUMBER, "policy": _native.POLICY,
            "early_stopping": _native.EARLY_STOPPING}


def _string(name: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, found {value!r}")
    if "\0" in value:
        raise ValueError(f"{name}: found NUL in {value!r}")
    return _native.encoded(value)


def _glossary(entries: Any) -> _native.Object:
    if not isinstance(entries, Mapping):
        raise TypeError(f"glossary: expected a dict, found {entries!r}")
    listed = [[] if targets is None else [targets] if isinstance(targets, str) else _iterable(targets, "glossary")
              for targets in entries.values()]
    sources = _native.text_array(list(_checked(entries, "glossary")))
    targets = [_native.text_array(list(_checked(each, "glossary"))) for each in listed]
    made = (_native.GlossaryEntry * len(sources))(
        *(_native.GlossaryEntry(source, each, len(each)) for source, each in zip(sources, targets)))
    return _native.Object("ferry_glossary_create", "ferry_glossary_destroy", made, c.sizeof(_native.GlossaryEntry), len(made))


def _set(options: Any, name: str, value: Any, guard: Callable[[Any], Any]) -> None:
    """Sets a field of Options or SearchOptions."""
    field = name.rstrip("_")  # from_
    kind = _native.fields(options)[field]
    if name in _CHOICES:
        value = _choice(name, value, _CHOICES[name])
    elif name == "suppressed_ids":
        ids = [_number(name, each, c.c_int32) for each in value]
        options.suppressed_count, value = len(ids), (c.c_int32 * len(ids))(*ids)
    elif kind is c.c_char_p:
        value = _string(name, value)
    elif name in ("progress", "partial"):
        if not callable(value):
            raise TypeError(f"{name}: expected a function, found {value!r}")
        value = kind(guard(value))
    else:
        value = _number(name, value, kind)
    setattr(options, field, value)


# ---- calls ----


def _interruptible(function: Callable[[], Made], cancel: Callable[[], None]) -> Made:
    """Calls the function in a thread of its own while this one waits: Python tells the main thread of Ctrl-C only between
    its own steps, which there are none of during a call of the library."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    made: list[Made] = []
    raised: list[BaseException] = []
    begun, abandoned, lock = threading.Event(), threading.Event(), threading.Lock()
    ended = threading.Event()  # after an interrupted `join`, Python 3.11 takes the thread for one that has ended

    def run() -> None:
        with lock:
            if abandoned.is_set():
                return
            begun.set()
        try:
            made.append(function())
        except BaseException as exception:
            raised.append(exception)
        ended.set()

    try:
        threading.Thread(target=run, name="ferry").start()
        while not ended.wait(0.05):
            pass
    except BaseException:
        with lock:
            abandoned.set()  # if it comes so early that the thread has not begun, or is not there
        cancel()
        if begun.is_set():
            ended.wait()
        raise
    if raised:
        raise raised[0]
    return made[0]


def _checked(texts: Iterable[Any], name: str) -> Iterator[str]:
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name}: expected str, found {text!r} at {index}")
        yield text


def _pairs(first: Iterable[str], second: Iterable[str], names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """As zip, but both have to be of one length."""
    ends: Any = object()
    for index, (one, other) in enumerate(itertools.zip_longest(first, second, fillvalue=ends)):
        if one is ends or other is ends:
            raise ValueError(f"there are {index} {names[one is not ends]}, and more {names[one is ends]}")
        yield one, other


def _iterable(value: Any, name: str) -> Iterable[Any]:
    if isinstance(value, (bytes, bytearray)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{name}: expected a str or an iterable of str, found {value!r}")
    return value  # type: ignore[no-any-return]


class Translator(_native.Object):
    """Translates, one call at a time. Options that are not given are as the model's authors chose; ferry.h has all
    that is to be said of each. `glossary` has words, each with its translation, or several to choose from; with None, it
    stays as it is. Callbacks end the call by a true result, or by an exception, which the call raises."""

    def __init__(
        self, model: Model, *,
        from_: str | None = None, to: str | None = None, beam: int | None = None, threads: int | None = None,
        batch: int | None = None, split: Literal["none", "auto", "all"] | None = None, memory_limit: int | None = None,
        progress: Callable[[int, int], object] | None = None, partial: Callable[[int, str], object] | None = None,
        scores: bool | None = None, nbest: int | None = None, alignment: bool | None = None,
        replace_unknowns: bool | None = None, on_loop: Literal["warn", "retry"] | None = None,
        on_number: Literal["warn", "retry"] | None = None,
        max_source: int | None = None, max_length: int | None = None, length_factor: float | None = None,
        length_extra: int | None = None, min_length: int | None = None, length_penalty: float | None = None,
        repetition_penalty: float | None = None, no_repeat_ngram: int | None = None, shortlist: bool | None = None,
        alternatives: bool | None = None, sample: bool | None = None, temperature: float | None = None,
        top_k: int | None = None, top_p: float | None = None, seed: int | None = None,
        policy: Literal["huggingface", "marian", "ctranslate2"] | None = None,
        early_stopping: Literal["false", "true", "never"] | None = None, word_penalty: float | None = None,
        renormalize: bool | None = None, forced_first_id: int | None = None, forced_last_id: int | None = None,
        suppressed_ids: Iterable[int] | None = None, patience: float | None = None,
        coverage_penalty: float | None = None,
        glossary: Mapping[str, str | Iterable[str] | None] | None = None,
    ):
        Model.expect(model)
        given = {name: value for name, value in locals().items()
                 if name not in ("self", "model", "glossary", "__class__") and value is not None}
        self._one = threading.Lock()
        self._job, self._cancel = 0, object()  # of the last call of the library; another one since each `cancel`
        self._raised: list[BaseException] = []
        self._options, search = _native.Options(), _native.SearchOptions()
        lib.ferry_options_default(model, self._options, c.sizeof(self._options))
        lib.ferry_search_options_default(model, search, c.sizeof(search))
        fields = _native.fields(self._options)
        for name, value in given.items():
            _set(self._options if name.rstrip("_") in fields else search, name, value, self._guard)
        self._options.search = c.pointer(search)
        words = None if glossary is None else _glossary(glossary)  # which the translator shares
        self._options.glossary = None if words is None else words._as_parameter_
        super().__init__("ferry_translator_create", "ferry_translator_destroy", model, self._options)

    def cancel(self) -> None:
        """Ends the calls in progress, which raise FerryError (CANCELLED): the one that another thread is in, and iterators
        of translations that are not read to their end. Calls that begin later are not concerned."""
        self._cancel = object()
        lib.ferry_translator_cancel(self, self._job)

    @property
    def memory(self) -> tuple[int, int]:
        """Bytes that the translator holds now, and the most that it ever held."""
        peak = c.c_size_t()
        return lib.ferry_translator_memory(self._opened(), peak), peak.value

    @overload
    def translate(  # type: ignore[overload-overlap] # a str is an iterable of str, too
        self, texts: str, prefixes: str | None = None, *, errors: Literal["raise", "keep"] = "raise") -> Translation: ...
    @overload
    def translate(self, texts: Iterable[str], prefixes: Iterable[str] | None = None, *,
                  errors: Literal["raise", "keep"] = "raise") -> Iterator[Translation]: ...

    def translate(self, texts: str | Iterable[str], prefixes: str | Iterable[str] | None = None, *,
                  errors: Literal["raise", "keep"] = "raise") -> Translation | Iterator[Translation]:
        """Translates one text, or each of any number of them, which are read as their translations are asked for, some
        hundreds in advance. A text is one line, which is split only where it is long (the options `split`,
        `max_source`); one of several lines is translated as by `translate_text`. With prefixes, translations begin
        with them. One that fails raises FerryError, or, with errors="keep", has an `error`."""
        _choice("errors", errors, {"raise": 0, "keep": 1})
        if isinstance(texts, str):
            return next(self._stream([texts], None if prefixes is None else [prefixes], errors))
        if isinstance(prefixes, str):
            raise TypeError(f"prefixes: expected a list, found {prefixes!r}")
        return self._stream(_iterable(texts, "texts"), prefixes, errors)

    @overload
    def score(  # type: ignore[overload-overlap]
        self, sources: str, targets: str, *, errors: Literal["raise", "keep"] = "raise") -> Translation: ...
    @overload
    def score(self, sources: Iterable[str], targets: Iterable[str], *, errors: Literal["raise", "keep"] = "raise"
              ) -> Iterator[Translation]: ...

    def score(self, sources: str | Iterable[str], targets: str | Iterable[str], *,
              errors: Literal["raise", "keep"] = "raise") -> Translation | Iterator[Translation]:
        """How likely the model finds given translations: for each pair the target, its score, and its tokens."""
        _choice("errors", errors, {"raise": 0, "keep": 1})
        if isinstance(sources, str) != isinstance(targets, str):
            raise TypeError(f"targets: expected as many as sources, found {targets!r}")
        one = isinstance(sources, str)
        pairs = _pairs(_checked([sources] if one else _iterable(sources, "sources"), "sources"),
                       _checked([targets] if one else _iterable(targets, "targets"), "targets"), ("sources", "targets"))
        scored = self._chunks(pairs, functools.partial(self._run, "ferry_score"), errors)
        return next(scored) if one else scored

    def translate_text(self, text: str, *, errors: Literal["raise", "keep"] = "raise") -> Translation:
        """Translates a text of any length sentence by sentence; white space stays. Its `sentences` have scores and tokens.
        With errors="keep", a sentence that fails stays as it is, and the error is the first one's."""
        _choice("errors", errors, {"raise": 0, "keep": 1})
        return self._take(self._text(next(_checked([text], "text")), self._cancel), 0, errors)

    # ---- how ----

    def _guard(self, function: Callable[..., object]) -> Callable[..., bool]:
        """ctypes loses exceptions of callbacks: `_call` raises them."""

        def guarded(_: Any, *arguments: Any) -> bool:
            try:
                return bool(function(*(_native.decoded(each) if isinstance(each, _native.Text) else each
                                       for each in arguments)))
            except BaseException as exception:
                self._raised.append(exception)
                return True

        return guarded

    def _call(self, last_cancel: object, function: str, *arguments: Any) -> _native.Object:
        """Calls a function of the library. last_cancel: `_cancel` when the user's call began, of which this is a part."""
        if not self._one.acquire(blocking=False):  # of another thread, or of the callback that this is called from
            raise FerryError("translator: expected none with a call in progress")
        try:
            self._raised.clear()
            self._job = job = lib.ferry_translator_job(self)
            if self._cancel is not last_cancel:  # by a thread that does not know this job yet
                lib.ferry_translator_cancel(self, job)
            result = _interruptible(lambda: _native.Object(function, "ferry_result_destroy", self, *arguments),
                                    lambda: lib.ferry_translator_cancel(self, job))
            if self._raised:
                raise self._raised[0]
            return result
        finally:
            self._one.release()

    def _run(self, function: str, lines: list[tuple[str, ...]], last_cancel: object) -> list[Translation]:
        first, *others = (_native.text_array(list(column)) for column in zip(*lines))
        more = (*others, len(lines)) if function == "ferry_score" else (len(lines), _native.Request(*others))
        result = self._call(last_cancel, function, first, *more)
        return [translation(result, index, line[0]) for index, line in enumerate(lines)]

    def _text(self, text: str, last_cancel: object) -> Translation:
        result = self._call(last_cancel, "ferry_translate_text", _native.text_array([text])[0])
        return text_translation(result, text)

    def _translate(self, lines: list[tuple[str, ...]], last_cancel: object) -> list[Translation]:
        """Lines together, texts of several lines one by one."""
        several = [len(line[0].splitlines()) > 1 for line in lines]
        single = [line for line, is_several in zip(lines, several) if not is_several]
        done = iter(self._run("ferry_translate_with", single, last_cancel) if single else [])
        for line, is_several in zip(lines, several):
            if is_several and len(line) > 1 and line[1]:
                raise ValueError(f"prefixes: a text of several lines has none, found {line[1]!r}")
        return [self._text(line[0], last_cancel) if is_several else next(done)
                for line, is_several in zip(lines, several)]

    def _stream(self, texts: Iterable[Any], prefixes: Iterable[Any] | None, errors: str) -> Iterator[Translation]:
        lines: Iterator[tuple[str, ...]] = ((text,) for text in _checked(texts, "texts"))
        if prefixes is not None:
            lines = _pairs(_checked(texts, "texts"), _checked(_iterable(prefixes, "prefixes"), "prefixes"),
                           ("texts", "prefixes"))
        return self._chunks(lines, self._translate, errors)

    def _chunks(self, lines: Iterator[Any], function: Callable[[list[Any], object], list[Translation]], errors: str
                ) -> Iterator[Translation]:
        size, done, ended, last_cancel = CHUNK * self._options.batch, 0, False, self._cancel
        cancelled = Translation("", 0.0, error="cancelled", status=Status.CANCELLED)
        while chunk := list(itertools.islice(lines, size)):
            translations = [cancelled] * len(chunk) if ended else function(chunk, last_cancel)
            ended = any(each.status is Status.CANCELLED for each in translations)
            for index, each in enumerate(translations):
                yield self._take(each, done + index, errors)
            done += len(chunk)

    @staticmethod
    def _take(each: Translation, index: int, errors: str) -> Translation:
        if each.error is not None and errors == "raise":
            raise FerryError(f"text {index}: {each.error}", each.status)
        return each
