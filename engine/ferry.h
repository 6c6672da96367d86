/* Ferry: translate text with a Transformer model, offline, from C.
 *
 *     ferry_error error;
 *     ferry_model *model;
 *     ferry_translator *translator;
 *     ferry_result *result;
 *     ferry_text line = {"Hello, world!", 13};
 *     if (ferry_model_open("model.gguf", 0, &model, &error) != FERRY_OK) puts(error.message);
 *     ...
 *     ferry_translator_create(model, NULL, &translator, &error);
 *     ferry_translate(translator, &line, 1, &result, &error);
 *     fwrite(ferry_result_text(result, 0, 0).data, 1, ferry_result_text(result, 0, 0).size, stdout);
 *
 * The whole public interface of libferry. Rules that hold for every function:
 * - Text is UTF-8, pointer and length; NUL is an ordinary character, but every text that the library hands out has a
 *   NUL after its last byte.
 * - A fallible function returns ferry_status and, on failure, fills the caller's ferry_error (which may be NULL) and
 *   sets its result argument to NULL. Nothing aborts, prints, exits, or touches signals, locale or environment.
 * - A NULL or impossible argument is an ARGUMENT error, which names the argument. Functions that cannot fail answer
 * NULL and indices past the end with 0, NULL or an empty text.
 * - A ferry_model is immutable: any number of threads may use one. A ferry_translator is for one call at a time: a
 *   second one, from any thread or from a callback, is an ARGUMENT error; to destroy it during a call is a mistake that
 *   nothing notices. It may own threads of its own (ferry_options.threads). Different translators are independent. A
 *   child process after fork() may use what its parent opened and created; its translators then work in the calling
 *   thread alone.
 * - create/open functions pair with destroy/close functions, which accept NULL. A model that is closed lives until the
 *   last of its translators is destroyed.
 * - Functions compute in the default floating-point environment, in which callbacks run, too, and leave the caller's as
 *   it was.
 * - Calls need less than 64 kB of the calling thread's stack.
 */
#ifndef FERRY_H
#define FERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FERRY_VERSION "0.1.0"

#if defined(__GNUC__) && !defined(_WIN32) /* a DLL exports the functions that are declared with it */
#define FERRY_API __attribute__((visibility("default")))
#else
#define FERRY_API
#endif

/* ---- errors ---- */

/* name, value (never changes), text */
#define FERRY_STATUS_LIST(STATUS)                                                                                      \
    STATUS(FERRY_OK, 0, "no error")                                                                                    \
    STATUS(FERRY_ERROR_ARGUMENT, 1, "invalid argument")                                                                \
    STATUS(FERRY_ERROR_MEMORY, 2, "out of memory")                                                                     \
    STATUS(FERRY_ERROR_IO, 3, "cannot read or write")                                                                  \
    STATUS(FERRY_ERROR_FORMAT, 4, "malformed file")                                                                    \
    STATUS(FERRY_ERROR_UNSUPPORTED, 5, "unsupported feature")                                                          \
    STATUS(FERRY_ERROR_LIMIT, 6, "limit of the model exceeded")                                                        \
    STATUS(FERRY_ERROR_CANCELLED, 7, "cancelled")

typedef enum ferry_status {
#define FERRY_STATUS_ENUM(name, value, text) name = value,
    FERRY_STATUS_LIST(FERRY_STATUS_ENUM)
#undef FERRY_STATUS_ENUM
} ferry_status;

/* Why a call failed: file, tensor or option, what was expected, what was found. Names of files are in the message as
 * they are: any bytes, which a terminal may take for commands. */
typedef struct ferry_error {
    ferry_status status;
    char message[508]; /* NUL-terminated; long names are truncated */
} ferry_error;

/* A short English name of a status, static. */
FERRY_API const char *ferry_status_name(ferry_status status);

/* Version of the library, static: "major.minor.patch". */
FERRY_API const char *ferry_version(void);

/* ---- models ---- */

typedef struct ferry_model ferry_model;

/* How to open a model: 0, or a sum of these. */
typedef enum ferry_open_flag {
    FERRY_OPEN_COPY = 1,  /* the bytes are copied: afterwards the file may change, and the memory be released */
    FERRY_OPEN_NO_AMX = 2 /* Linux permits the use of AMX tiles to a process as a whole, and alternate signal stacks
                           * must then be large enough for tiles (sysconf(_SC_MINSIGSTKSZ)). By default, opening a model
                           * requests this permission where the processor has tiles; with this flag it does not */
} ferry_open_flag;

/* Opens a model file (made by `ferry convert`); IO, without waiting, if `path` is a pipe or a device. The file is
 * mapped, not read, and must not change while the model lives, unless it is copied: if a mapped file is truncated,
 * the system ends the process (SIGBUS). *model belongs to the caller. Errors: ARGUMENT, IO, FORMAT, UNSUPPORTED,
 * MEMORY. */
FERRY_API ferry_status ferry_model_open(const char *path, int flags, ferry_model **model, ferry_error *error);
/* The same for `length` bytes at `offset` of an open file, which the caller may close afterwards (length 0: to its
 * end). ARGUMENT if they go beyond the file, or if `offset` is no multiple of 64 and the bytes are not copied. */
FERRY_API ferry_status ferry_model_open_fd(int fd, uint64_t offset, uint64_t length, int flags, ferry_model **model,
                                           ferry_error *error);
/* The same for bytes in memory, which must stay while the model lives, unless they are copied. ARGUMENT if `data` is
 * not aligned to 64 bytes and the bytes are not copied. */
FERRY_API ferry_status ferry_model_open_memory(const void *data, size_t size, int flags, ferry_model **model,
                                               ferry_error *error);
FERRY_API void ferry_model_close(ferry_model *model);

/* Reads the whole file and compares it with the content hash that it carries, which opening does not. The hash finds
 * damage; it does not prove who made the file. Errors: FORMAT (the file is damaged), UNSUPPORTED (it carries no hash),
 * MEMORY. */
FERRY_API ferry_status ferry_model_verify(const ferry_model *model, ferry_error *error);

/* What the model's file says about it: key number `index` of this build, static; NULL past the last. */
FERRY_API const char *ferry_model_info_key(size_t index);
/* The value of such a key: "name", "license", "origin", "languages" (tags, separated by blanks), "hash", "bytes",
 * "parameters", "type", "d_model", "encoder.layers", "decoder.position" and so on. "": not recorded; NULL: no such key.
 * NUL-terminated; it belongs to the model. Whoever made the file chose the text: it may be unfit for a terminal. */
FERRY_API const char *ferry_model_info(const ferry_model *model, const char *key);

/* ---- languages ---- */

typedef enum ferry_language_role {
    FERRY_LANGUAGE_SOURCE = 1,         /* can be translated from */
    FERRY_LANGUAGE_TARGET = 2,         /* can be translated into */
    FERRY_LANGUAGE_DEFAULT_SOURCE = 4, /* used if ferry_options.from is NULL */
    FERRY_LANGUAGE_DEFAULT_TARGET = 8  /* used if ferry_options.to is NULL */
} ferry_language_role;

/* The languages that ferry_options.from and .to can name, in the model's own order; 0 if the model does not list any.
 */
FERRY_API size_t ferry_model_language_count(const ferry_model *model);
/* Language `index`: the model's own tag ("deu_Latn"), and other names for it, separated by blanks ("de deu"; "" if
 * there are none). Both are NUL-terminated and belong to the model; NULL past the last. */
FERRY_API const char *ferry_model_language_tag(const ferry_model *model, size_t index);
FERRY_API const char *ferry_model_language_names(const ferry_model *model, size_t index);
/* Its English name ("German"), static; "" if this build knows none, NULL past the last. */
FERRY_API const char *ferry_model_language_english(const ferry_model *model, size_t index);
/* Sum of its ferry_language_role; 0 past the last. */
FERRY_API int ferry_model_language_roles(const ferry_model *model, size_t index);

/* ---- options ---- */

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

/* Which lines are translated sentence by sentence. Sentences are those of ferry_translate_text; what is between them
 * stays as it is, byte by byte. */
typedef enum ferry_split {
    FERRY_SPLIT_NONE = 0, /* none: a line is one sentence for the model, unless it is too long (max_source) */
    FERRY_SPLIT_AUTO = 1, /* lines of so many tokens that models lose sentences of them (docs/decoding.md) */
    FERRY_SPLIT_ALL = 2   /* all lines */
} ferry_split;

typedef enum ferry_on_loop {
    FERRY_ON_LOOP_WARN = 0,
    FERRY_ON_LOOP_RETRY = 1 /* the sentence is translated again with no_repeat_ngram; the better translation is kept */
} ferry_on_loop;

typedef struct ferry_text {
    const char *data;
    size_t size; /* bytes */
} ferry_text;

/* How to translate. Start with ferry_options_default, which fills in the choices of the model's authors. */
typedef struct ferry_options {
    size_t size; /* sizeof(ferry_options), as the program was compiled; set by ferry_options_default */
    /* The pair of languages: tags, other names or English names as ferry_model_language_… list them, in any case (an
     * exact tag takes precedence). NULL: the model's default. "": none, for text that already contains its tags. Read
     * only by ferry_translator_create. A model that chooses its target by a tag in the text (">>fra<<", "<2fr>") needs
     * no `to`, but then each line must begin with a tag: ARGUMENT of the line, as for a tag that the model lacks. */
    const char *from;
    const char *to;
    ferry_policy policy;
    int32_t beam;                        /* hypotheses kept; 1 is greedy search */
    int32_t nbest;                       /* hypotheses returned for each line, 1…beam (but see `sample`) */
    float length_penalty;                /* score = sum of log-probabilities / length^length_penalty */
    float word_penalty;                  /* subtracted from the sum for each token; 0: off */
    ferry_early_stopping early_stopping; /* FERRY_POLICY_HUGGINGFACE, beam search */
    /* Source tokens, tags and eos included. A longer line is split at ends of sentences, else at blanks, else between
     * pieces; its parts are translated and joined, and a warning says so. 0: what the model's positions permit, else
     * 512
     */
    int32_t max_source;
    int32_t max_length;            /* target tokens, eos included; 0: by the next two */
    float length_factor;           /* at most ceil(length_factor × source tokens) … */
    int32_t length_extra;          /* … + length_extra target tokens */
    int32_t min_length;            /* eos is not chosen before this many tokens */
    float repetition_penalty;      /* 1: off */
    int32_t no_repeat_ngram;       /* no n-gram of this size occurs twice; 0: off */
    int32_t renormalize;           /* 1: probabilities are renormalized after the rules above */
    int32_t forced_first_id;       /* -1: none, or the tag of the target language where the model wants it */
    int32_t forced_last_id;        /* forced where max_length is reached; -1: none */
    const int32_t *suppressed_ids; /* never generated; copied by ferry_translator_create */
    size_t suppressed_count;
    int32_t shortlist; /* 1: only words of the model's shortlist are chosen, if it has one */
    int32_t scores;    /* 0: ferry_result_score is 0, and greedy search need not compute it, which is faster (with a
                        * float32 model it then keeps an int8 copy of the output matrix beside the model) */
    int32_t threads;   /* that translate; 1: everything runs in the calling thread */
    int32_t batch;     /* sentences decoded together */
    /* Bytes that the translator may hold at any time (ferry_translator_memory); 0: any. A line for which they do not
     * suffice fails (LIMIT). */
    size_t memory_limit;
    /* Called from the calling thread as lines (of a text: sentences) are finished, if there are any; a result other
     * than 0 cancels, as ferry_translator_cancel does. It must return: no exception, no longjmp. */
    int (*progress)(void *user, size_t lines_done, size_t lines_total);
    void *user;
    int32_t alignment; /* 1: results have tokens and the weights between them (ferry_result_token, _weights), which
                        * take a further pass of the decoder; texts and scores stay the same */
    int32_t replace_unknowns; /* 1: an unknown word in a translation becomes the text of the source token that has the
                               * largest weight for it */
    /* The next two are ways to use `nbest` with beam 1, where it may be any number up to 1024. */
    int32_t alternatives; /* 1: the hypotheses differ in their first token (after a prefix): the `nbest` likeliest ones,
                           * in this order, each continued by greedy search */
    int32_t sample;       /* 1: tokens are drawn at random; the hypotheses are independent draws, in no order */
    float temperature;    /* of draws: logits are divided by it; 1: as the model says, near 0: as greedy search */
    int32_t top_k;        /* only the k likeliest tokens are drawn; 0: all */
    float top_p;          /* only the likeliest tokens whose probabilities add up to p are drawn; 1: all */
    /* The same seed gives the same draws to the same line (and prefix), whatever else is in the call and however many
     * threads there are; equal lines of a call have equal draws. */
    uint64_t seed;
    /* Called in greedy search (beam 1, nbest 1; never by beam search) whenever line `line` has another token, with its
     * translation so far, which is valid during the call; the last time with the complete one. `line` is the index of
     * the line, for ferry_translate_text that of the sentence; not told of are blank lines and lines that are
     * translated in parts. It is called from any of the translator's threads, one call at a time (with threads 1: from
     * the calling thread), and translation waits for it. A translation that is made again (on_loop) grows again.
     * Otherwise as `progress`. */
    int (*partial)(void *user, size_t line, ferry_text text);
    ferry_split split;
    ferry_on_loop on_loop; /* what follows FERRY_DOUBT_LOOP */
    /* The next two are CTranslate2's: FERRY_POLICY_CTRANSLATE2, with a beam above 1. */
    float patience;         /* beam search goes on until patience × beam hypotheses are finished; 1: off */
    float coverage_penalty; /* added to scores, times the sum of log(min(c, 1)) over the source tokens, c being what one
                             * gets of the cross-attention of all target tokens; 0: off */
} ferry_options;

/* Fills *options, of `size` bytes, with the defaults of `model`: pass sizeof(ferry_options). A program that was
 * compiled with the header of an older or newer version passes another size: never more than `size` bytes are written,
 * fields that the library does not know are zero, and fields that the program does not know get their defaults in
 * ferry_translator_create. options->suppressed_ids points into the model. Errors: ARGUMENT. */
FERRY_API ferry_status ferry_options_default(const ferry_model *model, ferry_options *options, size_t size);

/* ---- translating ---- */

typedef struct ferry_translator ferry_translator;
typedef struct ferry_result ferry_result;

/* `options` NULL: the model's defaults. The first translator of a model with 16-bit matrices widens them, which takes
 * longer than all that follow. Errors: ARGUMENT (an option out of range, by name; a language that the model
 * lacks, or needs and was not given; a field other than 0 that this version does not know), MEMORY. */
FERRY_API ferry_status ferry_translator_create(const ferry_model *model, const ferry_options *options,
                                               ferry_translator **translator, ferry_error *error);
FERRY_API void ferry_translator_destroy(ferry_translator *translator);

/* Ends the call of the translator that is in progress, within milliseconds, or else the next one (but none that is
 * refused with ARGUMENT). With ferry_translator_memory, for a translator that is in use: from any thread; this one from
 * a signal handler, too. */
FERRY_API void ferry_translator_cancel(ferry_translator *translator);
/* Bytes that the translator holds now, and *peak (may be NULL): the most that it ever held. Not counted: the model,
 * results, and the ids and texts of the lines of a call. */
FERRY_API size_t ferry_translator_memory(const ferry_translator *translator, size_t *peak);

/* Translates `count` lines, each as one sentence (ferry_options.split, max_source). A line's result does not depend on
 * the other lines, the batch size or the number of threads (but with OpenBLAS, by rounding, on the other lines and the
 * batch size: docs/embedding.md, "Other processors"). A blank line's translation is the line itself. Invalid
 * UTF-8 is read as U+FFFD. *result belongs to the caller and may outlive the translator. A line that cannot be
 * translated does not affect the others: its result is empty, and ferry_result_status and ferry_result_error say why.
 * Errors of the whole call: ARGUMENT, UNSUPPORTED (the model has no tokenizer), MEMORY; CANCELLED, the only error with
 * a result: it has the lines that were finished, and the others are CANCELLED. */
FERRY_API ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count,
                                       ferry_result **result, ferry_error *error);
/* The same, with translations that begin so: line i's with prefixes[i] (size 0: with anything). The prefix ends between
 * two tokens: a word that it breaks off can go on otherwise than the model would have spelled it. White space at its
 * ends does not count, and the translation has it as the model's tokenizer writes it. It belongs to the first part of a
 * line that is translated in parts, and not to a blank line. A line fails with LIMIT if its prefix has as many tokens
 * as its translation may have (options.max_length), or more. UNSUPPORTED: the model's file lacks what target text needs
 * to become tokens. */
FERRY_API ferry_status ferry_translate_prefixed(ferry_translator *translator, const ferry_text *lines,
                                                const ferry_text *prefixes, size_t count, ferry_result **result,
                                                ferry_error *error);
/* Translates a text sentence by sentence, each as ferry_translate does. Where sentences end is found by rules and
 * abbreviations of the source language (docs/sentences.md); a sentence never goes beyond the end of its line. What is
 * not in a sentence is white space, and every byte of it is in the translation: between paragraphs, before them, after
 * them. A sentence that cannot be translated stays in the source language (ill-formed UTF-8 in it becomes U+FFFD).
 * *result has one line, with one hypothesis: the text of the best hypotheses of all sentences; its score and tokens are
 * 0. Its status and error are those of the first sentence that failed; the other sentences are translated nevertheless.
 * options.progress counts sentences. Errors of the whole call: as those of ferry_translate; CANCELLED has a result, in
 * which sentences that were not finished are CANCELLED, and stay in the source language. */
FERRY_API ferry_status ferry_translate_text(ferry_translator *translator, ferry_text text, ferry_result **result,
                                            ferry_error *error);
/* Translates text with tags like those of HTML: of text fields, subtitles, office documents. It is translated as
 * ferry_translate_text would translate its text, and a tag goes to where the words went that it stands at, so that bold
 * words stay bold (docs/markup.md). Any bytes are permitted.
 * - Each tag, comment and declaration is in the translation once, byte by byte. Elements that are well nested remain
 * so, within what they were within; elements side by side may change their order, as words do. A tag without its
 * partner stands alone, at its word. A "<" that begins no tag is text.
 * - Sentences end at the tags of block elements (p, li, td, br …) and at an empty line; other white space within them
 * is one blank, as browsers show it. What is between sentences is in the translation as it was.
 * - The contents of script, style, textarea, code, kbd, samp, var, tt, math, svg and a few others, and of elements with
 *   translate="no", are not translated. A short one without tags still has its place in its sentence for the model.
 * - Characters given by name or number (HTML 4's names) are translated as characters; a name that is not known stays as
 *   it is. In translations "&", "<" and ">" are &amp; &lt; &gt;.
 * *result is as that of ferry_translate_text: sentences have bytes of `markup` and of its translation. Those of
 * ferry_result_sentences are the plain ones. Errors: as those of ferry_translate_text. */
FERRY_API ferry_status ferry_translate_markup(ferry_translator *translator, ferry_text markup, ferry_result **result,
                                              ferry_error *error);
/* How likely the model finds given translations: targets[i] of sources[i], each as one sentence, never split. *result
 * has a line for each pair, with one hypothesis: the target, its score (of options.length_penalty and word_penalty) and
 * its tokens (ferry_result_token) with their log-probabilities among all words of the vocabulary (with
 * options.renormalize, all but suppressed_ids); the end of sentence is the last one. A language's tag that the model
 * wants as the first token counts 0, as in a translation. Other rules of the search do not apply, and there is no
 * shortlist. A pair of which one side has more tokens than options.max_source, or than the model has positions, fails
 * (LIMIT). Errors of the whole call: those of ferry_translate, and UNSUPPORTED where the model's file cannot turn
 * target text into tokens. */
FERRY_API ferry_status ferry_score(ferry_translator *translator, const ferry_text *sources, const ferry_text *targets,
                                   size_t count, ferry_result **result, ferry_error *error);
FERRY_API void ferry_result_destroy(ferry_result *result);

/* Number of lines. */
FERRY_API size_t ferry_result_count(const ferry_result *result);
/* FERRY_OK, or why line `line` failed: LIMIT (a limit of the model or of the memory), CANCELLED, FORMAT (the model
 * computed a number that is not finite: its file is damaged); ARGUMENT past the last line. */
FERRY_API ferry_status ferry_result_status(const ferry_result *result, size_t line);
/* Number of hypotheses of line `line`, best first: options.nbest, 1 for a blank line, 0 for a failed one. */
FERRY_API size_t ferry_result_hypotheses(const ferry_result *result, size_t line);
/* Text of a hypothesis; valid as long as the result. */
FERRY_API ferry_text ferry_result_text(const ferry_result *result, size_t line, size_t hypothesis);
/* Sum of the tokens' log-probabilities, less word_penalty for each, divided by length^length_penalty, and what
 * coverage_penalty adds; blank lines: 0. */
FERRY_API float ferry_result_score(const ferry_result *result, size_t line, size_t hypothesis);
/* Target tokens of a hypothesis, end of sentence included. */
FERRY_API size_t ferry_result_tokens(const ferry_result *result, size_t line, size_t hypothesis);
/* A token of a source line or of a hypothesis. */
typedef struct ferry_token {
    int32_t id;
    float log_probability; /* what it adds to the score's sum; of greedy search without options.scores, and of the
                              source: 0 */
    size_t begin, end;     /* bytes begin … end - 1 of the line, as the caller gave it, or of the hypothesis' text;
                            * begin == end: no text (end of sentence, tags) */
} ferry_token;

/* Number of source tokens of line `line`, those that the model adds included: with options.alignment, and of
 * ferry_score; otherwise 0. */
FERRY_API size_t ferry_result_source_tokens(const ferry_result *result, size_t line);
/* Fills *token, of `size` bytes (pass sizeof(ferry_token)), with source token `index`: never more than `size` bytes are
 * written, and fields that the library does not know are zero. ARGUMENT, with nothing written, past the last. */
FERRY_API ferry_status ferry_result_source_token(const ferry_result *result, size_t line, size_t index,
                                                 ferry_token *token, size_t size);
/* The same of token `index` of a hypothesis, which has ferry_result_tokens of them; ARGUMENT, too, where
 * ferry_result_source_tokens is 0. */
FERRY_API ferry_status ferry_result_token(const ferry_result *result, size_t line, size_t hypothesis, size_t index,
                                          ferry_token *token, size_t size);
/* How much each source token counts for token `token` of a hypothesis: *count weights of source tokens *first … *first
 * + *count - 1, which add up to 1; those of all others are 0 (a line that was translated in parts has others). They
 * belong to the result. NULL, and *count 0, without options.alignment and past the last token. `first` and `count` may
 * be NULL.
 */
FERRY_API const float *ferry_result_weights(const ferry_result *result, size_t line, size_t hypothesis, size_t token,
                                            size_t *first, size_t *count);
/* Why line `line` failed, in words, NUL-terminated; NULL if it did not. */
FERRY_API const char *ferry_result_error(const ferry_result *result, size_t line);
/* A warning about line `line` (invalid UTF-8 was replaced; it was translated in parts; its translation is doubtful),
 * NUL-terminated; NULL if there is none. */
FERRY_API const char *ferry_result_warning(const ferry_result *result, size_t line);

/* Signs that a translation is wrong, although the model computed it so (docs/decoding.md). */
typedef enum ferry_doubt {
    FERRY_DOUBT_CUT = 1,      /* it ended at the length limit */
    FERRY_DOUBT_LOOP = 2,     /* it repeats itself more than the source does */
    FERRY_DOUBT_SHORT = 4,    /* it is blank, or much shorter than translations are */
    FERRY_QUALITY_UNKNOWN = 8 /* its source has tokens, or it has words, that the model does not know */
} ferry_doubt;

/* Sum of the ferry_doubt of line `line`: of its best hypothesis, but FERRY_DOUBT_CUT of any. They are in its warning in
 * words. 0 for blank and failed lines, and past the last. Of a text: those of all its sentences.
 * A line, part or sentence of which the model sees nothing (white space, characters that cannot be seen, or only such
 * as it does not know) stays as it is, without tokens; FERRY_QUALITY_UNKNOWN says so if it has letters. */
FERRY_API int ferry_result_doubts(const ferry_result *result, size_t line);

/* A sentence of ferry_translate_text. */
typedef struct ferry_sentence {
    size_t source_begin, source_end; /* bytes source_begin … source_end - 1 of the text that was translated */
    size_t target_begin, target_end; /* bytes of ferry_result_text(result, 0, 0) */
    ferry_status status;             /* as ferry_result_status; if not FERRY_OK, the target is the source */
    float score;                     /* as ferry_result_score */
    const char *error, *warning;     /* as ferry_result_error and ferry_result_warning; they belong to the result */
    int doubts;                      /* as ferry_result_doubts */
} ferry_sentence;

/* Number of sentences of a text; 0 for a result of ferry_translate. */
FERRY_API size_t ferry_result_sentence_count(const ferry_result *result);
/* Fills *sentence, of `size` bytes (pass sizeof(ferry_sentence)), with sentence `index`, in the text's order: never
 * more than `size` bytes are written, and fields that the library does not know are zero. ARGUMENT, with nothing
 * written, past the last sentence. */
FERRY_API ferry_status ferry_result_sentence(const ferry_result *result, size_t index, ferry_sentence *sentence,
                                             size_t size);
/* The sentences as lines of a result of their own, with their hypotheses, tokens and weights; bytes of tokens are those
 * of the sentence, not of the text. It belongs to `result`. NULL for a result of ferry_translate. */
FERRY_API const ferry_result *ferry_result_sentences(const ferry_result *result);

#ifdef __cplusplus
}
#endif

#endif
