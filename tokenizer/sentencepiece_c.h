/* SentencePiece with a C interface: no exception or C++ type gets out. Ids here are SentencePiece's, not the model's.
 * And what is checked of its models before it loads them. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_C_H
#define FERRY_TOKENIZER_SENTENCEPIECE_C_H

#include "base/bytes.h"
#include "base/status.h"

/* A loaded SentencePiece model. Immutable: any number of threads may use one. */
typedef struct ferry_spm ferry_spm;

typedef enum ferry_spm_kind {
    FERRY_SPM_NORMAL, /* user-defined pieces too */
    FERRY_SPM_UNKNOWN,
    FERRY_SPM_CONTROL, /* <s>, </s>, … */
    FERRY_SPM_UNUSED,
    FERRY_SPM_BYTE, /* <0x00> … <0xFF> */
} ferry_spm_kind;

/* Loads a serialized ModelProto (the bytes of a .spm or .model file); `proto` is not needed afterwards. `name` is for
 * messages. *spm belongs to the caller, and is NULL after a failure. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_create(ferry_view proto, const char *name, ferry_spm **spm, ferry_error *error);
/* NULL is allowed. */
void ferry_spm_destroy(ferry_spm *spm);

int32_t ferry_spm_count(const ferry_spm *spm);
/* The id of the unknown piece; -1: the model's own name of it is another piece's. */
int32_t ferry_spm_unknown(const ferry_spm *spm);
/* 0 ≤ id < count. The view is valid as long as `spm`. */
ferry_view ferry_spm_piece(const ferry_spm *spm, int32_t id);
ferry_spm_kind ferry_spm_kind_of(const ferry_spm *spm, int32_t id);
/* The unknown id if there is no such piece. */
int32_t ferry_spm_find(const ferry_spm *spm, ferry_view piece);

/* One piece of an encoding, and the bytes begin … end - 1 of the text that it stands for: ranges adjoin each other, but
 * for white space and what normalization removes at the ends of the text. Of pieces that are parts of one character,
 * its bytes for example, the last one has it, and the others are empty. */
typedef struct ferry_spm_part {
    ferry_view piece; /* valid until the sink returns; for the unknown id, the normalized text that no piece covers */
    int32_t id;
    size_t begin, end;
} ferry_spm_part;

/* Receives one piece. A status other than FERRY_OK ends the encoding. */
typedef ferry_status (*ferry_spm_sink)(void *user, const ferry_spm_part *part);

/* Normalizes and segments `text`, and calls `sink` for the pieces in order. Each ill-formed byte counts as U+FFFD; NUL
 * is an ordinary character. Errors: LIMIT (text above 64 MiB), FORMAT (from SentencePiece), MEMORY, or that of `sink`,
 * which then fills the caller's error itself. */
ferry_status ferry_spm_encode(const ferry_spm *spm, ferry_view text, ferry_spm_sink sink, void *user,
                              ferry_error *error);

#endif
