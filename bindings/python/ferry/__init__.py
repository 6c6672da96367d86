"""Ferry translates text with a Transformer model, offline.

    import ferry
    translator = ferry.Translator(ferry.Model("model.gguf"), beam=4)
    print(translator.translate("Good morning!").text)

Calls release the interpreter's lock, and Ctrl-C ends them. A `Service` translates for many threads and tasks.
`ferry.inspect` looks inside models; `python -m ferry.lab` compares them."""
from ._native import FerryError, Quality, Role, Status, decoded as _decoded, lib as _lib
from ._results import Hypothesis, Sentence, Token, Translation
from ._service import Future, Service, State
from ._translator import Language, Model, Translator, convert

__version__ = _decoded(_lib.ferry_version())
__all__ = ["FerryError", "Future", "Hypothesis", "Language", "Model", "Quality", "Role", "Sentence", "Service", "State",
           "Status", "Token", "Translation", "Translator", "convert"]
