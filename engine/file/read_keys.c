/* Reading the keys of a model file by the rows of its schema. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "bind.h"

/* One key, its file, and the destination of its value. */
typedef struct reader {
    const ferry_gguf *gguf;
    const ferry_schema_values *values;
    ferry_arena *arena;
    const ferry_key *key;
    const char *name; /* with its prefix */
    char *group;
} reader;

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

/* Its elements are counted before they are read. */
static ferry_status read_array(const reader *r, ferry_error *error)
{
    const ferry_key *key = r->key;
    const char *elements_name = key->kind == FERRY_KEY_TEXTS ? "texts" : "numbers";
    const size_t most = ferry_key_most_elements(key, r->values);
    const ferry_gguf_value *value = ferry_gguf_find(r->gguf, r->name);
    const bool ids = key->kind == FERRY_KEY_IDS;
    const int64_t least = ids ? (int64_t)key->least : 0,
                  largest = ids ? (int64_t)ferry_key_most_in_file(key, r->values) : INT64_MAX;
    size_t count = 0;
    const void *elements = NULL; /* pointers have the same size for every element type */
    const ferry_texts *texts = NULL;
    if (value != NULL && value->count > most)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected at most %zu %s, found %" PRIu64,
                          r->gguf->file, r->name, most, elements_name, value->count);
    if (key->kind == FERRY_KEY_TEXTS)
        FERRY_TRY(ferry_gguf_get_texts(r->gguf, r->name, &texts, &count, error));
    else if (key->kind == FERRY_KEY_REALS)
        FERRY_TRY(ferry_gguf_get_reals(r->gguf, r->name, r->arena, &elements, &count, error));
    else
        FERRY_TRY(ferry_gguf_get_integers(r->gguf, r->name, least, largest, ids ? sizeof(int32_t) : sizeof(uint64_t),
                                          r->arena, &elements, &count, error));
    if (texts != NULL) elements = texts;
    const size_t expected = key->matches ? ferry_key_count(key, r->group) : count;
    if (count != expected)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %zu %s, found %zu", r->gguf->file, r->name,
                          expected, elements_name, count);
    ferry_key_set_count(key, r->group, count);
    memcpy(r->group + key->offset, &elements, sizeof elements);
    return FERRY_OK;
}

static ferry_status read_key(const reader *r, ferry_error *error)
{
    const ferry_key *key = r->key;
    const double most = ferry_key_most_in_file(key, r->values);
    void *field = r->group + key->offset;
    int64_t number = 0;
    float real = 0;
    bool truth = false;
    switch (key->kind) {
    case FERRY_KEY_SIZE:
    case FERRY_KEY_ID:
        FERRY_TRY(ferry_gguf_get_integer(r->gguf, r->name, (int64_t)key->least, (int64_t)most, &number, error));
        break;
    case FERRY_KEY_BOOL:
        FERRY_TRY(ferry_gguf_get_bool(r->gguf, r->name, &truth, error));
        number = truth;
        break;
    case FERRY_KEY_CHOICE: FERRY_TRY(read_choice(r, &number, error)); break;
    case FERRY_KEY_REAL:
        FERRY_TRY(ferry_gguf_get_f32(r->gguf, r->name, &real, error));
        if (!ferry_key_admits(key, (double)real, most))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %s, found %g", r->gguf->file, r->name,
                              ferry_key_range(key, most).text, (double)real);
        memcpy(field, &real, sizeof real);
        return FERRY_OK;
    case FERRY_KEY_TEXT: return ferry_gguf_get_text(r->gguf, r->name, field, error);
    case FERRY_KEY_BYTES: return ferry_gguf_get_bytes(r->gguf, r->name, field, error);
    case FERRY_KEY_IDS:
    case FERRY_KEY_TEXTS:
    case FERRY_KEY_SIZES:
    case FERRY_KEY_REALS: return read_array(r, error);
    }
    ferry_key_set_integer(key, r->group, number);
    return FERRY_OK;
}

ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error)
{
    const ferry_key_table table = ferry_schema_keys(group);
    char *into = ferry_schema_group(values, group);
    /* The range of a key that is bound to the tag's vocabulary depends on one that follows it: it is read last. */
    for (size_t i = 0; i < 2 * table.count; i++) {
        const ferry_key *key = &table.keys[i % table.count];
        if ((key->bound == FERRY_BOUND_TAG_ID) != (i >= table.count) || key->when == FERRY_WHEN_NEVER) continue;
        const ferry_name name = ferry_name_format("%s%s", table.prefix, key->name);
        const reader r = {gguf, values, arena, key, name.text, into};
        const bool may_miss = key->optional || (key->matches && ferry_key_count(key, into) == 0);
        /* Optional keys are always looked up: whether one applies may depend on its own value. */
        if (!key->optional && !ferry_key_applies(key, values)) continue;
        if (!may_miss || ferry_gguf_find(gguf, name.text) != NULL) FERRY_TRY(read_key(&r, error));
    }
    return FERRY_OK;
}
