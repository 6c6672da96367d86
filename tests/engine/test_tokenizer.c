/* Texts to ids and back with the vocabularies of Marian models: what Marian gave, what is put around a text, what the
 * vocabulary lacks. */
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"
#include "tests/support/support.h"

#define TATOEBA FERRY_TEST_DATA "/models/tatoeba-en-de/"

static ferry_view view_of(const json_t *string)
{
    return (ferry_view){json_string_value(string), json_string_length(string)};
}

/* ---- a Marian directory ---- */

static struct tatoeba {
    json_t *vocabulary, *golden;
    ferry_view *pieces; /* [config.source_count] */
    int32_t special[3];
    ferry_tokenizer_config config;
    ferry_tokenizer *tokenizer;
} tatoeba;

static int32_t id_of(const char *piece)
{
    json_t *id = json_object_get(tatoeba.vocabulary, piece);
    assert_non_null(id);
    return (int32_t)json_integer_value(id);
}

/* New for each test. */
static int load_tatoeba(void **state)
{
    static const char *const special[] = {"</s>", "<unk>", "<pad>"};
    const char *key;
    json_t *value;
    (void)state;
    tatoeba =
        (struct tatoeba){.vocabulary = load_json(TATOEBA "vocab.json"), .golden = load_json(TATOEBA "golden.json")};
    const size_t count = json_object_size(tatoeba.vocabulary);
    tatoeba.pieces = kept_memory(count * sizeof *tatoeba.pieces);
    json_object_foreach (tatoeba.vocabulary, key, value)
        tatoeba.pieces[json_integer_value(value)] = ferry_text_view(key);
    for (size_t i = 0; i < COUNT(special); i++) tatoeba.special[i] = id_of(special[i]);
    tatoeba.config = one_vocabulary(tatoeba.pieces, count);
    tatoeba.config.source_model = read_file(TATOEBA "source.spm");
    tatoeba.config.source_unk = id_of("<unk>");
    tatoeba.config.target_special = tatoeba.special;
    tatoeba.config.target_special_count = COUNT(special);
    tatoeba.config.suffix_ids = tatoeba.special;
    tatoeba.config.suffix_count = 1;
    tatoeba.config.leading_tag = true;
    tatoeba.tokenizer = create_tokenizer(&tatoeba.config);
    return 0;
}

/* For tokenizers that are made from now on. */
static void change_source(int32_t id, ferry_view piece)
{
    tatoeba.pieces[id] = piece;
    tatoeba.config.source_pieces = kept_texts(tatoeba.pieces, (size_t)tatoeba.config.source_count);
}

/* ---- golden lines ---- */

static void check_line(const json_t *line, ferry_string *text)
{
    int32_t count;
    const char *name;
    json_t *ignored;
    int32_t *expected = json_ids(json_object_get(line, "input_ids"), &count);
    check_ids(tatoeba.tokenizer, view_of(json_object_get(line, "text")), expected, (size_t)count);
    json_object_foreach (json_object_get(tatoeba.golden, "runs"), name, ignored) {
        const json_t *run = json_object_get(line, name);
        const json_t *rows = json_object_get(run, "ids");
        assert_true(json_array_size(rows) > 0);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            int32_t *row = json_ids(json_array_get(rows, i), &count);
            CHECK(ferry_tokenizer_decode(tatoeba.tokenizer, row, (size_t)count, text, &error));
            assert_text(text, ferry_utf8_trim(view_of(json_array_get(json_object_get(run, "text"), i))));
        }
    }
}

TEST_WITH(test_golden_joint_vocabulary, load_tatoeba, NULL)
{
    const json_t *lines = json_object_get(tatoeba.golden, "lines");
    ferry_string text = {0};
    assert_int_equal(json_array_size(lines), 60);
    for (size_t i = 0; i < 60; i++) check_line(json_array_get(lines, i), &text);
    free(text.data);
}

/* ---- encoding ---- */

TEST_WITH(test_empty_text_is_prefix_and_suffix, load_tatoeba, NULL)
{
    const int32_t prefix[] = {7, 8};
    CHECK_IDS(tatoeba.tokenizer, VIEW(""), 0);
    CHECK_IDS(tatoeba.tokenizer, ((ferry_view){NULL, 0}), 0);
    tatoeba.config.prefix_ids = prefix;
    tatoeba.config.prefix_count = 2;
    CHECK_IDS(create_tokenizer(&tatoeba.config), VIEW("   "), 7, 8, 0);
}

/* Where a text has a tag, or the tokenizer knows tags: the tag's id, and those of the rest without it. */
TEST_WITH(test_leading_tag, load_tatoeba, NULL)
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
    ferry_ids with = {0};
    change_source(5, VIEW(">>deu<<")); /* the tokenizers made here, unlike the first one, know the tag */
    ferry_tokenizer *knows = create_tokenizer(&tatoeba.config);
    tatoeba.config.leading_tag = false;
    ferry_tokenizer *ignores = create_tokenizer(&tatoeba.config);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t tag = rows[i].rest.data != NULL;
        encode(knows, rows[i].text, &with);
        if (tag) assert_int_equal(with.ids[0], rows[i].id);
        check_ids(ignores, tag ? rows[i].rest : rows[i].text, with.ids + tag, with.count - tag);
    }
    encode(ignores, VIEW(">>deu<< Hello"), &with);
    assert_int_not_equal(with.ids[0], 5);
    free(with.ids);
}

TEST_WITH(test_what_the_vocabulary_lacks, load_tatoeba, NULL)
{
    int32_t blank = id_of("▁"), tom = id_of("▁Tom");
    CHECK_IDS(tatoeba.tokenizer, VIEW("Tom 漢字🙂"), tom, blank, 1, 0);

    /* Now SentencePiece knows what the vocabulary lacks, and the other way. */
    change_source(tom, VIEW("漢字🙂"));
    CHECK_IDS(create_tokenizer(&tatoeba.config), VIEW("Tom 漢字🙂"), 1, blank, tom, 0);
}

TEST_WITH(test_long_text, load_tatoeba, NULL)
{
    enum { REPEATS = 50000 };
    int32_t tom = id_of("▁Tom"), *expected = kept_memory((REPEATS + 1) * sizeof *expected);
    ferry_ids ids = {0};
    char *text = kept_memory(4 * REPEATS);
    for (size_t i = 0; i < REPEATS; i++) {
        memcpy(text + 4 * i, "Tom ", 4);
        expected[i] = tom;
    }
    check_ids(tatoeba.tokenizer, (ferry_view){text, 4 * REPEATS}, expected, REPEATS + 1);
    REFUSE_SAYING(ferry_tokenizer_encode(tatoeba.tokenizer, (ferry_view){text, (1u << 26) + 1}, &ids, &error),
                  FERRY_ERROR_LIMIT, "text: expected at most 67108864 bytes, found 67108865");
    CHECK_IDS(tatoeba.tokenizer, VIEW("Tom"), tom, 0);
    free(ids.ids);
}

TEST_WITH(test_ids_of_the_configuration_are_checked, load_tatoeba, NULL)
{
    ferry_tokenizer *tokenizer = NULL;
    for (int which = 0; which < 4; which++) {
        ferry_tokenizer_config config = tatoeba.config;
        int32_t wrong = which % 2 == 0 ? tatoeba.config.source_count : -1;
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
