/* Texts to ids and back with the vocabularies of Marian models: what Marian gave, what is put around a text, what the
 * vocabulary lacks. */
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"
#include "tests/support/support.h"

#define MARIAN_SEPARATE FERRY_TEST_DATA "/models/marian-separate/"
#define TATOEBA FERRY_TEST_DATA "/models/tatoeba-en-de/"

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
    vocabulary_side side = {load_json(path), NULL, 0};
    const char *key;
    json_t *value;
    json_object_foreach (side.json, key, value) {
        int32_t id = (int32_t)json_integer_value(value);
        if (id >= side.count) side.count = id + 1;
    }
    side.pieces = kept_memory((size_t)side.count * sizeof *side.pieces);
    json_object_foreach (side.json, key, value) side.pieces[json_integer_value(value)] = (ferry_view){key, strlen(key)};
    return side;
}

static const ferry_texts *side_texts(const vocabulary_side *side)
{
    return kept_texts(side->pieces, (size_t)side->count);
}

static int32_t id_in(const vocabulary_side *side, const char *piece)
{
    json_t *id = json_object_get(side->json, piece);
    assert_non_null(id);
    return (int32_t)json_integer_value(id);
}

static void load_marian(marian *model, const char *golden, const char *spm, const char *source, const char *target)
{
    static const char *const special[] = {"</s>", "<unk>", "<pad>"};
    model->source = load_side(source);
    model->target = load_side(target);
    model->spm = read_file(spm);
    model->golden = load_json(golden);
    for (size_t i = 0; i < 3; i++) model->special[i] = id_in(&model->target, special[i]);
    model->eos = id_in(&model->source, "</s>");
    model->config = (ferry_tokenizer_config){
        .source_model = model->spm,
        .source_pieces = side_texts(&model->source),
        .source_count = model->source.count,
        .target_pieces = side_texts(&model->target),
        .target_count = model->target.count,
        .source_unk = id_in(&model->source, "<unk>"),
        .target_special = model->special,
        .target_special_count = 3,
        .suffix_ids = &model->eos,
        .suffix_count = 1,
        .leading_tag = true,
    };
    model->tokenizer = create_tokenizer(&model->config);
}

/* For tokenizers that are made from now on. */
static void change_source(marian *model, int32_t id, ferry_view piece)
{
    model->source.pieces[id] = piece;
    model->config.source_pieces = side_texts(&model->source);
}

static void free_marian(marian *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
}

/* What most tests use, new for each of them. */
static marian tatoeba;
static ferry_ids ids;

static int load_tatoeba(void **state)
{
    (void)state;
    load_marian(&tatoeba, TATOEBA "golden.json", TATOEBA "source.spm", TATOEBA "vocab.json", TATOEBA "vocab.json");
    ids = (ferry_ids){0};
    return 0;
}

static int free_tatoeba(void **state)
{
    (void)state;
    free_marian(&tatoeba);
    free(ids.ids);
    return 0;
}

/* ---- golden lines ---- */

static void assert_ids(const ferry_ids *found, const int32_t *expected, size_t count)
{
    assert_int_equal(found->count, count);
    assert_memory_equal(found->ids, expected, count * sizeof *expected);
}

static void check_line(const marian *model, const json_t *line, ferry_ids *found, ferry_string *text)
{
    int32_t count;
    const char *name;
    json_t *ignored;
    int32_t *expected = json_ids(json_object_get(line, "input_ids"), &count);
    encode(model->tokenizer, view_of(json_object_get(line, "text")), found);
    assert_ids(found, expected, (size_t)count);
    json_object_foreach (json_object_get(model->golden, "runs"), name, ignored) {
        const json_t *run = json_object_get(line, name);
        const json_t *rows = json_object_get(run, "ids");
        assert_true(json_array_size(rows) > 0);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            int32_t *row = json_ids(json_array_get(rows, i), &count);
            CHECK(ferry_tokenizer_decode(model->tokenizer, row, (size_t)count, text, &error));
            assert_text(text, ferry_utf8_trim(view_of(json_array_get(json_object_get(run, "text"), i))));
        }
    }
}

static void check_golden(const marian *model, size_t lines)
{
    ferry_ids found = {0};
    ferry_string text = {0};
    size_t i;
    json_t *line;
    assert_int_equal(json_array_size(json_object_get(model->golden, "lines")), lines);
    json_array_foreach (json_object_get(model->golden, "lines"), i, line) check_line(model, line, &found, &text);
    free(found.ids);
    free(text.data);
}

TEST(test_golden_separate_vocabularies)
{
    marian model;
    load_marian(&model, MARIAN_SEPARATE "golden.json", MARIAN_SEPARATE "source.spm", MARIAN_SEPARATE "vocab.json",
                MARIAN_SEPARATE "target_vocab.json");
    check_golden(&model, 16);
    free_marian(&model);
}

TEST_WITH(test_golden_joint_vocabulary, load_tatoeba, free_tatoeba)
{
    check_golden(&tatoeba, 60);
}

/* ---- encoding ---- */

TEST_WITH(test_empty_text_is_prefix_and_suffix, load_tatoeba, free_tatoeba)
{
    const int32_t prefix[] = {7, 8}, expected[] = {7, 8, 0}, blank[] = {0};
    encode(tatoeba.tokenizer, VIEW(""), &ids);
    assert_ids(&ids, blank, 1);
    encode(tatoeba.tokenizer, (ferry_view){NULL, 0}, &ids);
    assert_ids(&ids, blank, 1);
    tatoeba.config.prefix_ids = prefix;
    tatoeba.config.prefix_count = 2;
    ferry_tokenizer *tokenizer = create_tokenizer(&tatoeba.config);
    encode(tokenizer, VIEW("   "), &ids);
    assert_ids(&ids, expected, 3);
    ferry_tokenizer_destroy(tokenizer);
}

/* Where a text has a tag, or the tokenizer knows tags: the tag's id, and those of the rest without it. */
TEST_WITH(test_leading_tag, load_tatoeba, free_tatoeba)
{
    static const struct {
        ferry_view text, rest; /* without data: there is no tag */
        int32_t id;
    } rows[] = {
        {VIEW(">>deu<< Hello >>deu<< a<<b"), VIEW(" Hello >>deu<< a<<b"), 5},
        {VIEW(">>xyz<<Hello"), VIEW("Hello"), 1},
        {VIEW(">>deu<<"), VIEW(""), 5},
        {VIEW(">><<"), VIEW(""), 1},
        {VIEW(">><<a"), VIEW("a"), 1},
        {VIEW(" >>deu<< Hello"), {NULL, 0}, 0},
        {VIEW(">>deu< Hello"), {NULL, 0}, 0},
        {VIEW(">><"), {NULL, 0}, 0},
        {VIEW(">>"), {NULL, 0}, 0},
        {VIEW("> >a<<"), {NULL, 0}, 0},
    };
    ferry_ids with = {0}, without = {0};
    change_source(&tatoeba, 5, VIEW(">>deu<<")); /* the tokenizers made here, unlike the first one, know the tag */
    ferry_tokenizer *knows = create_tokenizer(&tatoeba.config);
    tatoeba.config.leading_tag = false;
    ferry_tokenizer *ignores = create_tokenizer(&tatoeba.config);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t tag = rows[i].rest.data != NULL;
        encode(knows, rows[i].text, &with);
        encode(ignores, tag ? rows[i].rest : rows[i].text, &without);
        assert_ids(&(ferry_ids){with.ids + tag, with.count - tag, 0}, without.ids, without.count);
        if (tag) assert_int_equal(with.ids[0], rows[i].id);
    }
    encode(ignores, VIEW(">>deu<< Hello"), &without);
    assert_int_not_equal(without.ids[0], 5);
    free(with.ids);
    free(without.ids);
    ferry_tokenizer_destroy(knows);
    ferry_tokenizer_destroy(ignores);
}

TEST_WITH(test_what_the_vocabulary_lacks, load_tatoeba, free_tatoeba)
{
    int32_t blank = id_in(&tatoeba.source, "▁"), tom = id_in(&tatoeba.source, "▁Tom");
    encode(tatoeba.tokenizer, VIEW("Tom 漢字🙂"), &ids);
    assert_ids(&ids, (const int32_t[]){tom, blank, 1, 0}, 4);

    /* Now SentencePiece knows what the vocabulary lacks, and the other way. */
    change_source(&tatoeba, tom, VIEW("漢字🙂"));
    ferry_tokenizer *other = create_tokenizer(&tatoeba.config);
    encode(other, VIEW("Tom 漢字🙂"), &ids);
    assert_ids(&ids, (const int32_t[]){1, blank, tom, 0}, 4);
    ferry_tokenizer_destroy(other);
}

TEST_WITH(test_long_text, load_tatoeba, free_tatoeba)
{
    enum { REPEATS = 50000 };
    int32_t tom = id_in(&tatoeba.source, "▁Tom");
    char *text = kept_memory(4 * REPEATS);
    for (size_t i = 0; i < REPEATS; i++) memcpy(text + 4 * i, "Tom ", 4);
    encode(tatoeba.tokenizer, (ferry_view){text, 4 * REPEATS}, &ids);
    assert_int_equal(ids.count, REPEATS + 1);
    for (size_t i = 0; i < REPEATS; i++) assert_int_equal(ids.ids[i], tom);

    REFUSE_SAYING(ferry_tokenizer_encode(tatoeba.tokenizer, (ferry_view){text, (1u << 26) + 1}, &ids, &error),
                  FERRY_ERROR_LIMIT, "text: expected at most 67108864 bytes, found 67108865");
}

TEST_WITH(test_ids_of_the_configuration_are_checked, load_tatoeba, free_tatoeba)
{
    ferry_tokenizer *tokenizer = NULL;
    for (int which = 0; which < 4; which++) {
        ferry_tokenizer_config config = tatoeba.config;
        int32_t wrong = which % 2 == 0 ? tatoeba.source.count : -1;
        config.prefix_ids = which == 0 ? &wrong : NULL;
        config.prefix_count = which == 0;
        if (which == 1) config.suffix_ids = &wrong;
        if (which == 2) config.source_unk = wrong;
        if (which == 3) config.target_special = &wrong, config.target_special_count = 1;
        REFUSE(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
               which == 3 ? "special target ids: expected ids from 0 to 8000, found -1" : "");
        assert_null(tokenizer);
    }
}
