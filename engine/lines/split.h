/* Splits a text into sentences, and a line into parts: one, or several if the line is too long or
 * ferry_options.split requests it. */
#ifndef FERRY_LINES_SPLIT_H
#define FERRY_LINES_SPLIT_H

#include "base/stop.h"
#include "languages.h"
#include "quality.h"
#include "result.h"
#include "term_list.h"
#include "tokenizer/sentences.h"
#include "tokenizer/tokenizer.h"

/* How a translator reads and writes lines. */
typedef struct ferry_line_rules {
    const ferry_options *options; /* the translator's, complete */
    ferry_language_pair pair;
    const ferry_sentence_language *sentences; /* of the pair's source */
    int32_t source_limit;                     /* maximum source tokens of a sentence (ferry_options.max_source) */
    int32_t scored_limit;                     /* maximum target tokens of a scored pair */
    int32_t unknown_id;                       /* of the target; -1: there is none */
} ferry_line_rules;

/* Whether the ranges of source tokens are needed. */
static inline bool ferry_line_rules_want_tokens(const ferry_line_rules *rules)
{
    return rules->options->alignment != 0 || rules->options->replace_unknowns != 0;
}

/* Where a sentence that is too long for the model may be cut; best first. */
typedef enum ferry_cut {
    FERRY_CUT_BLANK,     /* before white space */
    FERRY_CUT_CLUSTER,   /* before a character that is not joined to the previous one (ferry_unicode_joins) */
    FERRY_CUT_CHARACTER, /* anywhere but inside a character */
    FERRY_CUTS
} ferry_cut;

/* Whether `text`, which is valid UTF-8, may be cut before byte `at`, 0 < at ≤ size. Its end is a cut of every kind. */
bool ferry_cut_is_at(ferry_view text, size_t at, ferry_cut cut);
/* A cut of this kind near `guess`, low < cut < high; `low` if there is none. low < guess < high. */
size_t ferry_cut_near(ferry_view text, size_t low, size_t high, size_t guess, ferry_cut cut);

typedef struct ferry_part_term ferry_part_term;
typedef struct ferry_teacher_target ferry_teacher_target;

/* A part of a line, which is translated as one sentence. */
typedef struct ferry_part {
    ferry_view text, separator; /* separator: the white space before the part; empty before the first one */
    ferry_ids ids;              /* empty: the text is invisible to the model; its translation is the text itself */
    ferry_ids prefix;           /* the given beginning of the translation */
    ferry_ranges ranges;        /* bytes of `text` of each id; empty unless the splitter wants them */
    ferry_part_term *terms;     /* [term_count] that the translation must have, in order */
    size_t term_count;
    int32_t *once; /* [once_count] target tokens that stand for opaque terms */
    size_t once_count;
    ferry_view original; /* the text with these terms, which belongs to the part; data NULL: it has none */
    ferry_view tag;      /* the line's, which is for each part */
    bool numbered;       /* its numbers are terms, too */
    size_t written;      /* number of terms that were written into the prefix */
    size_t given;        /* ids of the prefix before terms were written */
    bool after_term;     /* the prefix ends with a term */
    /* [choice_count] prefixes, one for each target of a missing term, until one of them is taken */
    ferry_teacher_target *choices;
    size_t choice_count;
    ferry_ids choice_ids;     /* theirs, one after the other */
    float *choice_scores;     /* of these ids */
    bool cut;                 /* the part ends within a sentence */
    size_t unknowns;          /* number of unknown ids */
    ferry_view first_unknown; /* the text of the first unknown id */
    ferry_result_line result;
    ferry_quality_signs quality; /* of the result */
    bool retried;                /* the part is translated a second time, because its translation looped */
    bool replaced;               /* the result is the second translation */
} ferry_part;

/* The parts of a line; empty when zeroed. */
typedef struct ferry_parts {
    ferry_part *parts; /* [count] */
    size_t count, capacity;
} ferry_parts;

void ferry_parts_destroy(ferry_parts *parts);
/* Adds a zeroed part. Errors: MEMORY. */
ferry_status ferry_parts_add(ferry_parts *parts, ferry_part **part, ferry_error *error);

/* Whether a text of `bytes` bytes has more than `limit` tokens whatever it contains, or is too long to be tokenized
 * at once. */
bool ferry_parts_is_long(size_t bytes, size_t limit);
/* Splits a line, which is valid UTF-8, part by part. Parts have at most rules->source_limit source tokens. A blank line
 * has no part. A line is one part if it is short enough and options.split does not request several. Each of several
 * parts is a sentence (tokenizer/sentences.h), or ends at the last cut of the best kind within its sentence. A part
 * that is invisible to the model has no ids. The parts point into the line. Time is linear in the line's size, and text
 * is tokenized in pieces of bounded size. */
typedef struct ferry_splitter {
    const ferry_model *model;
    const ferry_line_rules *rules;
    const ferry_stop *stop;
    ferry_parts *parts;
    bool wants_ranges;        /* parts get ranges */
    ferry_terms terms;        /* of the line */
    const char *begin;        /* of the line */
    ferry_view tag;           /* the line's tag, which is for each part */
    ferry_view rest;          /* the line after its parts and separators so far */
    size_t limit;             /* maximum source tokens of a part */
    size_t guess;             /* bytes of the next part, guessed */
    size_t sentence;          /* bytes of the rest to the end of its first sentence; 0: unknown */
    size_t inside;            /* bytes of the rest that contain no end of its first sentence */
    ferry_piece_counts frame; /* of the ids of an empty text, which do not count */
    ferry_ids trial;          /* ids of the last text that was tried */
    ferry_ranges ranges;      /* of these ids, if tokens are wanted */
} ferry_splitter;

/* ferry_splitter_end follows, also after an error. Errors: MEMORY; ARGUMENT (the model needs the tag of a target
 * language, ferry_languages_check_line). */
ferry_status ferry_splitter_begin(const ferry_model *model, const ferry_line_rules *rules, ferry_view line,
                                  const ferry_stop *stop, ferry_parts *parts, ferry_splitter *splitter,
                                  ferry_error *error);
/* Adds the next part. *more: the line goes on. Errors: LIMIT (not even one character fits), CANCELLED (`stop`), MEMORY.
 */
ferry_status ferry_splitter_next(ferry_splitter *splitter, bool *more, ferry_error *error);
void ferry_splitter_end(ferry_splitter *splitter);

/* The sentences of a text, as lines of a call; empty when zeroed. */
typedef struct ferry_text_lines {
    ferry_text *texts; /* [count] pointing into the text; the caller frees the array */
    size_t count, capacity;
    ferry_terms terms;              /* of the text, given by the caller; within none, a sentence ends */
    size_t at;                      /* the end of what is split */
    bool within;                    /* a sentence goes on there */
    ferry_sentence_search search;   /* of its end */
    const ferry_glossary *glossary; /* NULL: none; within none of its entries, a sentence ends */
    size_t looked;                  /* up to here, the text was searched for entries; */
    size_t entry_end;               /* the last one ends here */
} ferry_text_lines;

/* Adds the sentences of a text. Errors: MEMORY. */
ferry_status ferry_text_split(const ferry_line_rules *rules, ferry_text text, ferry_text_lines *lines,
                              ferry_error *error);
/* The same for the next `bytes` bytes of the text. *more: the text goes on. */
ferry_status ferry_text_split_on(const ferry_line_rules *rules, ferry_text text, size_t bytes, ferry_text_lines *lines,
                                 bool *more, ferry_error *error);

#endif
