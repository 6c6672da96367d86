#include "opening.h"

#include <stdlib.h>

#include "argument_checks.h"
#include "engine/kernels/coarse.h"
#include "info.h"
#include "engine/lines/languages.h"
#include "engine/lines/model.h"
#include "tokenizer/sentencepiece_check.h"

_Static_assert((int)FERRY_SPM_MAX_PIECES == (int)FERRY_MAX_VOCABULARY, "a vocabulary may have all pieces");

const char *ferry_status_name(ferry_status status)
{
    switch (status) {
    case FERRY_OK: return "no error";
    case FERRY_ERROR_ARGUMENT: return "invalid argument";
    case FERRY_ERROR_MEMORY: return "out of memory";
    case FERRY_ERROR_IO: return "cannot read or write";
    case FERRY_ERROR_FORMAT: return "malformed file";
    case FERRY_ERROR_UNSUPPORTED: return "unsupported feature";
    case FERRY_ERROR_LIMIT: return "limit of the model exceeded";
    case FERRY_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

const char *ferry_version(void)
{
    return FERRY_VERSION;
}

/* ---- the model ---- */

ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error)
{
    ferry_model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        ferry_fail_memory(error, "a model", 1, sizeof *model);
        return NULL;
    }
    ferry_mutex_create(&model->mutex);
    model->kernels = kernels;
    model->users = 1;
    return model;
}

ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error)
{
    FERRY_FENV;
    ferry_model *created = ferry_model_allocate(kernels, error);
    if (created == NULL) {
        ferry_mapped_file_close(&map);
        return FERRY_ERROR_MEMORY;
    }
    ferry_status status = ferry_model_file_open(map, name, kernels, &created->file, error);
    if (status == FERRY_OK && created->file.text.present)
        status = ferry_tokenizer_create(&created->file.text, &created->tokenizer, error);
    if (status == FERRY_OK) status = ferry_languages_create(created, error);
    if (status == FERRY_OK) status = ferry_model_info_create(created, error);
    if (status == FERRY_OK)
        *model = created;
    else
        ferry_model_close(created);
    return status;
}

void ferry_model_widen(const ferry_model *model)
{
    ferry_model *own = (ferry_model *)(uintptr_t)model; /* constant for its users */
    ferry_mutex_lock(&own->mutex);
    if (!own->widened) ferry_model_file_widen(&own->file, own->kernels);
    own->widened = true;
    ferry_mutex_unlock(&own->mutex);
}

/* ---- opening ---- */

static ferry_status check_result_and_flags(int flags, ferry_model **model, ferry_error *error)
{
    const int known = FERRY_OPEN_COPY | FERRY_OPEN_NO_AMX;
    FERRY_NEEDS(model);
    *model = NULL;
    if ((flags & ~known) == 0) return FERRY_OK;
    return ferry_fail_argument(error, "flags", "expected a sum of ferry_open_flag, found %d", flags);
}

static const ferry_kernels *kernels_for(int flags)
{
    return (flags & FERRY_OPEN_NO_AMX) != 0 ? ferry_kernels_find_without_tiles() : ferry_kernels_find(NULL);
}

static ferry_file_hold hold_for(int flags, ferry_file_hold otherwise)
{
    return (flags & FERRY_OPEN_COPY) != 0 ? FERRY_FILE_COPIED : otherwise;
}

/* Bytes that are not copied must be aligned like the tensors within the file. */
static ferry_status check_alignment(const char *argument, uint64_t offset, int flags, ferry_error *error)
{
    if (offset % FERRY_ARENA_ALIGNMENT == 0 || (flags & FERRY_OPEN_COPY) != 0) return FERRY_OK;
    return ferry_fail_argument(error, argument,
                               "expected a multiple of %d without FERRY_OPEN_COPY, found %d more than one",
                               (int)FERRY_ARENA_ALIGNMENT, (int)(offset % FERRY_ARENA_ALIGNMENT));
}

ferry_status ferry_model_open(const char *path, int flags, ferry_model **model, ferry_error *error)
{
    ferry_mapped_file map;
    FERRY_TRY(check_result_and_flags(flags, model, error));
    FERRY_NEEDS(path);
    FERRY_TRY(ferry_mapped_file_open(path, hold_for(flags, FERRY_FILE_MAPPED), &map, error));
    return ferry_model_create(map, path, kernels_for(flags), model, error);
}

ferry_status ferry_model_open_fd(int fd, uint64_t offset, uint64_t length, int flags, ferry_model **model,
                                 ferry_error *error)
{
    const ferry_short_text name = ferry_format("file descriptor %d", fd);
    ferry_mapped_file map;
    FERRY_TRY(check_result_and_flags(flags, model, error));
    if (fd < 0) return ferry_fail_argument(error, "fd", "expected an open file, found %d", fd);
    FERRY_TRY(check_alignment("offset", offset, flags, error));
    FERRY_TRY(
        ferry_mapped_file_open_part(fd, name.text, offset, length, hold_for(flags, FERRY_FILE_MAPPED), &map, error));
    return ferry_model_create(map, name.text, kernels_for(flags), model, error);
}

ferry_status ferry_model_open_memory(const void *data, size_t size, int flags, ferry_model **model, ferry_error *error)
{
    ferry_mapped_file map;
    FERRY_TRY(check_result_and_flags(flags, model, error));
    FERRY_NEEDS(data);
    FERRY_TRY(ferry_check_bytes("size", size, error));
    FERRY_TRY(check_alignment("data", (uintptr_t)data, flags, error));
    FERRY_TRY(
        ferry_mapped_file_open_memory((ferry_view){data, size}, hold_for(flags, FERRY_FILE_BORROWED), &map, error));
    return ferry_model_create(map, "memory", kernels_for(flags), model, error);
}

ferry_status ferry_model_verify(const ferry_model *model, ferry_error *error)
{
    FERRY_NEEDS(model);
    const ferry_transformer *transformer = &model->file.transformer;
    FERRY_TRY(ferry_model_file_verify(&model->file, error));
    if (transformer->output.kind == FERRY_MATRIX_PLANES)
        return ferry_planes_verify(&transformer->output, model->file.gguf.file, error);
    if (transformer->output_coarse.matrix.weights == NULL) return FERRY_OK;
    ferry_model_widen(model);
    return ferry_coarse_verify(&transformer->output, &transformer->output_coarse, model->file.gguf.file, error);
}

void ferry_model_close(ferry_model *model)
{
    if (model == NULL || atomic_fetch_sub(&model->users, 1) > 1) return;
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_model_file_close(&model->file);
    ferry_mutex_destroy(&model->mutex);
    free(model);
    ferry_heap_trim(); /* a vocabulary is many small blocks, often between others that stay */
}
