/* The bytes of a text that ids stand for. */
#include "tests/support/tokenizer_support.h"

#include "base/utf8.h"
#include "tests/support/support.h"
#include "tokenizer/sentencepiece_c.h"

/* A tokenizer whose ids are the SentencePiece model's own. */
typedef struct own_ids {
    ferry_spm *spm;
    ferry_view *pieces; /* [count] */
    int32_t special;
    ferry_tokenizer_config config;
    ferry_tokenizer *tokenizer;
    ferry_ids ids;
    ferry_ranges ranges;
    ferry_string text;
} own_ids;

static void load(own_ids *model, const char *path)
{
    const ferry_view proto = read_file(path);
    *model = (own_ids){.spm = NULL};
    CHECK(ferry_spm_create(proto, path, &model->spm, &error));
    const int32_t count = ferry_spm_count(model->spm);
    model->pieces = kept_memory((size_t)count * sizeof *model->pieces);
    for (int32_t id = 0; id < count; id++) model->pieces[id] = ferry_spm_piece(model->spm, id);
    model->special = ferry_spm_unknown(model->spm);
    model->config = (ferry_tokenizer_config){.source_model = proto,
                                             .target_model = proto,
                                             .source_pieces = model->pieces,
                                             .source_count = count,
                                             .target_pieces = model->pieces,
                                             .target_count = count,
                                             .source_unk = model->special,
                                             .target_special = &model->special,
                                             .target_special_count = 1};
    model->tokenizer = create_tokenizer(&model->config);
}

static void drop(own_ids *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_spm_destroy(model->spm);
    free(model->ids.ids);
    free(model->ranges.ranges);
    free(model->text.data);
}

/* Each id's bytes of the text, separated by "|". */
static void assert_ranges(ferry_view text, const ferry_range *ranges, size_t count, const char *expected)
{
    char found[1024];
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(ranges[i].begin <= ranges[i].end && ranges[i].end <= text.size);
        const size_t bytes = ranges[i].end - ranges[i].begin;
        size += (size_t)snprintf(found + size, sizeof found - size, "%s%.*s", i > 0 ? "|" : "", (int)bytes,
                                 text.data + ranges[i].begin);
        assert_true(size < sizeof found);
    }
    assert_string_equal(found, expected);
}

TEST(test_ranges_of_a_source)
{
    static const struct {
        ferry_view text;
        const char *expected;
    } rows[] = {
        {VIEW(""), ""},
        {VIEW("Hello, my  world!"), "He|ll|o|,|my|wo|r|l|d|!"},
        {VIEW(" \t Hello \u3000it \n"), "He|ll|o|it"},
        {VIEW("\u6F22\u5B57 it"), "|\u6F22|\u6F22|\u6F22|\u5B57|\u5B57|\u5B57|it"},
        {VIEW("o\u3314r"), "|o|\u3314|\u3314|\u3314|\u3314|\u3314|\u3314|r"},
    };
    own_ids model;
    load(&model, BYTE_FALLBACK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(
            ferry_tokenizer_encode_ranges(model.tokenizer, VIEW(""), rows[i].text, &model.ids, &model.ranges, &error));
        assert_int_equal(model.ranges.count, model.ids.count);
        assert_ranges(rows[i].text, model.ranges.ranges, model.ranges.count, rows[i].expected);
    }
    drop(&model);
}
