"""What translations are, and how they are read from a ferry_result."""
from __future__ import annotations

import ctypes as c
import itertools
from dataclasses import dataclass, field
from typing import Callable, Sequence

from . import _native
from ._native import Quality, Status, lib


@dataclass(frozen=True)
class Token:
    """text[begin:end] of the source or of the hypothesis; begin == end: no text (the end of a sentence, tags)."""

    id: int
    log_probability: float
    begin: int
    end: int


@dataclass(frozen=True)
class Hypothesis:
    text: str
    score: float
    tokens: Sequence[Token] = ()  # with the option `alignment`, and of `score`
    alignment: Sequence[Sequence[float]] = ()  # [tokens][source tokens], each row adds up to 1: with `alignment`


@dataclass(frozen=True)
class Translation(Hypothesis):
    """The best hypothesis, and what is known beside it. One that failed is "" (of a text: see `translate_text`)."""

    source_tokens: Sequence[Token] = ()
    hypotheses: Sequence[Hypothesis] = ()  # the option `nbest`, best first; [] if it failed
    sentences: Sequence[Sentence] = ()  # of a text that was translated sentence by sentence
    quality: Quality = Quality(0)
    warning: str | None = None
    error: str | None = None
    status: Status = field(default=Status.OK)


@dataclass(frozen=True)
class Sentence:
    """text[source] became translation.text[target], or stayed as it was if the sentence failed."""

    source: slice
    target: slice
    translation: Translation


def slicer(text: str) -> Callable[[int, int], slice]:
    """From bytes begin … end - 1 of a text's UTF-8 to its characters."""
    data = _native.encoded(text)
    if len(data) == len(text):
        return slice
    before = list(itertools.accumulate((byte & 0xC0 != 0x80 for byte in data), initial=0))
    return lambda begin, end: slice(before[begin], before[end])


def _tokens(function: str, result: object, at: tuple[int, ...], count: int, text: str) -> list[Token]:
    if count == 0:
        return []
    token, characters, found = _native.Token(), slicer(text), []
    for index in range(count):
        getattr(lib, function)(result, *at, index, token, c.sizeof(token))
        span = characters(token.begin, token.end)
        found.append(Token(token.id, token.log_probability, span.start, span.stop))
    return found


def _alignment(result: object, at: tuple[int, int], tokens: int, source_tokens: int) -> list[list[float]]:
    first, count, rows = c.c_size_t(), c.c_size_t(), []
    for index in range(tokens):
        weights = lib.ferry_result_weights(result, *at, index, first, count)
        if not weights:
            return []
        row = [0.0] * source_tokens
        row[first.value : first.value + count.value] = weights[: count.value]
        rows.append(row)
    return rows


def _hypothesis(result: object, line: int, index: int, source_tokens: int) -> Hypothesis:
    at = (line, index)
    text = _native.decoded(lib.ferry_result_text(result, *at))
    score = lib.ferry_result_score(result, *at)
    if source_tokens == 0:
        return Hypothesis(text, score)
    count = lib.ferry_result_token_count(result, *at)
    return Hypothesis(text, score, _tokens("ferry_result_token", result, at, count, text),
                      _alignment(result, at, count, source_tokens))


def translation(result: object, line: int, source: str, sentences: Sequence[Sentence] = ()) -> Translation:
    """Line `line` of a result, whose source was `source`."""
    count = lib.ferry_result_source_token_count(result, line)
    hypotheses = [_hypothesis(result, line, index, count)
                  for index in range(lib.ferry_result_hypothesis_count(result, line))]
    best = hypotheses[0] if hypotheses else Hypothesis("", 0.0)
    outcome = lib.ferry_result_outcome(result, line).contents
    return Translation(best.text, best.score, best.tokens, best.alignment,
                       _tokens("ferry_result_source_token", result, (line,), count, source), hypotheses, sentences,
                       Quality(outcome.quality), _native.decoded(outcome.warning) or None,
                       _native.decoded(outcome.error) or None, Status(outcome.status))


def text_translation(result: object, text: str) -> Translation:
    """The result of ferry_translate_text."""
    sentences = []
    lines, whole = lib.ferry_result_sentences(result), _native.decoded(lib.ferry_result_text(result, 0, 0))
    source, target = slicer(text), slicer(whole)
    for index in range(lib.ferry_result_sentence_count(result)):
        raw = lib.ferry_result_sentence(result, index).contents
        place = source(raw.source_begin, raw.source_end)
        sentences.append(Sentence(place, target(raw.target_begin, raw.target_end),
                                  translation(lines, index, text[place])))
    return translation(result, 0, text, sentences)
