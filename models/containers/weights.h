/* The tensors of a weights file, whatever its container: what every reader of weights gives to the importers.
 *
 * Readers validate all input: every count, length, offset and product is checked against the bytes before use; nothing
 * is executed. Tensors point into the bytes that the caller keeps (or into members that `archive` inflated). */
#ifndef FERRY_CONTAINERS_WEIGHTS_H
#define FERRY_CONTAINERS_WEIGHTS_H

#include "base/memory.h"
#include "base/tensor.h"
#include "reader.h"
#include "zip.h"

typedef struct ferry_weights_entry {
    ferry_tensor tensor;             /* shape as the file's own system means it; data may be unaligned */
    int64_t strides[FERRY_MAX_DIMS]; /* in elements: element [i, j] is data[i·strides[0] + j·strides[1]] */
    float multiplier;                /* integers: the value is code / multiplier; 0: the container says none */
    const char *file;                /* for messages */
} ferry_weights_entry;

/* Zeroed: empty. */
typedef struct ferry_weights {
    ferry_weights_entry *entries; /* [count], by name (bytes compared), each name once */
    size_t count;
    ferry_zip *archive; /* members that had to be inflated live here; NULL: none */
    ferry_arena arena;  /* entries, names */
} ferry_weights;

/* Allowed on a zeroed object. */
void ferry_weights_close(ferry_weights *weights);
/* NULL when there is no such tensor. */
ferry_weights_entry *ferry_weights_find(const ferry_weights *weights, const char *name);
/* Sorts entries by name; a name that occurs twice is a FORMAT error. */
ferry_status ferry_weights_sort(ferry_weights *weights, ferry_error *error);
/* Strides of a row-major tensor. */
void ferry_weights_row_major(ferry_weights_entry *entry);

/* ---- for readers ---- */

/* The type of tensors that can be skipped but not read (U8, BOOL, …). */
#define FERRY_TYPE_OTHER ((ferry_type)255)

/* A list for `count` entries, zeroed. */
ferry_status ferry_weights_reserve(ferry_weights *weights, size_t count, ferry_error *error);
/* Fails with "FILE: tensor 'NAME': …". */
#define ferry_tensor_fail(in, tensor, code, ...)                                                                       \
    ferry_fail_named((in)->error, code, (in)->file, "tensor", (tensor)->name, __VA_ARGS__)
/* `rank` sizes of 32 bits as the tensor's shape. Errors: FORMAT. */
ferry_status ferry_weights_read_shape(ferry_reader *in, uint64_t rank, ferry_tensor *tensor);
/* The entry's data are the beginning of `block`, or all of it (`exact`): row-major, elements of `element` bytes, for
 * the entry's type and shape. Errors: FORMAT. */
ferry_status ferry_weights_set_data(const ferry_reader *in, ferry_weights_entry *entry, size_t element,
                                    ferry_view block, bool exact);

/* ---- readers ---- */

/* Adds what `in` holds to empty weights. */
typedef ferry_status ferry_weights_reader(ferry_reader *in, ferry_weights *weights);
/* Runs a reader on `bytes`, and sorts what it read. `file` is for messages and must outlive the weights, as `bytes`
 * must, and the account (ferry_budget), from which memory and what is inflated are taken. On failure *weights is
 * zeroed. Errors: FORMAT, UNSUPPORTED (what the format allows and Ferry does not, by name), MEMORY (or the account
 * refused), IO (a temporary file). */
ferry_status ferry_weights_read(ferry_weights_reader *read, ferry_view bytes, const char *file, ferry_account *account,
                                ferry_weights *weights, ferry_error *error);

/* marian_weights.c: a zip of NumPy arrays `<name>.npy` (NumPy enhancement proposal 1), names without ".npy". */
ferry_weights_reader ferry_npz_read;
/* Marian's .bin, both dialects of intgemm types; intgemm tensors come as FERRY_I8 with shape [in, out], strides {1, in}
 * (their bytes are transposed; *Wemb* is not: {columns, 1}) and the multiplier that follows them. */
ferry_weights_reader ferry_marian_bin_read;
/* Whether the bytes begin like a Marian .bin with at least one tensor. Other systems' .bin files do not. */
bool ferry_is_marian_bin(ferry_view bytes);
/* torch.c: pytorch_model.bin of both kinds, by a reader of pickles that runs nothing. */
ferry_weights_reader ferry_torch_read;
/* weights.c: safetensors, one file: a u64 with the header's length, a JSON header {name: {dtype, shape, data_offsets}},
 * the data. Every claim of a header is checked: the tensors must tile the data exactly. */
ferry_weights_reader ferry_safetensors_read;

/* ctranslate2_file.c: model.bin, versions 1 to 6. Aliases become entries of their own with the same data; names are as
 * in revision 2 and later. */
typedef struct ferry_ctranslate2_header {
    uint32_t version;       /* of the container: 1 … 6 */
    char specification[64]; /* "TransformerSpec"; "" in version 1 */
    uint32_t revision;
} ferry_ctranslate2_header;
/* Whether the bytes begin like CTranslate2's model.bin. Files of other systems may look like version 1. */
bool ferry_is_ctranslate2(ferry_view bytes);
ferry_status ferry_ctranslate2_read(ferry_view bytes, const char *file, ferry_account *account,
                                    ferry_ctranslate2_header *header, ferry_weights *weights, ferry_error *error);

/* UNSUPPORTED when `bytes` are a Git LFS pointer: a note instead of a file that was not downloaded. */
ferry_status ferry_check_not_lfs_pointer(ferry_view bytes, const char *path, ferry_error *error);

/* ---- safetensors as files of golden data ---- */

typedef struct ferry_safetensors {
    ferry_mapped_file map;
    ferry_weights weights;
} ferry_safetensors;

/* Maps `path`. Zeroed on failure, filled otherwise; close it. Errors: IO, FORMAT, UNSUPPORTED (an element type, or a
 * Git LFS pointer instead of the file), MEMORY. */
ferry_status ferry_safetensors_open(const char *path, ferry_safetensors *file, ferry_error *error);
/* Allowed on a zeroed object. */
void ferry_safetensors_close(ferry_safetensors *file);

#endif
