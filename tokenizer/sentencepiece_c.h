/* A C interface of SentencePiece: no exception and no C++ type crosses it. Ids are SentencePiece's, not the model's. */
#ifndef FERRY_TOKENIZER_SENTENCEPIECE_C_H
#define FERRY_TOKENIZER_SENTENCEPIECE_C_H

#include "base/bytes.h"
#include "base/status.h"

/* A loaded SentencePiece model. Immutable: any number of threads may use one. */
typedef struct ferry_spm ferry_spm;

typedef enum ferry_spm_kind {
    FERRY_SPM_NORMAL, /* or user-defined */
    FERRY_SPM_UNKNOWN,
    FERRY_SPM_CONTROL, /* <s>, </s>, … */
    FERRY_SPM_UNUSED,
    FERRY_SPM_BYTE, /* <0x00> … <0xFF> */
} ferry_spm_kind;

/* Loads a serialized ModelProto, the bytes of a .spm or .model file, which need not outlive *spm. `name` is for
 * messages. *spm belongs to the caller; NULL after a failure. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_spm_create(ferry_view proto, const char *name, ferry_spm **spm, ferry_error *error);
/* NULL is allowed. */
void ferry_spm_destroy(ferry_spm *spm);

int32_t ferry_spm_count(const ferry_spm *spm);
/* The id of the unknown piece; -1: the model gives its name to another piece. */
int32_t ferry_spm_unknown(const ferry_spm *spm);
/* 0 ≤ id < ferry_spm_count(spm). The view is valid until ferry_spm_destroy. */
ferry_view ferry_spm_piece(const ferry_spm *spm, int32_t id);
ferry_spm_kind ferry_spm_kind_of(const ferry_spm *spm, int32_t id);
/* The id of `piece`; the unknown id if the model lacks it. */
int32_t ferry_spm_find(const ferry_spm *spm, ferry_view piece);

/* One piece of an encoding, and the bytes begin … end - 1 of the text that it stands for. Ranges are adjacent, except
 * for white space and characters that normalization removes at the ends of the text. If several pieces are parts of one
 * character (its bytes, for example), the last one has its range, and the others have empty ranges. */
typedef struct ferry_spm_part {
    ferry_view piece; /* valid until the sink returns; for the unknown id, the normalized text without a piece */
    int32_t id;
    size_t begin, end;
} ferry_spm_part;

/* Receives one piece. A status other than FERRY_OK ends the encoding. */
typedef ferry_status (*ferry_spm_sink)(void *user, const ferry_spm_part *part);

/* Normalizes and segments `text`, and calls `sink` for each piece, in order. Each ill-formed byte counts as U+FFFD; NUL
 * is an ordinary character. Errors: LIMIT (text above 64 MiB), FORMAT (from SentencePiece), MEMORY, or that of `sink`,
 * which then has filled the caller's error. */
ferry_status ferry_spm_encode(const ferry_spm *spm, ferry_view text, ferry_spm_sink sink, void *user,
                              ferry_error *error);

#endif
