#include "tokenizer_support.h"

#include "check_ranges.h"

ferry_view read_file(const char *path)
{
    const made_file copy = file_copy(path);
    return (ferry_view){(const char *)copy.data, copy.size};
}

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config)
{
    ferry_tokenizer *tokenizer;
    CHECK(ferry_tokenizer_create(config, &tokenizer, &error));
    return tokenizer;
}

void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids)
{
    CHECK(ferry_tokenizer_encode(tokenizer, text, ids, &error));
}

void assert_text(const ferry_string *text, ferry_view expected)
{
    assert_int_equal(text->size, expected.size);
    if (expected.size > 0) assert_memory_equal(text->data, expected.data, expected.size);
}

own_ids load_own_ids(const char *path)
{
    const ferry_view proto = read_file(path);
    own_ids model = {.spm = NULL};
    CHECK(ferry_spm_create(proto, path, &model.spm, &error));
    const int32_t count = ferry_spm_count(model.spm);
    ferry_view *pieces = kept_memory((size_t)count * sizeof *pieces);
    int32_t *unknown = kept_memory(sizeof *unknown);
    for (int32_t id = 0; id < count; id++) pieces[id] = ferry_spm_piece(model.spm, id);
    *unknown = ferry_spm_unknown(model.spm);
    const ferry_texts *listed = kept_texts(pieces, (size_t)count);
    model.config = (ferry_tokenizer_config){.source_model = proto,
                                            .target_model = proto,
                                            .source_pieces = listed,
                                            .source_count = count,
                                            .target_pieces = listed,
                                            .target_count = count,
                                            .source_unk = *unknown,
                                            .target_special = unknown,
                                            .target_special_count = 1};
    model.tokenizer = create_tokenizer(&model.config);
    return model;
}

void free_own_ids(own_ids *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_spm_destroy(model->spm);
    free(model->ids.ids);
    free(model->ranges.ranges);
}

void assert_parts(ferry_view text, const int32_t *ids, const ferry_range *ranges, size_t count, const char *expected)
{
    char found[1024] = "";
    size_t size = 0;
    const char *fault = fault_of_ranges(text, ranges, count);
    if (fault != NULL) fail_msg("'%.*s': ranges %s", (int)text.size, text.data, fault);
    for (size_t i = 0; i < count; i++) {
        const ferry_name id = ferry_name_format(ids != NULL ? "%d:" : "", ids != NULL ? (int)ids[i] : 0);
        size += (size_t)snprintf(found + size, sizeof found - size, "%s%s%.*s", i > 0 ? "|" : "", id.text,
                                 (int)(ranges[i].end - ranges[i].begin), text.data + ranges[i].begin);
        assert_true(size < sizeof found);
    }
    assert_string_equal(found, expected);
}

void check_encoded(const ferry_tokenizer *tokenizer, bool target, ferry_view text, const char *expected)
{
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    if (target)
        CHECK(ferry_tokenizer_encode_target(tokenizer, text, &ids, &ranges, &error));
    else
        CHECK(ferry_tokenizer_encode_ranges(tokenizer, VIEW(""), text, &ids, &ranges, &error));
    assert_int_equal(ranges.count, ids.count);
    assert_parts(text, ids.ids, ranges.ranges, ids.count, expected);
    free(ids.ids);
    free(ranges.ranges);
}

void check_translation(const ferry_tokenizer *tokenizer, const int32_t *ids, size_t count, const ferry_word *words,
                       ferry_view expected, const char *parts)
{
    enum { MOST = 64 };
    ferry_string text = {0}, again = {0};
    ferry_range ranges[MOST];
    assert_true(count <= MOST);
    CHECK(ferry_tokenizer_decode_ranges(tokenizer, ids, count, words, &text, ranges, &error));
    assert_text(&text, expected);
    assert_parts(expected, NULL, ranges, count, parts);
    CHECK(ferry_tokenizer_decode_ranges(tokenizer, ids, count, words, &again, NULL, &error));
    assert_text(&again, expected);
    free(text.data);
    free(again.data);
}
