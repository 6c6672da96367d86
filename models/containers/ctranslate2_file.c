/* CTranslate2's model.bin: u32 version; from 2 on a name and a revision of the specification; the variables (name,
 * shape, type, row-major elements); from 3 on aliases. Strings are a u16 length, with the closing NUL, and the bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "weights.h"

enum {
    NEWEST_VERSION = 6,
    MIN_VARIABLE = 9, /* bytes in the file */
    MIN_ALIAS = 6,
    ZIP = 0x04034b50,
    MAX_NAME = UINT16_MAX + 64
};

/* An int16 weight of version 1 has no scale of its own. */
static const float old_int16_scale = 1000;

typedef struct reader {
    ferry_reader in;
    ferry_ctranslate2_header *header;
    ferry_weights *weights;
    char *text; /* [MAX_NAME], for names put together */
} reader;

typedef struct alias {
    ferry_view name, variable;
} alias;

static ferry_status cut_off(const reader *r, const char *what)
{
    return ferry_reader_fail(&r->in, FERRY_ERROR_FORMAT, "cut off or broken in %s", what);
}

static bool read_string(reader *r, ferry_view *string)
{
    uint16_t size;
    if (!ferry_read_u16(&r->in.cursor, &size) || size == 0 || !ferry_read_bytes(&r->in.cursor, size, string))
        return false;
    string->size--;
    return string->data[string->size] == 0 && memchr(string->data, 0, string->size) == NULL;
}

static void *allocate(const reader *r, size_t count, size_t size)
{
    void *memory = ferry_arena_alloc(&r->weights->arena, count, size);
    if (memory == NULL) ferry_fail_memory(r->in.error, "the tensors of a model", count, size);
    return memory;
}

/* ---- names of revision 1 ---- */

/* Replaces the first `from` in the text. `capacity` has room for all steps below. */
static void replace(char *text, const char *from, const char *to)
{
    char *found = strstr(text, from);
    if (found == NULL) return;
    memmove(found + strlen(to), found + strlen(from), strlen(found + strlen(from)) + 1);
    memcpy(found, to, strlen(to));
}

/* Renames OpenNMT-tf's variables to those of later revisions. */
static ferry_status rename_variable(const reader *r, ferry_view *name)
{
    static const struct {
        const char *from, *to;
    } steps[] = {{"transformer/", ""},
                 {":0", ""},
                 {"w_embs", "embeddings/weight"},
                 {"kernel", "weight"},
                 {"LayerNorm", "layer_norm"},
                 {"dense", "projection"},
                 {"conv1d_", "linear_"},
                 {"conv1d", "linear_0"}};
    enum { GROWTH = 64 }; /* bytes; all steps together add fewer */
    char *text = allocate(r, name->size + GROWTH, 1);
    if (text == NULL) return FERRY_ERROR_MEMORY;
    memcpy(text, name->data, name->size);
    text[name->size] = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) replace(text, steps[i].from, steps[i].to);
    if (strstr(text, "encoder") != NULL) {
        replace(text, "multi_head", "self_attention");
    } else {
        replace(text, "masked_multi_head", "self_attention");
        replace(text, "multi_head", "attention");
    }
    *name = (ferry_view){text, strlen(text)};
    return FERRY_OK;
}

/* ---- variables ---- */

static ferry_status read_variable(reader *r, ferry_weights_entry *entry)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_I8, FERRY_I16, FERRY_I32, FERRY_F16, FERRY_BF16};
    static const ferry_type by_size[] = {FERRY_I8, FERRY_I16, FERRY_F32};
    ferry_tensor *tensor = &entry->tensor;
    ferry_view data;
    uint8_t rank, code;
    uint32_t count;
    *entry = (ferry_weights_entry){.file = r->in.file};
    if (!read_string(r, &tensor->name)) return cut_off(r, "the name of a variable");
    if (r->header->revision == 1) FERRY_TRY(rename_variable(r, &tensor->name));
    if (!ferry_read_u8(&r->in.cursor, &rank)) return cut_off(r, "a variable");
    FERRY_TRY(ferry_weights_read_shape(&r->in, rank, tensor));
    if (!ferry_read_u8(&r->in.cursor, &code) || !ferry_read_u32(&r->in.cursor, &count)) return cut_off(r, "a variable");
    const bool typed = r->header->version >= 4, known = typed ? code < 6 : code == 1 || code == 2 || code == 4;
    if (!known) return ferry_tensor_fail(&r->in, tensor, FERRY_ERROR_FORMAT, "unknown element type %u", code);
    tensor->type = typed ? types[code] : by_size[code / 2];
    const uint64_t stated = typed ? count : (uint64_t)count * code;
    if (!ferry_read_bytes(&r->in.cursor, stated, &data)) {
        return ferry_tensor_fail(&r->in, tensor, FERRY_ERROR_FORMAT, "expected %" PRIu64 " bytes, found %zu: cut off?",
                                 stated, ferry_cursor_left(&r->in.cursor));
    }
    return ferry_weights_set_data(&r->in, entry, ferry_type_size(tensor->type), data, true);
}

/* A count of records, each of at least `smallest` bytes. */
static ferry_status read_count(reader *r, size_t smallest, const char *what, uint32_t *count)
{
    if (!ferry_read_u32(&r->in.cursor, count)) return cut_off(r, "its header");
    const size_t left = ferry_cursor_left(&r->in.cursor);
    if (*count <= left / smallest) return FERRY_OK;
    return ferry_reader_fail(&r->in, FERRY_ERROR_FORMAT, "%" PRIu32 " %s in %zu bytes", *count, what, left);
}

/* ---- aliases ---- */

/* The variable whose name is `name`, which ends with NUL, and `end`. */
static ferry_weights_entry *find(const reader *r, ferry_view name, const char *end)
{
    snprintf(r->text, MAX_NAME, "%s%s", name.data, end);
    return ferry_weights_find(r->weights, r->text);
}

/* An alias becomes an entry, unless its variable is missing. The variable's X_scale and X_zero become entries, too: the
 * file has no aliases of them. */
static ferry_status add_aliases(reader *r, const alias *aliases, uint32_t count)
{
    static const char *const ends[] = {"_scale", "_zero"};
    ferry_weights *weights = r->weights;
    size_t all = weights->count;
    for (uint32_t i = 0; i < count; i++) {
        const ferry_weights_entry *variable = ferry_weights_find(weights, aliases[i].variable.data);
        if (variable == NULL) continue;
        weights->entries[all] = *variable;
        weights->entries[all++].tensor.name = aliases[i].name;
    }
    weights->count = all;
    FERRY_TRY(ferry_weights_sort(weights, r->in.error));
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        const alias *a = &aliases[i / 2];
        const ferry_weights_entry *companion = find(r, a->variable, ends[i % 2]);
        if (companion == NULL || ferry_weights_find(weights, a->name.data) == NULL ||
            find(r, a->name, ends[i % 2]) != NULL)
            continue;
        const char *name = ferry_arena_text(&weights->arena, ferry_text_view(r->text));
        if (name == NULL) return ferry_fail_memory(r->in.error, "the tensors of a model", strlen(r->text), 1);
        weights->entries[all] = *companion;
        weights->entries[all++].tensor.name = ferry_text_view(name);
    }
    weights->count = all;
    return ferry_weights_sort(weights, r->in.error);
}

/* ---- the file ---- */

static ferry_status read_header(reader *r)
{
    ferry_ctranslate2_header *header = r->header;
    ferry_view name = {"", 0};
    *header = (ferry_ctranslate2_header){.revision = 1};
    if (!ferry_read_u32(&r->in.cursor, &header->version)) return cut_off(r, "its header");
    if (header->version < 1 || header->version > NEWEST_VERSION) {
        const char *kind = "";
        if (header->version == ZIP) kind = " (a zip archive?)";
        if (r->in.cursor.size > 8 && r->in.cursor.data[8] == '{') kind = " (a safetensors file?)";
        return ferry_reader_fail(&r->in, FERRY_ERROR_FORMAT,
                                 "not a CTranslate2 model: expected version 1 to %d, found %" PRIu32 "%s",
                                 NEWEST_VERSION, header->version, kind);
    }
    if (header->version >= 2 && (!read_string(r, &name) || !ferry_read_u32(&r->in.cursor, &header->revision)))
        return cut_off(r, "its header");
    if (name.size >= sizeof header->specification)
        return ferry_reader_fail(&r->in, FERRY_ERROR_FORMAT, "the specification's name has %zu bytes", name.size);
    memcpy(header->specification, name.data, name.size);
    return FERRY_OK;
}

bool ferry_is_ctranslate2(ferry_view bytes)
{
    ferry_ctranslate2_header header;
    reader r = {.in = ferry_reader_begin(bytes, "", NULL), .header = &header};
    return read_header(&r) == FERRY_OK;
}

static ferry_status read_file(reader *r)
{
    ferry_weights *weights = r->weights;
    uint32_t variables, aliases = 0;
    FERRY_TRY(read_header(r));
    FERRY_TRY(read_count(r, MIN_VARIABLE, "variables", &variables));
    ferry_weights_entry *entries = allocate(r, (size_t)variables + 1, sizeof *entries);
    if (entries == NULL) return FERRY_ERROR_MEMORY;
    for (uint32_t i = 0; i < variables; i++) FERRY_TRY(read_variable(r, &entries[i]));
    if (r->header->version >= 3) FERRY_TRY(read_count(r, MIN_ALIAS, "aliases", &aliases));
    alias *list = allocate(r, (size_t)aliases + 1, sizeof *list);
    FERRY_TRY(ferry_weights_reserve(weights, variables + 3 * (size_t)aliases, r->in.error));
    r->text = allocate(r, MAX_NAME, 1);
    if (list == NULL || r->text == NULL) return FERRY_ERROR_MEMORY;
    for (uint32_t i = 0; i < aliases; i++)
        if (!read_string(r, &list[i].name) || !read_string(r, &list[i].variable)) return cut_off(r, "an alias");
    const size_t left = ferry_cursor_left(&r->in.cursor);
    if (left > 0) return ferry_reader_fail(&r->in, FERRY_ERROR_FORMAT, "%zu bytes past the last record", left);
    memcpy(weights->entries, entries, variables * sizeof *entries);
    weights->count = variables;
    FERRY_TRY(ferry_weights_sort(weights, r->in.error));
    FERRY_TRY(add_aliases(r, list, aliases));
    /* One scale for a whole matrix is its multiplier; a scale for each row stays an entry of its own. */
    for (size_t i = 0; i < weights->count; i++) {
        ferry_weights_entry *entry = &weights->entries[i];
        const ferry_type type = entry->tensor.type;
        if ((type != FERRY_I8 && type != FERRY_I16) || entry->tensor.dims < 2) continue;
        const ferry_weights_entry *scale = find(r, entry->tensor.name, "_scale");
        if (scale == NULL && type == FERRY_I16) entry->multiplier = old_int16_scale;
        if (scale == NULL || scale->tensor.type != FERRY_F32 || scale->tensor.bytes != sizeof(float)) continue;
        memcpy(&entry->multiplier, scale->tensor.data, sizeof(float));
    }
    return FERRY_OK;
}

ferry_status ferry_ctranslate2_read(ferry_view bytes, const char *file, ferry_account *account,
                                    ferry_ctranslate2_header *header, ferry_weights *weights, ferry_error *error)
{
    *weights = (ferry_weights){.arena.account = account};
    reader r = {.in = ferry_reader_begin(bytes, file, error), .header = header, .weights = weights};
    const ferry_status status = read_file(&r);
    if (status != FERRY_OK) ferry_weights_close(weights);
    return status;
}
