/* Ferry: translate text with a Transformer model, offline, from C.
 *
 *     ferry_error error;
 *     ferry_model *model = NULL;
 *     ferry_translator *translator = NULL;
 *     ferry_result *result = NULL;
 *     const ferry_text line = {"Hello, world!", 13};
 *     ferry_status status = ferry_model_open("model.gguf", 0, &model, &error);
 *     if (status == FERRY_OK) status = ferry_translator_create(model, NULL, &translator, &error);
 *     if (status == FERRY_OK) status = ferry_translate(translator, &line, 1, &result, &error);
 *     puts(status == FERRY_OK ? ferry_result_text(result, 0, 0).data : error.message);
 *     ferry_result_destroy(result);
 *     ferry_translator_destroy(translator);
 *     ferry_model_close(model);
 *
 * The whole public interface of libferry. Rules that hold for every function:
 * - Text is UTF-8, pointer and length; NUL is an ordinary character, but every text that the library hands out has a
 *   NUL after its last byte.
 * - Errors: a function that can fail returns ferry_status. If it fails, it fills the caller's ferry_error (which may be
 *   NULL) and sets its result argument to NULL. Nothing aborts, prints, exits, or touches signals, locale or
 *   environment.
 * - Arguments: NULL where it is not allowed, and impossible values, are ARGUMENT errors. Functions that cannot fail
 *   answer NULL and indices past the end with 0, NULL or an empty text.
 * - Ownership: a create or open function pairs with a destroy or close function, which accepts NULL. A model that is
 *   closed lives until the last of its translators is destroyed. A result outlives its model and translator.
 * - Threads: models and results never change; any number of threads may read one. A translator is for one call at a
 *   time: a second call, from any thread or from a callback, is an ARGUMENT error. To destroy it during a call is a
 *   mistake that the library does not notice. Different translators are independent.
 * - fork: a child process may use what its parent opened and created. Its translators work in the calling thread alone.
 * - Functions and callbacks run in the default floating-point environment; the caller's is left as it was. Functions
 *   need less than 64 kB of the calling thread's stack.
 */
#ifndef FERRY_H
#define FERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FERRY_VERSION "0.1.0"
#define FERRY_VERSION_NUMBER 1000 /* 1,000,000 × major + 1,000 × minor + patch */

#if defined(__GNUC__) && !defined(_WIN32) /* a DLL exports the functions that are declared with it */
#define FERRY_API __attribute__((visibility("default")))
#else
#define FERRY_API
#endif

/* ---- errors ---- */

typedef enum ferry_status {
    FERRY_OK = 0,
    FERRY_ERROR_ARGUMENT = 1,
    FERRY_ERROR_MEMORY = 2,
    FERRY_ERROR_IO = 3,
    FERRY_ERROR_FORMAT = 4, /* a malformed file */
    FERRY_ERROR_UNSUPPORTED = 5,
    FERRY_ERROR_LIMIT = 6, /* of the model, or of memory_limit */
    FERRY_ERROR_CANCELLED = 7
} ferry_status;

/* Why a call failed. 512 bytes with pointers of 8 bytes; no later version adds a field. */
typedef struct ferry_error {
    ferry_status status;
    char message[500];    /* the file, tensor or option, what was expected, what was found. NUL-terminated; long names
                           * are truncated. Names of files are any bytes, which a terminal may take for commands */
    const char *argument; /* ARGUMENT: the argument or option, static ("lines", "nbest"); of two options that exclude
                           * each other, one that is not at its default. Otherwise NULL */
} ferry_error;

/* A short English name of a status, static. */
FERRY_API const char *ferry_status_name(ferry_status status);
/* The version of the library, static: "major.minor.patch". */
FERRY_API const char *ferry_version(void);

typedef struct ferry_text {
    const char *data;
    size_t size; /* bytes */
} ferry_text;

/* ---- models ---- */

typedef struct ferry_model ferry_model;

/* How to open a model: 0, or a sum of these. */
typedef enum ferry_open_flag {
    FERRY_OPEN_COPY = 1,  /* the bytes are copied: afterwards the file may change, and the memory be released */
    FERRY_OPEN_NO_AMX = 2 /* Linux permits the use of AMX tiles to a process as a whole, and alternate signal stacks
                           * must then be large enough for tiles (sysconf(_SC_MINSIGSTKSZ)). By default, opening a model
                           * requests this permission where the processor has tiles; with this flag it does not */
} ferry_open_flag;

/* Opens a model file (made by `ferry convert`). *model belongs to the caller.
 * The file is mapped, not read. It must not change while the model lives, unless it is copied: if a mapped file is
 * truncated, the system ends the process (SIGBUS).
 * Errors: ARGUMENT, IO (also if `path` is a pipe or a device), FORMAT, UNSUPPORTED, MEMORY. */
FERRY_API ferry_status ferry_model_open(const char *path, int flags, ferry_model **model, ferry_error *error);
/* The same for `length` bytes at `offset` of an open file (length 0: to its end). The caller may close `fd` afterwards.
 * ARGUMENT: the bytes go beyond the file; or they are not copied, and `offset` is no multiple of 64. */
FERRY_API ferry_status ferry_model_open_fd(int fd, uint64_t offset, uint64_t length, int flags, ferry_model **model,
                                           ferry_error *error);
/* The same for bytes in memory, which must stay while the model lives, unless they are copied. ARGUMENT: they are not
 * copied, and `data` is not aligned to 64 bytes. */
FERRY_API ferry_status ferry_model_open_memory(const void *data, size_t size, int flags, ferry_model **model,
                                               ferry_error *error);
FERRY_API void ferry_model_close(ferry_model *model);

/* Reads the whole file and checks what opening does not: the content hash, and that the coarse output matrix and its
 * bound, or the error of its planes, follow from the output matrix. The hash finds damage; it does not prove who made
 * the file. Errors: FORMAT (the file is damaged or contradicts itself), UNSUPPORTED (it has no hash), MEMORY. */
FERRY_API ferry_status ferry_model_verify(const ferry_model *model, ferry_error *error);

/* What the model's file says about it: key number `index` of this build, static; NULL past the last. */
FERRY_API const char *ferry_model_info_key(size_t index);
/* The value of such a key ("name", "license", "languages", "hash", "parameters", "encoder.layers" …), which belongs to
 * the model. "": not recorded; NULL: no such key. Whoever made the file chose it: it may be unfit for a terminal. */
FERRY_API const char *ferry_model_info(const ferry_model *model, const char *key);

/* ---- languages ---- */

typedef enum ferry_language_role {
    FERRY_LANGUAGE_SOURCE = 1,         /* can be translated from */
    FERRY_LANGUAGE_TARGET = 2,         /* can be translated into */
    FERRY_LANGUAGE_DEFAULT_SOURCE = 4, /* used if ferry_options.from is NULL */
    FERRY_LANGUAGE_DEFAULT_TARGET = 8  /* used if ferry_options.to is NULL */
} ferry_language_role;

/* A language that ferry_options.from and .to can name. Later versions may add fields at the end. */
typedef struct ferry_language {
    const char *tag;     /* the model's own: "deu_Latn" */
    const char *names;   /* other names for it, separated by blanks: "de deu"; "" if there are none */
    const char *english; /* its English name, "German"; "" if this build knows none */
    int roles;           /* sum of its ferry_language_role */
} ferry_language;

/* The model's languages, in its own order, if it lists any; NULL past the last. They belong to the model. */
FERRY_API size_t ferry_model_language_count(const ferry_model *model);
FERRY_API const ferry_language *ferry_model_language(const ferry_model *model, size_t index);

/* ---- options ---- */

/* Which lines are translated sentence by sentence, as ferry_translate_text does. */
typedef enum ferry_split {
    FERRY_SPLIT_NONE = 0, /* none: a line is one sentence for the model, unless it is too long (max_source) */
    FERRY_SPLIT_AUTO = 1, /* lines of several sentences and more than 10 source tokens (docs/decoding.md) */
    FERRY_SPLIT_ALL = 2   /* all lines */
} ferry_split;

typedef enum ferry_on_loop {
    FERRY_ON_LOOP_WARN = 0,
    FERRY_ON_LOOP_RETRY = 1 /* the sentence is translated again with no_repeat_ngram; the better translation is kept */
} ferry_on_loop;

typedef enum ferry_on_number {
    FERRY_ON_NUMBER_WARN = 0,
    FERRY_ON_NUMBER_RETRY = 1 /* the sentence is translated again with its numbers as terms; the better one is kept */
} ferry_on_number;

/* Which system's search rules apply (docs/decoding.md). */
typedef enum ferry_policy {
    FERRY_POLICY_HUGGINGFACE = 0, /* `generate` */
    FERRY_POLICY_MARIAN = 1,      /* `marian-decoder` */
    FERRY_POLICY_CTRANSLATE2 = 2  /* `translate_batch` */
} ferry_policy;

typedef enum ferry_early_stopping {
    FERRY_EARLY_STOPPING_FALSE = 0, /* stop when no running hypothesis can become better at its current length */
    FERRY_EARLY_STOPPING_TRUE = 1,  /* stop when `beam` hypotheses are finished */
    FERRY_EARLY_STOPPING_NEVER = 2  /* stop when none can become better at any length */
} ferry_early_stopping;

/* What belongs to one system's search: few programs set any of it. Start with ferry_search_options_default. */
typedef struct ferry_search_options {
    size_t size;                         /* sizeof(ferry_search_options), as ferry_options.size */
    ferry_policy policy;                 /* default the model's */
    ferry_early_stopping early_stopping; /* default the model's. For FERRY_POLICY_HUGGINGFACE, beam search */
    float word_penalty;      /* -1000…1000, default the model's. Subtracted from the sum of log-probabilities for
                              * each token; 0: off */
    int32_t renormalize;     /* 0 or 1, default the model's. 1: probabilities are renormalized after the rules that
                              * exclude tokens */
    int32_t forced_first_id; /* -1…last id, default the model's. -1: none, or the tag of the target language where
                              * the model wants it */
    int32_t forced_last_id;  /* -1…last id, default the model's. Forced where max_length is reached; -1: none */
    const int32_t *suppressed_ids; /* [suppressed_count] never generated; copied by ferry_translator_create */
    size_t suppressed_count;       /* 0…size of the vocabulary, default the model's */
    /* The next two need FERRY_POLICY_CTRANSLATE2 and a beam above 1. */
    float patience; /* above 0…100, default 1. Beam search ends when patience × beam hypotheses are finished; 1: off */
    /* -1000…1000, default 0. A score gets coverage_penalty × the sum of log(min(c, 1)) over the source tokens. c: the
     * cross-attention that one of them gets from all target tokens; 0: off */
    float coverage_penalty;
} ferry_search_options;

/* What must be written for a word, or several: one of some texts. Later versions may add fields at the end. */
typedef struct ferry_glossary_entry {
    ferry_text source;         /* UTF-8, at most 256 bytes, not blank */
    const ferry_text *targets; /* [target_count] UTF-8, not blank, the preferred one first */
    size_t target_count;       /* 0: the source stays as the line has it */
} ferry_glossary_entry;

/* Immutable; any number of threads and translators may use it. */
typedef struct ferry_glossary ferry_glossary;

/* Copies the entries, of `entry_size` bytes each (pass the struct's sizeof). Translators that have it as an option find
 * them in lines and texts, and make them terms (ferry_request), except for what overlaps the caller's own: whole words,
 * the longest entry first; small letters of a source stand for capitals, too, and white space for any. A target that
 * is first in its sentence gets a capital; where the source is all capitals, so is the target. Scoring ignores it.
 * Ownership: *glossary belongs to the caller, and lives until the last of its translators is destroyed, too.
 * Errors: ARGUMENT (also two entries with one source and different targets), MEMORY. */
FERRY_API ferry_status ferry_glossary_create(const ferry_glossary_entry *entries, size_t entry_size, size_t count,
                                             ferry_glossary **glossary, ferry_error *error);
FERRY_API void ferry_glossary_destroy(ferry_glossary *glossary);

/* How to translate. Start with ferry_options_default, which fills in the choices of the model's authors. */
typedef struct ferry_options {
    size_t size; /* sizeof(ferry_options), as the program was compiled; set by ferry_options_default */
    /* The pair of languages: any names that ferry_model_language lists, in any case (an exact tag takes precedence).
     * NULL, the default: the model's. "": none, for text that already contains its tags. A model that chooses its
     * target by a tag in the text (">>fra<<", "<2fr>") needs no `to`, but then each line must begin with one. */
    const char *from, *to;
    int32_t beam;        /* 1…1024, default the model's. Hypotheses kept; 1 is greedy search */
    int32_t threads;     /* 1…1024, default 1. 1: everything runs in the calling thread */
    int32_t batch;       /* 1…65536, default 64. Sentences decoded together */
    ferry_split split;   /* default FERRY_SPLIT_NONE */
    size_t memory_limit; /* 0…SIZE_MAX, default 0. Bytes that the translator may hold; a line that needs more fails
                          * (LIMIT); 0: any */
    /* Called as lines (of a text: sentences) are finished, from the calling thread. A result other than 0 cancels the
     * call. It must return: no exception, no longjmp. */
    int (*progress)(void *user, size_t lines_done, size_t lines_total);
    /* Called in greedy search (beam 1, nbest 1) whenever line (of a text: sentence) `line` has another token; the last
     * time with the complete translation. Answer and exceptions: as of `progress`.
     * text: the translation so far, valid during the call.
     * Threads: any of the translator's, one call at a time; translation waits for it.
     * Not reported: blank lines, and lines that are translated in parts.
     * A translation that is made again (on_loop, memory_limit) grows again. */
    int (*partial)(void *user, size_t line, ferry_text text);
    void *user;
    int32_t scores; /* 0 or 1, default 1. 0: results have no scores; the same tokens, faster in greedy search (a float32
                     * model gets an int8 output matrix) */
    int32_t nbest;  /* 1…beam, default 1. Hypotheses returned for each line (more with `sample`, `alternatives`) */
    int32_t alignment; /* 0 or 1, default 0. 1: results have tokens and the weights between them (ferry_result_token,
                        * _weights), for a further pass of the decoder; texts and scores stay the same */
    int32_t replace_unknowns;  /* 0 or 1, default 0. 1: an unknown word in a translation becomes the text of the source
                                * token that has the largest weight for it */
    ferry_on_loop on_loop;     /* default FERRY_ON_LOOP_WARN. What follows FERRY_QUALITY_LOOP */
    ferry_on_number on_number; /* default FERRY_ON_NUMBER_WARN. What follows FERRY_QUALITY_NUMBER */

    /* 0…1048576, default 0. Source tokens, tags and eos included; 0: the model's number of positions, else 512. A
     * longer line is split at ends of sentences, else at blanks, else between pieces. Its parts are joined, and a
     * warning says so. */
    int32_t max_source;
    int32_t max_length;       /* 0…1048576, default the model's. Target tokens, eos included; 0: by the next two */
    float length_factor;      /* 0…1024, default the model's. At most ceil(length_factor × source tokens) … */
    int32_t length_extra;     /* 0…1048576, default the model's. … + length_extra target tokens */
    int32_t min_length;       /* 0…1048576, default the model's. eos is not chosen before this many tokens */
    float length_penalty;     /* -1000…1000, default the model's. score = sum of log-probabilities /
                               * length^length_penalty */
    float repetition_penalty; /* 0.001…1000, default the model's. 1: off */
    int32_t no_repeat_ngram;  /* 0…1048576, default the model's. No n-gram of this size occurs twice; 0: off */
    int32_t shortlist;        /* 0 or 1, default the model's. 1: only words of the model's shortlist, if it has one */

    /* The next two are ways to use `nbest` with beam 1; nbest may then be 1…1024. */
    int32_t alternatives; /* 0 or 1, default 0. 1: the hypotheses differ in their first token (after a prefix): the
                           * `nbest` likeliest ones, in this order, each continued by greedy search */
    int32_t sample;    /* 0 or 1, default 0. 1: tokens are drawn at random; the hypotheses are independent draws, in no
                        * order */
    float temperature; /* above 0…1000, default 1. Of draws: logits are divided by it; 1: as the model says, near 0: as
                        * greedy search */
    int32_t top_k;     /* 0…1048576, default 0. Only the k likeliest tokens are drawn; 0: all */
    float top_p;       /* above 0…1, default 1. Only the likeliest tokens whose probabilities add up to p are drawn */
    uint64_t seed;     /* 0…UINT64_MAX, default 0. The same seed draws the same for a line (and prefix), whatever else
                        * is in the call */

    const ferry_search_options *search; /* NULL, the default: the model's; copied by ferry_translator_create */
    const ferry_glossary *glossary; /* NULL, the default: none. Excludes `sample`, `alternatives` and nbest above 1 */
} ferry_options;

/* Fill *options, of `size` bytes (pass the struct's sizeof), with the defaults of `model`.
 * A program that was compiled with another version's header passes another size. Never more than `size` bytes are
 * written. Fields that the library does not know are 0. Fields that the program does not know get their defaults in
 * ferry_translator_create.
 * Ownership: suppressed_ids points into the model. Errors: ARGUMENT. */
FERRY_API ferry_status ferry_options_default(const ferry_model *model, ferry_options *options, size_t size);
FERRY_API ferry_status ferry_search_options_default(const ferry_model *model, ferry_search_options *options,
                                                    size_t size);

/* ---- translating ---- */

typedef struct ferry_translator ferry_translator;
typedef struct ferry_result ferry_result;

/* `options` NULL: the model's defaults. The first translator of a model with 16-bit matrices widens them, which takes
 * longer than all that follow.
 * Errors: ARGUMENT (an option out of range, by name; a language that the model lacks, or needs and was not given; a
 * field other than 0 that this version does not know), MEMORY. */
FERRY_API ferry_status ferry_translator_create(const ferry_model *model, const ferry_options *options,
                                               ferry_translator **translator, ferry_error *error);
FERRY_API void ferry_translator_destroy(ferry_translator *translator);

/* Two models in a row: *both translates with `first`, and its translations with `second`, line by line (of a text:
 * sentence by sentence).
 * Ownership: *both takes over `first` and `second`; each may itself be a row. After an error nothing was taken over.
 * Results: a line that fails in one fails. Quality and warnings are those of both, tokens and scores the second's.
 * Callbacks: options.progress of each; a line counts as done for its share of the models. options.partial of the last.
 * Errors: ARGUMENT (options nbest, alignment; languages that do not meet), MEMORY.
 * Terms of calls and of the glossary of `first` are opaque for all models but the last.
 * Scoring, prefixes and alignment are ARGUMENT errors of *both. */
FERRY_API ferry_status ferry_translator_then(ferry_translator *first, ferry_translator *second, ferry_translator **both,
                                             ferry_error *error);
/* Gives the calls that follow a new number, by which they can be cancelled: one call, or several, until the next
 * number. For the owner of the translator, between calls. Returns the number, which is not 0; or 0, and nothing
 * changes, during a call and for a translator that a service has. The translators of a row have one number. A library
 * on top does not call it: the number belongs to the program. */
FERRY_API uint32_t ferry_translator_job(ferry_translator *translator);
/* Cancels a job: its call that is in progress ends within milliseconds, and every later call of it at once (CANCELLED),
 * until the next number. Does nothing if the translator has another number by now, or if `job` is 0.
 * Threads: from any, and from a signal handler. */
FERRY_API void ferry_translator_cancel(ferry_translator *translator, uint32_t job);
/* Bytes that the translator holds now. *peak (may be NULL): the most that it ever held.
 * Not counted: the model, results, and the ids and texts of the lines of a call.
 * Threads: any, during a call, too. */
FERRY_API size_t ferry_translator_memory(const ferry_translator *translator, size_t *peak);

/* Translates `count` lines, each as one sentence (ferry_options.split, max_source).
 * A line's result does not depend on the other lines, the batch size or the number of threads. (With OpenBLAS, rounding
 * depends on the first two: docs/portability.md, "Other processors".)
 * A blank line's translation is the line itself. Invalid UTF-8 is read as U+FFFD.
 * A line that cannot be translated does not affect the others. It has no hypothesis; ferry_result_outcome says why.
 * Ownership: *result belongs to the caller.
 * Errors of the whole call: ARGUMENT, UNSUPPORTED (the model has no tokenizer), MEMORY, CANCELLED.
 * CANCELLED is the only error with a result: it has the lines that were finished, and the others are CANCELLED. */
FERRY_API ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count,
                                       ferry_result **result, ferry_error *error);
/* What must be written for a span of a line: one of some texts, the likeliest at its place or, if that is not much
 * likelier, the first one. The spans of a line do not overlap. Later versions may add fields at the end. */
typedef struct ferry_term {
    size_t line;               /* its index */
    size_t begin, end;         /* bytes begin … end - 1 of the line, well-formed UTF-8, at least one */
    const ferry_text *targets; /* [target_count] not blank */
    size_t target_count;       /* 0: an opaque term, which comes back as it is, whether the model knows it or not */
} ferry_term;

/* What translations must have. Set `size`; a field that is 0 has its default. */
typedef struct ferry_request {
    size_t size;                /* sizeof(ferry_request) */
    const ferry_text *prefixes; /* [count] beginnings of translations, of size 0: any; NULL: none */
    const ferry_term *terms;    /* [term_count] sorted by line and begin */
    size_t term_size;           /* sizeof(ferry_term) */
    size_t term_count;          /* 0…SIZE_MAX, default 0 */
    ferry_on_number on_number;  /* FERRY_ON_NUMBER_RETRY: as the option, whatever that is */
    /* As ferry_options.progress, and besides it. NULL: none. Submissions have their own */
    int (*progress)(void *user, size_t lines_done, size_t lines_total);
    void *user;
} ferry_request;

/* The same with a request (NULL: none).
 * The translation of line i begins with prefixes[i].
 * A prefix ends between two tokens: the model may continue a broken word with another spelling than its own.
 * White space at the ends of a prefix does not count.
 * Of a line that is translated in parts, the first part gets the prefix; a blank line gets none.
 * A translation that has all its terms is that of ferry_translate. Else it is made again with the term where the
 * weights of cross-attention put its span, up to once for each term and once more. What it lacks then is
 * FERRY_QUALITY_TERM.
 * LIMIT of a line: its prefix has max_length tokens or more.
 * ARGUMENT of the call: prefixes or on_number for a row of models; terms with `sample`, `alternatives` or nbest
 * above 1; progress in a submission. UNSUPPORTED of the call: the model's file lacks what target text needs to become
 * tokens. */
FERRY_API ferry_status ferry_translate_with(ferry_translator *translator, const ferry_text *lines, size_t count,
                                            const ferry_request *request, ferry_result **result, ferry_error *error);
/* Translates a text sentence by sentence, each as ferry_translate does.
 * Sentences: rules and abbreviations of the source language find their ends (docs/sentences.md). A sentence never goes
 * beyond the end of its line. Between sentences is white space, and every byte of it is in the translation.
 * A sentence that cannot be translated stays in the source language (ill-formed UTF-8 in it becomes U+FFFD); the others
 * are translated nevertheless.
 * *result has one line with one hypothesis: the best hypotheses of all sentences. Its score is 0, and it has no tokens.
 * Its outcome is that of the first sentence that failed.
 * Errors of the whole call: those of ferry_translate. CANCELLED: sentences that were not finished stay as they are. */
FERRY_API ferry_status ferry_translate_text(ferry_translator *translator, ferry_text text, ferry_result **result,
                                            ferry_error *error);
/* The same with a request (NULL: none), whose terms are of line 0, the text. ARGUMENT: it has prefixes. */
FERRY_API ferry_status ferry_translate_text_with(ferry_translator *translator, ferry_text text,
                                                 const ferry_request *request, ferry_result **result,
                                                 ferry_error *error);
/* How likely the model finds given translations: targets[i] of sources[i], each as one sentence, never split.
 * *result has a line for each pair with one hypothesis: the target, its score (with length_penalty and word_penalty)
 * and its tokens, the end of sentence included. Their log-probabilities are among all words of the vocabulary (with
 * renormalize, all but suppressed_ids). A tag that the model wants as the first token counts 0, as in a translation.
 * Other rules of the search do not apply, and there is no shortlist.
 * LIMIT of a pair: a side has more tokens than options.max_source, or than the model has positions.
 * Errors of the whole call: those of ferry_translate, and UNSUPPORTED if the model's file cannot turn target text into
 * tokens. */
FERRY_API ferry_status ferry_score(ferry_translator *translator, const ferry_text *sources, const ferry_text *targets,
                                   size_t count, ferry_result **result, ferry_error *error);
FERRY_API void ferry_result_destroy(ferry_result *result);

/* ---- a service: texts of many callers, translated together ---- */

/* Any thread may call its functions, callbacks too. A child of fork() has no use of its parent's. */
typedef struct ferry_service ferry_service;
typedef uint64_t ferry_ticket; /* of one text; no service gives a number twice, or 0 */

/* Set `size`; a field that is 0 has its default. Later versions may add fields at the end of these two structs. */
typedef struct ferry_service_options {
    size_t size;      /* sizeof(ferry_service_options) */
    size_t max_texts; /* 0…SIZE_MAX, default 0. Texts that it holds at most, until they are reported; 0: 1000 */
    size_t max_bytes; /* 0…SIZE_MAX, default 0. Bytes of these texts, and 16 for each line and prefix; 0: 64 MiB */
} ferry_service_options;

/* What to translate: `text` as ferry_translate_text_with does, or `lines` as ferry_translate_with does.
 * Order: of equal priority, the first 32 sentences of each text come before the rest of any; otherwise what was
 * submitted first comes first. A steady stream of short texts delays the rest of long ones.
 * Threads: callbacks come from threads of the service, with 1 MB of stack, one at a time for each ticket. While one
 * runs, other texts of that thread wait, and of a thread that would call another one of the ticket. They may submit,
 * cancel and stop, but not destroy the service: no exception, no longjmp. */
typedef struct ferry_submission {
    size_t size;             /* sizeof(ferry_submission) */
    ferry_text text;         /* empty with `lines` */
    const ferry_text *lines; /* [count], or NULL: the text */
    size_t count;
    const ferry_request *request; /* NULL: none */
    int32_t priority; /* -100…100, default 0. Texts of a higher priority come first; those in progress rest meanwhile */
    int32_t wait; /* 0…2147483647, default 0. Milliseconds: if no sentence was begun by then, the text is not begun, but
                   * CANCELLED when its turn comes; 0: any */
    /* NULL, or as ferry_options.progress and .partial, except for the thread. A result other than 0 cancels the text.
     * `progress` is first called when the text is split. */
    int (*progress)(void *user, size_t lines_done, size_t lines_total);
    int (*partial)(void *user, size_t line, ferry_text text);
    /* Needed. The last callback, called once: *result, which belongs to the callee, and *error are what the call would
     * return (NULL: there is none). A text that was cancelled before it was split has no result. */
    void (*done)(void *user, ferry_ticket ticket, ferry_result *result, const ferry_error *error);
    void *user;
} ferry_submission;

/* A service with the model, options and threads of `translator`, which belongs to it from then on, and does not call
 * its `progress` and `partial`. `options` NULL: the defaults. Errors: ARGUMENT, UNSUPPORTED (the model has no
 * tokenizer), MEMORY; then the translator is still the caller's. */
FERRY_API ferry_status ferry_service_create(ferry_translator *translator, const ferry_service_options *options,
                                            ferry_service **service, ferry_error *error);
/* Copies the submission and returns: threads of the service split and tokenize it.
 * *ticket (may be NULL) is set before any callback.
 * Errors, without a ticket: ARGUMENT, LIMIT (the service is full), CANCELLED (it is stopped), MEMORY. */
FERRY_API ferry_status ferry_service_submit(ferry_service *service, const ferry_submission *submission,
                                            ferry_ticket *ticket, ferry_error *error);
/* Ends a text, CANCELLED, unless all of it is translated or it has ended: at once, or after the pass (one token of the
 * sentences in progress) if others are in it. */
FERRY_API void ferry_service_cancel(ferry_service *service, ferry_ticket ticket);
/* *waiting: number of texts that have not begun. *running: of texts that have begun and are not reported. Both may be
 * NULL. Returns the bytes that the service holds: texts, ids, results that are not reported, and the translator. */
FERRY_API size_t ferry_service_state(ferry_service *service, size_t *waiting, size_t *running);
/* Accepts no more texts, and with `cancel` other than 0 cancels all. Returns at once, also in a callback; may be called
 * again, with `cancel`. */
FERRY_API void ferry_service_stop(ferry_service *service, int cancel);
/* Stops the service, waits until all texts are reported, and destroys it with its translator.
 * Errors: ARGUMENT in a callback of this service; then nothing has happened. */
FERRY_API ferry_status ferry_service_destroy(ferry_service *service, ferry_error *error);

/* ---- results ---- */

/* A result never changes: any number of threads may read it. It outlives its model and translator. */

/* Signs that a translation is wrong, although the model computed it so (docs/decoding.md). */
typedef enum ferry_quality {
    FERRY_QUALITY_CUT = 1,     /* it ended at the length limit (any of the hypotheses; other signs: of the best one) */
    FERRY_QUALITY_LOOP = 2,    /* it repeats itself more than the source does */
    FERRY_QUALITY_SHORT = 4,   /* it is blank, or much shorter than translations are */
    FERRY_QUALITY_UNKNOWN = 8, /* its source has tokens, or it has words, that the model does not know */
    FERRY_QUALITY_NUMBER = 16, /* its numbers are not those of its source */
    FERRY_QUALITY_TERM = 32    /* it lacks a term that it must have */
} ferry_quality;

/* What became of a line. Later versions may add fields at the end.
 * The model may see nothing of a line, part or sentence: white space, invisible or unknown characters alone. It then
 * stays as it is, without tokens; FERRY_QUALITY_UNKNOWN says so if it has letters. */
typedef struct ferry_outcome {
    ferry_status status; /* FERRY_OK, or why it failed: LIMIT (of the model or of memory_limit), ARGUMENT (its tag),
                          * CANCELLED, FORMAT (the model computed a number that is not finite: a damaged file) */
    int quality;         /* sum of ferry_quality; 0 for blank and failed lines; of a text: those of all sentences */
    const char *error;   /* why it failed, in words, NUL-terminated; NULL if it did not */
    const char *warning; /* invalid UTF-8 was replaced, it was translated in parts, what `quality` says; NULL: none */
} ferry_outcome;

/* Number of lines. */
FERRY_API size_t ferry_result_count(const ferry_result *result);
/* The outcome of line `line`, which belongs to the result; never NULL: past the last line, its status is ARGUMENT. */
FERRY_API const ferry_outcome *ferry_result_outcome(const ferry_result *result, size_t line);
/* Number of hypotheses of line `line`, best first: options.nbest, 1 for a blank line, 0 for a failed one. */
FERRY_API size_t ferry_result_hypothesis_count(const ferry_result *result, size_t line);
FERRY_API ferry_text ferry_result_text(const ferry_result *result, size_t line, size_t hypothesis);
/* (Sum of the tokens' log-probabilities - word_penalty × length) / length^length_penalty, plus what coverage_penalty
 * adds. 0 for blank lines. */
FERRY_API float ferry_result_score(const ferry_result *result, size_t line, size_t hypothesis);

/* A token of a source line or of a hypothesis. */
typedef struct ferry_token {
    int32_t id;
    float log_probability; /* what it adds to the score's sum; of the source, and without options.scores: 0 */
    size_t begin, end;     /* bytes begin … end - 1 of the line, as the caller gave it, or of the hypothesis' text;
                            * begin == end: no text (end of sentence, tags) */
} ferry_token;

/* Number of target tokens of a hypothesis, end of sentence included. */
FERRY_API size_t ferry_result_token_count(const ferry_result *result, size_t line, size_t hypothesis);
/* Number of source tokens of line `line`, the model's own (tags, end of sentence) included. 0 without
 * options.alignment, unless ferry_score made the result. */
FERRY_API size_t ferry_result_source_token_count(const ferry_result *result, size_t line);
/* Fills *token, of `size` bytes (pass sizeof(ferry_token)), with source token `index`, as ferry_options_default does.
 * ARGUMENT past the last token; then nothing was written. */
FERRY_API ferry_status ferry_result_source_token(const ferry_result *result, size_t line, size_t index,
                                                 ferry_token *token, size_t size);
/* The same of token `index` of a hypothesis. ARGUMENT also if ferry_result_source_token_count is 0. */
FERRY_API ferry_status ferry_result_token(const ferry_result *result, size_t line, size_t hypothesis, size_t index,
                                          ferry_token *token, size_t size);
/* Term `index`, in order, of a translation by a translator in a row that another one follows and that was called by
 * itself (ferry_translator_stage): bytes of the best hypothesis, which is to be given to the next one with this term.
 * NULL past the last. */
FERRY_API const ferry_term *ferry_result_term(const ferry_result *result, size_t line, size_t index);
/* The weights of source tokens for token `token` of a hypothesis: *count numbers, for source tokens *first and later.
 * They add up to 1; the weights of all other source tokens are 0. `first` and `count` may be NULL.
 * NULL, and *count 0: without options.alignment, and past the last token.
 * Ownership: they belong to the result. */
FERRY_API const float *ferry_result_weights(const ferry_result *result, size_t line, size_t hypothesis, size_t token,
                                            size_t *first, size_t *count);

/* A sentence of ferry_translate_text. Later versions may add fields at the end. */
typedef struct ferry_sentence {
    size_t source_begin, source_end; /* bytes source_begin … source_end - 1 of the text that was translated */
    size_t target_begin, target_end; /* bytes of ferry_result_text(result, 0, 0) */
} ferry_sentence;

/* The sentences of a text, in its order, which belong to the result; 0 and NULL for a result of ferry_translate. */
FERRY_API size_t ferry_result_sentence_count(const ferry_result *result);
FERRY_API const ferry_sentence *ferry_result_sentence(const ferry_result *result, size_t index);
/* The sentences as lines of a result of their own, with outcomes, hypotheses, tokens and weights. Bytes of tokens are
 * those of the sentence, not of the text. NULL for a result of ferry_translate.
 * Ownership: it belongs to `result`. */
FERRY_API const ferry_result *ferry_result_sentences(const ferry_result *result);

/* ---- for libraries on top, such as libferry-documents ---- */

/* How many bytes of the text the model reads: up to the first character for which it has no piece, or the first sign
 * that its normalizer drops or replaces (a raised 2 by "2", the sign of a trade mark by "TM"). Signs are characters of
 * Unicode's categories Nl, No, Sm, So and C, and those with a mapping <super>, <sub>, <circle>, <square> or <fraction>.
 * Other characters may be replaced (a ligature by its letters). */
FERRY_API size_t ferry_model_reads(const ferry_model *model, ferry_text text);

/* Translator number `index` of a row, each of one model; NULL past the last. Of a translator that is no row: itself.
 * For calls while no call of the row is in progress. */
FERRY_API ferry_translator *ferry_translator_stage(const ferry_translator *translator, size_t index);
/* Sets options.alignment for the calls that follow. ARGUMENT during a call. */
FERRY_API ferry_status ferry_translator_align(ferry_translator *translator, int on);

#ifdef __cplusplus
}
#endif

#endif
