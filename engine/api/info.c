#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/file/schema.h"
#include "engine/lines/model.h"

static const struct {
    const char *key;
    const char *file_key; /* its name in the file, unless that is "ferry." and `key` */
    enum { KEY, NAME, LANGUAGES, HASH, BYTES, PARAMETERS, TYPE, POSITION, LIMIT } value; /* KEY: by the schema */
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

/* The tags of the languages, separated by blanks. */
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
        if (!ferry_key_applies(key, values)) return ""; /* a key of the origin that is not recorded */
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
    const ferry_short_text key = ferry_format("ferry.%s", rows[row].key);
    ferry_short_text text = {""};
    switch (rows[row].value) {
    case KEY: return keep_key(&values, rows[row].file_key != NULL ? rows[row].file_key : key.text, &file->arena);
    case NAME: return keep(&file->arena, file->name);
    case HASH: return keep(&file->arena, file->hash);
    case LANGUAGES: return keep_languages(&file->arena, model);
    case BYTES: text = ferry_format("%zu", file->map.bytes.size); break;
    case PARAMETERS: text = ferry_format("%" PRId64, file->parameters); break;
    case TYPE: text = ferry_format("%s", ferry_type_name(file->type)); break;
    case LIMIT: text = ferry_format("%d", (int)position->limit); break;
    case POSITION: {
        const ferry_short_text more = ferry_position_parameters(position);
        text = ferry_format("%s%s%s", position->scheme->name, more.text[0] != '\0' ? ", " : "", more.text);
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
