#include "bind.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"

/* One key, its file, and the destination of its value. */
typedef struct reader {
    const ferry_gguf *gguf;
    const ferry_schema_values *values;
    ferry_arena *arena;
    const ferry_key *key;
    const char *name; /* with its prefix */
    char *group;
} reader;

static ferry_status read_real(const reader *r, float *field, ferry_error *error)
{
    float number = 0;
    const double most = ferry_key_most_in_file(r->key, r->values);
    FERRY_TRY(ferry_gguf_get_f32(r->gguf, r->name, &number, error));
    if (!ferry_key_admits(r->key, (double)number, most))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %s, found %g", r->gguf->file, r->name,
                          ferry_key_range(r->key, most).text, (double)number);
    *field = number;
    return FERRY_OK;
}

static ferry_status read_choice(const reader *r, int64_t *number, ferry_error *error)
{
    ferry_view text;
    ferry_name known = {""};
    FERRY_TRY(ferry_gguf_get_text(r->gguf, r->name, &text, error));
    for (*number = 0; r->key->choices[*number] != NULL; ++*number) {
        if (ferry_view_is(text, r->key->choices[*number])) return FERRY_OK;
        known = ferry_name_format("%s%s%s", known.text, *number > 0 ? "|" : "", r->key->choices[*number]);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: key '%s': '%s' is not supported by this build; expected %s",
                      r->gguf->file, r->name, ferry_printable_view(text).text, known.text);
}

/* Before its elements are read. */
static ferry_status check_elements(const reader *r, ferry_error *error)
{
    const size_t most = ferry_key_most_elements(r->key, r->values);
    const ferry_gguf_value *value = ferry_gguf_find(r->gguf, r->name);
    if (value == NULL || value->count <= most) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected at most %zu %s, found %" PRIu64, r->gguf->file,
                      r->name, most, r->key->kind == FERRY_KEY_TEXTS ? "texts" : "numbers", value->count);
}

static ferry_status read_array(const reader *r, ferry_error *error)
{
    const ferry_key *key = r->key;
    size_t count = 0;
    FERRY_TRY(check_elements(r, error));
    const void *elements = NULL; /* pointers have the same size for every element type */
    if (key->kind == FERRY_KEY_TEXTS) {
        const ferry_texts *texts;
        FERRY_TRY(ferry_gguf_get_texts(r->gguf, r->name, &texts, &count, error));
        elements = texts;
    } else if (key->kind == FERRY_KEY_IDS) {
        FERRY_TRY(ferry_gguf_get_integers(r->gguf, r->name, (int64_t)key->least,
                                          (int64_t)ferry_key_most_in_file(key, r->values), sizeof(int32_t), r->arena,
                                          &elements, &count, error));
    } else if (key->kind == FERRY_KEY_REALS) {
        FERRY_TRY(ferry_gguf_get_reals(r->gguf, r->name, r->arena, &elements, &count, error));
    } else {
        FERRY_TRY(ferry_gguf_get_integers(r->gguf, r->name, 0, INT64_MAX, sizeof(uint64_t), r->arena, &elements, &count,
                                          error));
    }
    const size_t expected = key->matches ? ferry_key_count(key, r->group) : count;
    if (count != expected)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %zu %s, found %zu", r->gguf->file, r->name,
                          expected, key->kind == FERRY_KEY_TEXTS ? "texts" : "numbers", count);
    ferry_key_set_count(key, r->group, count);
    memcpy(r->group + key->offset, &elements, sizeof elements);
    return FERRY_OK;
}

static ferry_status read_key(const reader *r, ferry_error *error)
{
    void *field = r->group + r->key->offset;
    int64_t number = 0;
    bool truth = false;
    switch (r->key->kind) {
    case FERRY_KEY_SIZE:
    case FERRY_KEY_ID:
        FERRY_TRY(ferry_gguf_get_integer(r->gguf, r->name, (int64_t)r->key->least,
                                         (int64_t)ferry_key_most_in_file(r->key, r->values), &number, error));
        break;
    case FERRY_KEY_BOOL:
        FERRY_TRY(ferry_gguf_get_bool(r->gguf, r->name, &truth, error));
        number = truth;
        break;
    case FERRY_KEY_CHOICE: FERRY_TRY(read_choice(r, &number, error)); break;
    case FERRY_KEY_REAL: return read_real(r, field, error);
    case FERRY_KEY_TEXT: return ferry_gguf_get_text(r->gguf, r->name, field, error);
    case FERRY_KEY_BYTES: return ferry_gguf_get_bytes(r->gguf, r->name, field, error);
    case FERRY_KEY_IDS:
    case FERRY_KEY_TEXTS:
    case FERRY_KEY_SIZES:
    case FERRY_KEY_REALS: return read_array(r, error);
    }
    ferry_key_set_integer(r->key, r->group, number);
    return FERRY_OK;
}

/* A key that may be missing, and is. */
static bool is_left_out(const reader *r)
{
    const ferry_key *key = r->key;
    if (!key->optional && !(key->matches && ferry_key_count(key, r->group) == 0)) return false;
    return ferry_gguf_find(r->gguf, r->name) == NULL;
}

static ferry_status read_row(const ferry_gguf *gguf, const char *prefix, const ferry_key *key, void *group,
                             const ferry_schema_values *values, ferry_arena *arena, ferry_error *error)
{
    const ferry_name name = ferry_name_format("%s%s", prefix, key->name);
    const reader r = {gguf, values, arena, key, name.text, group};
    /* Optional keys are always looked up: whether one applies may depend on its own value. */
    if (key->when == FERRY_WHEN_NEVER || (!key->optional && !ferry_key_applies(key, values)) || is_left_out(&r))
        return FERRY_OK;
    return read_key(&r, error);
}

ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error)
{
    const ferry_key_table table = ferry_schema_keys(group);
    const ferry_key *last = NULL; /* its range depends on a key that follows it */
    void *into = ferry_schema_group(values, group);
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++)
        if (key->bound == FERRY_BOUND_TAG_ID)
            last = key;
        else
            FERRY_TRY(read_row(gguf, table.prefix, key, into, values, arena, error));
    return last != NULL ? read_row(gguf, table.prefix, last, into, values, arena, error) : FERRY_OK;
}
