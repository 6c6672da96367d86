#include "info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/file/schema.h"

/* ---- values that are no keys of the file ---- */

/* A copy that is valid UTF-8 and NUL-terminated; NULL if out of memory. */
static const char *keep(ferry_arena *arena, ferry_view text)
{
    bool replaced;
    if (ferry_utf8_is_valid(text)) return ferry_arena_text(arena, text);
    char *repaired = ferry_arena_alloc(arena, 3, text.size + 1);
    if (repaired != NULL) repaired[ferry_utf8_repair(text, repaired, &replaced)] = '\0';
    return repaired;
}

static const char *keep_number(ferry_arena *arena, int64_t number)
{
    return keep(arena, ferry_text_view(ferry_name_format("%" PRId64, number).text));
}

static const char *name(const ferry_model *model, ferry_arena *arena)
{
    return keep(arena, model->file.name);
}

static const char *hash(const ferry_model *model, ferry_arena *arena)
{
    return keep(arena, model->file.hash);
}

/* Tags, separated by blanks. */
static const char *languages(const ferry_model *model, ferry_arena *arena)
{
    const size_t count = ferry_model_language_count(model);
    size_t size = 1;
    for (size_t i = 0; i < count; i++) size += strlen(model->languages.list[i].tag) + 1;
    char *text = ferry_arena_alloc(arena, size, 1), *end = text;
    for (size_t i = 0; text != NULL && i < count; i++) {
        const char *tag = model->languages.list[i].tag;
        if (i > 0) *end++ = ' ';
        memcpy(end, tag, strlen(tag));
        end += strlen(tag);
    }
    if (text != NULL) *end = '\0';
    return text;
}

static const char *parameters(const ferry_model *model, ferry_arena *arena)
{
    return keep_number(arena, model->file.parameters);
}

static const char *type(const ferry_model *model, ferry_arena *arena)
{
    return keep(arena, ferry_text_view(ferry_type_name(model->file.type)));
}

static const char *bytes(const ferry_model *model, ferry_arena *arena)
{
    return keep_number(arena, (int64_t)model->file.map.bytes.size);
}

static const char *keep_position(ferry_arena *arena, const ferry_position *position)
{
    const ferry_name more = ferry_position_parameters(position);
    return keep(
        arena,
        ferry_text_view(
            ferry_name_format("%s%s%s", position->scheme->name, more.text[0] != '\0' ? ", " : "", more.text).text));
}

static const char *encoder_position(const ferry_model *model, ferry_arena *arena)
{
    return keep_position(arena, &model->file.transformer.encoder.position);
}

static const char *decoder_position(const ferry_model *model, ferry_arena *arena)
{
    return keep_position(arena, &model->file.transformer.decoder.position);
}

static const char *encoder_limit(const ferry_model *model, ferry_arena *arena)
{
    return keep_number(arena, model->file.transformer.encoder.position.limit);
}

static const char *decoder_limit(const ferry_model *model, ferry_arena *arena)
{
    return keep_number(arena, model->file.transformer.decoder.position.limit);
}

/* ---- the table ---- */

static const struct {
    const char *key;
    const char *file_key; /* its name in the file, if it is another one than "ferry." and the key */
    const char *(*make)(const ferry_model *model, ferry_arena *arena); /* NULL: a key of the schema */
} rows[] = {
    {.key = "name", .make = name},
    {.key = "license", .file_key = "ferry.origin.licence"},
    {.key = "origin", .file_key = "ferry.origin.kind"},
    {.key = "origin.name"},
    {.key = "languages", .make = languages},
    {.key = "hash", .make = hash},
    {.key = "bytes", .make = bytes},
    {.key = "parameters", .make = parameters},
    {.key = "type", .make = type},
    {.key = "d_model"},
    {.key = "encoder.layers"},
    {.key = "encoder.heads"},
    {.key = "encoder.head_width"},
    {.key = "encoder.ffn_width"},
    {.key = "encoder.activation"},
    {.key = "encoder.norm"},
    {.key = "encoder.norm_position"},
    {.key = "encoder.vocab_size"},
    {.key = "encoder.position", .make = encoder_position},
    {.key = "encoder.limit", .make = encoder_limit},
    {.key = "decoder.layers"},
    {.key = "decoder.heads"},
    {.key = "decoder.head_width"},
    {.key = "decoder.ffn_width"},
    {.key = "decoder.activation"},
    {.key = "decoder.norm"},
    {.key = "decoder.norm_position"},
    {.key = "decoder.block"},
    {.key = "decoder.vocab_size"},
    {.key = "decoder.position", .make = decoder_position},
    {.key = "decoder.limit", .make = decoder_limit},
    {.key = "tokenizer.kind"},
    {.key = "training", .file_key = "ferry.origin.training"},
    {.key = "trained_length", .file_key = "ferry.origin.trained_length"},
    {.key = "trained_seed", .file_key = "ferry.origin.trained_seed"},
    {.key = "trained_tokens", .file_key = "ferry.origin.trained_tokens"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

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
        return keep(arena, *(const ferry_view *)(const void *)(of + key->place));
    }
    return "";
}

ferry_status ferry_model_info_create(ferry_model *model, ferry_error *error)
{
    ferry_model_file *file = &model->file;
    const ferry_schema_values values = {.transformer = &file->transformer,
                                        .generation = &file->generation,
                                        .text = &file->text,
                                        .origin = &file->origin};
    model->info = ferry_arena_alloc(&file->arena, ROWS, sizeof *model->info);
    for (size_t i = 0; model->info != NULL && i < ROWS; i++) {
        const ferry_name same = ferry_name_format("ferry.%s", rows[i].key);
        const char *key = rows[i].file_key != NULL ? rows[i].file_key : same.text;
        model->info[i] =
            rows[i].make != NULL ? rows[i].make(model, &file->arena) : keep_key(&values, key, &file->arena);
        if (model->info[i] == NULL) return ferry_fail_memory(error, rows[i].key, 1);
    }
    return model->info != NULL ? FERRY_OK : ferry_fail_memory(error, "a description", ROWS * sizeof *model->info);
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
