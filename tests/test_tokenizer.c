#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "../engine/base/utf8.h"
#include "../tokenizer/sentencepiece_c.h"
#include "../tokenizer/tokenizer.h"
#include "../tokenizer/vocabulary.h"

#define MARIAN_SEPARATE FERRY_TEST_DATA "/models/marian-separate/"
#define TATOEBA FERRY_TEST_DATA "/models/tatoeba-en-de/"
#define BYTE_FALLBACK FERRY_TEST_DATA "/tokenizer/byte_fallback.model"

/* A view of a string literal, NUL bytes inside counted. */
#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static ferry_view read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, size, file), size);
    fclose(file);
    return (ferry_view){data, size};
}

static void free_view(ferry_view view)
{
    free((void *)(uintptr_t)view.data);
}

static ferry_view view_of(const json_t *string)
{
    return (ferry_view){json_string_value(string), json_string_length(string)};
}

/* ---- a Marian directory ---- */

typedef struct vocabulary_side {
    json_t *json;
    ferry_view *pieces; /* [count] */
    int32_t count;
} vocabulary_side;

typedef struct marian {
    vocabulary_side source, target;
    ferry_view spm;
    json_t *golden;
    int32_t special[3];
    int32_t eos;
    ferry_tokenizer_config config;
    ferry_tokenizer *tokenizer;
} marian;

static vocabulary_side load_side(const char *path)
{
    vocabulary_side side = {json_load_file(path, 0, NULL), NULL, 0};
    const char *key;
    json_t *value;
    assert_non_null(side.json);
    json_object_foreach (side.json, key, value) {
        int32_t id = (int32_t)json_integer_value(value);
        if (id >= side.count) side.count = id + 1;
    }
    side.pieces = calloc((size_t)side.count, sizeof *side.pieces);
    assert_non_null(side.pieces);
    json_object_foreach (side.json, key, value) {
        side.pieces[json_integer_value(value)] = (ferry_view){key, strlen(key)};
    }
    return side;
}

static int32_t id_in(const vocabulary_side *side, const char *piece)
{
    json_t *id = json_object_get(side->json, piece);
    assert_non_null(id);
    return (int32_t)json_integer_value(id);
}

static ferry_tokenizer *create(const ferry_tokenizer_config *config)
{
    ferry_error error;
    ferry_tokenizer *tokenizer;
    if (ferry_tokenizer_create(config, &tokenizer, &error) != FERRY_OK) fail_msg("%s", error.message);
    return tokenizer;
}

static void load_marian(marian *model, const char *golden, const char *spm, const char *source, const char *target)
{
    static const char *const special[] = {"</s>", "<unk>", "<pad>"};
    model->source = load_side(source);
    model->target = load_side(target);
    model->spm = read_file(spm);
    model->golden = json_load_file(golden, 0, NULL);
    assert_non_null(model->golden);
    for (size_t i = 0; i < 3; i++) model->special[i] = id_in(&model->target, special[i]);
    model->eos = id_in(&model->source, "</s>");
    model->config = (ferry_tokenizer_config){
        .source_model = model->spm,
        .source_pieces = model->source.pieces,
        .source_count = model->source.count,
        .target_pieces = model->target.pieces,
        .target_count = model->target.count,
        .source_unk = id_in(&model->source, "<unk>"),
        .target_special = model->special,
        .target_special_count = 3,
        .suffix_ids = &model->eos,
        .suffix_count = 1,
        .leading_tag = true,
    };
    model->tokenizer = create(&model->config);
}

static void load_tatoeba(marian *model)
{
    load_marian(model, TATOEBA "golden.json", TATOEBA "source.spm", TATOEBA "vocab.json", TATOEBA "vocab.json");
}

static void free_side(vocabulary_side *side)
{
    json_decref(side->json);
    free(side->pieces);
}

static void free_marian(marian *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    free_side(&model->source);
    free_side(&model->target);
    free_view(model->spm);
    json_decref(model->golden);
}

/* ---- golden lines ---- */

static void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids)
{
    ferry_error error;
    if (ferry_tokenizer_encode(tokenizer, text, ids, &error) != FERRY_OK) fail_msg("%s", error.message);
}

static void assert_text(const ferry_string *text, ferry_view expected)
{
    assert_int_equal(text->size, expected.size);
    if (expected.size > 0) assert_memory_equal(text->data, expected.data, expected.size);
}

static void assert_ids(const ferry_ids *ids, const int32_t *expected, size_t count)
{
    assert_int_equal(ids->count, count);
    assert_memory_equal(ids->ids, expected, count * sizeof *expected);
}

static size_t ids_of(const json_t *array, int32_t *ids, size_t capacity)
{
    size_t count = json_array_size(array);
    assert_true(count <= capacity);
    for (size_t i = 0; i < count; i++) ids[i] = (int32_t)json_integer_value(json_array_get(array, i));
    return count;
}

static void check_line(const marian *model, const json_t *line, ferry_ids *ids, ferry_string *text)
{
    int32_t expected[512];
    const char *name;
    json_t *ignored;
    ferry_error error;
    size_t count = ids_of(json_object_get(line, "input_ids"), expected, LENGTH(expected));
    encode(model->tokenizer, view_of(json_object_get(line, "text")), ids);
    assert_ids(ids, expected, count);
    json_object_foreach (json_object_get(model->golden, "runs"), name, ignored) {
        const json_t *run = json_object_get(line, name);
        const json_t *rows = json_object_get(run, "ids");
        assert_true(json_array_size(rows) > 0);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            count = ids_of(json_array_get(rows, i), expected, LENGTH(expected));
            assert_int_equal(ferry_tokenizer_decode(model->tokenizer, expected, count, text, &error), FERRY_OK);
            assert_text(text, ferry_utf8_trim(view_of(json_array_get(json_object_get(run, "text"), i))));
        }
    }
}

static void check_golden(const marian *model, size_t lines)
{
    ferry_ids ids = {0};
    ferry_string text = {0};
    size_t i;
    json_t *line;
    assert_int_equal(json_array_size(json_object_get(model->golden, "lines")), lines);
    json_array_foreach (json_object_get(model->golden, "lines"), i, line) check_line(model, line, &ids, &text);
    free(ids.ids);
    free(text.data);
}

static void test_golden_separate_vocabularies(void **state)
{
    (void)state;
    marian model;
    load_marian(&model, MARIAN_SEPARATE "golden.json", MARIAN_SEPARATE "source.spm", MARIAN_SEPARATE "vocab.json",
                MARIAN_SEPARATE "target_vocab.json");
    check_golden(&model, 16);
    free_marian(&model);
}

static void test_golden_joint_vocabulary(void **state)
{
    (void)state;
    marian model;
    load_tatoeba(&model);
    check_golden(&model, 60);
    free_marian(&model);
}

/* ---- encoding ---- */

static void test_empty_text_is_prefix_and_suffix(void **state)
{
    (void)state;
    marian model;
    ferry_ids ids = {0};
    const int32_t prefix[] = {7, 8}, expected[] = {7, 8, 0}, blank[] = {0};
    load_tatoeba(&model);
    encode(model.tokenizer, VIEW(""), &ids);
    assert_ids(&ids, blank, 1);
    encode(model.tokenizer, (ferry_view){NULL, 0}, &ids);
    assert_ids(&ids, blank, 1);
    model.config.prefix_ids = prefix;
    model.config.prefix_count = 2;
    ferry_tokenizer *tokenizer = create(&model.config);
    encode(tokenizer, VIEW("   "), &ids);
    assert_ids(&ids, expected, 3);
    ferry_tokenizer_destroy(tokenizer);
    free(ids.ids);
    free_marian(&model);
}

static void test_leading_tag(void **state)
{
    (void)state;
    marian model;
    ferry_ids plain = {0}, tagged = {0};
    load_tatoeba(&model);
    model.source.pieces[5] = VIEW(">>deu<<"); /* the tokenizer made here, unlike the first one, knows the tag */
    ferry_tokenizer *knows = create(&model.config);
    encode(knows, VIEW("Hello >>deu<< a<<b"), &plain);

    encode(knows, VIEW(">>deu<< Hello >>deu<< a<<b"), &tagged);
    assert_int_equal(tagged.count, plain.count + 1);
    assert_int_equal(tagged.ids[0], 5);
    assert_memory_equal(tagged.ids + 1, plain.ids, plain.count * sizeof *plain.ids);

    encode(knows, VIEW(">>xyz<<Hello >>deu<< a<<b"), &tagged);
    assert_int_equal(tagged.count, plain.count + 1);
    assert_int_equal(tagged.ids[0], 1);

    encode(knows, VIEW(">>deu<<"), &tagged);
    assert_ids(&tagged, (const int32_t[]){5, 0}, 2);
    encode(knows, VIEW(">><<"), &tagged);
    assert_ids(&tagged, (const int32_t[]){1, 0}, 2);
    free(plain.ids);
    free(tagged.ids);
    ferry_tokenizer_destroy(knows);
    free_marian(&model);
}

static void test_no_tag(void **state)
{
    (void)state;
    static const ferry_view texts[] = {VIEW(" >>deu<< Hello"), VIEW(">>deu< Hello"), VIEW(">>"), VIEW("> >a<<")};
    marian model;
    ferry_ids with = {0}, without = {0};
    load_tatoeba(&model);
    model.source.pieces[5] = VIEW(">>deu<<");
    model.config.leading_tag = false;
    ferry_tokenizer *ignores = create(&model.config);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        encode(model.tokenizer, texts[i], &with);
        encode(ignores, texts[i], &without);
        assert_ids(&with, without.ids, without.count);
    }
    encode(ignores, VIEW(">>deu<< Hello"), &without);
    assert_int_not_equal(without.ids[0], 5);
    free(with.ids);
    free(without.ids);
    ferry_tokenizer_destroy(ignores);
    free_marian(&model);
}

static void test_what_the_vocabulary_lacks(void **state)
{
    (void)state;
    marian model;
    ferry_ids ids = {0};
    load_tatoeba(&model);
    int32_t blank = id_in(&model.source, "▁"), tom = id_in(&model.source, "▁Tom");
    encode(model.tokenizer, VIEW("Tom 漢字🙂"), &ids);
    assert_ids(&ids, (const int32_t[]){tom, blank, 1, 0}, 4);

    model.source.pieces[tom] =
        VIEW("漢字🙂"); /* now SentencePiece knows what the vocabulary lacks, and the other way */
    ferry_tokenizer *other = create(&model.config);
    encode(other, VIEW("Tom 漢字🙂"), &ids);
    assert_ids(&ids, (const int32_t[]){1, blank, tom, 0}, 4);
    ferry_tokenizer_destroy(other);
    free(ids.ids);
    free_marian(&model);
}

static void test_long_text(void **state)
{
    (void)state;
    enum { REPEATS = 50000 };
    marian model;
    ferry_ids ids = {0};
    load_tatoeba(&model);
    int32_t tom = id_in(&model.source, "▁Tom");
    char *text = malloc(4 * REPEATS);
    assert_non_null(text);
    for (size_t i = 0; i < REPEATS; i++) memcpy(text + 4 * i, "Tom ", 4);
    encode(model.tokenizer, (ferry_view){text, 4 * REPEATS}, &ids);
    assert_int_equal(ids.count, REPEATS + 1);
    for (size_t i = 0; i < REPEATS; i++) assert_int_equal(ids.ids[i], tom);

    ferry_error error;
    assert_int_equal(ferry_tokenizer_encode(model.tokenizer, (ferry_view){text, (1u << 26) + 1}, &ids, &error),
                     FERRY_ERROR_LIMIT);
    assert_string_equal(error.message, "text: expected at most 67108864 bytes, found 67108865");
    free(text);
    free(ids.ids);
    free_marian(&model);
}

/* ---- byte fallback ---- */

typedef struct bytes_model {
    ferry_view proto;
    ferry_spm *spm;
    ferry_view *pieces; /* [count]: here the model's ids are SentencePiece's */
    int32_t byte[256];
    ferry_tokenizer *tokenizer;
} bytes_model;

static void load_bytes(bytes_model *model)
{
    ferry_error error;
    model->proto = read_file(BYTE_FALLBACK);
    assert_int_equal(ferry_spm_create(model->proto, "model", &model->spm, &error), FERRY_OK);
    int32_t count = ferry_spm_count(model->spm), special = ferry_spm_unknown(model->spm), bytes = 0;
    model->pieces = calloc((size_t)count, sizeof *model->pieces);
    for (int32_t id = 0; id < count; id++) {
        model->pieces[id] = ferry_spm_piece(model->spm, id);
        assert_int_equal(ferry_spm_find(model->spm, model->pieces[id]), id);
        if (ferry_spm_kind_of(model->spm, id) != FERRY_SPM_BYTE) continue;
        assert_true(bytes < 256);
        model->byte[bytes++] = id;
    }
    assert_int_equal(bytes, 256);
    ferry_tokenizer_config config = {
        .source_model = model->proto,
        .source_pieces = model->pieces,
        .source_count = count,
        .target_pieces = model->pieces,
        .target_count = count,
        .source_unk = special,
        .target_special = &special,
        .target_special_count = 1,
    };
    model->tokenizer = create(&config);
}

static void free_bytes(bytes_model *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_spm_destroy(model->spm);
    free(model->pieces);
    free_view(model->proto);
}

static void test_byte_pieces_round_trip(void **state)
{
    (void)state;
    static const ferry_view texts[] = {VIEW("漢字"), VIEW("a 🙂 b"), VIEW("Hello\0world\0"), VIEW("\0"),
                                       VIEW("x\0漢\0y")};
    bytes_model model;
    ferry_ids ids = {0};
    ferry_string text = {0};
    ferry_error error;
    load_bytes(&model);
    encode(model.tokenizer, VIEW("漢"), &ids);
    assert_true(ids.count >= 3);
    assert_memory_equal(ids.ids + ids.count - 3,
                        ((const int32_t[]){model.byte[0xE6], model.byte[0xBC], model.byte[0xA2]}), 12);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        encode(model.tokenizer, texts[i], &ids);
        assert_int_equal(ferry_tokenizer_decode(model.tokenizer, ids.ids, ids.count, &text, &error), FERRY_OK);
        assert_text(&text, texts[i]);
    }
    free(ids.ids);
    free(text.data);
    free_bytes(&model);
}

static void test_broken_byte_pieces(void **state)
{
    (void)state;
    bytes_model model;
    ferry_string text = {0};
    ferry_error error;
    load_bytes(&model);
    const int32_t *b = model.byte, a = ferry_spm_find(model.spm, VIEW("a")), unk = ferry_spm_unknown(model.spm);
    const struct {
        int32_t ids[6];
        size_t count;
        ferry_view text;
    } rows[] = {
        {{b[0xE2], b[0x82], b[0xAC]}, 3, VIEW("€")},
        {{b[0xE2], unk, b[0x82], b[0xAC], a}, 5, VIEW("€a")},
        {{b[0xE2], b[0x82], a},
         3,
         VIEW("\xEF\xBF\xBD\xEF\xBF\xBD"
              "a")},
        {{a, b[0xFF], b[0xE2], b[0x82], b[0xAC], b[0x80]}, 6, VIEW("a\xEF\xBF\xBD€\xEF\xBF\xBD")},
        {{b[0x20], b[0x41], b[0x0A]}, 3, VIEW("A")},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(ferry_tokenizer_decode(model.tokenizer, rows[i].ids, rows[i].count, &text, &error), FERRY_OK);
        assert_text(&text, rows[i].text);
    }
    free(text.data);
    free_bytes(&model);
}

/* ---- decoding ---- */

static void test_joining_pieces(void **state)
{
    (void)state;
    static const ferry_view pieces[] = {VIEW("<unk>"),  VIEW("▁"),      VIEW("▁a▁b"),        VIEW("c"),
                                        VIEW("<0xG1>"), VIEW("<0x4a>"), VIEW("x\0\xE2\x96"), VIEW("")};
    const int32_t unk = 0, ids[] = {1, 1, 2, 0, 3, 7, 1, 4, 5, 6, 1};
    bytes_model model;
    ferry_string text = {0};
    ferry_error error;
    load_bytes(&model);
    ferry_tokenizer_config config = {
        .source_model = model.proto,
        .source_pieces = pieces,
        .source_count = 8,
        .target_pieces = pieces,
        .target_count = 8,
        .target_special = &unk,
        .target_special_count = 1,
    };
    ferry_tokenizer *tokenizer = create(&config);
    assert_int_equal(ferry_tokenizer_decode(tokenizer, ids, LENGTH(ids), &text, &error), FERRY_OK);
    assert_text(&text, VIEW("a bc <0xG1><0x4a>x\0\xE2\x96"));
    assert_int_equal(ferry_tokenizer_decode(tokenizer, NULL, 0, &text, &error), FERRY_OK);
    assert_int_equal(text.size, 0);
    assert_int_equal(ferry_tokenizer_decode(tokenizer, &unk, 1, &text, &error), FERRY_OK);
    assert_int_equal(text.size, 0);

    assert_int_equal(ferry_tokenizer_decode(tokenizer, (const int32_t[]){3, 8}, 2, &text, &error),
                     FERRY_ERROR_ARGUMENT);
    assert_string_equal(error.message, "target id: expected 0 to 7, found 8");
    assert_int_equal(ferry_tokenizer_decode(tokenizer, (const int32_t[]){-1}, 1, &text, NULL), FERRY_ERROR_ARGUMENT);
    ferry_tokenizer_destroy(tokenizer);
    free(text.data);
    free_bytes(&model);
}

/* Without a SentencePiece model: pieces between ASCII white space, whatever they look like. */
static void test_texts_of_pieces(void **state)
{
    (void)state;
    static const ferry_view pieces[] = {VIEW("</s>"),   VIEW("<unk>"),    VIEW("\u2581a"),
                                        VIEW("<0x41>"), VIEW("b\u00A0c"), VIEW("")};
    static const int32_t special[] = {0, 1}, eos = 0, expected[] = {2, 3, 1, 4, 0}, joined[] = {0, 2, 3, 1, 4, 4, 0};
    const ferry_tokenizer_config config = {.source_pieces = pieces,
                                           .source_count = LENGTH(pieces),
                                           .target_pieces = pieces,
                                           .target_count = LENGTH(pieces),
                                           .source_unk = 1,
                                           .target_special = special,
                                           .target_special_count = LENGTH(special),
                                           .suffix_ids = &eos,
                                           .suffix_count = 1};
    ferry_error error;
    ferry_ids ids = {0};
    ferry_string text = {0};
    ferry_tokenizer *tokenizer = create(&config);
    assert_int_equal(ferry_tokenizer_encode(tokenizer, VIEW(" \t\u2581a <0x41>\r\nA  b\u00A0c "), &ids, &error),
                     FERRY_OK);
    assert_int_equal(ids.count, LENGTH(expected));
    assert_memory_equal(ids.ids, expected, sizeof expected);
    assert_int_equal(ferry_tokenizer_decode(tokenizer, joined, LENGTH(joined), &text, &error), FERRY_OK);
    assert_true(ferry_view_equal((ferry_view){text.data, text.size}, VIEW("\u2581a <0x41> b\u00A0c b\u00A0c")));
    assert_int_equal(ferry_tokenizer_decode(tokenizer, (const int32_t[]){6}, 1, &text, &error), FERRY_ERROR_ARGUMENT);
    free(text.data);
    free(ids.ids);
    ferry_tokenizer_destroy(tokenizer);
}

static void test_ids_of_the_configuration_are_checked(void **state)
{
    (void)state;
    marian model;
    ferry_error error;
    ferry_tokenizer *tokenizer = NULL;
    load_tatoeba(&model);
    for (int which = 0; which < 4; which++) {
        ferry_tokenizer_config config = model.config;
        int32_t wrong = which % 2 == 0 ? model.source.count : -1;
        config.prefix_ids = which == 0 ? &wrong : NULL;
        config.prefix_count = which == 0;
        if (which == 1) config.suffix_ids = &wrong;
        if (which == 2) config.source_unk = wrong;
        if (which == 3) config.target_special = &wrong, config.target_special_count = 1;
        assert_int_equal(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT);
        assert_null(tokenizer);
    }
    assert_string_equal(error.message, "special target ids: expected ids from 0 to 8000, found -1");
    free_marian(&model);
}

/* ---- hostile SentencePiece models ---- */

static ferry_status ignore_piece(void *user, ferry_view piece, int32_t id)
{
    *(size_t *)user += piece.size + (size_t)id;
    return FERRY_OK;
}

/* Loads `proto`; a model that loads must also survive a text. */
static ferry_status try_model(ferry_view proto, ferry_error *error)
{
    ferry_spm *spm;
    size_t used = 0;
    ferry_status status = ferry_spm_create(proto, "model", &spm, error);
    if (status == FERRY_OK) ferry_spm_encode(spm, VIEW("aaaa Ünïcödé — ﬁne ½\0\xE2 漢字"), ignore_piece, &used, NULL);
    assert_true((status == FERRY_OK) == (spm != NULL));
    ferry_spm_destroy(spm);
    return status;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void test_random_bytes_are_refused(void **state)
{
    (void)state;
    char bytes[256];
    uint32_t random = 1;
    ferry_error error;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)next_random(&random);
        assert_int_not_equal(try_model((ferry_view){bytes, next_random(&random) % sizeof bytes}, &error), FERRY_OK);
    }
}

static void test_damaged_models(void **state)
{
    (void)state;
    ferry_view proto = read_file(BYTE_FALLBACK);
    char *damaged = malloc(proto.size);
    uint32_t random = 2;
    int refused = 0;
    ferry_error error;
    assert_non_null(damaged);
    assert_int_equal(try_model(proto, &error), FERRY_OK);
    for (size_t size = 0; size < proto.size; size += 1 + size / 8) {
        assert_int_not_equal(try_model((ferry_view){proto.data, size}, &error), FERRY_OK);
    }
    for (int round = 0; round < 300; round++) {
        memcpy(damaged, proto.data, proto.size);
        for (int i = 0; i < 4; i++) damaged[next_random(&random) % proto.size] = (char)next_random(&random);
        if (try_model((ferry_view){damaged, proto.size}, &error) != FERRY_OK) refused++;
    }
    assert_true(refused > 0);
    free(damaged);
    free_view(proto);
}

/* ---- protos written by hand ---- */

typedef struct proto_writer {
    char bytes[65536];
    size_t size;
} proto_writer;

static void put(proto_writer *writer, const void *bytes, size_t size)
{
    assert_true(size <= sizeof writer->bytes - writer->size);
    memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_tag(proto_writer *writer, int number, size_t length)
{
    const uint8_t tag[] = {(uint8_t)(number << 3 | 2), (uint8_t)(length | 0x80), (uint8_t)(length >> 7 | 0x80),
                           (uint8_t)(length >> 14)};
    put(writer, tag, sizeof tag);
}

static void put_piece(proto_writer *writer, ferry_view piece, uint8_t type)
{
    put_tag(writer, 1, 4 + piece.size + 2);
    put_tag(writer, 1, piece.size);
    put(writer, piece.data, piece.size);
    put(writer, (const uint8_t[]){3 << 3, type}, 2);
}

/* A proto of <unk>, "a", `piece` of `type`, and a normalisation table of units [count], replacement "b". */
static ferry_status try_proto(ferry_view piece, uint8_t type, const uint32_t *units, size_t count, ferry_error *error)
{
    proto_writer *proto = calloc(1, sizeof *proto);
    uint32_t size = (uint32_t)(count * sizeof *units);
    assert_non_null(proto);
    put_piece(proto, VIEW("<unk>"), 2);
    put_piece(proto, VIEW("a"), 1);
    if (piece.size > 0) put_piece(proto, piece, type);
    if (count > 0) {
        put_tag(proto, 3, 4 + 4 + size + 2);
        put_tag(proto, 2, 4 + size + 2);
        put(proto, &size, 4);
        put(proto, units, size);
        put(proto, "b", 2);
    }
    ferry_status status = try_model((ferry_view){proto->bytes, proto->size}, error);
    free(proto);
    return status;
}

static void test_odd_pieces(void **state)
{
    (void)state;
    enum { NORMAL = 1, UNKNOWN = 2, USER_DEFINED = 4, BYTE = 6 };
    char longest[65];
    ferry_error error;
    memset(longest, 'a', sizeof longest);
    assert_int_equal(try_proto(VIEW("b"), NORMAL, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto(VIEW("a"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("b"), UNKNOWN, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("<0x41>"), BYTE, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_int_equal(try_proto(VIEW("\0b"), NORMAL, NULL, 0, &error), FERRY_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "model: SentencePiece: "));
    assert_int_equal(try_proto((ferry_view){longest, 64}, USER_DEFINED, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto((ferry_view){longest, 65}, NORMAL, NULL, 0, &error), FERRY_OK);
    assert_int_equal(try_proto((ferry_view){longest, 65}, USER_DEFINED, NULL, 0, &error), FERRY_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "model: user-defined piece: expected at most 64 bytes, found 65");
}

/* A table whose rules are "a", "aa", … up to `keys` letters: node k is unit 256 k + 'a', its base 256 (k + 1). */
static void chain(uint32_t *units, size_t count, uint32_t keys)
{
    memset(units, 0, count * sizeof *units);
    units[0] = 256u << 10;
    for (uint32_t k = 1; k <= keys; k++) {
        uint32_t at = 256 * k + 'a', base = 256 * (k + 1);
        units[at] = (at ^ base) << 10 | 1u << 8 | 'a';
        units[base] = 1u << 31;
    }
}

static void test_normalisation_tables(void **state)
{
    (void)state;
    enum { COUNT = 256 * 36 };
    uint32_t *units = calloc(COUNT, sizeof *units);
    ferry_error error;
    assert_non_null(units);
    chain(units, COUNT, 32);
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_OK);
    assert_int_equal(try_proto(VIEW(""), 0, units, 256 * 33, &error), FERRY_ERROR_FORMAT);
    units[256 * 33] = 1u << 31 | 2; /* the replacements have bytes 0 and 1 */
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_FORMAT);
    assert_string_equal(error.message, "model: normalisation table leads out of its 36864 bytes");

    chain(units, COUNT, 33);
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED);
    chain(units, COUNT, 1);
    units[256 + 'a'] = (uint32_t)'a' << 10 | 1u << 8 | 'a'; /* leads to itself: endless rules */
    units[256] = 1u << 31;
    assert_int_equal(try_proto(VIEW(""), 0, units, COUNT, &error), FERRY_ERROR_UNSUPPORTED);
    assert_int_equal(try_proto(VIEW(""), 0, units, 1, &error), FERRY_ERROR_FORMAT);
    free(units);
}

/* ---- threads ---- */

static void *encode_all(void *user)
{
    const marian *model = user;
    for (int round = 0; round < 20; round++) check_golden(model, 60);
    return NULL;
}

static void test_two_threads_share_a_tokenizer(void **state)
{
    (void)state;
    marian model;
    pthread_t other;
    load_tatoeba(&model);
    assert_int_equal(pthread_create(&other, NULL, encode_all, &model), 0);
    encode_all(&model);
    pthread_join(other, NULL);
    free_marian(&model);
}

/* ---- vocabulary ---- */

static void test_vocabulary(void **state)
{
    (void)state;
    /* p107399 and p111895 have one hash, p077988 and p099285 another. */
    static const ferry_view pieces[] = {VIEW("a"), VIEW("b"),       VIEW("a"),       VIEW("a\0"),    VIEW("a\0b"),
                                        VIEW(""),  VIEW("p107399"), VIEW("p111895"), VIEW("p077988")};
    ferry_vocabulary vocabulary;
    ferry_error error;
    assert_int_equal(ferry_vocabulary_create(pieces, 9, &vocabulary, &error), FERRY_OK);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a")), 0);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("b")), 1);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0")), 3);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0b")), 4);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("")), 5);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a\0c")), -1);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p107399")), 6);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p111895")), 7);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p077988")), 8);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("p099285")), -1);
    ferry_vocabulary_destroy(&vocabulary);

    assert_int_equal(ferry_vocabulary_create(NULL, 0, &vocabulary, &error), FERRY_OK);
    assert_int_equal(ferry_vocabulary_find(&vocabulary, VIEW("a")), -1);
    ferry_vocabulary_destroy(&vocabulary);
}

static void test_large_vocabulary(void **state)
{
    (void)state;
    enum { COUNT = 58000 };
    char(*names)[16] = calloc(COUNT, sizeof *names);
    ferry_view *pieces = calloc(COUNT, sizeof *pieces);
    ferry_vocabulary vocabulary;
    assert_true(names != NULL && pieces != NULL);
    for (int32_t i = 0; i < COUNT; i++) {
        int size = snprintf(names[i], sizeof names[i], "▁%x", (unsigned)i * 2654435761u);
        pieces[i] = (ferry_view){names[i], (size_t)size};
    }
    assert_int_equal(ferry_vocabulary_create(pieces, COUNT, &vocabulary, NULL), FERRY_OK);
    for (int32_t i = 0; i < COUNT; i++) assert_int_equal(ferry_vocabulary_find(&vocabulary, pieces[i]), i);
    ferry_vocabulary_destroy(&vocabulary);
    free(pieces);
    free(names);
}

/* ---- UTF-8 ---- */

#define FFFD "\xEF\xBF\xBD"
/* The first and last character of every row of table 3-7 that has a border. */
#define WELL_FORMED                                                                                                    \
    "\0\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"

static void test_utf8_repair(void **state)
{
    (void)state;
    /* The Unicode Standard 15.0, tables 3-8 to 3-11, and the borders of table 3-7. */
    static const struct {
        ferry_view text, repaired;
    } rows[] = {
        {VIEW("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), VIEW(FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), VIEW(FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), VIEW(FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B")},
        {VIEW("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), VIEW(FFFD FFFD FFFD FFFD "A")},
        {VIEW("\xE2\x82"), VIEW(FFFD)},
        {VIEW("\xF0\x9F\x99"), VIEW(FFFD)},
        {VIEW("a\xC2"), VIEW("a" FFFD)},
        {VIEW("\xFF\xFE\xFD"), VIEW(FFFD FFFD FFFD)},
        {VIEW("a\0\x80\0"), VIEW("a\0" FFFD "\0")},
        {VIEW(WELL_FORMED), VIEW(WELL_FORMED)},
        {VIEW(FFFD), VIEW(FFFD)},
        {VIEW(""), VIEW("")},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *output = malloc(3 * rows[i].text.size + 1);
        bool replaced, valid = ferry_view_equal(rows[i].text, rows[i].repaired);
        size_t size = ferry_utf8_repair(rows[i].text, output, &replaced);
        assert_true(ferry_view_equal((ferry_view){output, size}, rows[i].repaired));
        assert_int_equal(replaced, !valid);
        assert_int_equal(ferry_utf8_is_valid(rows[i].text), valid);
        free(output);
    }
}

static void test_utf8_next(void **state)
{
    (void)state;
    static const ferry_view text = VIEW("A\xC3\x9C\xE6\xBC\xA2\xF0\x9F\x99\x82\xF4\x8F\xBF\xBF");
    static const uint32_t expected[] = {'A', 0xDC, 0x6F22, 0x1F642, 0x10FFFF};
    uint32_t code_point;
    size_t at = 0;
    for (size_t i = 0; i < LENGTH(expected); i++) {
        assert_true(ferry_utf8_next(text, &at, &code_point));
        assert_int_equal(code_point, expected[i]);
    }
    assert_int_equal(at, text.size);
}

static void test_blank(void **state)
{
    (void)state;
    static const ferry_view blank[] = {VIEW(""),
                                       VIEW(" "),
                                       VIEW("\t\r\n\v\f "),
                                       VIEW("\xC2\xA0"),
                                       VIEW("\xE3\x80\x80 "),
                                       VIEW("\xE2\x80\x83\xC2\x85\xE2\x80\xA8\xE1\x9A\x80\xE2\x80\xAF\xE2\x81\x9F")};
    static const ferry_view full[] = {VIEW("."), VIEW(" \0 "), VIEW("\x80"), VIEW(" \xE3\x80"), VIEW("\xE2\x80\x8B")};
    for (size_t i = 0; i < LENGTH(blank); i++) assert_true(ferry_utf8_is_blank(blank[i]));
    for (size_t i = 0; i < LENGTH(full); i++) assert_false(ferry_utf8_is_blank(full[i]));
    assert_true(ferry_utf8_is_blank((ferry_view){NULL, 0}));
    assert_true(ferry_view_equal(ferry_utf8_trim(VIEW("\xC2\xA0 a \t b\xE3\x80\x80\n")), VIEW("a \t b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_separate_vocabularies),
        cmocka_unit_test(test_golden_joint_vocabulary),
        cmocka_unit_test(test_empty_text_is_prefix_and_suffix),
        cmocka_unit_test(test_leading_tag),
        cmocka_unit_test(test_no_tag),
        cmocka_unit_test(test_what_the_vocabulary_lacks),
        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_byte_pieces_round_trip),
        cmocka_unit_test(test_broken_byte_pieces),
        cmocka_unit_test(test_joining_pieces),
        cmocka_unit_test(test_texts_of_pieces),
        cmocka_unit_test(test_ids_of_the_configuration_are_checked),
        cmocka_unit_test(test_random_bytes_are_refused),
        cmocka_unit_test(test_damaged_models),
        cmocka_unit_test(test_odd_pieces),
        cmocka_unit_test(test_normalisation_tables),
        cmocka_unit_test(test_two_threads_share_a_tokenizer),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_large_vocabulary),
        cmocka_unit_test(test_utf8_repair),
        cmocka_unit_test(test_utf8_next),
        cmocka_unit_test(test_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
