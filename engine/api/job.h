/* The lines that a translator translates together, in a call or for a service: a list of sentences, longest first, from
 * which its workers take the next one as slots become free. A line is one sentence, or several parts (split.c).
 * Sentences are translated (translate_share.c), or scored with given translations (score.c); their results become those
 * of lines and texts (join.c). */
#ifndef FERRY_API_JOB_H
#define FERRY_API_JOB_H

#include "translator.h"

/* ---- results: what the public ferry_result is (result.c) ---- */

/* The weights between tokens of one part of a line; all others are 0. */
typedef struct ferry_result_block {
    size_t end;          /* target tokens of the line up to the last one of the part */
    size_t first, count; /* source tokens */
    float *weights;      /* [target tokens of the part, count] */
} ferry_result_block;

typedef struct ferry_result_hypothesis {
    char *text; /* [size], NULL if there is none */
    size_t size;
    int32_t *ids;        /* [length] */
    float *token_scores; /* [length] */
    ferry_range *ranges; /* [length] of `text`; NULL unless tokens are wanted */
    int32_t length;
    float score;
    float coverage;             /* the coverage penalty, a part of `score` */
    float *weights;             /* of all blocks; NULL unless they are wanted */
    ferry_result_block *blocks; /* [block_count] in order */
    size_t block_count;
} ferry_result_hypothesis;

typedef struct ferry_result_line {
    ferry_result_hypothesis *hypotheses; /* [count] */
    size_t count;
    int32_t *source_ids;        /* [source_count] */
    ferry_range *source_ranges; /* [source_count] */
    size_t source_count;        /* 0 unless tokens are wanted */
    ferry_outcome outcome;      /* its texts belong to the line */
} ferry_result_line;

struct ferry_result {
    ferry_result *sentences; /* of a text: a line for each; else NULL */
    ferry_sentence *ranges;  /* of its sentences */
    size_t count;
    ferry_result_line lines[];
};

/* An empty result for `count` lines. */
ferry_status ferry_result_create(size_t count, ferry_result **result, ferry_error *error);
/* Memory for `count` hypotheses of a line, zeroed. */
ferry_status ferry_result_line_begin(ferry_result_line *line, size_t count, ferry_error *error);
/* Marks the line as failed, with the reason. */
ferry_status ferry_result_line_fail(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error);
/* Adds a warning, after "; " if there is one; formatted, of at most 255 bytes. */
ferry_status ferry_result_line_add_warning(ferry_result_line *line, const char *message, ferry_error *error);
ferry_status ferry_result_line_warn(ferry_result_line *line, ferry_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Releases what the line holds. */
void ferry_result_line_clear(ferry_result_line *line);
/* NULL for a line or hypothesis that does not exist. */
const ferry_result_hypothesis *ferry_result_find(const ferry_result *result, size_t line, size_t hypothesis);

/* ---- quality: what ids and characters say about a text (quality.c) ---- */

/* What can be seen of a text: nothing, as it has only white space, "▁" for it, and Unicode's categories C (control,
 * format) and M (marks); something, but no letter; a letter. */
typedef enum ferry_sight { FERRY_SIGHT_NOTHING, FERRY_SIGHT_OTHER, FERRY_SIGHT_LETTER } ferry_sight;
ferry_sight ferry_text_sight(ferry_view text);

/* How many ids are pieces with visible text, and how many stand for text that the model does not know. A model sees
 * nothing of a text that has no more of the first than an empty text. */
typedef struct ferry_seen {
    size_t known, unknown;
} ferry_seen;
ferry_seen ferry_seen_count(const ferry_tokenizer_config *text, const ferry_ids *ids);
/* The index of the first of ids [count] that is `id`; `count`: none is. */
size_t ferry_ids_find(const int32_t *ids, size_t count, int32_t id);

typedef struct ferry_repetition {
    size_t length; /* ids; 0 if nothing is repeated */
    size_t times;  /* in a row, at least 1 */
} ferry_repetition;

/* The sequence of at most `most` ids that stands in a row most often; of several, the shortest. */
ferry_repetition ferry_repetition_find(const int32_t *ids, size_t count, size_t most);

/* Signs that a translation is wrong, although the model computed it so: ferry_quality. docs/decoding.md says how the
 * measures were chosen. */
typedef struct ferry_quality_signs {
    int flags;             /* a sum of ferry_quality */
    int32_t limit;         /* max_length, where FERRY_QUALITY_CUT is one of them */
    ferry_repetition loop; /* what FERRY_QUALITY_LOOP is about */
    bool blank;            /* why FERRY_QUALITY_SHORT is one of them */
    size_t unknowns;       /* unknown words of the translation: FERRY_QUALITY_UNKNOWN, which its source may be, too */
} ferry_quality_signs;

/* Adds the signs that a comparison of a translation with its source's ids gives. One that was cut is not called short,
 * too, unless it is blank.
 * `has_text`: if false, its text is not known. `unknown_id`: of words that its text lacks; -1: none. */
void ferry_quality_compare(ferry_quality_signs *quality, const ferry_ids *source,
                           const ferry_result_hypothesis *translation, bool has_text, int32_t unknown_id);

/* ---- a line as one sentence or, if it is too long or ferry_options.split wants it, as several (split.c) ---- */

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
    ferry_ids ids;              /* empty: the model sees nothing of the text; its translation is the text itself */
    ferry_ids prefix;           /* of the translation */
    ferry_ranges ranges;        /* bytes of `text` of each id; empty unless tokens are wanted */
    bool cut;                   /* the next part begins within the sentence in which this one ends */
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
 * nothing but white space. One of several parts is a sentence (tokenizer/sentences.h), or ends at the last cut of the
 * best kind that there is within one. A part of which the model sees nothing has no ids. The parts point into the line.
 * Time is linear in the line's size, and text is tokenized in pieces of bounded size. Errors: LIMIT (not even one
 * character fits), CANCELLED (*stop), MEMORY; ARGUMENT (no tag of a target language, which the model needs,
 * ferry_languages_check_line). */
ferry_status ferry_parts_split(const ferry_translator *translator, ferry_view line, const atomic_bool *stop,
                               ferry_parts *parts, ferry_error *error);

/* A text as lines of a job: its sentences. */
typedef struct ferry_text_lines {
    ferry_text *texts; /* [count] sentences, into the text; released with free */
    size_t count, capacity;
} ferry_text_lines;

/* Adds the sentences of a text. Errors: MEMORY. */
ferry_status ferry_text_split(const ferry_translator *translator, ferry_text text, ferry_text_lines *lines,
                              ferry_error *error);

/* ---- results of lines and texts (join.c) ---- */

/* Makes the line's result out of those of its parts, which it takes over: its hypothesis k joins their hypotheses k (of
 * a part that has fewer, the last one). If a part failed, the line fails. */
ferry_status ferry_parts_join(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error);
/* Adds the line's quality flags, and a warning for each kind; and one if the line was split without a request, or
 * within a sentence (quality.c). */
ferry_status ferry_parts_warn(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error);
/* The result of a text, with what is between its sentences copied: `sentences`, that of its lines, belongs to it, even
 * if this fails. `status`: of the job, OK or CANCELLED. Errors: MEMORY; CANCELLED, which has a result. */
ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error);

/* With models in a row: the translations of a stage as lines [count] for the next one, which the caller frees; they
 * point into the result. What failed is empty. NULL: memory does not suffice. */
ferry_text *ferry_row_lines(const ferry_result *result, ferry_error *error);
/* Adds to the outcomes of a stage's lines those of the stage before; what failed there fails here. Releases `before`;
 * either may be NULL. Errors: MEMORY. */
ferry_status ferry_row_merge(ferry_result *result, ferry_result *before, ferry_error *error);
/* The result of a stage before the last, of a job that was cancelled: no line is finished. Returns CANCELLED, or an
 * error. */
ferry_status ferry_row_cancel(ferry_result *result, ferry_error *error);

/* ---- tokens of results, and the weights between those of the source and of the target (result.c) ---- */

/* Memory for the weights of a hypothesis and `source` tokens, which are its one block. Errors: MEMORY. */
ferry_status ferry_tokens_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error);
/* Whether ids [length] have an unknown word that is to be replaced. */
bool ferry_tokens_need_words(const ferry_translator *translator, const int32_t *ids, int32_t length);
/* The text of a hypothesis of `part`, and with options.alignment the ranges of its tokens. `weights` [length, source
 * ids] say which words replace unknown ones, where there are such. */
ferry_status ferry_tokens_write_text(const ferry_translator *translator, const ferry_part *part, const float *weights,
                                     ferry_result_hypothesis *hypothesis, ferry_error *error);
/* The ids of the parts become the source tokens of `result`: bytes of `line`, to which the parts point, unless they
 * point to `repaired`, its copy without ill-formed UTF-8; NULL: there is none. Errors: MEMORY. */
ferry_status ferry_tokens_list(const ferry_parts *parts, const char *repaired, ferry_view line,
                               ferry_result_line *result, ferry_error *error);

/* ---- jobs ---- */

typedef struct ferry_job_line {
    ferry_parts parts;
    atomic_size_t left; /* parts that are not translated yet */
    char *repaired;     /* the text without ill-formed UTF-8, where it had any, else NULL */
    bool finished;      /* its result is complete */
} ferry_job_line;

/* What goes through the model. */
struct ferry_job_sentence {
    ferry_job *job;
    ferry_job_sentence *next; /* in a list of its job */
    size_t line;
    ferry_part *part; /* with ids */
    bool again;       /* its translation loops: it is translated once more */
};

/* One worker's view of its translator's queue. */
typedef struct ferry_job_share {
    ferry_translator *translator;
    ferry_job *job; /* the call's; NULL: of a service */
    int32_t worker;
    size_t held;               /* sentences that it has taken */
    bool alone;                /* only `first` is taken */
    ferry_job_sentence *first; /* the next one, of `alone` */
} ferry_job_share;

struct ferry_job {
    ferry_translator *translator;
    /* Makes parts with ids of a line, which fails with LIMIT and ARGUMENT; NULL: splits it. */
    ferry_status (*prepare)(ferry_job *job, size_t line, ferry_error *error);
    void (*work)(ferry_job_share *share); /* takes sentences and finishes them; NULL: translates */
    bool tokens;                          /* of the results are wanted */
    const ferry_text *texts;              /* NULL: the lines' parts came as ids, and ids are the result */
    const ferry_text *targets;            /* of pairs that are scored */
    const ferry_text *prefixes;           /* [count] of the translations; NULL: none */
    size_t count;
    ferry_job_line *lines; /* [count] */
    size_t sentence_count;
    ferry_job_sentence *sentences; /* longest first */
    atomic_size_t done;            /* lines */
    ferry_result *result;
    atomic_bool *stop; /* the job ends soon: it is cancelled, or something failed; NULL: the translator's */
    atomic_int status; /* ferry_status of the first failure, after which workers stop */
    ferry_error error; /* written by the worker that set `status` */
    /* In the queue, whose mutex protects the following. */
    int32_t priority;
    uint64_t number;                     /* in the order in which jobs came */
    ferry_job *next;                     /* in a list of the queue */
    ferry_job_sentence *waiting, *alone; /* lists of those that are to be translated with others, and alone */
    size_t held;                         /* sentences with workers */
};

/* After a failure, and when the job is cancelled. */
static inline bool ferry_job_stopped(const ferry_job *job)
{
    return atomic_load(job->stop);
}

/* UNSUPPORTED if the model, or one of a row, has no tokenizer. */
ferry_status ferry_job_check(const ferry_translator *translator, ferry_error *error);
/* Takes memory for `count` lines. After it, even if it failed, comes ferry_job_end or _finish. */
ferry_status ferry_job_begin(ferry_job *job, ferry_error *error);
/* Prepares the lines of a job that has begun, on the threads of the pool, or for a service on this one, and lists its
 * sentences. Errors: the first one of a line. */
ferry_status ferry_job_list(ferry_job *job, ferry_error *error);
/* The same, and translates the parts of all lines, unless `status`, what the steps before returned, is an error; then
 * as ferry_job_end. Returns the first error. */
ferry_status ferry_job_finish(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);
/* Releases the job, whose result goes to *result if `status`, or if that is OK the first failure of its workers, is OK
 * or CANCELLED. Lines that are not finished are CANCELLED, and so is the job that has such. */
ferry_status ferry_job_end(ferry_job *job, ferry_status status, ferry_result **result, ferry_error *error);

/* The text of a line without ill-formed UTF-8: the text itself, or a copy that the job releases, with a warning. */
ferry_status ferry_job_repair(ferry_job *job, size_t line, ferry_view *text, ferry_error *error);
/* The result of a line is complete. */
void ferry_job_finish_line(ferry_job *job, size_t line);

/* ---- workers of jobs ---- */

/* The next sentence of a share; NULL if there is none. */
ferry_job_sentence *ferry_job_take(ferry_job_share *share);
/* Puts a sentence that was taken back into the queue, or DONE. */
void ferry_job_put(ferry_job_share *share, ferry_job_sentence *sentence, ferry_queue_target target);
/* The sentence's result is complete. */
void ferry_job_finish_sentence(ferry_job_share *share, ferry_job_sentence *sentence);
/* The sentence fails, and its result is released; where memory was refused (LIMIT), it is tried again alone. An error
 * that is not the sentence's own stops the job. */
void ferry_job_fail_sentence(ferry_job_share *share, ferry_job_sentence *sentence, const ferry_error *why);
/* Ends the job with an error: workers stop. */
void ferry_job_stop(ferry_job *job, const ferry_error *error);
/* Translates sentences of the queue, until there is none. */
void ferry_job_translate_share(ferry_job_share *share);
/* Translates one alone, with all the translator's memory; `job`: the call's, NULL: of a service. */
void ferry_job_translate_alone(ferry_translator *translator, ferry_job *job, int32_t worker);
/* Makes the translator's logit bound, where it pays for so many source tokens. Errors: MEMORY. */
ferry_status ferry_job_make_bound(ferry_translator *translator, size_t tokens, ferry_error *error);

#endif
