"""consumer.py LIBRARY MODEL TEXT: the translation, through Python's ctypes alone."""

import ctypes as c
import sys


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 508)]


class Text(c.Structure):
    _fields_ = [("data", c.POINTER(c.c_char)), ("size", c.c_size_t)]


library, model_path, text = sys.argv[1], *map(str.encode, sys.argv[2:])
ferry = c.CDLL(library)
ferry.ferry_result_text.restype = Text
ferry.ferry_result_text.argtypes = [c.c_void_p, c.c_size_t, c.c_size_t]
for name in ("ferry_result_destroy", "ferry_translator_destroy", "ferry_model_close"):
    getattr(ferry, name).argtypes = [c.c_void_p]
    getattr(ferry, name).restype = None


def call(function, *arguments):
    """Calls a function whose last parameters are a handle to fill and an error; returns the handle."""
    handle, error = c.c_void_p(), Error()
    if function(*arguments, c.byref(handle), c.byref(error)) != 0:
        raise RuntimeError(error.message.decode())
    return handle


try:
    call(ferry.ferry_model_open, model_path + b".missing", 0)
    sys.exit("a file that does not exist was opened")
except RuntimeError as error:
    assert model_path.decode() in str(error), error
model = call(ferry.ferry_model_open, model_path, 0)
translator = call(ferry.ferry_translator_create, model, None)
line = Text(c.cast(c.c_char_p(text), c.POINTER(c.c_char)), len(text))
result = call(ferry.ferry_translate, translator, c.byref(line), c.c_size_t(1))
translation = ferry.ferry_result_text(result, 0, 0)
print(translation.data[: translation.size].decode())
ferry.ferry_result_destroy(result)
ferry.ferry_translator_destroy(translator)
ferry.ferry_model_close(model)
