/* Texts become sentences, and a line becomes one sentence or, if it is too long or ferry_options.split wants it,
 * several parts. */
#ifndef FERRY_LINES_SPLIT_H
#define FERRY_LINES_SPLIT_H

#include <stdatomic.h>

#include "languages.h"
#include "quality.h"
#include "result.h"
#include "tokenizer/tokenizer.h"

/* How a translator reads and writes lines. */
typedef struct ferry_line_rules {
    const ferry_options *options; /* the translator's, complete */
    ferry_language_pair pair;
    const ferry_sentence_language *sentences; /* of the pair's source */
    int32_t source_limit;                     /* max source tokens of a sentence (ferry_options.max_source) */
    int32_t scored_limit;                     /* max target tokens of a pair that is scored */
    int32_t unknown_id;                       /* of the target; -1: there is none */
} ferry_line_rules;

/* Whether the bytes of source tokens have to be known. */
static inline bool ferry_line_rules_want_tokens(const ferry_line_rules *rules)
{
    return rules->options->alignment != 0 || rules->options->replace_unknowns != 0;
}

/* Where a sentence that is too long for the model may be cut; best first. */
typedef enum ferry_cut {
    FERRY_CUT_BLANK,     /* before white space */
    FERRY_CUT_CLUSTER,   /* before a character that nothing joins to the one before it */
    FERRY_CUT_CHARACTER, /* anywhere but inside a character */
    FERRY_CUTS
} ferry_cut;

/* Whether `text`, which is valid UTF-8, may be cut before byte `at`, 0 < at ≤ size. Its end is a cut of every kind. */
bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut);
/* A cut of this kind near `guess`, between `low` and `high`, both excluded, as `guess` is; `low` if there is none. */
size_t ferry_cut_near(ferry_view text, size_t low, size_t high, size_t guess, ferry_cut cut);

/* What is translated as one sentence. */
typedef struct ferry_part {
    ferry_view text, separator; /* separator: the white space of the line before it; empty before the first part */
    ferry_ids ids;              /* empty: the text is invisible to the model; its translation is the text itself */
    ferry_ids prefix;           /* of the translation */
    ferry_ranges ranges;        /* bytes of `text` of each id; empty unless ferry_line_rules_want_tokens */
    bool cut;                   /* the next part begins within the sentence in which this part ends */
    size_t unknowns;            /* ids of text that the model does not know */
    ferry_view first_unknown;   /* the first such text */
    ferry_result_line result;
    ferry_quality_signs quality; /* of the result */
    bool retried;                /* it is translated once more, as its translation looped */
    bool replaced;               /* the result is that of the second translation */
} ferry_part;

/* The parts of a line; empty when zeroed. */
typedef struct ferry_parts {
    ferry_part *parts; /* [count] */
    size_t count, capacity;
} ferry_parts;

void ferry_parts_destroy(ferry_parts *parts);
/* Adds a zeroed part. Errors: MEMORY. */
ferry_status ferry_parts_add(ferry_parts *parts, ferry_part **part, ferry_error *error);

/* Whether a text of `bytes` is longer than `limit` tokens, whatever it contains, or too long to be tokenized at once.
 */
bool ferry_parts_is_long(size_t bytes, size_t limit);
/* Splits `line`, which is valid UTF-8, into parts of at most rules->source_limit source tokens: one part, if the line
 * is short enough and options.split does not want several; none if the line is blank. One of several parts is a
 * sentence (tokenizer/sentences.h), or ends at the last cut of the best kind within its sentence. A part that is
 * invisible to the model has no ids. The parts point into the line. Time is linear in the line's size, and text is
 * tokenized in pieces of bounded size. Errors: LIMIT (not even one character fits), CANCELLED (*stop), MEMORY; ARGUMENT
 * (the model needs the tag of a target language, ferry_languages_check_line). */
ferry_status ferry_parts_split(const ferry_model *model, const ferry_line_rules *rules, ferry_view line,
                               const atomic_bool *stop, ferry_parts *parts, ferry_error *error);

/* A text as lines of a call: its sentences. */
typedef struct ferry_text_lines {
    ferry_text *texts; /* [count] sentences, into the text; released with free */
    size_t count, capacity;
} ferry_text_lines;

/* Adds the sentences of a text. Errors: MEMORY. */
ferry_status ferry_text_split(const ferry_line_rules *rules, ferry_text text, ferry_text_lines *lines,
                              ferry_error *error);

#endif
