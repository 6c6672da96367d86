/* The model file, described once: every key and every tensor as a row of a table.
 *
 * The loader reads and checks by these rows, the writer writes them in their order, untrained models and descriptions
 * use them, and docs/model-file.md is checked against them. The library also checks ferry_options against the rows of
 * the search options, and the command line takes its options from them. Keys and tensors of positional encodings are
 * declared by the encodings themselves (engine/position). */
#ifndef FERRY_FILE_SCHEMA_H
#define FERRY_FILE_SCHEMA_H

#include "base/string_table.h"
#include "engine/search/decoding.h"

/* The parts of a model file besides the graph and its generation: tokenizer, languages, origin. */

/* Where a language's tag is put. */
typedef enum ferry_tag_position {
    FERRY_TAG_NONE,
    FERRY_TAG_PREFIX, /* before all other ids of the source */
    FERRY_TAG_SUFFIX, /* after all other ids of the source */
    FERRY_TAG_FIRST   /* forced as the first target token */
} ferry_tag_position;

/* Languages that a user can name. A model of one pair lists its two languages without tags. */
typedef struct ferry_model_languages {
    const ferry_string_table *names; /* [count] the family's own tag, then other names for it: "deu_Latn de deu" */
    const int32_t *roles;            /* [count] FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET */
    const int32_t *source_ids;       /* [count] id of the tag in the source's vocabulary, or -1 */
    const int32_t
        *target_ids; /* [count] in the target's (FERRY_TAG_FIRST), or in the source's (PREFIX, SUFFIX); or -1 */
    int32_t count;
    ferry_tag_position source_tag;
    ferry_tag_position target_tag;
    /* Prompts, put before a line: for a pair of languages, as indices into names; -1: any. */
    const ferry_string_table *prompts; /* [prompt_count] "translate English to German: " */
    const int32_t *prompt_sources;
    const int32_t *prompt_targets;
    int32_t prompt_count;
    int32_t default_source; /* index into names, or -1: the user has to give it unless source_tag is NONE */
    int32_t default_target;
} ferry_model_languages;

/* The model's origin. Fields that are not recorded are empty or 0. */
typedef struct ferry_model_origin {
    ferry_view kind;                  /* "huggingface-marian", "seq2seq-export-1" */
    ferry_view name;                  /* of the converted directory */
    ferry_view license;               /* its text */
    ferry_view training;              /* how it was trained, in words */
    int32_t trained_length;           /* tokens of the longest training example; 0: not recorded */
    int32_t trained_seed;             /* of random numbers; 0: not recorded */
    float trained_tokens;             /* target tokens in all; 0: not recorded */
    const ferry_string_table *files;  /* [file_count] names of what was read */
    const uint64_t *sizes;            /* [file_count] bytes */
    const ferry_string_table *hashes; /* [file_count] SHA-256 in hexadecimal; NULL: not recorded */
    size_t file_count;
} ferry_model_origin;

/* ferry.format: counts incompatible versions of the rules of reading. */
enum { FERRY_FILE_FORMAT = 1 };

/* The upper limits of sizes and of vocabularies. The product of two sizes does not overflow in 64 bits. */
enum { FERRY_MAX_SIZE = 1 << 20, FERRY_MAX_VOCABULARY = 1 << 20 };

/* ---- keys ---- */

typedef enum ferry_key_kind {
    FERRY_KEY_SIZE,   /* int32_t; u32 in the file */
    FERRY_KEY_ID,     /* int32_t; i32 in the file */
    FERRY_KEY_REAL,   /* float; f32 in the file */
    FERRY_KEY_BOOL,   /* bool, or an int32_t that is 0 or 1; bool in the file */
    FERRY_KEY_CHOICE, /* an enumeration, a bool or an int32_t, as index into `choices`; text in the file */
    FERRY_KEY_TEXT,   /* ferry_view; text in the file */
    FERRY_KEY_BYTES,  /* ferry_view; array of u8 in the file */
    FERRY_KEY_IDS,    /* const int32_t *; array of i32 in the file */
    FERRY_KEY_TEXTS,  /* const ferry_string_table *; array of texts in the file */
    FERRY_KEY_SIZES,  /* const uint64_t *; array of u64 in the file */
    FERRY_KEY_REALS   /* const double *; array of f64 in the file */
} ferry_key_kind;

/* When a key is in the file. */
typedef enum ferry_key_when {
    FERRY_WHEN_ALWAYS,
    FERRY_WHEN_NEVER, /* an option of the user only */
    FERRY_WHEN_SHORTLIST,
    FERRY_WHEN_SENTENCEPIECE,
    FERRY_WHEN_UNIGRAM,
    FERRY_WHEN_WORDS,    /* a Unigram model or merges, for words */
    FERRY_WHEN_BPE,      /* merges for words */
    FERRY_WHEN_SUBWORDS, /* the tokenizer is subword-nmt's or FSMT's */
    FERRY_WHEN_MERGES,
    FERRY_WHEN_TWO_MERGES, /* of each side */
    FERRY_WHEN_TWO_MODELS, /* a SentencePiece model for each side */
    FERRY_WHEN_TWO_TABLES, /* a table of pieces for each side */
    FERRY_WHEN_RECORDED    /* of the origin: neither empty nor 0 */
} ferry_key_when;

/* Upper limits that follow from other values. */
typedef enum ferry_key_bound {
    FERRY_BOUND_FIXED, /* `max` */
    FERRY_BOUND_SOURCE_ID,
    FERRY_BOUND_TARGET_ID,
    FERRY_BOUND_TARGET_COUNT, /* the number of target ids */
    FERRY_BOUND_TAG_ID,       /* the side that has the target language's tag */
    FERRY_BOUND_LAYER,        /* of the decoder */
    FERRY_BOUND_HEAD,
    FERRY_BOUND_HEADS,    /* the number of heads */
    FERRY_BOUND_LANGUAGE, /* index of the last language */
    FERRY_BOUND_BEAM      /* unless the option `sample` or `alternatives` is set */
} ferry_key_bound;

typedef struct ferry_key {
    const char *name; /* after the prefix of its group */
    ferry_key_kind kind;
    ferry_key_when when;
    bool optional;       /* may be missing where it applies; its value is then `default_value`, or empty */
    size_t offset, size; /* of the value in the struct of its group */
    size_t count_offset; /* of an array: of its count, in the same struct */
    size_t count_size;
    bool matches; /* the count is already known: the array must match it, and may be missing if it is 0 */
    double min, max;
    double file_max;  /* limit for a file, below the user's `max`; 0: `max` */
    size_t max_count; /* of an array; 0: for ids the number of ids, otherwise no limit */
    bool above;       /* `min` itself is excluded */
    ferry_key_bound bound;
    const char *const *choices; /* NULL-terminated */
    double default_value;
    const char *help; /* of the program's option with this name; NULL: not an option */
} ferry_key;

/* In the order of the file. */
typedef enum ferry_key_group {
    FERRY_KEYS_GRAPH,
    FERRY_KEYS_ENCODER,
    FERRY_KEYS_DECODER,
    FERRY_KEYS_BLOCK, /* of the decoder */
    FERRY_KEYS_GENERATION,
    FERRY_KEYS_DECODING, /* of ferry_options and ferry_search_options */
    FERRY_KEYS_TOKENIZER_KIND,
    FERRY_KEYS_TOKENIZER, /* unless the kind is none */
    FERRY_KEYS_LANGUAGES, /* if the model names languages */
    FERRY_KEYS_ORIGIN,
    FERRY_KEY_GROUPS
} ferry_key_group;

typedef struct ferry_key_table {
    const char *prefix; /* "ferry.encoder." */
    const ferry_key *keys;
    size_t count;
} ferry_key_table;

ferry_key_table ferry_schema_keys(ferry_key_group group);
/* NULL if the group has no key `name`. */
const ferry_key *ferry_schema_find(ferry_key_group group, const char *name);

/* The structs that keys describe. */
typedef struct ferry_stack ferry_stack;
typedef struct ferry_tokenizer_config ferry_tokenizer_config;
typedef struct ferry_transformer ferry_transformer;

typedef struct ferry_schema_values {
    ferry_transformer *transformer;
    ferry_generation *generation;
    ferry_tokenizer_config *text;
    ferry_model_languages *languages;
    ferry_model_origin *origin;
    bool shortlist; /* the model has a shortlist */
} ferry_schema_values;

/* The struct of a group, into which `offset` leads. */
void *ferry_schema_group(const ferry_schema_values *values, ferry_key_group group);
/* Sets all keys to their defaults, and changes nothing else. */
void ferry_schema_defaults(const ferry_schema_values *values);
/* Whether a file of these values has the key. */
bool ferry_key_applies(const ferry_key *key, const ferry_schema_values *values);
/* The largest value that the key may have, as an option of the user, and in a file. */
double ferry_key_max(const ferry_key *key, const ferry_schema_values *values);
double ferry_key_max_in_file(const ferry_key *key, const ferry_schema_values *values);
/* Whether min … max admits `value`; NaN is never admitted. */
bool ferry_key_admits(const ferry_key *key, double value, double max);
/* "a number from 0 to 1024", for messages. */
ferry_short_text ferry_key_range(const ferry_key *key, double max);

/* The value of a number, bool or choice in the struct of its group, and the count of an array. */
int64_t ferry_key_integer(const ferry_key *key, const void *group);
/* The same, or the real number. */
double ferry_key_number(const ferry_key *key, const void *group);
void ferry_key_set_integer(const ferry_key *key, void *group, int64_t value);
/* A number, bool or choice of the group in words: "512", "pre". */
ferry_short_text ferry_key_value(const ferry_key *key, const void *group);
size_t ferry_key_count(const ferry_key *key, const void *group);
void ferry_key_set_count(const ferry_key *key, void *group, size_t count);

/* ---- names ---- */

extern const char *const ferry_policy_names[];
extern const char *const ferry_activation_names[];
extern const char *const ferry_tag_position_names[];
extern const char *const ferry_norm_names[];
extern const char *const ferry_norm_position_names[];
extern const char *const ferry_block_names[];
extern const char *const ferry_tokenizer_names[];

/* Words of ferry.features: "prefix:choice", or a prefix alone where choices is NULL. `position:` belongs to the
 * encodings. */
typedef struct ferry_feature {
    const char *prefix;
    const char *const *choices;
} ferry_feature;
extern const ferry_feature ferry_features[]; /* prefix NULL ends them */
bool ferry_schema_knows_feature(ferry_view word);

/* ---- tensors ---- */

/* The name of the coarse output matrix. */
#define FERRY_OUTPUT_COARSE "output_coarse"

typedef enum ferry_tensor_form {
    FERRY_TENSOR_MATRIX, /* NAME.weight [N, K] in panels, with NAME.bias [N] where the stack's matrices have biases */
    FERRY_TENSOR_UNBIASED,
    FERRY_TENSOR_NORM /* NAME.weight [D], and NAME.bias [D] of a layer norm */
} ferry_tensor_form;

/* Which layers or stacks have it. */
typedef enum ferry_tensor_when {
    FERRY_TENSOR_ALWAYS,
    FERRY_TENSOR_ATTENTION, /* not in a decoder whose block is an SSRU */
    FERRY_TENSOR_SSRU,
    FERRY_TENSOR_CROSS, /* decoder */
    FERRY_TENSOR_GATED,
    FERRY_TENSOR_EMBEDDING_NORM,
    FERRY_TENSOR_FINAL_NORM
} ferry_tensor_when;

/* Sizes: D d_model, A heads × head width, F ffn width. */
typedef struct ferry_tensor_row {
    const char *name; /* after "enc.blk.N." of a layer, "enc." of a stack */
    ferry_tensor_form form;
    ferry_tensor_when when;
    char N, K;
    size_t offset; /* of the ferry_matrix or ferry_norm in ferry_layer, or in ferry_stack */
} ferry_tensor_row;

/* Those of a layer, and of a stack besides its layers, in the order in which they are bound; name NULL ends them. */
extern const ferry_tensor_row ferry_layer_tensors[], ferry_stack_tensors[];
bool ferry_tensor_applies(const ferry_tensor_row *row, const ferry_transformer *model, const ferry_stack *stack);
/* The size denoted by the letter. */
int32_t ferry_tensor_size(char letter, const ferry_transformer *model, const ferry_stack *stack);
/* Where the row's matrix or norm is in a layer or stack. */
void *ferry_tensor_target(const ferry_tensor_row *row, void *owner);

#endif
