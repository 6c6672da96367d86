"""What ferry.h and ferry_inspect.h declare, for ctypes. Each structure, constant and function here is compared with the
headers by a test."""
from __future__ import annotations

import _thread
import ctypes as c
import enum
import os
import pathlib
import sys
import threading
import weakref
from typing import Any, Callable, TypeVar


class Status(enum.IntEnum):
    """Why a call or a line failed."""

    OK = 0
    ARGUMENT = 1
    MEMORY = 2
    IO = 3
    FORMAT = 4
    UNSUPPORTED = 5
    LIMIT = 6
    CANCELLED = 7


class Quality(enum.IntFlag):
    """Signs that a translation is wrong, although the model computed it so."""

    CUT = 1
    LOOP = 2
    SHORT = 4
    UNKNOWN = 8
    NUMBER = 16
    TERM = 32


class Role(enum.IntFlag):
    """What a model can do with a language."""

    SOURCE = 1
    TARGET = 2
    DEFAULT_SOURCE = 4
    DEFAULT_TARGET = 8


OPEN_COPY = 1
SPLIT = {"none": 0, "auto": 1, "all": 2}
ON_LOOP = {"warn": 0, "retry": 1}
ON_NUMBER = {"warn": 0, "retry": 1}
POLICY = {"huggingface": 0, "marian": 1, "ctranslate2": 2}
EARLY_STOPPING = {"false": 0, "true": 1, "never": 2}
STACK = {"encoder": 0, "decoder": 1}
SCHEME_KIND = {"no_positions": 0, "absolute": 1, "relative": 2}
PASS = {"one_pass": 0, "step_by_step": 1}
ATTENTION = {"encoder_self": 0, "decoder_self": 1, "cross": 2}
ALL = -1


class FerryError(Exception):
    """A call or a line that failed: why, in words, `status`, and, if the library refused an argument or an option, its
    name in ferry.h: `argument`."""

    def __init__(self, message: str, status: Status = Status.ARGUMENT, argument: str | None = None):
        super().__init__(message)
        self.status, self.argument = status, argument


class Text(c.Structure):
    _fields_ = [("data", c.POINTER(c.c_char)), ("size", c.c_size_t)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 500), ("argument", c.c_char_p)]


class Language(c.Structure):
    _fields_ = [("tag", c.c_char_p), ("names", c.c_char_p), ("english", c.c_char_p), ("roles", c.c_int)]


class SearchOptions(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("policy", c.c_int), ("early_stopping", c.c_int), ("word_penalty", c.c_float),
        ("renormalize", c.c_int32), ("forced_first_id", c.c_int32), ("forced_last_id", c.c_int32),
        ("suppressed_ids", c.POINTER(c.c_int32)), ("suppressed_count", c.c_size_t), ("patience", c.c_float),
        ("coverage_penalty", c.c_float),
    ]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("from", c.c_char_p), ("to", c.c_char_p), ("beam", c.c_int32), ("threads", c.c_int32),
        ("batch", c.c_int32), ("split", c.c_int), ("memory_limit", c.c_size_t),
        ("progress", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, c.c_size_t)),
        ("partial", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, Text)), ("user", c.c_void_p), ("scores", c.c_int32),
        ("nbest", c.c_int32), ("alignment", c.c_int32), ("replace_unknowns", c.c_int32), ("on_loop", c.c_int), ("on_number", c.c_int),
        ("max_source", c.c_int32), ("max_length", c.c_int32), ("length_factor", c.c_float),
        ("length_extra", c.c_int32), ("min_length", c.c_int32), ("length_penalty", c.c_float),
        ("repetition_penalty", c.c_float), ("no_repeat_ngram", c.c_int32), ("shortlist", c.c_int32),
        ("alternatives", c.c_int32), ("sample", c.c_int32), ("temperature", c.c_float), ("top_k", c.c_int32),
        ("top_p", c.c_float), ("seed", c.c_uint64), ("search", c.POINTER(SearchOptions)),
        ("glossary", c.c_void_p),
    ]


class GlossaryEntry(c.Structure):
    _fields_ = [("source", Text), ("targets", c.POINTER(Text)), ("target_count", c.c_size_t)]


class Term(c.Structure):
    _fields_ = [("line", c.c_size_t), ("begin", c.c_size_t), ("end", c.c_size_t), ("targets", c.POINTER(Text)),
                ("target_count", c.c_size_t)]


class Request(c.Structure):
    _fields_ = [("size", c.c_size_t), ("prefixes", c.POINTER(Text)), ("terms", c.POINTER(Term)),
                ("term_size", c.c_size_t), ("term_count", c.c_size_t), ("on_number", c.c_int),
                ("progress", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, c.c_size_t)), ("user", c.c_void_p)]

    def __init__(self, prefixes: Any = None):
        super().__init__(c.sizeof(Request), prefixes)


class ServiceOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("max_texts", c.c_size_t), ("max_bytes", c.c_size_t)]


class Submission(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("text", Text), ("lines", c.POINTER(Text)), ("count", c.c_size_t),
        ("request", c.POINTER(Request)), ("priority", c.c_int32), ("wait", c.c_int32),
        ("progress", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, c.c_size_t)),
        ("partial", c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, Text)),
        ("done", c.CFUNCTYPE(None, c.c_void_p, c.c_uint64, c.c_void_p, c.POINTER(Error))), ("user", c.c_void_p),
    ]


class Outcome(c.Structure):
    _fields_ = [("status", c.c_int), ("quality", c.c_int), ("error", c.c_char_p), ("warning", c.c_char_p)]


class Token(c.Structure):
    _fields_ = [("id", c.c_int32), ("log_probability", c.c_float), ("begin", c.c_size_t), ("end", c.c_size_t)]


class Sentence(c.Structure):
    _fields_ = [("source_begin", c.c_size_t), ("source_end", c.c_size_t), ("target_begin", c.c_size_t),
                ("target_end", c.c_size_t)]


class InspectShape(c.Structure):
    _fields_ = [(name, c.c_int32) for name in
                ("d_model", "heads", "ffn_width", "encoder_layers", "decoder_layers", "vocab")]


class InspectSizes(c.Structure):
    _fields_ = [(name, c.c_int32) for name in
                ("d_model", "source_vocab", "target_vocab", "encoder_layers", "decoder_layers", "encoder_heads",
                 "decoder_heads", "encoder_head_width", "decoder_head_width", "pad_id", "start_id", "eos_id",
                 "encoder_positions", "decoder_positions")]


class InspectTraining(c.Structure):
    _fields_ = [("text", Text), ("longest", c.c_int32), ("seed", c.c_int32), ("tokens", c.c_float)]


class InspectScheme(c.Structure):
    _fields_ = [
        ("name", c.c_char_p), ("title", c.c_char_p), ("paper", c.c_char_p), ("kind", c.c_int),
        ("for_long_texts", c.c_int32), ("parameters", c.c_char * 256), ("limit", c.c_int32), ("has_weights", c.c_int32),
        ("has_values", c.c_int32),
    ]


class InspectMemory(c.Structure):
    _fields_ = [(name, c.c_size_t) for name in ("tables", "row", "token", "thread")]


class InspectPhase(c.Structure):
    _fields_ = [("name", c.c_char_p), ("seconds", c.c_double), ("calls", c.c_int64)]


_int, _i32, _size, _string, _pointer, _to = c.c_int, c.c_int32, c.c_size_t, c.c_char_p, c.c_void_p, c.POINTER
_error, _made, _ints, _floats = _to(Error), _to(_pointer), _to(_i32), _to(c.c_float)
_texts, _ids = _to(Text), [_ints, _ints, _i32]  # _ids: a ragged batch

FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {  # result, parameters
    "ferry_version": (_string, []),
    "ferry_model_open": (_int, [_string, _int, _made, _error]),
    "ferry_model_open_memory": (_int, [_pointer, _size, _int, _made, _error]),
    "ferry_model_close": (None, [_pointer]),
    "ferry_model_verify": (_int, [_pointer, _error]),
    "ferry_model_info_key": (_string, [_size]),
    "ferry_model_info": (_string, [_pointer, _string]),
    "ferry_model_language_count": (_size, [_pointer]),
    "ferry_model_language": (_to(Language), [_pointer, _size]),
    "ferry_options_default": (_int, [_pointer, _to(Options), _size]),
    "ferry_search_options_default": (_int, [_pointer, _to(SearchOptions), _size]),
    "ferry_glossary_create": (_int, [_to(GlossaryEntry), _size, _size, _made, _error]),
    "ferry_glossary_destroy": (None, [_pointer]),
    "ferry_translator_create": (_int, [_pointer, _to(Options), _made, _error]),
    "ferry_translator_destroy": (None, [_pointer]),
    "ferry_translator_job": (c.c_uint32, [_pointer]),
    "ferry_translator_cancel": (None, [_pointer, c.c_uint32]),
    "ferry_translator_memory": (_size, [_pointer, _to(_size)]),
    "ferry_translate": (_int, [_pointer, _texts, _size, _made, _error]),
    "ferry_translate_with": (_int, [_pointer, _texts, _size, _to(Request), _made, _error]),
    "ferry_translate_text": (_int, [_pointer, Text, _made, _error]),
    "ferry_translate_text_with": (_int, [_pointer, Text, _to(Request), _made, _error]),
    "ferry_score": (_int, [_pointer, _texts, _texts, _size, _made, _error]),
    "ferry_result_destroy": (None, [_pointer]),
    "ferry_service_create": (_int, [_pointer, _to(ServiceOptions), _made, _error]),
    "ferry_service_submit": (_int, [_pointer, _to(Submission), _to(c.c_uint64), _error]),
    "ferry_service_cancel": (None, [_pointer, c.c_uint64]),
    "ferry_service_state": (_size, [_pointer, _to(_size), _to(_size)]),
    "ferry_service_stop": (None, [_pointer, _int]),
    "ferry_service_destroy": (_int, [_pointer, _error]),
    "ferry_result_outcome": (_to(Outcome), [_pointer, _size]),
    "ferry_result_hypothesis_count": (_size, [_pointer, _size]),
    "ferry_result_text": (Text, [_pointer, _size, _size]),
    "ferry_result_score": (c.c_float, [_pointer, _size, _size]),
    "ferry_result_token_count": (_size, [_pointer, _size, _size]),
    "ferry_result_source_token_count": (_size, [_pointer, _size]),
    "ferry_result_source_token": (_int, [_pointer, _size, _size, _to(Token), _size]),
    "ferry_result_token": (_int, [_pointer, _size, _size, _size, _to(Token), _size]),
    "ferry_result_weights": (_floats, [_pointer, _size, _size, _size, _to(_size), _to(_size)]),
    "ferry_result_sentence_count": (_size, [_pointer]),
    "ferry_result_sentence": (_to(Sentence), [_pointer, _size]),
    "ferry_result_sentences": (_pointer, [_pointer]),
    "ferry_inspect_open": (_int, [_string, _string, _string, _made, _error]),
    "ferry_inspect_untrained": (_int, [_string, _to(InspectShape), _string, _made, _error]),
    "ferry_inspect_name": (Text, [_pointer]),
    "ferry_inspect_encoding": (_string, [_size]),
    "ferry_inspect_isa": (_string, [_pointer]),
    "ferry_inspect_describe": (_int, [_pointer, _texts, _error]),
    "ferry_inspect_free": (None, [_pointer]),
    "ferry_inspect_get_sizes": (InspectSizes, [_pointer]),
    "ferry_inspect_tokenize": (_int, [_pointer, Text, _string, _string, _to(_ints), _to(_size), _error]),
    "ferry_inspect_get_training": (InspectTraining, [_pointer]),
    "ferry_inspect_targets": (_int, [_pointer, _texts, _i32, _to(_ints), _to(_ints), _ints, _error]),
    "ferry_inspect_piece": (Text, [_pointer, _int, _i32]),
    "ferry_inspect_encode": (_int, [_pointer, *_ids, _floats, _error]),
    "ferry_inspect_hidden": (_int, [_pointer, _int, *_ids, _ints, _ints, _floats, _error]),
    "ferry_inspect_get_scheme": (InspectScheme, [_pointer, _int]),
    "ferry_inspect_position_rows": (_int, [_pointer, _int, _i32, _floats, _error]),
    "ferry_inspect_position_scores": (_int, [_pointer, _int, *3 * [_i32], *3 * [_floats], _error]),
    "ferry_inspect_logits": (_int, [_pointer, *_ids, _ints, _ints, _int, _floats, _error]),
    "ferry_inspect_attention": (_int, [_pointer, _int, _i32, _i32, _ints, _i32, _ints, _i32, _floats, _error]),
    "ferry_inspect_timer_create": (_int, [_pointer, _i32, _i32, _made, _error]),
    "ferry_inspect_timer_destroy": (None, [_pointer]),
    "ferry_inspect_timer_run": (_int, [_pointer, _to(c.c_double), _error]),
    "ferry_inspect_timer_memory": (InspectMemory, [_pointer]),
    "ferry_inspect_result_ids": (_ints, [_pointer, _size, _size]),
    "ferry_inspect_target_limit": (_i32, [_pointer, _size]),
    "ferry_inspect_profile_start": (None, [_pointer]),
    "ferry_inspect_profile_phase": (InspectPhase, [_pointer, _size]),
}


def _load() -> c.CDLL:
    name = {"win32": "_ferry.dll", "darwin": "_ferry.dylib"}.get(sys.platform, "_ferry.so")
    library = c.CDLL(os.fspath(pathlib.Path(__file__).with_name(name)))
    for function, (result, parameters) in FUNCTIONS.items():
        declared = getattr(library, function)
        declared.restype, declared.argtypes = result, parameters
    return library


lib = _load()


def failure(error: Error) -> FerryError:
    return FerryError(decoded(error.message), Status(error.status), error.argument and error.argument.decode())


def call(function: str, *arguments: Any) -> None:
    """Calls a function whose last parameter is a ferry_error."""
    error = Error()
    if getattr(lib, function)(*arguments, error) != Status.OK:
        raise failure(error)


def _release(free: Any, address: int | None, _: Any) -> None:
    """Python drops an exception in a finalizer: a Ctrl-C that comes here is raised again, after it."""
    try:
        free(address)
    except KeyboardInterrupt:
        threading.Timer(0.01, _thread.interrupt_main).start()


Own = TypeVar("Own", bound="Object")


class Object:
    """What a function of the library made. It is released with the last reference to it: not while another thread uses
    it, and before what it was made from, the first argument. A call that was cancelled makes a result, too."""

    def __init__(self, function: str, release: str | Callable[[int | None], None], *arguments: Any):
        made, error, free = c.c_void_p(), Error(), getattr(lib, release) if isinstance(release, str) else release
        status = getattr(lib, function)(*arguments, made, error)
        if status not in (Status.OK, Status.CANCELLED):
            raise failure(error)
        self.status = Status(status)
        parent = getattr(arguments[0], "_as_parameter_", None)
        self._own(made, free, made.value, parent)
        self._as_parameter_: c.c_void_p | None = made  # what ctypes passes for this object

    def _own(self, made: c.c_void_p, *release: Any) -> None:
        self._finalizer = weakref.finalize(made, _release, *release)
        self._finalizer.atexit = False

    def close(self) -> None:
        """Releases the object; calls that follow raise FerryError, properties ValueError."""
        self._as_parameter_ = None

    def _opened(self: Own) -> Own:
        """The object, of which a property is read."""
        if self._as_parameter_ is None:
            raise ValueError(f"{type(self).__name__.lower()}: it is closed")
        return self

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def expect(cls: type[Own], value: Own) -> Own:
        """The value, which is of this class."""
        if not isinstance(value, cls):
            raise TypeError(f"{cls.__name__.lower()}: expected a {cls.__name__}, found {value!r}")
        return value

    @classmethod
    def expect_open(cls: type[Own], value: Own) -> Own:
        if cls.expect(value)._as_parameter_ is None:
            raise FerryError(f"{cls.__name__.lower()}: it is closed")
        return value


def encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def encoded_path(path: str | os.PathLike[str]) -> bytes:
    found = os.fsencode(path)
    if b"\0" in found:
        raise ValueError(f"path: found NUL in {path!r}")
    return found


def decoded(value: Any) -> str:
    """A str from bytes or a Text; "" from None."""
    data = c.string_at(value.data, value.size) if isinstance(value, Text) else value or b""
    return data.decode(errors="replace")


def text_array(texts: list[str]) -> Any:
    data = map(encoded, texts)
    return (Text * len(texts))(*(Text(c.cast(c.c_char_p(each), c.POINTER(c.c_char)), len(each)) for each in data))


def fields(structure: c.Structure) -> dict[str, Any]:
    """The types of its fields."""
    return {field[0]: field[1] for field in structure._fields_}
