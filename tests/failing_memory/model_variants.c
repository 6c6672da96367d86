#include "model_variants.h"

#include <inttypes.h>

#include "tests/support/random.h"

enum { HEADER = 24, ROOM = 1 << 16 };

typedef struct walk {
    const sample *model;
    ferry_gguf gguf;
    size_t table_end, data_begin; /* of the tensors' entries; of their data */
    unsigned char *data;          /* [model->size + ROOM] the variant */
    char what[200];
    void (*visit)(void *user, const variant *damaged);
    void *user;
    size_t count;
} walk;

static size_t place(const walk *w, const void *at)
{
    return (size_t)((const char *)at - w->gguf.bytes.data);
}

/* Visits what w->data holds, and mends it up to `end`. */
static void show(walk *w, size_t size, size_t end, outcome permitted)
{
    const variant shown = {.data = w->data, .size = size, .what = w->what, .permitted = permitted};
    w->visit(w->user, &shown);
    w->count++;
    memcpy(w->data, w->model->data, end);
}

/* Little-endian, of the machine that runs tests. */
static uint64_t number_at(const walk *w, size_t at, size_t size)
{
    uint64_t number = 0;
    memcpy(&number, w->model->data + at, size);
    return number;
}

static void poke(walk *w, size_t at, uint64_t value, size_t size, outcome permitted)
{
    if (value == number_at(w, at, size) || (size < 8 && value >> 8 * size != 0)) return;
    const size_t used = strlen(w->what);
    snprintf(w->what + used, sizeof w->what - used, " = %#" PRIx64, value);
    memcpy(w->data + at, &value, size);
    show(w, w->model->size, at + size, permitted);
    w->what[used] = '\0';
}

/* Its neighbors, and the ends of its range. */
static void poke_each(walk *w, size_t at, size_t size, outcome permitted)
{
    const uint64_t old = number_at(w, at, size), all = UINT64_MAX >> (64 - 8 * size);
    const uint64_t values[] = {0,   1,       2,       old - 1,     old + 1,    old * 2,  old ^ (all / 2 + 1),
                               all, all / 2, all - 7, all / 8 + 1, 0xFFFFFFFF, 1u << 31, 1u << 20};
    for (size_t i = 0; i < COUNT(values); i++) poke(w, at, values[i] & all, size, permitted);
}

static __attribute__((format(printf, 2, 3))) void name_damage(walk *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->what, sizeof w->what, format, arguments);
    va_end(arguments);
}

/* Replaces a part of the table, and moves the tensors' data to where they must begin then. */
static void splice(walk *w, size_t begin, size_t end, const void *bytes, size_t size, int more_keys, int more_tensors,
                   outcome permitted)
{
    const unsigned char *old = w->model->data;
    const size_t rest = w->table_end - end, table = begin + size + rest, left = w->model->size - w->data_begin;
    const size_t data = ferry_round_up(table, w->gguf.alignment);
    const uint64_t counts[] = {number_at(w, 8, 8) + (uint64_t)more_tensors, number_at(w, 16, 8) + (uint64_t)more_keys};
    assert_true(size <= ROOM / 2);
    memcpy(w->data + 8, counts, sizeof counts);
    memcpy(w->data + begin, bytes, size);
    memcpy(w->data + begin + size, old + end, rest);
    memset(w->data + table, 0, data - table);
    memcpy(w->data + data, old + w->data_begin, left);
    show(w, data + left, w->model->size, permitted);
}

/* ---- keys ---- */

static size_t number_size(ferry_gguf_type type)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return sizes[type];
}

/* Where a key's value begins: after its type, for arrays after their type and length. */
static size_t value_begin(const walk *w, const ferry_gguf_value *value)
{
    return place(w, value->key.data) + value->key.size + 4 + (value->is_array ? 12 : 0);
}

static size_t value_end(const walk *w, const ferry_gguf_value *value)
{
    const size_t begin = value_begin(w, value);
    if (value->type != FERRY_GGUF_TEXT) return begin + (size_t)value->count * number_size(value->type);
    if (!value->is_array) return begin + 8 + value->data.size;
    const ferry_view last = value->count > 0 ? ferry_texts_at(value->texts, value->count - 1) : (ferry_view){0};
    return value->count > 0 ? place(w, last.data) + last.size : begin;
}

/* Of texts, the first, the last and one in the middle; empty texts have no place of their own to find. */
static void damage_texts(walk *w, const ferry_gguf_value *value, const char *name)
{
    const size_t picked[] = {0, (size_t)value->count / 2, (size_t)value->count - 1};
    for (size_t i = 0; i < 3 && value->count > 0; i++) {
        const ferry_view text = ferry_texts_at(value->texts, picked[i]);
        name_damage(w, "length of text %zu of %s", picked[i], name);
        poke_each(w, place(w, text.data) - 8, 8, SAME_MODEL);
        name_damage(w, "first byte of text %zu of %s", picked[i], name);
        if (text.size > 0) poke_each(w, place(w, text.data), 1, ANY_MODEL);
    }
}

static void damage_numbers(walk *w, const ferry_gguf_value *value, const char *name)
{
    static const float floats[] = {NAN, INFINITY, -INFINITY, 3e38f, -1, 0, 1e-40f, 0.5f, 1e9f};
    const size_t size = number_size(value->type), begin = value_begin(w, value);
    for (size_t i = 0; i < 2 && value->count > 0; i++) {
        const size_t at = begin + (i == 0 ? 0 : (size_t)(value->count - 1) * size);
        name_damage(w, "%s number of %s", i == 0 ? "first" : "last", name);
        poke_each(w, at, size, ANY_MODEL);
        for (size_t f = 0; f < COUNT(floats) && value->type == FERRY_GGUF_F32; f++) {
            uint32_t bits;
            memcpy(&bits, &floats[f], sizeof bits);
            poke(w, at, bits, 4, ANY_MODEL);
        }
    }
}

/* Types that a reader need not tell from each other have one kind. */
static ferry_gguf_type kind_of(ferry_gguf_type type)
{
    if (type == FERRY_GGUF_TEXT || type == FERRY_GGUF_BOOL) return type;
    return type == FERRY_GGUF_F32 || type == FERRY_GGUF_F64 ? FERRY_GGUF_F64 : FERRY_GGUF_I64;
}

/* Another value for the key, well-formed: `count` zeros or ones of a type, or texts. */
static void replace_value(walk *w, const ferry_gguf_value *value, const char *name, ferry_gguf_type type, bool array,
                          uint64_t count, uint8_t fill)
{
    static unsigned char bytes[ROOM / 2];
    const uint32_t types[] = {array ? FERRY_GGUF_ARRAY : type, type};
    const size_t begin = place(w, value->key.data) + value->key.size, size = number_size(type);
    size_t at = array ? 16 : 4;
    memcpy(bytes, types, array ? 8 : 4);
    if (array) memcpy(bytes + 8, &count, 8);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t length = fill;
        memset(bytes + at, 0, 16);
        if (size > 0) bytes[at] = fill;
        if (size == 0) memcpy(bytes + at, &length, 8);
        if (size == 0) memset(bytes + at + 8, 'a', fill);
        at += size > 0 ? size : 8 + (size_t)fill;
    }
    name_damage(w, "%s: %s%" PRIu64 " × %d of type %d", name, array ? "array of " : "", count, fill, (int)type);
    const bool other = array != value->is_array || kind_of(type) != kind_of(value->type);
    splice(w, begin, value_end(w, value), bytes, at, 0, 0, other ? NO_MODEL : ANY_MODEL);
}

static void replace_each(walk *w, const ferry_gguf_value *value, const char *name)
{
    for (int type = 0; type <= FERRY_GGUF_F64; type++) {
        if (type == FERRY_GGUF_ARRAY) continue;
        replace_value(w, value, name, (ferry_gguf_type)type, false, 1, 1);
        replace_value(w, value, name, (ferry_gguf_type)type, true, 1, 1);
    }
    const uint64_t counts[] = {0, value->count - 1, value->count + 1, 2 * value->count, 1000};
    for (size_t i = 0; i < COUNT(counts) && value->is_array; i++)
        if (counts[i] < 1500) replace_value(w, value, name, value->type, true, counts[i], (uint8_t)(i % 2));
    if (value->type == FERRY_GGUF_TEXT && !value->is_array)
        for (int length = 0; length < 256; length += 85)
            replace_value(w, value, name, value->type, false, 1, (uint8_t)length);
}

static void damage_key(walk *w, const ferry_gguf_value *value)
{
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)value->key.size, value->key.data);
    const size_t key = place(w, value->key.data), begin = key - 8, type = key + value->key.size;
    const size_t end = value_end(w, value);
    name_damage(w, "length of %s", name);
    poke_each(w, begin, 8, SAME_MODEL);
    name_damage(w, "type of %s", name);
    for (uint64_t t = 0; t <= 14; t++) poke(w, type, t, 4, SAME_MODEL);
    poke_each(w, type, 4, SAME_MODEL);
    if (value->is_array) {
        name_damage(w, "type of the elements of %s", name);
        for (uint64_t t = 0; t <= 14; t++) poke(w, type + 4, t, 4, SAME_MODEL);
        name_damage(w, "count of %s", name);
        poke_each(w, type + 8, 8, SAME_MODEL);
    }
    if (value->type != FERRY_GGUF_TEXT) damage_numbers(w, value, name);
    if (value->type == FERRY_GGUF_TEXT && value->is_array) damage_texts(w, value, name);
    if (value->type == FERRY_GGUF_TEXT && !value->is_array) {
        name_damage(w, "length of the text of %s", name);
        poke_each(w, type + 4, 8, SAME_MODEL);
    }
    replace_each(w, value, name);
    name_damage(w, "%s left out", name);
    splice(w, begin, end, "", 0, -1, 0, ANY_MODEL);
    name_damage(w, "%s twice", name);
    if (end - begin < ROOM / 2) splice(w, end, end, w->model->data + begin, end - begin, 1, 0, NO_MODEL);
}

/* ---- tensors ---- */

static void damage_entry(walk *w, const ferry_tensor *tensor)
{
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)tensor->name.size, tensor->name.data);
    const size_t at = place(w, tensor->name.data), dims = at + tensor->name.size;
    const size_t type = dims + 4 + 8 * (size_t)tensor->dims, offset = type + 4;
    name_damage(w, "length of tensor name %s", name);
    poke_each(w, at - 8, 8, SAME_MODEL);
    name_damage(w, "tensor name %s", name);
    poke(w, at, 'z', 1, SAME_MODEL);
    poke(w, dims - 1, 0, 1, SAME_MODEL);
    name_damage(w, "dimensions of %s", name);
    poke_each(w, dims, 4, SAME_MODEL);
    for (int32_t d = 0; d < tensor->dims; d++) {
        name_damage(w, "dimension %d of %s", (int)d, name);
        poke_each(w, dims + 4 + 8 * (size_t)d, 8, SAME_MODEL);
    }
    name_damage(w, "type of tensor %s", name);
    for (uint64_t t = 0; t < 42; t++) poke(w, type, t, 4, SAME_MODEL);
    poke_each(w, type, 4, SAME_MODEL);
    name_damage(w, "offset of %s", name);
    poke_each(w, offset, 8, SAME_MODEL);
    poke(w, offset, number_at(w, offset, 8) + 64, 8, SAME_MODEL);
    poke(w, offset, number_at(w, offset, 8) - 64, 8, SAME_MODEL);
    name_damage(w, "tensor %s left out", name);
    splice(w, at - 8, offset + 8, "", 0, 0, -1, NO_MODEL);
    name_damage(w, "tensor %s twice", name);
    splice(w, offset + 8, offset + 8, w->model->data + at - 8, offset + 16 - at, 0, 1, NO_MODEL);
}

static void damage_weights(walk *w, const ferry_tensor *tensor)
{
    static const uint32_t words[] = {0x7FC00000, 0x7F800000, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x80808080, 0x7C007E00};
    const size_t last = place(w, tensor->data) + tensor->bytes - 4;
    name_damage(w, "numbers of %.*s", (int)tensor->name.size, tensor->name.data);
    for (size_t i = 0; i < COUNT(words) && tensor->bytes >= 8; i++) {
        poke(w, place(w, tensor->data), words[i], 4, ANY_MODEL);
        poke(w, last, words[i], 4, ANY_MODEL);
    }
}

/* ---- all of it ---- */

static void damage_header(walk *w)
{
    static const size_t fields[] = {0, 4, 8, 16, HEADER};
    for (size_t i = 0; i + 1 < COUNT(fields); i++) {
        name_damage(w, "header field %zu", i);
        poke_each(w, fields[i], fields[i + 1] - fields[i], SAME_MODEL);
    }
}

static void cut_and_append(walk *w)
{
    const size_t size = w->model->size, steps[] = {1024, 97, 1};
    const size_t begins[] = {0, w->data_begin, size > 200 ? size - 200 : 0};
    for (int i = 0; i < 3; i++)
        for (size_t cut = begins[i]; cut < (i == 1 ? begins[1] + 4000 : size) && cut < size; cut += steps[i]) {
            name_damage(w, "cut off at %zu", cut);
            show(w, cut, 0, SAME_MODEL);
        }
    for (size_t more = 1; more < ROOM; more *= 4) {
        name_damage(w, "%zu bytes more", more);
        show(w, size + more, 0, SAME_MODEL);
    }
}

static void flip_bytes(walk *w, uint32_t *random)
{
    for (size_t at = 0; at < w->table_end; at++) {
        const unsigned char old = w->model->data[at];
        name_damage(w, "byte %zu", at);
        poke(w, at, old ^ 0xFFu, 1, ANY_MODEL);
        poke(w, at, old ^ 1u << next_random(random) % 8, 1, ANY_MODEL);
    }
}

/* Of layers, the first of each stack is enough. */
static bool has_part(ferry_view name, const char *part)
{
    return !ferry_view_contains(name, ".blk.1.") && (part == NULL || ferry_view_contains(name, part));
}

size_t visit_variants(const sample *model, const char *part, void (*visit)(void *user, const variant *damaged),
                      void *user)
{
    walk w = {.model = model, .visit = visit, .user = user, .data = calloc(1, model->size + ROOM)};
    uint32_t random = 1;
    assert_non_null(w.data);
    CHECK(ferry_gguf_open((ferry_view){(const char *)model->data, model->size}, "sample", &w.gguf, &error));
    memcpy(w.data, model->data, model->size);
    w.table_end = table_end(model, &w.gguf);
    w.data_begin = ferry_round_up(w.table_end, w.gguf.alignment);
    for (size_t i = 0; i < w.gguf.value_count; i++)
        if (has_part(w.gguf.values[i].key, part)) damage_key(&w, &w.gguf.values[i]);
    for (size_t i = 0; i < w.gguf.tensor_count; i++) {
        if (!has_part(w.gguf.tensors[i].name, part)) continue;
        damage_entry(&w, &w.gguf.tensors[i]);
        damage_weights(&w, &w.gguf.tensors[i]);
    }
    if (part == NULL) {
        damage_header(&w);
        cut_and_append(&w);
        flip_bytes(&w, &random);
    }
    ferry_gguf_close(&w.gguf);
    free(w.data);
    return w.count;
}
