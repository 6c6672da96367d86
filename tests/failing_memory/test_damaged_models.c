/* Model files damaged systematically: refused with the file's name, or opened, and then what they do is safe and stays
 * within bounds; where only the file's form was damaged, it must be the same model. */
#define _GNU_SOURCE /* memfd_create */
#include "failing_memory.h"
#include "tests/support/limited_options.h"
#include "tests/support/model_damage.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a model file damaged in every way that its format offers, one place at a time ---- */

/* What may come of it. */
typedef enum outcome {
    ANY_MODEL,  /* it says something else, which no reader can tell: refused or opened */
    SAME_MODEL, /* its form alone was damaged: refused, or the same model */
    NO_MODEL    /* refused */
} outcome;

typedef struct variant {
    const unsigned char *data;
    size_t size;
    const char *what; /* was damaged */
    outcome permitted;
} variant;

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
    const ferry_view last = value->count > 0 ? ferry_string_table_at(value->texts, value->count - 1) : (ferry_view){0};
    return value->count > 0 ? place(w, last.data) + last.size : begin;
}

/* Of texts, the first, the last and one in the middle; empty texts have no place of their own to find. */
static void damage_texts(walk *w, const ferry_gguf_value *value, const char *name)
{
    const size_t picked[] = {0, (size_t)value->count / 2, (size_t)value->count - 1};
    for (size_t i = 0; i < 3 && value->count > 0; i++) {
        const ferry_view text = ferry_string_table_at(value->texts, picked[i]);
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

/* Passes each variant to `visit`: header fields, lengths and counts, types of keys, values of keys, keys left out,
 * twice or of another type, each entry of the table of tensors, what is cut off or appended, each byte before the
 * tensors, and some of the tensors' own; of layers, only the first. `part`: only keys and tensors with this in their
 * names, and nothing else; NULL: all. Returns how many there were. */
static size_t visit_variants(const sample *model, const char *part, void (*visit)(void *user, const variant *damaged),
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

/* ---- what a model is used for ---- */

/* More than any of these models needs, intact or not. */
enum { MOST_BYTES = 16 << 20, MOST_VOCAB = 1 << 12, MOST_TEXT = 1000 };

typedef struct trial {
    int file;
    char path[64];
    char intact[MOST_TEXT];
    size_t opened, changed;
    size_t most_bytes;
} trial;

/* Teacher-forced, both ways, and attention. */
static void inspect(const ferry_model *model)
{
    static const int32_t ids[] = {1, 2, 3, 0}, offsets[] = {0, 4};
    static float logits[4 * MOST_VOCAB], weights[16];
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const int32_t inputs[] = {sizes.start_id, 0, 2, 1};
    if (sizes.target_vocab > MOST_VOCAB) return;
    for (int pass = 0; pass < 2; pass++)
        (void)ferry_inspect_logits(model, ids, offsets, 1, inputs, offsets, (ferry_inspect_pass)pass, logits, NULL);
    for (int kind = 0; kind < 3; kind++)
        (void)ferry_inspect_attention(model, (ferry_inspect_attention_kind)kind, 0, 0, ids, 4, inputs, 4, weights,
                                      NULL);
}

static void append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, MOST_TEXT - used, format, arguments);
    va_end(arguments);
}

static void write_result(const ferry_result *result, char *text)
{
    for (size_t i = 0; i < ferry_result_count(result); i++)
        for (size_t h = 0; h < ferry_result_hypothesis_count(result, i); h++) {
            const ferry_text found = ferry_result_text(result, i, h);
            const int32_t *ids = ferry_inspect_result_ids(result, i, h);
            append(text, "%.*s %a:", (int)found.size, found.data, (double)ferry_result_score(result, i, h));
            for (size_t t = 0; t < ferry_result_token_count(result, i, h); t++) append(text, " %d", (int)ids[t]);
        }
}

/* Ids and lines become `text`: the ids and words that come of them. */
static void translate(const ferry_model *model, char *text)
{
    static const int32_t ids[] = {1, 3, 2, 0}, offsets[] = {0, 2, 4};
    static const ferry_text lines[] = {{"a b c", 5}, {"The house, \xC3 7", 14}};
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    text[0] = '\0';
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) return;
    options.max_length = 5;
    options.nbest = 1;
    limit_options(model, &options);
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 2, &result, NULL) == FERRY_OK) {
        write_result(result, text);
        ferry_result_destroy(result);
    }
    if (ferry_translate(translator, lines, 2, &result, NULL) == FERRY_OK) {
        write_result(result, text);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

static void use(const ferry_model *model, char *text)
{
    ferry_text description;
    inspect(model);
    translate(model, text);
    if (ferry_inspect_describe(model, &description, NULL) == FERRY_OK) ferry_inspect_free(description.data);
}

/* ---- one variant ---- */

static void try_variant(void *user, const variant *damaged)
{
    trial *t = user;
    char text[MOST_TEXT];
    ferry_model *model;
    ferry_error error = {0};
    assert_int_equal(ftruncate(t->file, (off_t)damaged->size), 0);
    assert_int_equal(pwrite(t->file, damaged->data, damaged->size, 0), (ssize_t)damaged->size);
    memory_watch();
    const ferry_status status = ferry_model_open(t->path, 0, &model, &error);
    if (status != FERRY_OK) {
        assert_null(model);
        if (error.status != status || strlen(error.message) < 10)
            fail_msg("%s: %d '%s'", damaged->what, (int)error.status, error.message);
        if (status != FERRY_ERROR_FORMAT && status != FERRY_ERROR_UNSUPPORTED)
            fail_msg("%s: %s", damaged->what, error.message);
    } else {
        t->opened++;
        use(model, text);
        ferry_model_close(model);
        const bool same = strcmp(text, t->intact) == 0;
        t->changed += !same;
        if (damaged->permitted == NO_MODEL) fail_msg("%s: opens", damaged->what);
        if (damaged->permitted == SAME_MODEL && !same)
            fail_msg("%s: opens and is another model: %s", damaged->what, text);
    }
    const size_t bytes = memory_peak();
    if (bytes > t->most_bytes) t->most_bytes = bytes;
    if (bytes > damaged->size + MOST_BYTES) fail_msg("%s: %zu bytes were held", damaged->what, bytes);
}

static size_t try_variants(const char *name, const sample *intact, const char *part)
{
    trial t = {.file = memfd_create("model", 0)};
    ferry_model *model;
    assert_true(t.file >= 0);
    snprintf(t.path, sizeof t.path, "/proc/self/fd/%d", t.file);
    CHECK(ferry_model_open(intact->path, 0, &model, &error));
    use(model, t.intact);
    ferry_model_close(model);
    assert_true(strlen(t.intact) > 10);
    const size_t count = visit_variants(intact, part, try_variant, &t);
    close(t.file);
    print_message("%s: %zu variants, %zu opened, %zu of them other models, at most %zu kB held\n", name, count,
                  t.opened, t.changed, t.most_bytes / 1000);
    return count;
}

/* ---- models ---- */

static void put_text_keys(ferry_gguf_writer *writer)
{
    static const ferry_view file = {"weights.bin", 11};
    static const ferry_view hash = {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 64};
    static const uint64_t size = 42;
    put_small_languages(writer);
    ferry_gguf_put_string(writer, "ferry.origin.kind", "a test");
    ferry_gguf_put_texts(writer, "ferry.origin.files", &file, 1);
    ferry_gguf_put_array(writer, "ferry.origin.sizes", FERRY_GGUF_U64, &size, 1);
    ferry_gguf_put_texts(writer, "ferry.origin.hashes", &hash, 1);
}

#define TINY .layers = 1, .d_model = 8, .heads = 2, .head_width = 4, .ffn_width = 8, .tokenizer = "pieces"

TEST(test_small_models)
{
    static int32_t offsets[22], ids[42];
    for (int32_t i = 0; i < 22; i++) offsets[i] = 2 * i;
    for (int32_t i = 0; i < 42; i++) ids[i] = i / 2 % 10 + i % 2 * 10;
    const small_shortlist list = {.first = 3, .offsets = offsets, .ids = ids, .count = 42};
    const struct {
        const char *name;
        small_model model;
    } rows[] = {
        {"floats, languages, origin", {TINY, .keys = put_text_keys, .pre_norm = true, .linear_bias = true}},
        {"codes, an SSRU, a shortlist",
         {TINY, .type = FERRY_I8, .ssru = true, .scales = SMALL_INPUT_MULTIPLIER, .shortlist = &list, .gated = true,
          .rms = true, .output_scale = 0.5f, .policy = "marian", .zero_start = true, .sentence_inputs = true}},
        {"steps",
         {.layers = 1,
          .d_model = 32,
          .heads = 2,
          .head_width = 16,
          .ffn_width = 32,
          .tokenizer = "pieces",
          .type = FERRY_I8,
          .steps = SMALL_STEPS}},
        {"several types", {TINY, .type = FERRY_I8, .untied = true, .mixed = true, .embedding_norm = true}},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const sample model = make_small_sample(&rows[i].model);
        count += try_variants(rows[i].name, &model, NULL);
    }
    assert_true(count > 20000);
}

TEST(test_positional_encodings)
{
    static const char *const names[] = {"alibi", "deberta", "fire", "kerple",     "learned",
                                        "rope",  "shaw",    "t5",   "sinusoidal", "transformer_xl"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "positions/%s-post", names[i]);
        const sample model = make_sample(folder);
        assert_true(try_variants(names[i], &model, ".position.") > 100);
    }
}

TEST(test_sentencepiece)
{
    const sample model = make_sample("models/marian-separate");
    assert_true(try_variants("SentencePiece", &model, "ferry.tokenizer.") > 100);
}
