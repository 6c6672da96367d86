/* A model file, open: the graph's configuration and weights, and the texts that a tokenizer needs. docs/model-file.md
 * describes every key and tensor. */
#ifndef FERRY_FILE_MODEL_FILE_H
#define FERRY_FILE_MODEL_FILE_H

#include "engine/graph/transformer.h"
#include "engine/search/generation.h"
#include "gguf.h"

/* Where a language's tag goes. */
typedef enum ferry_tag_place {
    FERRY_TAG_NONE,
    FERRY_TAG_PREFIX, /* before all other ids of the source */
    FERRY_TAG_SUFFIX, /* behind all other ids of the source */
    FERRY_TAG_FIRST   /* forced as the first target token */
} ferry_tag_place;

/* Languages that a user can name. A model of one pair lists its two languages without tags. */
typedef struct ferry_model_languages {
    const ferry_view *names;   /* [count] the family's own tag, then other names for it: "deu_Latn de deu" */
    const int32_t *roles;      /* [count] FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET */
    const int32_t *source_ids; /* [count] id of the tag in the source's vocabulary, or -1 */
    const int32_t
        *target_ids; /* [count] in the target's (FERRY_TAG_FIRST), or in the source's (PREFIX, SUFFIX); or -1 */
    int32_t count;
    ferry_tag_place source_tag;
    ferry_tag_place target_tag;
    /* Texts that are put before a line: for a pair of languages, indices into names, -1: any. */
    const ferry_view *prompts; /* [prompt_count] "translate English to German: " */
    const int32_t *prompt_sources;
    const int32_t *prompt_targets;
    int32_t prompt_count;
    int32_t default_source; /* index into names, or -1: the user has to say, if source_tag is not NONE */
    int32_t default_target;
} ferry_model_languages;

/* What turns text into ids and back. Without a tokenizer in the file: `present` is false and everything else zero. */
typedef struct ferry_model_text {
    bool present;
    ferry_view source_model;         /* SentencePiece model; empty: a text is pieces with blanks between them */
    ferry_view target_model;         /* the same bytes (equal pointers) when the file holds one for both */
    const ferry_view *source_pieces; /* [source_count] by id; empty: no piece has this id */
    int32_t source_count;            /* = encoder.vocab_size */
    const ferry_view *target_pieces; /* [target_count] by id; the same array when the vocabulary is shared */
    int32_t target_count;            /* = decoder.vocab_size */
    int32_t source_unk_id;           /* for pieces that source_pieces lacks */
    bool leading_tag;                /* a line's start from ">>" to the first "<<" is one piece (Marian) */
    const int32_t *prefix_ids;       /* put before the ids of a source line */
    int32_t prefix_count;
    const int32_t *suffix_ids; /* put behind them: the end of sentence */
    int32_t suffix_count;
    const int32_t *special_ids; /* target ids that have no text: end of sentence, padding, unknown */
    int32_t special_count;
    bool opus_punctuation; /* text is cleaned first as OPUS-MT's preprocess.sh does */
    ferry_model_languages languages;
} ferry_model_text;

/* Where the model came from. Views are empty and counts 0 where the file does not say. */
typedef struct ferry_model_origin {
    ferry_view kind;          /* "huggingface-marian", "seq2seq-export-1" */
    ferry_view name;          /* of the converted directory */
    ferry_view license;       /* its text */
    const ferry_view *files;  /* [file_count] names of what was read */
    const uint64_t *sizes;    /* [file_count] bytes */
    const ferry_view *hashes; /* [file_count] SHA-256 in hexadecimal; NULL: not recorded */
    size_t file_count;
} ferry_model_origin;

/* Everything belongs to the struct and stays until ferry_model_file_close. Immutable: threads may share it. */
typedef struct ferry_model_file {
    ferry_gguf gguf; /* the mapping, all keys and tensors */
    ferry_view name; /* general.name */
    ferry_transformer transformer;
    ferry_generation generation;
    ferry_model_text text;
    ferry_model_origin origin;
    int64_t parameters;   /* numbers that were trained: weights and biases, each stored once, padding not counted */
    ferry_type type;      /* of the matrices in the file */
    size_t widened_bytes; /* memory for matrices that are not float32 in the file */
    float *widened;
    ferry_arena arena; /* layers, ids */
} ferry_model_file;

/* Maps `path`, checks every key and tensor, and binds the graph. float32 matrices are used where they are mapped;
 * nothing of them is read. Errors: IO, FORMAT (a key or tensor is missing, unknown or wrong), UNSUPPORTED (a feature
 * that this build lacks, by name), MEMORY. *file is zeroed on failure. */
ferry_status ferry_model_file_open(const char *path, const ferry_kernels *kernels, ferry_model_file *file,
                                   ferry_error *error);
/* file->widened: memory for `bytes` > 0 of matrices that no file holds as they are used, in large pages where the
 * system grants them. ferry_model_file_close frees it. */
ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_model_file_close(ferry_model_file *file);

#endif
