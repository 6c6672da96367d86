#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "argument_checks.h"
#include "base/threads.h"
#include "engine/file/schema.h"
#include "info.h"
#include "tokenizer/sentencepiece_c.h"

_Static_assert((int)FERRY_SPM_MAX_PIECES == (int)FERRY_MAX_VOCABULARY, "a vocabulary may have all pieces");

enum { BEFORE_MERGES = FERRY_TOKENIZER_BPE - FERRY_BPE_TOKENIZERS };
_Static_assert(FERRY_TOKENIZER_FSMT - BEFORE_MERGES == (int)FERRY_BPE_FSMT, "kinds of merges have one order");

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

ferry_tokenizer_config ferry_model_tokenizer_config(const ferry_model_text *text)
{
    return (ferry_tokenizer_config){
        .source_model = text->source_model,
        .target_model = text->target_model,
        .source_pieces = text->source_pieces,
        .source_count = text->source_count,
        .target_pieces = text->target_pieces,
        .target_count = text->target_count,
        .source_unk = text->source_unk_id,
        .target_special = text->special_ids,
        .target_special_count = (size_t)text->special_count,
        .prefix_ids = text->prefix_ids,
        .prefix_count = (size_t)text->prefix_count,
        .suffix_ids = text->suffix_ids,
        .suffix_count = (size_t)text->suffix_count,
        .opus_punctuation = text->opus_punctuation,
        .rules = {.steps = text->steps,
                  .step_count = (size_t)text->step_count,
                  .charsmap = text->charsmap,
                  .added_ids = text->added_ids,
                  .added_flags = text->added_flags,
                  .added_count = (size_t)text->added_count},
        .scores = text->scores,
        .byte_fallback = text->byte_fallback,
        .bytes = (ferry_decoder_bytes)text->decoder_bytes,
        .blanks = (ferry_decoder_blanks)text->decoder_blanks,
        .bpe = text->kind < FERRY_TOKENIZER_BPE ? FERRY_BPE_NONE : (ferry_bpe_kind)(text->kind - BEFORE_MERGES),
        .source_merges = text->source_merges,
        .source_merge_count = (size_t)text->source_merge_count,
        .target_merges = text->target_merges,
        .target_merge_count = (size_t)text->target_merge_count,
        .word_end = text->word_end,
        .fuse_unknown = text->fuse_unknown,
        .whole_words = text->whole_words,
        .source_moses = text->source_moses,
        .target_moses = text->target_moses,
        .leading_tag = text->leading_tag,
    };
}

static ferry_status create_tokenizer(ferry_model *model, ferry_error *error)
{
    const ferry_tokenizer_config config = ferry_model_tokenizer_config(&model->file.text);
    return model->file.text.present ? ferry_tokenizer_create(&config, &model->tokenizer, error) : FERRY_OK;
}

ferry_status ferry_model_find_kernels(const char *isa, const ferry_kernels **kernels, ferry_error *error)
{
    *kernels = ferry_kernels_find(isa);
    if (*kernels != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "kernels '%s': unknown, or this machine cannot run them", isa);
}

ferry_model *ferry_model_allocate(const ferry_kernels *kernels, ferry_error *error)
{
    ferry_model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        ferry_fail_memory(error, "a model", sizeof *model);
        return NULL;
    }
    ferry_mutex_create(&model->mutex);
    model->kernels = kernels;
    model->users = 1;
    return model;
}

const ferry_model *ferry_model_keep(const ferry_model *model)
{
    atomic_fetch_add(&((ferry_model *)(uintptr_t)model)->users, 1);
    return model;
}

ferry_status ferry_model_create(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                ferry_model **model, ferry_error *error)
{
    FERRY_FLOATS;
    ferry_model *created = ferry_model_allocate(kernels, error);
    if (created == NULL) {
        ferry_mapped_file_close(&map);
        return FERRY_ERROR_MEMORY;
    }
    ferry_status status = ferry_model_file_open(map, name, kernels, &created->file, error);
    if (status == FERRY_OK) status = create_tokenizer(created, error);
    if (status == FERRY_OK)
        status =
            ferry_languages_create(&created->file.text.languages, &created->file.arena, &created->languages, error);
    if (status == FERRY_OK) status = ferry_model_info_create(created, error);
    if (status != FERRY_OK) {
        ferry_model_close(created);
        return status;
    }
    *model = created;
    return FERRY_OK;
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
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "flags: expected a sum of ferry_open_flag, found %d", flags);
}

static const ferry_kernels *kernels_for(int flags)
{
    return (flags & FERRY_OPEN_NO_AMX) != 0 ? ferry_kernels_find_without_tiles() : ferry_kernels_find(NULL);
}

static ferry_file_hold hold_for(int flags, ferry_file_hold otherwise)
{
    return (flags & FERRY_OPEN_COPY) != 0 ? FERRY_FILE_COPIED : otherwise;
}

/* Bytes that are used where they are must be aligned as the tensors within the file are. */
static ferry_status check_alignment(const char *argument, uint64_t place, int flags, ferry_error *error)
{
    if (place % FERRY_ARENA_ALIGNMENT == 0 || (flags & FERRY_OPEN_COPY) != 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "%s: expected a multiple of %d without FERRY_OPEN_COPY, found %d more than one", argument,
                      (int)FERRY_ARENA_ALIGNMENT, (int)(place % FERRY_ARENA_ALIGNMENT));
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
    const ferry_name name = ferry_name_format("file descriptor %d", fd);
    ferry_mapped_file map;
    FERRY_TRY(check_result_and_flags(flags, model, error));
    if (fd < 0) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "fd: expected an open file, found %d", fd);
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
    return ferry_model_file_verify(&model->file, error);
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
