/* A line as one sentence or, if it is too long for that or ferry_options.split wants it, as several: how it is split,
 * and how the translations of its parts become its own. */
#ifndef FERRY_API_PARTS_H
#define FERRY_API_PARTS_H

#include "quality.h"
#include "result.h"
#include "translator.h"

/* What is translated as one sentence. */
typedef struct ferry_part {
    ferry_view text, gap; /* gap: the white space of the line before it; empty before the first part */
    ferry_ids ids;        /* empty: the model sees nothing of the text; its translation is the text itself */
    ferry_ids prefix;     /* of the translation */
    ferry_ranges ranges;  /* bytes of `text` of each id; empty unless tokens are wanted */
    bool cut;             /* the next part begins within the sentence in which this one ends */
    ferry_result_line result;
    size_t unknowns;             /* ids that stand for text which the model does not know, */
    ferry_view first_unknown;    /* and the first such text */
    ferry_quality_signs quality; /* of the result */
    bool again;                  /* the result replaces a translation that looped */
} ferry_part;

/* The parts of a line; empty when zeroed. */
typedef struct ferry_parts {
    ferry_part *parts; /* [count] */
    size_t count, capacity;
} ferry_parts;

void ferry_parts_destroy(ferry_parts *parts);
/* Adds a zeroed part. Errors: MEMORY. */
ferry_status ferry_parts_add(ferry_parts *parts, ferry_part **part, ferry_error *error);

/* Whether a text of so many bytes is longer than `limit` tokens, whatever it contains, or too long to be tokenized at
 * once. */
bool ferry_parts_is_long(size_t bytes, size_t limit);
/* Splits `line`, which is valid UTF-8, into parts of at most as many source tokens as the translator's options permit
 * (ferry_translator_source_limit): one, if they permit it and options.split does not want several; none if there is
 * nothing but white space. One of several parts is a sentence (tokenizer/sentences.h), or ends at the last cut (cuts.h)
 * of the best kind that there is within one. A part of which the model sees nothing (seen.h) has no ids. The parts
 * point into the line. Time is linear in the line's size, and text is tokenized in pieces of bounded size. Errors:
 * LIMIT (not even one character fits), CANCELLED (*stop), MEMORY; ARGUMENT (no tag of a target language, which the
 * model needs, ferry_languages_check_line). */
ferry_status ferry_parts_split(const ferry_translator *translator, ferry_view line, const atomic_bool *stop,
                               ferry_parts *parts, ferry_error *error);

/* Makes the line's result out of those of its parts, which it takes over: its hypothesis k joins their hypotheses k (of
 * a part that has fewer, the last one). If a part failed, the line fails. */
ferry_status ferry_parts_join(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error);

#endif
