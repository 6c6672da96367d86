#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/file/schema.h"
#include "engine/kernels/linear.h"
#include "tokenizer/sentencepiece_c.h"

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

/* ---- what the file says ---- */

static const struct {
    const char *key;
    const char *file_key; /* its name in the file, if it is another one than "ferry." and the key */
    enum { KEY, NAME, LANGUAGES, HASH, BYTES, PARAMETERS, TYPE, POSITION, LIMIT } value; /* KEY: one of the schema */
} rows[] = {
    {.key = "name", .value = NAME},
    {.key = "license", .file_key = "ferry.origin.licence"},
    {.key = "origin", .file_key = "ferry.origin.kind"},
    {.key = "origin.name"},
    {.key = "languages", .value = LANGUAGES},
    {.key = "hash", .value = HASH},
    {.key = "bytes", .value = BYTES},
    {.key = "parameters", .value = PARAMETERS},
    {.key = "type", .value = TYPE},
    {.key = "d_model"},
    {.key = "encoder.layers"},
    {.key = "encoder.heads"},
    {.key = "encoder.head_width"},
    {.key = "encoder.ffn_width"},
    {.key = "encoder.activation"},
    {.key = "encoder.norm"},
    {.key = "encoder.norm_position"},
    {.key = "encoder.vocab_size"},
    {.key = "encoder.position", .value = POSITION},
    {.key = "encoder.limit", .value = LIMIT},
    {.key = "decoder.layers"},
    {.key = "decoder.heads"},
    {.key = "decoder.head_width"},
    {.key = "decoder.ffn_width"},
    {.key = "decoder.activation"},
    {.key = "decoder.norm"},
    {.key = "decoder.norm_position"},
    {.key = "decoder.block"},
    {.key = "decoder.vocab_size"},
    {.key = "decoder.position", .value = POSITION},
    {.key = "decoder.limit", .value = LIMIT},
    {.key = "tokenizer.kind"},
    {.key = "training", .file_key = "ferry.origin.training"},
    {.key = "trained_length", .file_key = "ferry.origin.trained_length"},
    {.key = "trained_seed", .file_key = "ferry.origin.trained_seed"},
    {.key = "trained_tokens", .file_key = "ferry.origin.trained_tokens"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* A copy that is valid UTF-8 and NUL-terminated; NULL if out of memory. */
static const char *keep(ferry_arena *arena, ferry_view text)
{
    if (ferry_utf8_is_valid(text)) return ferry_arena_text(arena, text);
    char *repaired = ferry_arena_alloc(arena, 3, text.size + 1);
    if (repaired != NULL) repaired[ferry_utf8_repair(text, repaired)] = '\0';
    return repaired;
}

/* Tags, separated by blanks. */
static const char *keep_languages(ferry_arena *arena, const ferry_model *model)
{
    const size_t count = ferry_model_language_count(model);
    size_t size = 1;
    for (size_t i = 0; i < count; i++) size += strlen(model->languages[i].tag) + 1;
    char *text = ferry_arena_alloc(arena, size, 1), *end = text;
    for (size_t i = 0; text != NULL && i < count; i++)
        end += snprintf(end, size - (size_t)(end - text), "%s%s", i > 0 ? " " : "", model->languages[i].tag);
    if (text != NULL) *end = '\0';
    return text;
}

/* The value of the schema's key of this name, "ferry.encoder.layers". */
static const char *keep_key(const ferry_schema_values *values, const char *wanted, ferry_arena *arena)
{
    for (ferry_key_group group = 0; group < FERRY_KEY_GROUPS; group++) {
        const ferry_key_table table = ferry_schema_keys(group);
        const size_t prefix = strlen(table.prefix);
        const ferry_key *key =
            strncmp(wanted, table.prefix, prefix) == 0 ? ferry_schema_find(group, wanted + prefix) : NULL;
        if (key == NULL) continue;
        const char *of = ferry_schema_group(values, group);
        if (!ferry_key_applies(key, values)) return ""; /* of the origin, and not recorded */
        if (key->kind != FERRY_KEY_TEXT) return keep(arena, ferry_text_view(ferry_key_value(key, of).text));
        return keep(arena, *(const ferry_view *)(const void *)(of + key->offset));
    }
    return "";
}

static const char *make_row(ferry_model *model, size_t row)
{
    ferry_model_file *file = &model->file;
    const ferry_schema_values values = {.transformer = &file->transformer,
                                        .generation = &file->generation,
                                        .text = &file->text,
                                        .languages = &file->languages,
                                        .origin = &file->origin};
    const bool decoder = rows[row].key[0] == 'd';
    const ferry_position *position =
        decoder ? &file->transformer.decoder.position : &file->transformer.encoder.position;
    const ferry_name key = ferry_name_format("ferry.%s", rows[row].key);
    ferry_name text = {""};
    switch (rows[row].value) {
    case KEY: return keep_key(&values, rows[row].file_key != NULL ? rows[row].file_key : key.text, &file->arena);
    case NAME: return keep(&file->arena, file->name);
    case HASH: return keep(&file->arena, file->hash);
    case LANGUAGES: return keep_languages(&file->arena, model);
    case BYTES: text = ferry_name_format("%zu", file->map.bytes.size); break;
    case PARAMETERS: text = ferry_name_format("%" PRId64, file->parameters); break;
    case TYPE: text = ferry_name_format("%s", ferry_type_name(file->type)); break;
    case LIMIT: text = ferry_name_format("%d", (int)position->limit); break;
    case POSITION: {
        const ferry_name more = ferry_position_parameters(position);
        text = ferry_name_format("%s%s%s", position->scheme->name, more.text[0] != '\0' ? ", " : "", more.text);
    }
    }
    return keep(&file->arena, ferry_text_view(text.text));
}

ferry_status ferry_model_info_create(ferry_model *model, ferry_error *error)
{
    model->info = ferry_arena_alloc(&model->file.arena, ROWS, sizeof *model->info);
    if (model->info == NULL) return ferry_fail_memory(error, "a description", ROWS, sizeof *model->info);
    for (size_t i = 0; i < ROWS; i++) {
        model->info[i] = make_row(model, i);
        if (model->info[i] == NULL) return ferry_fail_memory(error, rows[i].key, 1, 1);
    }
    return FERRY_OK;
}

const char *ferry_model_info_key(size_t index)
{
    return index < ROWS ? rows[index].key : NULL;
}

const char *ferry_model_info(const ferry_model *model, const char *key)
{
    for (size_t i = 0; model != NULL && key != NULL && i < ROWS; i++)
        if (strcmp(rows[i].key, key) == 0) return model->info[i];
    return NULL;
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
    FERRY_FLOATS;
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

/* ---- arguments ---- */

/* No object in memory is larger than PTRDIFF_MAX bytes. `argument` is the name of the size. */
static ferry_status check_bytes(const char *argument, size_t size, ferry_error *error)
{
    if (size <= PTRDIFF_MAX) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected at most %td, found %zu", argument,
                      (ptrdiff_t)PTRDIFF_MAX, size);
}

ferry_status ferry_check_range(const char *argument, int32_t value, int32_t least, int32_t most, ferry_error *error)
{
    if (value >= least && value <= most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %d to %d, found %d", argument, (int)least, (int)most,
                      (int)value);
}

ferry_status ferry_check_text(const char *argument, ferry_text *text, ferry_error *error)
{
    if (text->data == NULL && text->size > 0)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s.data: expected %zu bytes, found NULL", argument, text->size);
    if (text->data == NULL) text->data = ""; /* C permits no offset of NULL */
    return check_bytes(ferry_name_format("%s.size", argument).text, text->size, error);
}

ferry_status ferry_check_texts(const char *argument, const ferry_text *texts, size_t count, ferry_error *error)
{
    if (count > PTRDIFF_MAX / sizeof *texts)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "count: expected at most %zu, found %zu",
                          PTRDIFF_MAX / sizeof *texts, count);
    if (count > 0 && texts == NULL)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected %zu texts, found NULL", argument, count);
    for (size_t i = 0; i < count; i++) {
        ferry_text text = texts[i];
        if (text.size > PTRDIFF_MAX || (text.data == NULL && text.size > 0))
            return ferry_check_text(ferry_name_format("%s[%zu]", argument, i).text, &text, error);
    }
    return FERRY_OK;
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
static ferry_status check_alignment(const char *argument, uint64_t offset, int flags, ferry_error *error)
{
    if (offset % FERRY_ARENA_ALIGNMENT == 0 || (flags & FERRY_OPEN_COPY) != 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "%s: expected a multiple of %d without FERRY_OPEN_COPY, found %d more than one", argument,
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
    FERRY_TRY(check_bytes("size", size, error));
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
