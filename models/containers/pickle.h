/* Reads the pickles (Python's object streams) inside PyTorch's files, and only those: a stack machine that builds trees
 * of numbers, texts, containers, storages and tensors. Nothing is executed: a global that is not in a short list, and
 * every opcode that those files do not need, is refused by name. Protocol 2, and the variants that protocol 4 adds. */
#ifndef FERRY_CONTAINERS_PICKLE_H
#define FERRY_CONTAINERS_PICKLE_H

#include "base/memory.h"
#include "base/status.h"

typedef enum ferry_pickle_kind {
    FERRY_PICKLE_NONE,
    FERRY_PICKLE_BOOLEAN, /* integer: 0, 1 */
    FERRY_PICKLE_INTEGER,
    FERRY_PICKLE_REAL, /* its value is not kept */
    FERRY_PICKLE_TEXT,
    FERRY_PICKLE_TUPLE,
    FERRY_PICKLE_LIST,
    FERRY_PICKLE_DICT,         /* items: key, value, key, value, … */
    FERRY_PICKLE_STORAGE_TYPE, /* integer: the ferry_type of its elements, or FERRY_TYPE_OTHER */
    FERRY_PICKLE_STORAGE,      /* items: "storage", storage type, key, device, elements[, view] */
    FERRY_PICKLE_TENSOR,       /* items: storage, offset, size, stride, requires_grad, hooks[, metadata] */
    FERRY_PICKLE_FUNCTION,     /* one that REDUCE knows; no tensor of a finished tree contains one */
    FERRY_PICKLE_MARK
} ferry_pickle_kind;

typedef struct ferry_pickle_value ferry_pickle_value;
struct ferry_pickle_value {
    ferry_pickle_kind kind;
    int64_t integer;
    ferry_view text; /* in the file */
    const ferry_pickle_value **items;
    size_t count, capacity;
};

/* Reads one pickle at the cursor, which moves past it. Values live in `arena`; `file` is for messages.
 * Shared and even circular values are possible. Errors: FORMAT, UNSUPPORTED, MEMORY. */
ferry_status ferry_pickle_read(ferry_cursor *cursor, const char *file, ferry_arena *arena,
                               const ferry_pickle_value **value, ferry_error *error);

#endif
