"""Looking inside a model: for verification and research (ferry_inspect.h has the details; it needs numpy).

Sentences are sequences of ids, and what is made of several sentences is a list of arrays, one for each."""
from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass
from typing import Any, Literal, Sequence

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import lib
from ._results import Translation, translation
from ._translator import Model, Translator

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
Sentences = Sequence[Any]  # each a sequence of ids
Stack = Literal["encoder", "decoder"]
_FLOATS, _INTS = c.POINTER(c.c_float), c.POINTER(c.c_int32)


@dataclass(frozen=True)
class Sizes:
    """pad_id -1: none; positions 0: any number."""

    d_model: int
    source_vocab: int
    target_vocab: int
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    encoder_head_width: int
    decoder_head_width: int
    pad_id: int
    start_id: int
    eos_id: int
    encoder_positions: int
    decoder_positions: int


@dataclass(frozen=True)
class Scheme:
    """A positional encoding. `limit`: positions that it can represent, 0: any number; `for_long_texts`: its paper promises
    quality beyond the lengths of training; `has_values`: it adds vectors to values, too."""

    name: str
    title: str
    paper: str
    kind: Literal["no_positions", "absolute", "relative"]
    for_long_texts: bool
    parameters: str
    limit: int
    has_weights: bool
    has_values: bool


@dataclass(frozen=True)
class Training:
    """In words; the tokens of the `longest` example, the seed of random numbers, and target tokens in all. "" and 0: not
    recorded."""

    text: str
    longest: int
    seed: int
    tokens: float


@dataclass(frozen=True)
class Memory:
    """Bytes: `tables` of the encodings in the model, a `row` of them for each position that a thread prepared, keys and
    values of a target `token`, and what a timer's `thread` needs."""

    tables: int
    row: int
    token: int
    thread: int


def _open(function: str, *arguments: Any) -> Model:
    model = Model.__new__(Model)
    _native.Object.__init__(model, function, "ferry_model_close", *arguments)
    return model


def open_model(path: str | os.PathLike[str], isa: str | None = None, position: str | None = None) -> Model:
    """A model on the kernels that `isa` names ("plain", "avx2" …; None: the best of this machine), with other parameters of
    its positional encodings than the file's: "theta=40000", "scaling=linear factor=2"; None: the file's."""
    names = [None if each is None else each.encode() for each in (isa, position)]
    return _open("ferry_inspect_open", _native.encoded_path(path), *names)


def untrained(encoding: str, *, d_model: int = 512, heads: int = 8, ffn_width: int = 2048, encoder_layers: int = 6,
              decoder_layers: int = 6, vocab: int = 1024, isa: str | None = None) -> Model:
    """A model of random weights, always the same, with this positional encoding. It has no tokenizer."""
    shape = _native.InspectShape(d_model, heads, ffn_width, encoder_layers, decoder_layers, vocab)
    return _open("ferry_inspect_untrained", encoding.encode(), shape, None if isa is None else isa.encode())


def encodings() -> list[str]:
    """The names of this build's positional encodings."""
    names: list[str] = []
    while name := lib.ferry_inspect_encoding(len(names)):
        names.append(name.decode())
    return names


def name(model: Model) -> str:
    return _native.decoded(lib.ferry_inspect_name(Model.expect_open(model)))


def isa(model: Model) -> str:
    """The kernels that the model runs on."""
    return _native.decoded(lib.ferry_inspect_isa(Model.expect_open(model)))


def describe(model: Model) -> str:
    """Sizes, encoding, vocabulary, memory, decoding defaults and origin, in words."""
    text = _native.Text()
    _native.call("ferry_inspect_describe", Model.expect_open(model), text)
    try:
        return _native.decoded(text)
    finally:
        lib.ferry_inspect_free(text.data)


def sizes(model: Model) -> Sizes:
    raw = lib.ferry_inspect_get_sizes(Model.expect_open(model))
    return Sizes(*(getattr(raw, field) for field in _native.fields(raw)))


def training(model: Model) -> Training:
    """How the model was trained, as its file records it."""
    raw = lib.ferry_inspect_get_training(Model.expect_open(model))
    return Training(_native.decoded(raw.text), raw.longest, raw.seed, raw.tokens)


def scheme(model: Model, stack: Stack) -> Scheme:
    raw = lib.ferry_inspect_get_scheme(Model.expect_open(model), _native.STACK[stack])
    kinds: list[Any] = list(_native.SCHEME_KIND)
    return Scheme(_native.decoded(raw.name), _native.decoded(raw.title), _native.decoded(raw.paper), kinds[raw.kind],
                  bool(raw.for_long_texts), _native.decoded(raw.parameters), raw.limit, bool(raw.has_weights),
                  bool(raw.has_values))


# ---- text and ids ----


def tokenize(model: Model, text: str, from_: str | None = None, to: str | None = None) -> Ids:
    """The source ids that the text becomes when it is translated, prompt and tags included."""
    ids, count = _INTS(), c.c_size_t()
    names = [None if each is None else each.encode() for each in (from_, to)]
    _native.call("ferry_inspect_tokenize", Model.expect_open(model), _native.text_array([text])[0], *names, ids, count)
    return _taken(ids, count.value)


def targets(model: Model, texts: Sequence[str]) -> tuple[list[Ids], int]:
    """The decoder's inputs that make it read these translations: the start token, a tag where the model wants one, and
    the text's ids, without an end of sentence; and how many ids are before the text's own."""
    if isinstance(texts, str):
        raise TypeError(f"texts: expected a list, found {texts!r}")
    ids, offsets, lead = _INTS(), _INTS(), c.c_int32()
    _native.call("ferry_inspect_targets", Model.expect_open(model), _native.text_array(list(texts)), len(texts), ids, offsets, lead)
    ends = _taken(offsets, len(texts) + 1)
    return np.split(_taken(ids, int(ends[-1])), ends[1:-1]) if len(texts) else [], lead.value


def piece(model: Model, stack: Stack, id: int) -> str:
    """The vocabulary's piece, as stored (a word's blank is U+2581): source for the encoder, target for the decoder."""
    return _native.decoded(lib.ferry_inspect_piece(Model.expect_open(model), _native.STACK[stack], id))


def _taken(pointer: Any, count: int) -> Ids:
    try:
        return np.ctypeslib.as_array(pointer, (count,)).copy() if count else np.empty(0, np.int32)
    finally:
        lib.ferry_inspect_free(pointer)


def translated(translator: Translator, texts: Sequence[str]) -> list[tuple[Translation, Ids]]:
    """Translations of lines, as by translator.translate in one call, and the ids of the best hypotheses, end of sentence
    included; none for a line that failed."""
    lines = list(texts)
    result = Translator.expect_open(translator)._call(translator._cancel, "ferry_translate", _native.text_array(lines),
                                                      len(lines))
    ids = [np.array(lib.ferry_inspect_result_ids(result, line, 0)[: lib.ferry_result_token_count(result, line, 0)],
                    np.int32) for line in range(len(lines))]
    return [(translation(result, line, text), ids[line]) for line, text in enumerate(lines)]


def target_limit(translator: Translator, source_tokens: int) -> int:
    """The most target tokens, end of sentence included, that the translator gives so many source tokens."""
    return int(lib.ferry_inspect_target_limit(Translator.expect_open(translator), source_tokens))


# ---- activations ----


def _ragged(sentences: Sentences) -> tuple[Ids, Ids]:
    """Ids and offsets."""
    if isinstance(sentences, (str, bytes)):
        raise TypeError(f"expected a list of ids for each sentence, found {sentences!r}")
    arrays = [_ids(each) for each in sentences]
    offsets = np.zeros(len(arrays) + 1, np.int32)
    np.cumsum([len(each) for each in arrays], out=offsets[1:])
    return np.concatenate([np.empty(0, np.int32), *arrays]), offsets


def _ids(sentence: Any) -> Ids:
    array = np.asarray(sentence)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"expected a sequence of ids, found {sentence!r}")
    found = array.astype(np.int32)
    if not np.array_equal(found, array):
        raise ValueError("an id is out of range")
    return found


def _at(array: Any) -> Any:
    return array.ctypes.data_as(_INTS if array.dtype == np.int32 else _FLOATS)


def _batch(sources: Sentences, targets: Sentences | None) -> tuple[list[Any], Ids]:
    """The arguments of a batch, and the offsets of its rows: of the targets where there are any."""
    arrays = [_ragged(sources)] + ([] if targets is None else [_ragged(targets)])
    if targets is not None and len(targets) != len(sources):
        raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets")
    pointers = [[_at(each) for each in pair] for pair in arrays]
    return [*pointers[0], len(sources), *(pointers[1] if targets is not None else [None, None])], arrays[-1][1]


def encode(model: Model, sources: Sentences) -> list[Floats]:
    """The encoder's output [ids, d_model] of each sentence."""
    batch, offsets = _batch(sources, None)
    output = np.empty((offsets[-1], sizes(model).d_model), np.float32)
    _native.call("ferry_inspect_encode", Model.expect_open(model), *batch[:3], _at(output))
    return np.split(output, offsets[1:-1])


def hidden(model: Model, stack: Stack, sources: Sentences, targets: Sentences | None = None) -> list[Floats]:
    """Hidden states [layers + 1, ids, d_model] of each sentence: state 0 is what enters the first layer, state n follows
    layer n. The decoder's are those of its inputs `targets`."""
    of, decoder = sizes(model), stack == "decoder"
    batch, offsets = _batch(sources, targets if decoder else None)
    states = np.empty((1 + (of.decoder_layers if decoder else of.encoder_layers), offsets[-1], of.d_model), np.float32)
    _native.call("ferry_inspect_hidden", Model.expect_open(model), _native.STACK[stack], *batch, _at(states))
    return np.split(states, offsets[1:-1], axis=1)


def logits(model: Model, sources: Sentences, targets: Sentences, *, step_by_step: bool = False) -> list[Floats]:
    """Teacher-forced logits [inputs, target_vocab] of each sentence: row i follows the decoder's inputs up to i. Step by
    step: through the cache of keys and values, else all at once."""
    batch, offsets = _batch(sources, targets)
    rows = np.empty((offsets[-1], sizes(model).target_vocab), np.float32)
    way = _native.PASS["step_by_step" if step_by_step else "one_pass"]
    _native.call("ferry_inspect_logits", Model.expect_open(model), *batch, way, _at(rows))
    return np.split(rows, offsets[1:-1])


def attention(model: Model, kind: Literal["encoder_self", "decoder_self", "cross"], source: Any, target: Any = ()
              ) -> Floats:
    """Attention weights [layers, heads, queries, keys] of one sentence with these decoder inputs."""
    of, ids, inputs = sizes(model), _ids(source), _ids(target)
    rows, columns = len(ids if kind == "encoder_self" else inputs), len(inputs if kind == "decoder_self" else ids)
    shape = (of.encoder_layers, of.encoder_heads) if kind == "encoder_self" else (of.decoder_layers, of.decoder_heads)
    weights = np.empty((*shape, rows, columns), np.float32)
    _native.call("ferry_inspect_attention", Model.expect_open(model), _native.ATTENTION[kind], _native.ALL, _native.ALL, _at(ids), len(ids),
                 _at(inputs), len(inputs), _at(weights))
    return weights


# ---- positional encodings ----


def position_rows(model: Model, stack: Stack, count: int) -> Floats:
    """What an absolute encoding adds to embeddings at positions 0 … count - 1."""
    rows = np.empty((count, sizes(model).d_model), np.float32)
    _native.call("ferry_inspect_position_rows", Model.expect_open(model), _native.STACK[stack], count, _at(rows))
    return rows


def position_scores(model: Model, stack: Stack, layer: int, head: int, count: int, q: Floats | None = None,
                    k: Floats | None = None) -> Floats:
    """What an encoding does to attention scores by distance alone: those of a query at position count - 1 with 2·count - 1
    keys (decoder: count), of one query and one key vector for all positions (None: zeros)."""
    of = sizes(model)
    width = of.encoder_head_width if stack == "encoder" else of.decoder_head_width
    vectors = [None if each is None else np.ascontiguousarray(each, np.float32) for each in (q, k)]
    if any(each is not None and each.shape != (width,) for each in vectors):
        raise ValueError(f"q, k: expected {width} numbers each")
    scores = np.empty(2 * count - 1 if stack == "encoder" else count, np.float32)
    pointers = [None if each is None else _at(each) for each in vectors]
    _native.call("ferry_inspect_position_scores", Model.expect_open(model), _native.STACK[stack], layer, head, count, *pointers, _at(scores))
    return scores


# ---- time ----


class Timer(_native.Object):
    """One computation on one thread: the encoder over `source_tokens` (target_tokens 0), or the decoder's layers for the
    row that follows target_tokens - 1 others."""

    def __init__(self, model: Model, source_tokens: int, target_tokens: int = 0):
        super().__init__("ferry_inspect_timer_create", "ferry_inspect_timer_destroy", Model.expect_open(model), source_tokens, target_tokens)

    def run(self) -> float:
        """Computes once more; the seconds that it took."""
        seconds = c.c_double()
        _native.call("ferry_inspect_timer_run", self, seconds)
        return seconds.value

    @property
    def memory(self) -> Memory:
        raw = lib.ferry_inspect_timer_memory(self._opened())
        return Memory(*(getattr(raw, field) for field in _native.fields(raw)))


def profile(translator: Translator) -> dict[str, tuple[float, int]]:
    """Seconds, and how often it began, of each phase of the translator's calls since the last call of this function,
    which begins anew. The first call turns measuring on."""
    phases: dict[str, tuple[float, int]] = {}
    while (phase := lib.ferry_inspect_profile_phase(Translator.expect_open(translator), len(phases))).name:
        phases[phase.name.decode()] = phase.seconds, phase.calls
    lib.ferry_inspect_profile_start(translator)
    return phases
