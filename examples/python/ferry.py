"""Ferry for Python: translates text with a Transformer model, offline. One file, which needs libferry alone.

    with ferry.Model("model.gguf") as model, ferry.Translator(model, beam=4) as translator:
        for result in translator.translate(["Good morning!", "How are you?"]):
            print(result.text)

libferry is what the system's loader finds, or the file that the environment variable FERRY_LIBRARY names. ferry.h
explains options, results and errors. Calls release the interpreter's lock; any number of threads may share a model.
"""
from __future__ import annotations

import ctypes as c, enum, functools, itertools, os, sys, threading, weakref
from typing import Any, Callable, NamedTuple, Sequence

Status = enum.IntEnum("Status", "OK ARGUMENT MEMORY IO FORMAT UNSUPPORTED LIMIT CANCELLED", start=0)
Role = enum.IntFlag("Role", "SOURCE TARGET DEFAULT_SOURCE DEFAULT_TARGET")

Language = NamedTuple("Language", [("tag", str), ("names", "list[str]"), ("english", str), ("roles", Role)])
Result = NamedTuple("Result", [("text", str), ("score", float), ("hypotheses", "list[tuple[str, float]]"),
                               ("status", Status), ("error", "str | None"), ("warning", "str | None")])
# text[sentence.source] became translation.text[sentence.target], or stayed as it was if the sentence failed.
Sentence = NamedTuple("Sentence", [("source", slice), ("target", slice), ("result", Result)])
Translation = NamedTuple("Translation", [("text", str), ("sentences", "list[Sentence]"), ("status", Status),
                                         ("error", "str | None")])  # of the first sentence that failed


class FerryError(Exception):
    """A call that failed: why, in words, and `status`."""

    def __init__(self, error: Any):
        super().__init__(_str(error.message))
        self.status = Status(error.status)


def _structure(name: str, *fields: tuple[Any, str]) -> Any:
    """A structure of ferry.h; each of `fields` is a type, and names separated by blanks."""
    return type(name, (c.Structure,), {"_fields_": [(each, kind) for kind, names in fields for each in names.split()]})


_size, _int, _i32, _float, _string, _pointer = c.c_size_t, c.c_int, c.c_int32, c.c_float, c.c_char_p, c.c_void_p
_Error = _structure("ferry_error", (_int, "status"), (c.c_char * 508, "message"))
_Text = _structure("ferry_text", (c.POINTER(c.c_char), "data"), (_size, "size"))
_Sentence = _structure("ferry_sentence", (_size, "source_begin source_end target_begin target_end"))
_Outcome = _structure("ferry_outcome", (_int, "status quality"), (_string, "error warning"))
_Language = _structure("ferry_language", (_string, "tag names english"), (_int, "roles"))
_Options = _structure(
    "ferry_options", (_size, "size"), (_string, "from to"), (_i32, "beam threads batch"), (_int, "split"),
    (_size, "memory_limit"), (c.CFUNCTYPE(_int, _pointer, _size, _size), "progress"),
    (c.CFUNCTYPE(_int, _pointer, _size, _Text), "partial"), (_pointer, "user"),
    (_i32, "scores nbest alignment replace_unknowns"), (_int, "on_loop"), (_i32, "max_source max_length"),
    (_float, "length_factor"), (_i32, "length_extra min_length"), (_float, "length_penalty repetition_penalty"),
    (_i32, "no_repeat_ngram shortlist alternatives sample"), (_float, "temperature"), (_i32, "top_k"),
    (_float, "top_p"), (c.c_uint64, "seed"), (_pointer, "search"))
_to, _makes = c.POINTER, [c.POINTER(_pointer), c.POINTER(_Error)]  # _makes: the end of what makes an object
_FUNCTIONS = (  # names, result, parameters
    ("model_open", _int, [_string, _int, *_makes]), ("model_open_memory", _int, [_pointer, _size, _int, *_makes]),
    ("model_close translator_destroy translator_cancel result_destroy", None, [_pointer]),
    ("model_info_key", _string, [_size]), ("model_language", _to(_Language), [_pointer, _size]),
    ("result_outcome", _to(_Outcome), [_pointer, _size]), ("result_hypothesis_count", _size, [_pointer, _size]),
    ("model_language_count result_sentence_count", _size, [_pointer]),
    ("result_text", _Text, [_pointer, _size, _size]), ("result_sentence", _to(_Sentence), [_pointer, _size]),
    ("result_score", _float, [_pointer, _size, _size]), ("translator_create", _int, [_pointer, _to(_Options), *_makes]),
    ("options_default", _int, [_pointer, _to(_Options), _size]), ("result_sentences", _pointer, [_pointer]),
    ("model_info", _string, [_pointer, _string]), ("translate", _int, [_pointer, _to(_Text), _size, *_makes]),
    ("translate_text", _int, [_pointer, _Text, *_makes]),
    ("translate_prefixed", _int, [_pointer, _to(_Text), _to(_Text), _size, *_makes]))
_lib = c.CDLL(os.environ.get("FERRY_LIBRARY") or
              {"win32": "libferry.dll", "darwin": "libferry.0.1.dylib"}.get(sys.platform, "libferry.so.0.1"))
for _name, _result, _parameters in ((name, *signature) for names, *signature in _FUNCTIONS for name in names.split()):
    getattr(_lib, "ferry_" + _name).restype, getattr(_lib, "ferry_" + _name).argtypes = _result, _parameters


def _str(value: Any) -> Any:
    """A str from bytes or a ferry_text; other values as they are."""
    value = c.string_at(value.data, value.size) if isinstance(value, _Text) else value
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _texts(lines: Sequence[str]) -> Any:
    return (_Text * len(lines))(*((c.cast(c.c_char_p(b), _to(c.c_char)), len(b)) for b in map(str.encode, lines)))


def _slicer(text: str) -> Callable[[int, int], slice]:
    """From bytes begin … end - 1 of a text's UTF-8 to its characters."""
    before = list(itertools.accumulate((byte & 0xC0 != 0x80 for byte in text.encode()), initial=0))
    return lambda begin, end: slice(before[begin], before[end])


def _guarded(raised: list[BaseException], function: Callable[..., object], _: Any, *arguments: Any) -> bool:
    try:
        return bool(function(*map(_str, arguments)))
    except BaseException as exception:  # Translator._run raises it again
        raised.append(exception)
        return True


def _line(result: Any, line: int) -> Result:
    each = [(result, line, index) for index in range(_lib.ferry_result_hypothesis_count(result, line))]
    hypotheses = [(_str(_lib.ferry_result_text(*at)), _lib.ferry_result_score(*at)) for at in each]
    outcome = _lib.ferry_result_outcome(result, line).contents
    return Result(*(hypotheses or [("", 0.0)])[0], hypotheses, Status(outcome.status), _str(outcome.error),
                  _str(outcome.warning))


class _Object:
    """What a function of the library made. It is released with the last reference: not while another thread uses it,
    and before what it was made from, the first argument. A call that was cancelled makes a result, too."""

    def __init__(self, create: str, release: str, *arguments: Any):
        made, error, function = c.c_void_p(), _Error(), getattr(_lib, release)
        if getattr(_lib, create)(*arguments, made, error) not in (Status.OK, Status.CANCELLED):
            raise FerryError(error)
        parent = getattr(arguments[0], "_as_parameter_", None)
        weakref.finalize(made, lambda address, _: function(address), made.value, parent).atexit = False
        self._as_parameter_ = made  # what ctypes passes for this object

    def close(self, *_: object) -> None:
        """Releases the object; calls that follow raise FerryError."""
        self._as_parameter_ = None

    __enter__, __exit__ = lambda self: self, close


class Model(_Object):
    """A model file: its path, or its bytes, which are copied. It stays for as long as its translators do."""

    def __init__(self, source: str | os.PathLike | bytes | bytearray | memoryview):
        if isinstance(source, (str, os.PathLike)):
            super().__init__("ferry_model_open", "ferry_model_close", os.fsencode(source), 0)
        else:
            data = bytes(source)
            super().__init__("ferry_model_open_memory", "ferry_model_close", data, len(data), 1)  # FERRY_OPEN_COPY

    @property
    def info(self) -> dict[str, str]:
        """What the file says about itself: "name", "license", "origin", sizes and so on."""
        keys = itertools.takewhile(bool, map(_lib.ferry_model_info_key, itertools.count()))
        return {_str(key): _str(_lib.ferry_model_info(self, key)) for key in keys}

    @property
    def languages(self) -> list[Language]:
        """What the options `from_` and `to` can name; empty if the model does not say."""
        each = [_lib.ferry_model_language(self, i).contents for i in range(_lib.ferry_model_language_count(self))]
        return [Language(_str(of.tag), _str(of.names).split(), _str(of.english), Role(of.roles)) for of in each]


class Translator(_Object):
    """Translates, for one thread at a time. Options are the fields of ferry_options (`from_` with an underscore).
    Callbacks cancel by a true result, or by an exception, which the call raises."""

    def __init__(self, model: Model, **options: Any):
        self._one, self._raised, self._options = threading.Lock(), [], _Options()
        _lib.ferry_options_default(model, self._options, c.sizeof(_Options))
        kinds = {name: kind for name, kind in _Options._fields_ if name not in ("size", "user", "search")}
        for name, value in options.items():
            field = name.rstrip("_")
            if field not in kinds:
                raise TypeError(f"Translator() has no option {name!r}")
            if callable(value):
                value = kinds[field](functools.partial(_guarded, self._raised, value))
            setattr(self._options, field, value.encode() if isinstance(value, str) else value)
        super().__init__("ferry_translator_create", "ferry_translator_destroy", model, self._options)

    def _run(self, function: str, *arguments: Any) -> _Object:
        with self._one:
            self._raised.clear()
            result = _Object(function, "ferry_result_destroy", self, *arguments)
            if self._raised:
                raise self._raised[0]
            return result

    def cancel(self) -> None:
        """Ends the call that another thread is in; what it had not finished has the status CANCELLED."""
        _lib.ferry_translator_cancel(self)

    def translate(self, lines: Sequence[str], prefixes: Sequence[str] | None = None) -> list[Result]:
        """Translates lines, each as one sentence; with prefixes, so that the translations begin with them."""
        texts = [lines] if prefixes is None else [lines, prefixes]
        if len(texts[-1]) != len(lines):
            raise ValueError(f"{len(lines)} lines have {len(texts[-1])} prefixes")
        function = "ferry_translate" if prefixes is None else "ferry_translate_prefixed"
        result = self._run(function, *map(_texts, texts), len(lines))
        return [_line(result, index) for index in range(len(lines))]

    def translate_text(self, text: str) -> Translation:
        """Translates a text of any length sentence by sentence; white space stays."""
        result = self._run("ferry_translate_text", _texts([text])[0])
        whole, sentences, lines = _line(result, 0), [], _lib.ferry_result_sentences(result)
        source, target = _slicer(text), _slicer(whole.text)
        for index in range(_lib.ferry_result_sentence_count(result)):
            raw = _lib.ferry_result_sentence(result, index).contents
            sentences.append(Sentence(source(raw.source_begin, raw.source_end),
                                      target(raw.target_begin, raw.target_end), _line(lines, index)))
        return Translation(whole.text, sentences, whole.status, whole.error)
