/* Texts to ids: what is put around a text, what the vocabulary lacks, and how long a text may be. tests/families has
 * what Marian's models make of texts. */
#include "tests/support/tokenizer_support.h"

enum { END = 0, UNKNOWN = 1, TOM = 3, TAG = 5 };

static own_ids *model;

/* The ids are a SentencePiece model's. */
static ferry_tokenizer_config marian_config(void)
{
    static const int32_t end = END;
    if (model == NULL) model = load_own_ids(FERRY_TEST_DATA "/models/tatoeba-en-de/source.spm");
    ferry_tokenizer_config config = model->config;
    config.suffix_ids = &end;
    config.suffix_count = 1;
    config.leading_tag = true;
    return config;
}

static void change_source(ferry_tokenizer_config *config, int32_t changed, ferry_view piece)
{
    ferry_view *pieces = kept_memory((size_t)config->source_count * sizeof *pieces);
    for (int32_t id = 0; id < config->source_count; id++)
        pieces[id] = id == changed ? piece : ferry_texts_at(config->source_pieces, (size_t)id);
    config->source_pieces = kept_texts(pieces, (size_t)config->source_count);
}

TEST(test_empty_text_is_prefix_and_suffix)
{
    const int32_t prefix[] = {7, 8};
    ferry_tokenizer_config config = marian_config();
    CHECK_IDS(create_tokenizer(&config), VIEW(""), END);
    CHECK_IDS(create_tokenizer(&config), ((ferry_view){NULL, 0}), END);
    config.prefix_ids = prefix;
    config.prefix_count = 2;
    CHECK_IDS(create_tokenizer(&config), VIEW("   "), 7, 8, END);
}

/* Where a text has a tag, or the tokenizer knows tags: the tag's id, and those of the rest without it. */
TEST(test_leading_tag)
{
    static const struct {
        ferry_view text, rest; /* without data: there is no tag */
        int32_t id;
    } rows[] = {
        {VIEW(">>deu<< Hello >>deu<< a<<b"), VIEW(" Hello >>deu<< a<<b"), TAG},
        {VIEW(">>xyz<<Hello"), VIEW("Hello"), UNKNOWN},
        {VIEW(">>deu<<"), VIEW(""), TAG},
        {VIEW(">><<"), VIEW(""), UNKNOWN},
        {VIEW(">><<a"), VIEW("a"), UNKNOWN},
        {VIEW(" >>deu<< Hello"), {NULL, 0}, 0},
        {VIEW(">>deu< Hello"), {NULL, 0}, 0},
        {VIEW(">><"), {NULL, 0}, 0},
        {VIEW(">>"), {NULL, 0}, 0},
        {VIEW("> >a<<"), {NULL, 0}, 0},
    };
    ferry_ids with = {0};
    ferry_tokenizer_config config = marian_config();
    change_source(&config, TAG, VIEW(">>deu<<"));
    ferry_tokenizer *knows = create_tokenizer(&config);
    config.leading_tag = false;
    ferry_tokenizer *ignores = create_tokenizer(&config);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t tag = rows[i].rest.data != NULL;
        encode(knows, rows[i].text, &with);
        if (tag) assert_int_equal(with.ids[0], rows[i].id);
        check_ids(ignores, tag ? rows[i].rest : rows[i].text, with.ids + tag, with.count - tag);
    }
    encode(ignores, VIEW(">>deu<< Hello"), &with);
    assert_int_not_equal(with.ids[0], TAG);
    free(with.ids);
}

TEST(test_what_the_vocabulary_lacks)
{
    ferry_tokenizer_config config = marian_config();
    const int32_t blank = ferry_spm_find(model->spm, VIEW("▁"));
    CHECK_IDS(create_tokenizer(&config), VIEW("Tom 漢字🙂"), TOM, blank, UNKNOWN, END);

    /* Now SentencePiece knows what the vocabulary lacks, and the other way. */
    change_source(&config, TOM, VIEW("漢字🙂"));
    CHECK_IDS(create_tokenizer(&config), VIEW("Tom 漢字🙂"), UNKNOWN, blank, TOM, END);
}

TEST(test_long_text)
{
    enum { REPEATS = 50000 };
    const ferry_tokenizer_config config = marian_config();
    const ferry_tokenizer *tokenizer = create_tokenizer(&config);
    int32_t *expected = kept_memory((REPEATS + 1) * sizeof *expected);
    ferry_ids ids = {0};
    char *text = kept_memory(4 * REPEATS);
    for (size_t i = 0; i < REPEATS; i++) {
        memcpy(text + 4 * i, "Tom ", 4);
        expected[i] = TOM;
    }
    expected[REPEATS] = END;
    check_ids(tokenizer, (ferry_view){text, 4 * REPEATS}, expected, REPEATS + 1);
    REFUSE_SAYING(ferry_tokenizer_encode(tokenizer, (ferry_view){text, (1u << 26) + 1}, &ids, &error),
                  FERRY_ERROR_LIMIT, "text: expected at most 67108864 bytes, found 67108865");
    CHECK_IDS(tokenizer, VIEW("Tom"), TOM, END);
    free(ids.ids);
}

TEST(test_ids_of_the_configuration_are_checked)
{
    ferry_tokenizer *tokenizer = NULL;
    for (int which = 0; which < 4; which++) {
        ferry_tokenizer_config config = marian_config();
        int32_t wrong = which % 2 == 0 ? config.source_count : -1;
        config.prefix_ids = which == 0 ? &wrong : NULL;
        config.prefix_count = which == 0;
        if (which == 1) config.suffix_ids = &wrong;
        if (which == 2) config.source_unk_id = wrong;
        if (which == 3) config.special_ids = &wrong, config.special_count = 1;
        REFUSE(ferry_tokenizer_create(&config, &tokenizer, &error), FERRY_ERROR_FORMAT,
               which == 3 ? "special target ids: expected ids from 0 to 7999, found -1" : "");
        assert_null(tokenizer);
    }
}
